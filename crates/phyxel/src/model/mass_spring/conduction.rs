//! Conduction along springs, and the exposed faces of the solid.

use super::settings::Cell;
use super::spring_graph::SpringAxis;
use super::{LatticeConstants, SpringLattice};
use crate::Real;
use crate::heat::{ConductionBlock, ConductionGraph, Face, Link};
use crate::material::ThermalProperties;
use crate::store::{Particles, Phase};
use glam::Vec3;
use std::ops::Range;
use std::sync::Arc;

/// Conduction graph of a body: the conductance of a spring is conductivity times its shape factor (area over
/// length).
///
/// The conductance of an interior edge of a cube is conductivity times edge length, as of finite volumes
/// around the particles.
pub(super) fn spring_conduction(
    lattice: &SpringLattice,
    range: Range<usize>,
    heat: &ThermalProperties,
    particles: &Particles,
) -> ConductionGraph {
    let links = lattice.graph.springs().filter_map(|spring| {
        let conductivity = match spring.conduction.axis {
            SpringAxis::X => heat.conductivity.x,
            SpringAxis::Y => heat.conductivity.y,
            SpringAxis::Z => heat.conductivity.z,
            SpringAxis::Diagonal => lattice.settings.diagonal_conductivity,
            SpringAxis::Frozen => heat.mean_conductivity(),
        };
        let conductance = conductivity * spring.conduction.shape_factor;
        (conductance > 0.0).then_some(Link { nodes: spring.pair, conductance })
    });
    let is_solid = |i: u32| particles.phase[range.start + i as usize] == Phase::Solid;
    let faces = outer_faces(&lattice.settings.cells, &particles.rest[range.clone()]);
    let faces = faces.into_iter().filter(|face| is_solid(face.particle));
    ConductionGraph { count: range.len(), links: links.collect(), faces: faces.collect() }
}

/// Conduction between molecules of all bodies, from links by particle of the world.
pub(super) fn molecular_block(constants: &[LatticeConstants], mut links: Vec<Link>) -> Option<ConductionBlock> {
    if links.is_empty() {
        return None;
    }
    let first = constants.iter().map(|body| body.range.start).min()?;
    let count = constants.iter().map(|body| body.range.end).max()? - first;
    links.iter_mut().for_each(|link| link.nodes = link.nodes.map(|node| node - first as u32));
    Some(ConductionBlock { first, graph: Arc::new(ConductionGraph { count, links, faces: Vec::new() }) })
}

/// Corners of the lower or upper side of a cell along an axis. Corners of the upper side have the bit of the
/// axis set.
fn side(cell: &Cell, axis: usize, upper: bool) -> [u32; 4] {
    let (p, q) = ((axis + 1) % 3, (axis + 2) % 3);
    let base = usize::from(upper) << axis;
    [0, 1 << p, 1 << q, 1 << p | 1 << q].map(|corner| cell[base | corner])
}

/// Boundary sides of the cells, a quarter for each corner, sorted by particle. Particles lie on them, so the
/// resistance between particle and face is zero.
fn outer_faces(cells: &[Cell], rest: &[Vec3]) -> Vec<Face> {
    let sides = cells.iter().flat_map(|cell| {
        (0..6).map(move |k| {
            let (axis, upper) = (k / 2, k % 2 == 1);
            let mut key = side(cell, axis, upper);
            key.sort_unstable();
            let outward = rest[cell[1 << axis] as usize] - rest[cell[0] as usize];
            (key, if upper { outward } else { -outward }, side(cell, axis, upper))
        })
    });
    let mut sides: Vec<([u32; 4], Vec3, [u32; 4])> = sides.collect();
    sides.sort_by_key(|side| side.0);
    let boundary = sides.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() == 1).map(|group| &group[0]);
    let mut faces = Vec::new();
    for (_, outward, corners) in boundary {
        let at = |k: usize| rest[corners[k] as usize];
        let area = 0.25 * (at(1) - at(0)).cross(at(2) - at(0)).length();
        let normal = outward.normalize_or(Vec3::Y);
        faces.extend(corners.map(|particle| Face { particle, normal, area, resistance: 0.0 }));
    }
    faces.sort_by_key(|face| face.particle);
    merge_coplanar(faces)
}

/// Merges faces of one particle with the same normal.
fn merge_coplanar(faces: Vec<Face>) -> Vec<Face> {
    const COPLANAR: Real = 0.999;
    let mut merged: Vec<Face> = Vec::with_capacity(faces.len());
    for face in faces {
        let same_particle = merged.iter_mut().rev().take_while(|other| other.particle == face.particle);
        match same_particle.into_iter().find(|other| other.normal.dot(face.normal) > COPLANAR) {
            Some(other) => other.area += face.area,
            None => merged.push(face),
        }
    }
    merged
}
