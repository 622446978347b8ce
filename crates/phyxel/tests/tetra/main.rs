//! Tetrahedra against theory.

#[path = "../common/mod.rs"]
mod common;

mod beams;
mod breaking;
mod contact;
mod melting;
mod motion;
mod others;
mod refusals;
mod skins;
mod table;
mod ties;
mod warmth;

use common::{Random, body};
use glam::Vec3;
use phyxel::body::NewBody;
use phyxel::material::Material;
use phyxel::model::shape::ShapeSettings;
use phyxel::model::{ModelSettings, TetraSettings};
use std::sync::Arc;

/// How cells are cut into tetrahedra.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cut {
    /// Six around a diagonal of each cell.
    Six,
    /// Around the middles of cells, four for each face between two, as meshers that cut a lattice to a shape do it.
    Centred,
}

/// Elements with their nodes.
struct Mesh {
    nodes: Vec<Vec3>,
    elements: Vec<[u32; 4]>,
}

impl Mesh {
    /// A block of so many cubic cells along the axes, centred, with each node that is not at the surface up to `jitter` cells from its
    /// place along every axis.
    fn block(counts: [u32; 3], cell: f32, cut: Cut, jitter: f32) -> Self {
        let [nx, ny, nz] = counts;
        let corner = |x: u32, y: u32, z: u32| x + (nx + 1) * (y + (ny + 1) * z);
        let mut nodes = common::block([nx + 1, ny + 1, nz + 1], 1.0);
        let corners = nodes.len() as u32;
        let cells: Vec<[u32; 3]> =
            (0..nz).flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z]))).collect();
        let mut elements = Vec::new();
        match cut {
            Cut::Six => {
                for &[x, y, z] in &cells {
                    for axes in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]] {
                        let mut place = [x, y, z];
                        let mut element = [corner(x, y, z); 4];
                        for (axis, node) in axes.into_iter().zip(&mut element[1..]) {
                            place[axis] += 1;
                            *node = corner(place[0], place[1], place[2]);
                        }
                        elements.push(element);
                    }
                }
            }
            Cut::Centred => {
                nodes.extend(common::block(counts, 1.0));
                let middle = |x: u32, y: u32, z: u32| corners + x + nx * (y + ny * z);
                for &[x, y, z] in &cells {
                    for (axis, side) in (0..3).flat_map(|axis| [(axis, 0), (axis, 1)]) {
                        let (p, q) = ((axis + 1) % 3, (axis + 2) % 3);
                        let at = |a: u32, b: u32| {
                            let mut place = [x, y, z];
                            (place[axis], place[p], place[q]) = (place[axis] + side, place[p] + a, place[q] + b);
                            corner(place[0], place[1], place[2])
                        };
                        let ring = [at(0, 0), at(1, 0), at(1, 1), at(0, 1)];
                        let (own, place) = (middle(x, y, z), [x, y, z][axis]);
                        let is_outer = if side == 0 { place == 0 } else { place + 1 == counts[axis] };
                        if is_outer {
                            let k = ((x + y + z) % 2) as usize;
                            elements.push([own, ring[k], ring[k + 1], ring[k + 2]]);
                            elements.push([own, ring[k], ring[k + 2], ring[(k + 3) % 4]]);
                        } else if side == 1 {
                            let mut next = [x, y, z];
                            next[axis] += 1;
                            let other = middle(next[0], next[1], next[2]);
                            (0..4).for_each(|k| elements.push([own, other, ring[k], ring[(k + 1) % 4]]));
                        }
                    }
                }
            }
        }
        let half = Vec3::new(nx as f32, ny as f32, nz as f32) * 0.5;
        let mut random = Random(11);
        for node in &mut nodes {
            let is_inner = (half - node.abs()).min_element() > 0.1;
            *node = (*node + random.vector(if is_inner { jitter } else { 0.0 })) * cell;
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

    /// A body of these elements.
    fn body(self, spacing: f32, settings: TetraSettings) -> NewBody {
        let volume = self.volume();
        let model = ModelSettings::Tetra(TetraSettings { elements: Arc::new(self.elements), ..settings });
        NewBody { model, volume, spacing, ..body("body", self.nodes, ShapeSettings::default()) }
    }
}

/// Elastic matter without damping.
fn elastic(young: f32, poisson: f32) -> Material {
    Material { young_modulus: young.into(), poisson_ratio: poisson, damping: 0.0, ..common::matter() }
}

/// A block of so many cells along the axes.
fn block(counts: [u32; 3], cell: f32, settings: TetraSettings) -> NewBody {
    Mesh::block(counts, cell, Cut::Centred, 0.1).body(cell, settings)
}
