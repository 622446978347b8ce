//! A mesh carried by phyxels: each vertex goes where those around it take it.

use crate::Real;
use crate::frame::{FrameSkin, Topology};
use crate::grid::Neighbourhood;
use crate::parallel;
use crate::surface::{topology, vertex_normals};
use glam::{Mat3, Vec3};
use std::sync::Arc;

/// Vertices per task.
const GRAIN: usize = 512;
/// Weights fade with the support of a phyxel times this; a vertex feels those within twice of it.
const WIDTH: Real = 0.5;

/// Which phyxels carry which vertex.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    /// First entry of each vertex in `links`.
    start: Vec<u32>,
    links: Vec<Link>,
    triangles: Arc<Vec<[u32; 3]>>,
    topology: Topology,
}

/// A phyxel that carries a vertex.
#[derive(Clone, Copy, Debug)]
struct Link {
    phyxel: u32,
    /// Those of a vertex add up to 1.
    weight: Real,
    /// Way from the phyxel to the vertex in the reference shape, m.
    way: Vec3,
}

impl Binding {
    /// Binds vertices to phyxels in the reference shape of both.
    pub fn new(vertices: &[Vec3], triangles: &[[u32; 3]], reference: &[Vec3], supports: &[Real]) -> Self {
        let reach = supports.iter().copied().fold(0.0, Real::max);
        let near = Neighbourhood::new(reference, reach);
        let linked = parallel::map(vertices.len(), GRAIN, |v| link(vertices[v], &near, reference, supports));
        let mut start = vec![0];
        let mut links = Vec::new();
        for vertex in linked {
            links.extend(vertex);
            start.push(links.len() as u32);
        }
        Self { start, links, triangles: Arc::new(triangles.to_vec()), topology: topology(triangles) }
    }

    /// Where the vertices are, and how fast: the mean of `x_i + J_i (X - X_i)` (`[MKN04]` eq. 27), exact for affine motion.
    pub fn carry(&self, positions: &[Vec3], velocities: &[Vec3], shapes: &[Mat3]) -> (Vec<Vec3>, Vec<Vec3>) {
        let carried = parallel::map(self.start.len() - 1, GRAIN, |v| {
            let links = &self.links[self.start[v] as usize..self.start[v + 1] as usize];
            let mut sum = (Vec3::ZERO, Vec3::ZERO);
            for link in links {
                let i = link.phyxel as usize;
                sum.0 += link.weight * (positions[i] + shapes[i] * link.way);
                sum.1 += link.weight * velocities[i];
            }
            sum
        });
        carried.into_iter().unzip()
    }

    /// The mesh where the phyxels carry it.
    pub fn show(&self, positions: &[Vec3], velocities: &[Vec3], shapes: &[Mat3]) -> FrameSkin {
        let (positions, velocities) = self.carry(positions, velocities, shapes);
        FrameSkin {
            normals: vertex_normals(&positions, &self.triangles),
            positions,
            velocities,
            temperatures: Vec::new(),
            strains: Vec::new(),
            triangles: self.triangles.clone(),
            topology: self.topology,
        }
    }
}

/// Weights of the phyxels around a vertex; the nearest one alone if none reaches it.
fn link(vertex: Vec3, near: &Neighbourhood, reference: &[Vec3], supports: &[Real]) -> Vec<Link> {
    let mut links = Vec::new();
    near.visit(vertex, |phyxel, square| {
        let support = supports[phyxel as usize];
        if square < support * support {
            let width = WIDTH * support;
            // A bell that is gone at the support: no vertex jumps when a phyxel comes or goes.
            let fade = 1.0 - square / (support * support);
            let weight = libm::expf(-square / (width * width)) * fade * fade;
            links.push(Link { phyxel, weight, way: vertex - reference[phyxel as usize] });
        }
    });
    let total: Real = links.iter().map(|link| link.weight).sum();
    if total < 1e-6 {
        let nearest = near.nearest(vertex).unwrap_or(0);
        let way = vertex - reference.get(nearest as usize).copied().unwrap_or_default();
        return vec![Link { phyxel: nearest, weight: 1.0, way }];
    }
    links.iter_mut().for_each(|link| link.weight /= total);
    links
}
