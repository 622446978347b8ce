//! Verification of the finite elements: closed forms, conservation laws, convergence.

#[path = "../common/mod.rs"]
mod common;

mod beams;
mod contact;
mod fracture;
mod melting;
mod motion;
mod other_models;
mod refusals;
mod skins;
mod thermal;
mod ties;

use common::{BodyFixture, Lcg};
use glam::Vec3;
use phyxel::body::NewBody;
use phyxel::model::continuum::Integration;
use phyxel::model::{ModelSettings, TetraSettings};
use phyxel::skin::Skin;
use std::sync::Arc;

/// Edge of cells, m.
const CELL: f32 = 0.1;

/// Division of cubic cells into tetrahedra.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cut {
    /// Six around a diagonal of each cell (Kuhn).
    Six,
    /// Around the centres of cells, four for each face between two (body-centred cubic), as isosurface
    /// stuffing has them.
    Centred,
}

/// Tetrahedral mesh.
struct Mesh {
    nodes: Vec<Vec3>,
    elements: Vec<[u32; 4]>,
}

/// Cells of a block, x fastest.
fn cells([nx, ny, nz]: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])))
}

/// Node at a corner of cells.
fn corner([nx, ny, _]: [u32; 3], [x, y, z]: [u32; 3]) -> u32 {
    x + (nx + 1) * (y + (ny + 1) * z)
}

/// Elements of a block with six around a diagonal of each cell.
fn six_per_cell(counts: [u32; 3]) -> Vec<[u32; 4]> {
    let mut elements = Vec::new();
    for cell in cells(counts) {
        for axes in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]] {
            let mut position = cell;
            let mut element = [corner(counts, cell); 4];
            for (axis, node) in axes.into_iter().zip(&mut element[1..]) {
                position[axis] += 1;
                *node = corner(counts, position);
            }
            elements.push(element);
        }
    }
    elements
}

/// Elements of a block around the centres of cells, which are nodes from `first_centre` on.
fn body_centred(counts: [u32; 3], first_centre: u32) -> Vec<[u32; 4]> {
    let [nx, ny, _] = counts;
    let centre = |[x, y, z]: [u32; 3]| first_centre + x + nx * (y + ny * z);
    let mut elements = Vec::new();
    for cell in cells(counts) {
        for (axis, side) in (0..3).flat_map(|axis| [(axis, 0), (axis, 1)]) {
            let (p, q) = ((axis + 1) % 3, (axis + 2) % 3);
            let face_corner = |a: u32, b: u32| {
                let mut position = cell;
                (position[axis], position[p], position[q]) = (position[axis] + side, position[p] + a, position[q] + b);
                corner(counts, position)
            };
            let ring = [face_corner(0, 0), face_corner(1, 0), face_corner(1, 1), face_corner(0, 1)];
            let is_outer = if side == 0 { cell[axis] == 0 } else { cell[axis] + 1 == counts[axis] };
            if is_outer {
                let k = (cell.iter().sum::<u32>() % 2) as usize;
                elements.push([centre(cell), ring[k], ring[k + 1], ring[k + 2]]);
                elements.push([centre(cell), ring[k], ring[k + 2], ring[(k + 3) % 4]]);
            } else if side == 1 {
                let mut next = cell;
                next[axis] += 1;
                (0..4).for_each(|k| elements.push([centre(cell), centre(next), ring[k], ring[(k + 1) % 4]]));
            }
        }
    }
    elements
}

impl Mesh {
    /// Centred block of cubic cells, `counts` along the axes, with inner nodes displaced by up to
    /// `jitter` cells along every axis.
    fn block(counts: [u32; 3], cell: f32, cut: Cut, jitter: f32) -> Self {
        let [nx, ny, nz] = counts;
        let mut nodes = common::block([nx + 1, ny + 1, nz + 1], 1.0);
        let mut elements = match cut {
            Cut::Six => six_per_cell(counts),
            Cut::Centred => {
                let corners = nodes.len() as u32;
                nodes.extend(common::block(counts, 1.0));
                body_centred(counts, corners)
            }
        };
        let half = Vec3::new(nx as f32, ny as f32, nz as f32) * 0.5;
        let mut random = Lcg(11);
        for node in &mut nodes {
            let is_inner = (half - node.abs()).min_element() > 0.1;
            *node = (*node + random.next_vector(if is_inner { jitter } else { 0.0 })) * cell;
        }
        for element in &mut elements {
            let [a, b, c, d] = element.map(|node| nodes[node as usize]);
            if (b - a).cross(c - a).dot(d - a) < 0.0 {
                element.swap(2, 3);
            }
        }
        Self { nodes, elements }
    }

    fn volume(&self) -> f64 {
        let at = |node: u32| self.nodes[node as usize].as_dvec3();
        let volume = |e: &[u32; 4]| {
            let [a, b, c, d] = e.map(at);
            (b - a).cross(c - a).dot(d - a) / 6.0
        };
        self.elements.iter().map(volume).sum()
    }

    /// Body of these elements.
    fn body(self, spacing: f32, settings: TetraSettings) -> NewBody {
        let volume = self.volume();
        let model = ModelSettings::Tetra(TetraSettings { elements: Arc::new(self.elements), ..settings });
        NewBody { volume, ..common::new_body("body", model, self.nodes, spacing) }
    }
}

/// Block of cells, `counts` along the axes.
fn block(counts: [u32; 3], cell: f32, settings: TetraSettings) -> NewBody {
    Mesh::block(counts, cell, Cut::Centred, 0.1).body(cell, settings)
}

/// Tetrahedron with a corner at the origin and three edges of a cell along the axes.
fn single_element(settings: TetraSettings) -> NewBody {
    let nodes = vec![Vec3::ZERO, CELL * Vec3::X, CELL * Vec3::Y, CELL * Vec3::Z];
    Mesh { nodes, elements: vec![[0, 1, 2, 3]] }.body(CELL, settings)
}

/// The body with a name, a position and its faces as skin.
fn at(name: &str, position: Vec3, body: NewBody) -> NewBody {
    NewBody { name: name.into(), skin: Skin::Faces, ..body.at(position) }
}

fn with_integration(integration: Integration) -> TetraSettings {
    TetraSettings { integration, ..TetraSettings::default() }
}

fn explicit() -> TetraSettings {
    with_integration(Integration::Explicit)
}

fn implicit() -> TetraSettings {
    with_integration(Integration::Implicit)
}
