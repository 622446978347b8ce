//! From a frame to the values of its prims.

use super::track::{Form, NewPrim, Place, Property};
use super::value::Value;
use crate::sink::look::{Look, linear};
use crate::sink::obstacles::plane_quad;
use glam::{DMat4, Vec3};
use phyxel::Frame;
use phyxel::body::Pose;
use phyxel::frame::{FrameBody, FrameObstacle, FrameSkin};
use phyxel::obstacle::Geometry;

/// Takes a prim, and its values by the function it is handed. The first error ends it.
pub(super) type Take<'a, E> = dyn FnMut(NewPrim, &mut Give<'_, E>) -> Result<(), E> + 'a;

/// Hands over the values of a prim one by one.
pub(super) type Give<'a, E> = dyn FnMut(&mut Put<'_, E>) -> Result<(), E> + 'a;

/// Takes one value.
pub(super) type Put<'a, E> = dyn FnMut(Property, Value<'_>) -> Result<(), E> + 'a;

/// Shows every prim of a frame to `take`.
pub(super) fn gather<E>(frame: &Frame, take: &mut Take<'_, E>) -> Result<(), E> {
    // What has nothing to show is not there.
    for body in frame.bodies.iter().filter(|body| body.skin.is_some() || !body.particles.is_empty()) {
        let form = match &body.skin {
            Some(skin) if skin.axes.is_empty() => Form::Mesh,
            _ => Form::Points,
        };
        let look = Look::new(&body.material, body.color, body.finish);
        let prim = NewPrim { place: Place::Body, name: body.report.name.clone(), form, look, double_sided: false };
        take(prim, &mut |put| match &body.skin {
            Some(skin) => give_skin(body, skin, put),
            None => give_particles(frame, body, put),
        })?;
    }
    for obstacle in frame.obstacles.iter().filter(|obstacle| obstacle.visible) {
        let form = form_of(&obstacle.geometry);
        let double_sided = matches!(obstacle.geometry, Geometry::HalfSpace { .. });
        let look = Look::of_obstacle(obstacle.color);
        let prim = NewPrim { place: Place::Obstacle, name: obstacle.name.clone(), form, look, double_sided };
        take(prim, &mut |put| give_obstacle(frame, obstacle, put))?;
    }
    Ok(())
}

fn give_skin<E>(body: &FrameBody, skin: &FrameSkin, put: &mut Put<'_, E>) -> Result<(), E> {
    // Points with normals are discs; their widths are those of round ones of the same area.
    let widths: Vec<f32> = skin.axes.iter().map(|[a, b]| 2.0 * a.cross(*b).length().sqrt()).collect();
    let reach = widths.iter().fold(0.0, |most: f32, width| most.max(0.5 * width));
    put(Property::Extent, Value::Vectors(&extent(&skin.positions, reach)))?;
    if skin.axes.is_empty() {
        put(Property::FaceVertexCounts, Value::Threes(skin.triangles.len()))?;
        put(Property::FaceVertexIndices, Value::Triangles(&skin.triangles))?;
    } else {
        put(Property::Widths, Value::Floats(&widths))?;
    }
    put(Property::Points, Value::Vectors(&skin.positions))?;
    match skin.corner_normals() {
        Some(sharp) => put(Property::CornerNormals, Value::Vectors(sharp.as_flattened()))?,
        None => put(Property::Normals, Value::Vectors(&skin.normals))?,
    }
    put(Property::Velocities, Value::Vectors(&skin.velocities))?;
    put(Property::Color, Value::Vectors(&[Vec3::from(linear(body.color))]))?;
    put(Property::Temperature, Value::Floats(&skin.temperatures))?;
    put(Property::Strain, Value::Floats(&skin.strains))
}

fn give_particles<E>(frame: &Frame, body: &FrameBody, put: &mut Put<'_, E>) -> Result<(), E> {
    let (columns, run) = (&frame.particles, body.particles.clone());
    let widths: Vec<f32> = columns.radius[run.clone()].iter().map(|radius| 2.0 * radius).collect();
    let reach = widths.iter().fold(0.0, |most: f32, width| most.max(0.5 * width));
    put(Property::Extent, Value::Vectors(&extent(&columns.position[run.clone()], reach)))?;
    put(Property::Points, Value::Vectors(&columns.position[run.clone()]))?;
    put(Property::Velocities, Value::Vectors(&columns.velocity[run.clone()]))?;
    put(Property::Widths, Value::Floats(&widths))?;
    put(Property::Color, Value::Vectors(&[Vec3::from(linear(body.color))]))?;
    put(Property::Temperature, Value::Floats(&columns.temperature[run.clone()]))?;
    put(Property::Strain, Value::Floats(&columns.strain[run]))
}

/// The prim that shows an obstacle.
fn form_of(geometry: &Geometry) -> Form {
    match geometry {
        Geometry::HalfSpace { .. } | Geometry::Mesh { .. } | Geometry::Grid(_) => Form::Mesh,
        Geometry::Box { .. } => Form::Cube,
        Geometry::Sphere { .. } => Form::Sphere,
        Geometry::Capsule { .. } => Form::Capsule,
        Geometry::Cylinder { .. } => Form::Cylinder,
        Geometry::Cone { .. } => Form::Cone,
    }
}

fn give_obstacle<E>(frame: &Frame, obstacle: &FrameObstacle, put: &mut Put<'_, E>) -> Result<(), E> {
    put(Property::Color, Value::Vectors(&[Vec3::from(linear(obstacle.color))]))?;
    let mut scale = Vec3::ONE;
    match &obstacle.geometry {
        Geometry::HalfSpace { normal } => {
            let (positions, triangles) = plane_quad(frame, &obstacle.pose, *normal);
            give_surface(&positions, &triangles, put)?;
        }
        Geometry::Mesh { positions, triangles } => give_surface(positions, triangles, put)?,
        Geometry::Box { size } => {
            scale = *size;
            put(Property::Size, Value::Double(1.0))?;
            put(Property::Extent, Value::Vectors(&[Vec3::splat(-0.5), Vec3::splat(0.5)]))?;
        }
        Geometry::Sphere { radius } => {
            put(Property::Radius, Value::Double(f64::from(*radius)))?;
            put(Property::Extent, Value::Vectors(&[Vec3::splat(-radius), Vec3::splat(*radius)]))?;
        }
        Geometry::Capsule { radius, height } => give_round(*radius, *height, 0.5 * height + radius, put)?,
        Geometry::Cylinder { radius, height } | Geometry::Cone { radius, height } => {
            give_round(*radius, *height, 0.5 * height, put)?;
        }
        grid @ Geometry::Grid(_) => {
            let form = phyxel_render::surface(grid).unwrap_or_default();
            give_surface(&form.positions, &form.triangles, put)?;
        }
    }
    put(Property::Transform, Value::Matrix(matrix(&obstacle.pose, scale)))
}

fn give_surface<E>(positions: &[Vec3], triangles: &[[u32; 3]], put: &mut Put<'_, E>) -> Result<(), E> {
    put(Property::Extent, Value::Vectors(&extent(positions, 0.0)))?;
    put(Property::FaceVertexCounts, Value::Threes(triangles.len()))?;
    put(Property::FaceVertexIndices, Value::Triangles(triangles))?;
    put(Property::Points, Value::Vectors(positions))
}

/// Something round about the y axis that reaches `reach` up and down.
fn give_round<E>(radius: f32, height: f32, reach: f32, put: &mut Put<'_, E>) -> Result<(), E> {
    let corner = Vec3::new(radius, reach, radius);
    put(Property::Radius, Value::Double(f64::from(radius)))?;
    put(Property::Height, Value::Double(f64::from(height)))?;
    put(Property::Extent, Value::Vectors(&[-corner, corner]))
}

fn matrix(pose: &Pose, scale: Vec3) -> DMat4 {
    DMat4::from_scale_rotation_translation(scale.as_dvec3(), pose.rotation.as_dquat(), pose.position.as_dvec3())
}

/// Smallest and largest coordinates of points and what is within `reach` of them.
fn extent(points: &[Vec3], reach: f32) -> [Vec3; 2] {
    let Some(&first) = points.first() else { return [Vec3::ZERO; 2] };
    let (low, high) = points.iter().fold((first, first), |(low, high), &point| (low.min(point), high.max(point)));
    [low - reach, high + reach]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{surfels, two_bodies};

    /// Forms of the bodies of a frame, and what their prims are given.
    fn given(frame: &Frame) -> Vec<(Form, Vec<Property>)> {
        let mut all = Vec::new();
        let taken: Result<(), ()> = gather(frame, &mut |prim, give| {
            let mut properties = Vec::new();
            give(&mut |property, value| {
                if let (Property::Widths, Value::Floats(widths)) = (property, value) {
                    assert!(
                        widths.iter().all(|&width| width == if widths.len() == 3 { 1.0 } else { 0.5 }),
                        "{widths:?}"
                    );
                }
                properties.push(property);
                Ok(())
            })?;
            all.push((prim.form, properties));
            Ok(())
        });
        taken.unwrap();
        all
    }

    #[test]
    fn where_edges_are_sharp_corners_have_normals_of_their_own() {
        let mut frame = two_bodies();
        if let Some(skin) = &mut frame.bodies[0].skin {
            skin.crease = Some(40.0);
        }
        let properties = &given(&frame)[0].1;
        assert!(properties.contains(&Property::CornerNormals) && !properties.contains(&Property::Normals));
    }

    #[test]
    fn surfels_are_points_with_normals_and_widths() {
        let (mesh, discs) = (given(&two_bodies()), given(&surfels()));
        assert_eq!((mesh[0].0, discs[0].0, discs[1].0), (Form::Mesh, Form::Points, Form::Points));
        assert!(mesh[0].1.contains(&Property::FaceVertexIndices) && !mesh[0].1.contains(&Property::Widths));
        assert!(discs[0].1.contains(&Property::Widths) && discs[0].1.contains(&Property::Normals));
        assert!(!discs[0].1.contains(&Property::FaceVertexIndices));
        assert!(!discs[1].1.contains(&Property::Normals), "particles have none");
    }
}
