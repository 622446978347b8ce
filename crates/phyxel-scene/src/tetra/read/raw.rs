//! Nodes and elements on their way from a file to a sound mesh.

use super::super::{Quality, TetraError, TetraMesh};
use super::{Format, Reading};
use glam::Vec3;
use std::collections::HashMap;

/// Largest number of nodes or elements of a mesh; numbers of nodes have 32 bits.
const LIMIT: usize = 1 << 28;
/// An element with less volume than this part of its longest edge cubed is flat. A regular one has 0.118; below
/// a millionth, single-precision coordinates decide what the volume is.
const FLAT: f64 = 1e-6;

/// What a file says, with its own numbers of nodes and elements.
#[derive(Default)]
pub(super) struct Raw {
    positions: Vec<Vec3>,
    /// Number of each node.
    names: Vec<u64>,
    /// Numbers of the corners of each element.
    elements: Vec<[u64; 4]>,
    /// Number of each element.
    labels: Vec<u64>,
}

impl Raw {
    pub fn nodes(&self) -> usize {
        self.positions.len()
    }

    pub fn node(&mut self, name: u64, [x, y, z]: [f64; 3]) -> Result<(), TetraError> {
        if self.positions.len() >= LIMIT {
            return Err(TetraError::TooLarge { limit: LIMIT });
        }
        self.positions.push(Vec3::new(x as f32, y as f32, z as f32));
        self.names.push(name);
        Ok(())
    }

    pub fn element(&mut self, label: u64, corners: [u64; 4]) -> Result<(), TetraError> {
        if self.elements.len() >= LIMIT {
            return Err(TetraError::TooLarge { limit: LIMIT });
        }
        self.elements.push(corners);
        self.labels.push(label);
        Ok(())
    }

    /// Adds a cell of a VTK file, tetrahedra of any order by their corners. Cells of lower dimension add nothing.
    pub fn cell(&mut self, format: Format, label: u64, kind: f64, corners: &[f64]) -> Result<(), TetraError> {
        match kind as u64 {
            // Plain, quadratic, of Lagrange, of Bezier: the corners come first.
            10 | 24 | 71 | 78 => {
                let [a, b, c, d, ..] = *corners else {
                    let what = format!("cell {label} is a tetrahedron with {} corners", corners.len());
                    return Err(TetraError::Content { format, what });
                };
                self.element(label, [a, b, c, d].map(|node| node as u64))
            }
            // Nothing, points, lines, flat cells, and those of higher order.
            0..=9 | 21..=23 | 28 | 30 | 34..=36 | 68..=70 | 75..=77 => Ok(()),
            kind => Err(TetraError::NotTetrahedron { format, element: label, kind }),
        }
    }

    /// Checks everything, turns elements that are inside out and drops nodes without use.
    pub fn finish(self) -> Result<Reading, TetraError> {
        if self.elements.is_empty() {
            return Err(TetraError::NoElements);
        }
        if let Some(node) = self.positions.iter().position(|position| !position.is_finite()) {
            return Err(TetraError::NotFinite { node: self.names[node], value: self.positions[node] });
        }
        let elements = self.numbered()?;
        let mut mesh = TetraMesh { positions: self.positions, elements };
        find_duplicates(&mesh, &self.labels)?;
        find_flat(&mesh, &self.labels)?;
        let repaired = mesh.turn_outwards();
        let unused = drop_unused(&mut mesh);
        let quality = Quality { repaired, unused, ..Quality::of(&mesh) };
        Ok(Reading { mesh, quality })
    }

    /// The elements with places instead of names of nodes.
    fn numbered(&self) -> Result<Vec<[u32; 4]>, TetraError> {
        let mut places: HashMap<u64, u32> = HashMap::with_capacity(self.names.len());
        for (place, name) in self.names.iter().enumerate() {
            if places.insert(*name, place as u32).is_some() {
                return Err(TetraError::RepeatedNode { node: *name });
            }
        }
        let number = |(corners, label): (&[u64; 4], &u64)| {
            let mut numbered = [0; 4];
            for (number, name) in numbered.iter_mut().zip(corners) {
                *number = *places.get(name).ok_or(TetraError::BadNode { element: *label, node: *name })?;
            }
            Ok(numbered)
        };
        self.elements.iter().zip(&self.labels).map(number).collect()
    }
}

fn find_duplicates(mesh: &TetraMesh, labels: &[u64]) -> Result<(), TetraError> {
    let sorted = |(place, element): (usize, &[u32; 4])| {
        let mut corners = *element;
        corners.sort_unstable();
        (corners, place)
    };
    let mut all: Vec<([u32; 4], usize)> = mesh.elements.iter().enumerate().map(sorted).collect();
    all.sort_unstable();
    match all.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(TetraError::Duplicate { first: labels[pair[0].1], second: labels[pair[1].1] }),
        None => Ok(()),
    }
}

fn find_flat(mesh: &TetraMesh, labels: &[u64]) -> Result<(), TetraError> {
    for (place, label) in labels.iter().enumerate() {
        let corners = mesh.corners(place);
        let edges = (0..4).flat_map(|i| (0..i).map(move |j| corners[i].distance(corners[j])));
        let edge = edges.fold(0.0, f64::max);
        let volume = mesh.element_volume(place);
        if volume.abs() <= FLAT * edge * edge * edge {
            return Err(TetraError::Flat { element: *label, volume, edge });
        }
    }
    Ok(())
}

/// Drops nodes that no element uses; how many.
fn drop_unused(mesh: &mut TetraMesh) -> usize {
    let mut numbers = vec![u32::MAX; mesh.positions.len()];
    mesh.elements.iter().flatten().for_each(|node| numbers[*node as usize] = 0);
    let mut kept = Vec::with_capacity(mesh.positions.len());
    for (number, position) in numbers.iter_mut().zip(&mesh.positions).filter(|(number, _)| **number == 0) {
        *number = kept.len() as u32;
        kept.push(*position);
    }
    mesh.elements.iter_mut().flatten().for_each(|node| *node = numbers[*node as usize]);
    let unused = mesh.positions.len() - kept.len();
    mesh.positions = kept;
    unused
}
