//! Obstacles: shapes to the engine's geometry.

use super::body::scaled;
use crate::error::BuildError;
use crate::mesh::MeshSolid;
use crate::scene::{ObstacleDescription, pose_of};
use crate::shape::{Placement, Shape};
use glam::Vec3;
use phyxel::body::Pose;
use phyxel::obstacle::{DistanceGrid, Geometry, Key, Obstacle};
use phyxel::parallel;
use std::sync::Arc;

/// Cells along the longest side of a sampled shape.
const FINENESS: f32 = 64.0;
/// Cells around a sampled shape, so that distances at the border are positive.
const MARGIN: f32 = 3.0;
/// Most corners of a grid.
const CORNERS: u64 = 50_000_000;

/// Makes an obstacle.
pub(super) fn make(description: &ObstacleDescription, warnings: &mut Vec<String>) -> Result<Obstacle, BuildError> {
    let owner = || format!("obstacle \"{}\"", description.name);
    let (geometry, own) = form(&description.shape, description.place.scale, description.cell, owner, warnings)?;
    let mut obstacle = Obstacle::new(description.name.clone(), geometry, Pose::default());
    obstacle.keys = if description.keys.is_empty() {
        vec![Key { time: 0.0, pose: joined(pose_of(&description.place), own) }]
    } else {
        description.keys.iter().map(|key| Key { time: key.time, pose: joined(key.pose, own) }).collect()
    };
    obstacle.friction = description.friction;
    obstacle.restitution = description.restitution;
    obstacle.stickiness = description.stickiness;
    obstacle.temperature = description.temperature;
    obstacle.heat_capacity = description.heat_capacity;
    obstacle.active = description.active;
    obstacle.visible = description.visible;
    obstacle.color = description.color.unwrap_or(obstacle.color);
    Ok(obstacle)
}

/// The engine's geometry for a shape, and where its frame is in that of its owner. Shapes that the engine does not know are sampled
/// in cells of an edge, m.
pub(super) fn form(
    shape: &Shape,
    scale: f32,
    cell: Option<f32>,
    owner: impl Fn() -> String,
    warnings: &mut Vec<String>,
) -> Result<(Geometry, Pose), BuildError> {
    let plain = unwrap_placement(shape, scale);
    let geometry = match simple_geometry(plain.shape, plain.scale) {
        Some(geometry) => geometry,
        None => sampled_geometry(&plain, cell, owner, warnings)?,
    };
    Ok((geometry, plain.pose))
}

/// The pose of something that stands in another frame.
fn joined(outer: Pose, inner: Pose) -> Pose {
    Pose { at: outer.point(inner.at), turn: outer.turn * inner.turn }
}

/// A shape taken out of its placements.
struct Plain<'a> {
    shape: &'a Shape,
    /// Where the shape's own frame is in the obstacle's, the scale apart.
    pose: Pose,
    scale: f32,
}

fn unwrap_placement(shape: &Shape, scale: f32) -> Plain<'_> {
    let mut plain = Plain { shape, pose: Pose::default(), scale };
    while let Shape::Placed { shape, placement } = plain.shape {
        let Placement { at, scale, .. } = *placement;
        let own = Pose { at: plain.scale * at, turn: placement.rotation() };
        plain = Plain { shape, pose: joined(plain.pose, own), scale: plain.scale * scale };
    }
    plain
}

/// The engine's own geometry, for shapes that it knows.
fn simple_geometry(shape: &Shape, scale: f32) -> Option<Geometry> {
    Some(match shape {
        Shape::Box { size } => Geometry::Box { size: *size * scale },
        Shape::Sphere { radius } => Geometry::Sphere { radius: radius * scale },
        Shape::Capsule { radius, height } if *height > 0.0 => {
            Geometry::Capsule { radius: radius * scale, height: height * scale }
        }
        Shape::Capsule { radius, .. } => Geometry::Sphere { radius: radius * scale },
        Shape::Cylinder { radius, height } => Geometry::Cylinder { radius: radius * scale, height: height * scale },
        Shape::Cone { radius, top_radius, height } if *top_radius == 0.0 => {
            Geometry::Cone { radius: radius * scale, height: height * scale }
        }
        Shape::Plane { normal } => Geometry::HalfSpace { normal: normal.normalize_or(Vec3::Y) },
        Shape::Mesh(solid) => mesh_geometry(solid, scale),
        _ => return None,
    })
}

fn mesh_geometry(solid: &MeshSolid, scale: f32) -> Geometry {
    let mesh = solid.mesh();
    Geometry::Mesh {
        positions: Arc::new(mesh.positions.iter().map(|position| *position * scale).collect()),
        triangles: Arc::new(mesh.triangles.clone()),
    }
}

/// Distances on a grid, for every other shape.
fn sampled_geometry(
    plain: &Plain,
    cell: Option<f32>,
    owner: impl Fn() -> String,
    warnings: &mut Vec<String>,
) -> Result<Geometry, BuildError> {
    let shape = scaled(plain.shape.clone(), plain.scale);
    let bounds = shape.bounds().ok_or_else(|| BuildError::EndlessShape { owner: owner() })?;
    let cell = cell.unwrap_or(bounds.size().max_element() / FINENESS).max(f32::MIN_POSITIVE);
    let origin = bounds.min - MARGIN * cell;
    // Counted in 64 bits and saturating: a careless cell must not overflow.
    let wide = bounds.size().as_dvec3() / f64::from(cell);
    let counts =
        wide.to_array().map(|cells| cells.ceil() as u64).map(|cells| cells.saturating_add(2 * MARGIN as u64 + 1));
    let corners = counts.iter().fold(1_u64, |product, count| product.saturating_mul(*count));
    if corners > CORNERS {
        return Err(BuildError::GridTooFine { owner: owner(), cell, corners, limit: CORNERS });
    }
    let [nx, ny, _] = counts;
    let values = parallel::map(corners as usize, 4096, |corner| {
        let corner = corner as u64;
        let index = [corner % nx, corner / nx % ny, corner / (nx * ny)];
        shape.distance(origin + cell * Vec3::from_array(index.map(|i| i as f32)))
    });
    if values.iter().all(|value| *value >= 0.0) {
        warnings.push(format!(
            "{}: no corner of its grid lies inside it, so nothing will touch it; make `cell` smaller than {cell} m",
            owner()
        ));
    }
    Ok(Geometry::Grid(Arc::new(DistanceGrid { origin, cell, counts: counts.map(|count| count as u32), values })))
}
