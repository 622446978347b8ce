//! Ways for heat along springs, and the faces of the solid.

use super::SpringBody;
use super::bonds::Way;
use super::settings::Cell;
use crate::Real;
use crate::heat::{Face, Link, Ways};
use crate::material::Heat;
use crate::particles::{Particles, Phase};
use glam::Vec3;
use std::ops::Range;

/// Ways for heat of a body: along every spring with conductance `1/(R length)`, where `1/R` is conductivity times the area
/// it stands for. Inside, an edge of a cube has conductivity times its length: finite volumes around the particles.
pub(super) fn solid_ways(spring: &SpringBody, range: Range<usize>, heat: &Heat, particles: &Particles) -> Ways {
    let first = range.start as u32;
    let links = spring.bonds.springs().filter_map(|one| {
        let conductivity = match one.path.way {
            Way::X => heat.conductivity.x,
            Way::Y => heat.conductivity.y,
            Way::Z => heat.conductivity.z,
            Way::Diagonal => spring.settings.diagonal_conductivity,
            Way::Frozen => heat.mean_conductivity(),
        };
        let conductance = conductivity * one.path.width;
        (conductance > 0.0).then_some(Link { particles: one.pair.map(|i| first + i), conductance })
    });
    let is_solid = |i: u32| particles.phase[range.start + i as usize] == Phase::Solid;
    let faces = outer_faces(&spring.settings.cells, &particles.rest[range.clone()]);
    let faces = faces.into_iter().filter(|face| is_solid(face.particle));
    Ways { links: links.collect(), faces: faces.map(|face| Face { particle: face.particle + first, ..face }).collect() }
}

/// Ways of two bodies together, the first one's first.
pub(super) fn join(mut all: Ways, mut more: Ways) -> Ways {
    all.links.append(&mut more.links);
    all.faces.append(&mut more.faces);
    all
}

/// Corners of the side of a cell at its lower end along an axis; the upper side has the bit of the axis set.
fn side(cell: &Cell, axis: usize, upper: bool) -> [u32; 4] {
    let (p, q) = ((axis + 1) % 3, (axis + 2) % 3);
    let base = usize::from(upper) << axis;
    [0, 1 << p, 1 << q, 1 << p | 1 << q].map(|corner| cell[base | corner])
}

/// The sides of cells that no other cell shares, a quarter for each corner, sorted by particle. Particles lie on them, so
/// nothing is between.
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
    let lone = sides.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() == 1).map(|group| &group[0]);
    let mut faces = Vec::new();
    for (_, outward, corners) in lone {
        let at = |k: usize| rest[corners[k] as usize];
        let area = 0.25 * (at(1) - at(0)).cross(at(2) - at(0)).length();
        let normal = outward.normalize_or(Vec3::Y);
        faces.extend(corners.map(|particle| Face { particle, normal, area, resistance: 0.0 }));
    }
    faces.sort_by_key(|face| face.particle);
    merge_alike(faces)
}

/// Faces of one particle that look the same way are one.
fn merge_alike(faces: Vec<Face>) -> Vec<Face> {
    const ALIKE: Real = 0.999;
    let mut merged: Vec<Face> = Vec::with_capacity(faces.len());
    for face in faces {
        let mine = merged.iter_mut().rev().take_while(|other| other.particle == face.particle);
        match mine.into_iter().find(|other| other.normal.dot(face.normal) > ALIKE) {
            Some(other) => other.area += face.area,
            None => merged.push(face),
        }
    }
    merged
}
