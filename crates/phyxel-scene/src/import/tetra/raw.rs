//! Nodes and elements as a file numbers them, and their validation.

use super::TetraImport;
use crate::import::ImportError;
use crate::tetra::{TetraError, TetraMesh, TetraQuality, compact};
use glam::Vec3;
use std::collections::HashMap;

/// Largest number of nodes or elements of a mesh; node indices have 32 bits.
const MAX_ELEMENTS: usize = 1 << 28;
/// Volume over the cube of the longest edge below which an element is degenerate. A regular one has 0.118; below a
/// millionth, the volume is lost in the rounding of single-precision coordinates.
const MIN_RELATIVE_VOLUME: f64 = 1e-6;

/// Unvalidated mesh with the node and element numbers of its file.
#[derive(Default)]
pub(super) struct RawTetra {
    positions: Vec<Vec3>,
    /// Number of each node in the file.
    node_ids: Vec<u64>,
    /// Node numbers of the corners of each element.
    elements: Vec<[u64; 4]>,
    /// Number of each element in the file.
    element_ids: Vec<u64>,
}

impl RawTetra {
    pub fn node_count(&self) -> usize {
        self.positions.len()
    }

    pub fn add_node(&mut self, id: u64, [x, y, z]: [f64; 3]) -> Result<(), TetraError> {
        if self.positions.len() >= MAX_ELEMENTS {
            return Err(TetraError::TooLarge { limit: MAX_ELEMENTS });
        }
        self.positions.push(Vec3::new(x as f32, y as f32, z as f32));
        self.node_ids.push(id);
        Ok(())
    }

    pub fn add_element(&mut self, id: u64, corners: [u64; 4]) -> Result<(), TetraError> {
        if self.elements.len() >= MAX_ELEMENTS {
            return Err(TetraError::TooLarge { limit: MAX_ELEMENTS });
        }
        self.elements.push(corners);
        self.element_ids.push(id);
        Ok(())
    }

    /// Adds a cell of a VTK file: tetrahedra of any order by their corners. Cells of lower dimension add nothing.
    pub fn add_vtk_cell(
        &mut self,
        format: &'static str,
        id: u64,
        kind: f64,
        corners: &[f64],
    ) -> Result<(), ImportError> {
        match kind as u64 {
            // Linear, quadratic, Lagrange, Bezier: the corners come first.
            10 | 24 | 71 | 78 => {
                let [a, b, c, d, ..] = *corners else {
                    let what = format!("cell {id} is a tetrahedron with {} corners", corners.len());
                    return Err(ImportError::Content { format, what });
                };
                Ok(self.add_element(id, [a, b, c, d].map(|node| node as u64))?)
            }
            // Empty, points, lines, flat cells, and those of higher order.
            0..=9 | 21..=23 | 28 | 30 | 34..=36 | 68..=70 | 75..=77 => Ok(()),
            kind => Err(ImportError::NotTetrahedron { format, element: id, kind }),
        }
    }

    /// Validates the mesh, reorients inverted elements and removes unused nodes.
    pub fn finish(self) -> Result<TetraImport, TetraError> {
        if self.elements.is_empty() {
            return Err(TetraError::NoElements);
        }
        if let Some(node) = self.positions.iter().position(|position| !position.is_finite()) {
            return Err(TetraError::NotFinite { node: self.node_ids[node], value: self.positions[node] });
        }
        let elements = self.indexed_elements()?;
        let mut mesh = TetraMesh { positions: self.positions, elements };
        check_duplicates(&mesh, &self.element_ids)?;
        check_volumes(&mesh, &self.element_ids)?;
        let repaired = mesh.orient_elements();
        let unused = drop_unused(&mut mesh);
        let quality = TetraQuality { inverted: repaired, unused, ..TetraQuality::of(&mesh) };
        Ok(TetraImport { mesh, quality })
    }

    /// Elements by node index instead of node number.
    fn indexed_elements(&self) -> Result<Vec<[u32; 4]>, TetraError> {
        let mut indices: HashMap<u64, u32> = HashMap::with_capacity(self.node_ids.len());
        for (index, id) in self.node_ids.iter().enumerate() {
            if indices.insert(*id, index as u32).is_some() {
                return Err(TetraError::RepeatedNode { node: *id });
            }
        }
        let resolve = |(corners, element): (&[u64; 4], &u64)| {
            let mut nodes = [0; 4];
            for (node, id) in nodes.iter_mut().zip(corners) {
                *node = *indices.get(id).ok_or(TetraError::BadNode { element: *element, node: *id })?;
            }
            Ok(nodes)
        };
        self.elements.iter().zip(&self.element_ids).map(resolve).collect()
    }
}

fn check_duplicates(mesh: &TetraMesh, element_ids: &[u64]) -> Result<(), TetraError> {
    let sorted = |(index, element): (usize, &[u32; 4])| {
        let mut corners = *element;
        corners.sort_unstable();
        (corners, index)
    };
    let mut all: Vec<([u32; 4], usize)> = mesh.elements.iter().enumerate().map(sorted).collect();
    all.sort_unstable();
    match all.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(TetraError::Duplicate { first: element_ids[pair[0].1], second: element_ids[pair[1].1] }),
        None => Ok(()),
    }
}

fn check_volumes(mesh: &TetraMesh, element_ids: &[u64]) -> Result<(), TetraError> {
    for (element, id) in element_ids.iter().enumerate() {
        let corners = mesh.corners(element);
        let edges = (0..4).flat_map(|i| (0..i).map(move |j| corners[i].distance(corners[j])));
        let edge = edges.fold(0.0, f64::max);
        let volume = mesh.element_volume(element);
        if volume.abs() <= MIN_RELATIVE_VOLUME * edge * edge * edge {
            return Err(TetraError::Flat { element: *id, volume, edge });
        }
    }
    Ok(())
}

/// Removes unused nodes; returns their number.
fn drop_unused(mesh: &mut TetraMesh) -> usize {
    let (kept, renumbered) = compact(&mesh.positions, mesh.elements.iter().flatten());
    mesh.elements.iter_mut().flatten().for_each(|node| *node = renumbered[*node as usize]);
    let unused = mesh.positions.len() - kept.len();
    mesh.positions = kept;
    unused
}
