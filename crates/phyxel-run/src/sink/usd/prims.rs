//! Conversion of a frame to prims and their values.

use super::crate_file::Value;
use super::track::{NewPrim, PrimOwner, PrimType, Property};
use crate::sink::appearance::{Appearance, linear_rgb};
use crate::sink::obstacles::plane_quad;
use glam::{DMat4, Vec3};
use phyxel::Frame;
use phyxel::body::Pose;
use phyxel::frame::{FrameBody, FrameObstacle, FrameSkin};
use phyxel::obstacle::Geometry;

/// Visitor of prims: receives a prim, and a function that writes its values. The first error ends the visit.
pub(super) type VisitPrim<'a, E> = dyn FnMut(NewPrim, &mut WriteValues<'_, E>) -> Result<(), E> + 'a;

/// Writes the values of a prim through the function it receives.
pub(super) type WriteValues<'a, E> = dyn FnMut(&mut WriteValue<'_, E>) -> Result<(), E> + 'a;

/// Writes one value.
pub(super) type WriteValue<'a, E> = dyn FnMut(Property, Value<'_>) -> Result<(), E> + 'a;

/// Visits the prims of a frame.
pub(super) fn visit_prims<E>(frame: &Frame, visit: &mut VisitPrim<'_, E>) -> Result<(), E> {
    // Empty bodies have no prim.
    for body in frame.bodies.iter().filter(|body| body.skin.is_some() || !body.particles.is_empty()) {
        let prim_type = match &body.skin {
            Some(skin) if skin.axes.is_empty() => PrimType::Mesh,
            _ => PrimType::Points,
        };
        let appearance = Appearance::new(&body.material, body.color, body.finish);
        let prim = NewPrim {
            owner: PrimOwner::Body,
            name: body.report.name.clone(),
            prim_type,
            appearance,
            double_sided: false,
        };
        visit(prim, &mut |write| match &body.skin {
            Some(skin) => write_skin(body, skin, write),
            None => write_particles(frame, body, write),
        })?;
    }
    for obstacle in frame.obstacles.iter().filter(|obstacle| obstacle.visible) {
        let prim_type = obstacle_prim_type(&obstacle.geometry);
        let double_sided = matches!(obstacle.geometry, Geometry::HalfSpace { .. });
        let appearance = Appearance::for_obstacle(obstacle.color);
        let prim =
            NewPrim { owner: PrimOwner::Obstacle, name: obstacle.name.clone(), prim_type, appearance, double_sided };
        visit(prim, &mut |write| write_obstacle(frame, obstacle, write))?;
    }
    Ok(())
}

fn write_skin<E>(body: &FrameBody, skin: &FrameSkin, write: &mut WriteValue<'_, E>) -> Result<(), E> {
    // Points with normals are drawn as discs; widths are diameters of circles with the area of the ellipse.
    let widths: Vec<f32> = skin.axes.iter().map(|[a, b]| 2.0 * a.cross(*b).length().sqrt()).collect();
    let largest_radius = widths.iter().fold(0.0, |largest: f32, width| largest.max(0.5 * width));
    write(Property::Extent, Value::Vectors(&extent(&skin.positions, largest_radius)))?;
    if skin.axes.is_empty() {
        write(Property::FaceVertexCounts, Value::TriangleCounts(skin.triangles.len()))?;
        write(Property::FaceVertexIndices, Value::Triangles(&skin.triangles))?;
    } else {
        write(Property::Widths, Value::Floats(&widths))?;
    }
    write(Property::Points, Value::Vectors(&skin.positions))?;
    match skin.corner_normals() {
        Some(sharp) => write(Property::CornerNormals, Value::Vectors(sharp.as_flattened()))?,
        None => write(Property::Normals, Value::Vectors(&skin.normals))?,
    }
    write(Property::Velocities, Value::Vectors(&skin.velocities))?;
    write(Property::Color, Value::Vectors(&[Vec3::from(linear_rgb(body.color))]))?;
    write(Property::Temperature, Value::Floats(&skin.temperatures))?;
    write(Property::Strain, Value::Floats(&skin.strains))
}

fn write_particles<E>(frame: &Frame, body: &FrameBody, write: &mut WriteValue<'_, E>) -> Result<(), E> {
    let (columns, range) = (&frame.particles, body.particles.clone());
    let widths: Vec<f32> = columns.radius[range.clone()].iter().map(|radius| 2.0 * radius).collect();
    let largest_radius = widths.iter().fold(0.0, |largest: f32, width| largest.max(0.5 * width));
    write(Property::Extent, Value::Vectors(&extent(&columns.position[range.clone()], largest_radius)))?;
    write(Property::Points, Value::Vectors(&columns.position[range.clone()]))?;
    write(Property::Velocities, Value::Vectors(&columns.velocity[range.clone()]))?;
    write(Property::Widths, Value::Floats(&widths))?;
    write(Property::Color, Value::Vectors(&[Vec3::from(linear_rgb(body.color))]))?;
    write(Property::Temperature, Value::Floats(&columns.temperature[range.clone()]))?;
    write(Property::Strain, Value::Floats(&columns.strain[range]))
}

/// Prim type of an obstacle.
fn obstacle_prim_type(geometry: &Geometry) -> PrimType {
    match geometry {
        Geometry::HalfSpace { .. } | Geometry::Mesh { .. } | Geometry::Grid(_) => PrimType::Mesh,
        Geometry::Box { .. } => PrimType::Cube,
        Geometry::Sphere { .. } => PrimType::Sphere,
        Geometry::Capsule { .. } => PrimType::Capsule,
        Geometry::Cylinder { .. } => PrimType::Cylinder,
        Geometry::Cone { .. } => PrimType::Cone,
    }
}

fn write_obstacle<E>(frame: &Frame, obstacle: &FrameObstacle, write: &mut WriteValue<'_, E>) -> Result<(), E> {
    write(Property::Color, Value::Vectors(&[Vec3::from(linear_rgb(obstacle.color))]))?;
    let mut scale = Vec3::ONE;
    match &obstacle.geometry {
        Geometry::HalfSpace { normal } => {
            let (positions, triangles) = plane_quad(frame, &obstacle.pose, *normal);
            write_mesh(&positions, &triangles, write)?;
        }
        Geometry::Mesh { positions, triangles } => write_mesh(positions, triangles, write)?,
        Geometry::Box { size } => {
            scale = *size;
            write(Property::Size, Value::Double(1.0))?;
            write(Property::Extent, Value::Vectors(&[Vec3::splat(-0.5), Vec3::splat(0.5)]))?;
        }
        Geometry::Sphere { radius } => {
            write(Property::Radius, Value::Double(f64::from(*radius)))?;
            write(Property::Extent, Value::Vectors(&[Vec3::splat(-radius), Vec3::splat(*radius)]))?;
        }
        Geometry::Capsule { radius, height } => write_round_solid(*radius, *height, 0.5 * height + radius, write)?,
        Geometry::Cylinder { radius, height } | Geometry::Cone { radius, height } => {
            write_round_solid(*radius, *height, 0.5 * height, write)?;
        }
        grid @ Geometry::Grid(_) => {
            let form = phyxel_render::tessellate(grid).unwrap_or_default();
            write_mesh(&form.positions, &form.triangles, write)?;
        }
    }
    write(Property::Transform, Value::Matrix(transform_matrix(&obstacle.pose, scale)))
}

fn write_mesh<E>(positions: &[Vec3], triangles: &[[u32; 3]], write: &mut WriteValue<'_, E>) -> Result<(), E> {
    write(Property::Extent, Value::Vectors(&extent(positions, 0.0)))?;
    write(Property::FaceVertexCounts, Value::TriangleCounts(triangles.len()))?;
    write(Property::FaceVertexIndices, Value::Triangles(triangles))?;
    write(Property::Points, Value::Vectors(positions))
}

/// Writes a solid of revolution about the y axis, from `-half_height` to `half_height`.
fn write_round_solid<E>(radius: f32, height: f32, half_height: f32, write: &mut WriteValue<'_, E>) -> Result<(), E> {
    let corner = Vec3::new(radius, half_height, radius);
    write(Property::Radius, Value::Double(f64::from(radius)))?;
    write(Property::Height, Value::Double(f64::from(height)))?;
    write(Property::Extent, Value::Vectors(&[-corner, corner]))
}

fn transform_matrix(pose: &Pose, scale: Vec3) -> DMat4 {
    DMat4::from_scale_rotation_translation(scale.as_dvec3(), pose.rotation.as_dquat(), pose.position.as_dvec3())
}

/// Bounding box of points, enlarged by `radius`.
fn extent(points: &[Vec3], radius: f32) -> [Vec3; 2] {
    let Some(&first) = points.first() else { return [Vec3::ZERO; 2] };
    let (low, high) = points.iter().fold((first, first), |(low, high), &point| (low.min(point), high.max(point)));
    [low - radius, high + radius]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_frames::{surfels, two_bodies};

    /// Prim types of the bodies of a frame, and their properties.
    fn properties_of_prims(frame: &Frame) -> Vec<(PrimType, Vec<Property>)> {
        let mut all = Vec::new();
        let visited: Result<(), ()> = visit_prims(frame, &mut |prim, write_values| {
            let mut properties = Vec::new();
            write_values(&mut |property, value| {
                if let (Property::Widths, Value::Floats(widths)) = (property, value) {
                    assert!(
                        widths.iter().all(|&width| width == if widths.len() == 3 { 1.0 } else { 0.5 }),
                        "{widths:?}"
                    );
                }
                properties.push(property);
                Ok(())
            })?;
            all.push((prim.prim_type, properties));
            Ok(())
        });
        visited.unwrap();
        all
    }

    #[test]
    fn skins_with_sharp_edges_have_face_varying_normals() {
        let mut frame = two_bodies();
        if let Some(skin) = &mut frame.bodies[0].skin {
            skin.crease = Some(40.0);
        }
        let properties = &properties_of_prims(&frame)[0].1;
        assert!(properties.contains(&Property::CornerNormals) && !properties.contains(&Property::Normals));
    }

    #[test]
    fn surfels_are_points_with_normals_and_widths() {
        let (mesh, discs) = (properties_of_prims(&two_bodies()), properties_of_prims(&surfels()));
        assert_eq!((mesh[0].0, discs[0].0, discs[1].0), (PrimType::Mesh, PrimType::Points, PrimType::Points));
        assert!(mesh[0].1.contains(&Property::FaceVertexIndices) && !mesh[0].1.contains(&Property::Widths));
        assert!(discs[0].1.contains(&Property::Widths) && discs[0].1.contains(&Property::Normals));
        assert!(!discs[0].1.contains(&Property::FaceVertexIndices));
        assert!(!discs[1].1.contains(&Property::Normals), "particles have no normals");
    }
}
