//! Obstacles: conversion of shapes to the geometry of the engine.

use super::body::scaled;
use crate::error::BuildError;
use crate::mesh::MeshSolid;
use crate::scene::{ObstacleDescription, pose_of};
use crate::shape::{Placement, Shape};
use glam::Vec3;
use phyxel::body::Pose;
use phyxel::obstacle::{DistanceGrid, Geometry, Keyframe, Obstacle};
use phyxel::parallel;
use std::sync::Arc;

/// Grid cells along the longest side of a sampled shape.
const CELLS_PER_SIDE: f32 = 64.0;
/// Cells of margin around a sampled shape, so that distances at the border are positive.
const MARGIN_CELLS: f32 = 3.0;
/// Largest number of corners of a grid.
const MAX_CORNERS: u64 = 50_000_000;

/// Makes an obstacle.
pub(super) fn make(description: &ObstacleDescription, warnings: &mut Vec<String>) -> Result<Obstacle, BuildError> {
    let owner = || format!("obstacle \"{}\"", description.name);
    let (geometry, own) = to_geometry(&description.shape, description.place.scale, description.cell, owner, warnings)?;
    let mut obstacle = Obstacle::new(description.name.clone(), geometry, Pose::default());
    obstacle.keyframes = if description.keyframes.is_empty() {
        vec![Keyframe { time: 0.0, pose: compose(pose_of(&description.place), own) }]
    } else {
        description.keyframes.iter().map(|key| Keyframe { time: key.time, pose: compose(key.pose, own) }).collect()
    };
    obstacle.friction = description.friction;
    obstacle.restitution = description.restitution;
    obstacle.adhesion = description.adhesion;
    obstacle.temperature = description.temperature;
    obstacle.heat_capacity = description.heat_capacity;
    obstacle.active = description.active;
    obstacle.visible = description.visible;
    obstacle.color = description.color.unwrap_or(obstacle.color);
    Ok(obstacle)
}

/// Converts a shape to the geometry of the engine, with the pose of its frame in that of its owner. Shapes without an
/// analytic geometry become distance grids with cells of edge `cell`, m.
pub(super) fn to_geometry(
    shape: &Shape,
    scale: f32,
    cell: Option<f32>,
    owner: impl Fn() -> String,
    warnings: &mut Vec<String>,
) -> Result<(Geometry, Pose), BuildError> {
    let unplaced = unwrap_placement(shape, scale);
    let geometry = match simple_geometry(unplaced.shape, unplaced.scale) {
        Some(geometry) => geometry,
        None => sampled_geometry(&unplaced, cell, owner, warnings)?,
    };
    Ok((geometry, unplaced.pose))
}

/// Composes a pose with one in its frame.
fn compose(outer: Pose, inner: Pose) -> Pose {
    Pose { position: outer.transform_point(inner.position), rotation: outer.rotation * inner.rotation }
}

/// Shape without its placements.
struct UnplacedShape<'a> {
    shape: &'a Shape,
    /// Pose of the shape's frame in that of the obstacle, without the scale.
    pose: Pose,
    scale: f32,
}

fn unwrap_placement(shape: &Shape, scale: f32) -> UnplacedShape<'_> {
    let mut unplaced = UnplacedShape { shape, pose: Pose::default(), scale };
    while let Shape::Placed { shape, placement } = unplaced.shape {
        let Placement { at, scale, .. } = *placement;
        let own = Pose { position: unplaced.scale * at, rotation: placement.rotation() };
        unplaced = UnplacedShape { shape, pose: compose(unplaced.pose, own), scale: unplaced.scale * scale };
    }
    unplaced
}

/// Analytic or mesh geometry of the engine, if there is one.
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

/// Signed distances on a grid, for every other shape.
fn sampled_geometry(
    plain: &UnplacedShape,
    cell: Option<f32>,
    owner: impl Fn() -> String,
    warnings: &mut Vec<String>,
) -> Result<Geometry, BuildError> {
    let shape = scaled(plain.shape.clone(), plain.scale);
    let bounds = shape.bounds().ok_or_else(|| BuildError::EndlessShape { owner: owner() })?;
    let cell = cell.unwrap_or(bounds.extent().max_element() / CELLS_PER_SIDE).max(f32::MIN_POSITIVE);
    let origin = bounds.min - MARGIN_CELLS * cell;
    // Saturating 64-bit counts: a tiny cell must not overflow.
    let cells = bounds.extent().as_dvec3() / f64::from(cell);
    let counts = cells
        .to_array()
        .map(|cells| cells.ceil() as u64)
        .map(|cells| cells.saturating_add(2 * MARGIN_CELLS as u64 + 1));
    let corners = counts.iter().fold(1_u64, |product, count| product.saturating_mul(*count));
    if corners > MAX_CORNERS {
        return Err(BuildError::GridTooFine { owner: owner(), cell, corners, limit: MAX_CORNERS });
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
