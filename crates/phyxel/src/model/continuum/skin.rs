//! A mesh or surfels carried by phyxels: each point goes where those around it take it.

use crate::Real;
use crate::frame::{FrameSkin, Topology};
use crate::grid::Neighbourhood;
use crate::parallel;
use crate::skin::{Skin, disc_normal};
use crate::surface::{topology, vertex_normals};
use glam::{Mat3, Vec3};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Vertices per task.
const GRAIN: usize = 512;
/// Weights fade with the support of a phyxel times this; a vertex feels those within twice of it.
const WIDTH: Real = 0.5;

/// What is carried: the vertices of a mesh, or surfels.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Carried {
    /// m.
    positions: Vec<Vec3>,
    /// Half axes of surfels; none for a mesh, m.
    axes: Vec<[Vec3; 2]>,
}

impl Carried {
    /// What a body carries in its shape at rest, if anything.
    fn at_rest(skin: &Skin) -> Option<Self> {
        match skin {
            Skin::Mesh(mesh) => Some(Self { positions: mesh.positions.clone(), axes: Vec::new() }),
            Skin::Surfels(surfels) => Some(Self { positions: surfels.positions.clone(), axes: surfels.axes.clone() }),
            Skin::Particles | Skin::Isosurface(_) | Skin::Faces | Skin::Smooth(_) => None,
        }
    }
}

/// Which phyxels carry which vertex or surfel.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    /// First entry of each vertex in `links`.
    start: Vec<u32>,
    links: Vec<Link>,
    /// Half axes of surfels in the reference shape; none for a mesh, m.
    axes: Vec<[Vec3; 2]>,
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
    /// Binds the skin of a body to its phyxels in the reference shape of both; `now` is the skin there, if that is not the
    /// shape at rest. `None` for skins that are not carried.
    pub fn of_skin(skin: &Skin, now: Option<&Carried>, reference: &[Vec3], supports: &[Real]) -> Option<Self> {
        let carried = match now {
            Some(carried) => carried.clone(),
            None => Carried::at_rest(skin)?,
        };
        let triangles: &[[u32; 3]] = if let Skin::Mesh(mesh) = skin { &mesh.triangles } else { &[] };
        Some(Self::new(carried, triangles, reference, supports))
    }

    fn new(carried: Carried, triangles: &[[u32; 3]], reference: &[Vec3], supports: &[Real]) -> Self {
        let Carried { positions: vertices, axes } = carried;
        let reach = supports.iter().copied().fold(0.0, Real::max);
        let near = Neighbourhood::new(reference, reach);
        let linked = parallel::map(vertices.len(), GRAIN, |v| link(vertices[v], &near, reference, supports));
        let mut start = vec![0];
        let mut links = Vec::new();
        for vertex in linked {
            links.extend(vertex);
            start.push(links.len() as u32);
        }
        Self { start, links, axes, triangles: Arc::new(triangles.to_vec()), topology: topology(triangles) }
    }

    /// Phyxels that carry a vertex or surfel.
    fn links(&self, vertex: usize) -> &[Link] {
        &self.links[self.start[vertex] as usize..self.start[vertex + 1] as usize]
    }

    /// Where the points are, and how fast: the mean of `x_i + J_i (X - X_i)` (`[MKN04]` eq. 27), exact for affine motion.
    fn carry_points(&self, positions: &[Vec3], velocities: &[Vec3], shapes: &[Mat3]) -> (Vec<Vec3>, Vec<Vec3>) {
        let carried = parallel::map(self.start.len() - 1, GRAIN, |v| {
            let mut sum = (Vec3::ZERO, Vec3::ZERO);
            for link in self.links(v) {
                let i = link.phyxel as usize;
                sum.0 += link.weight * (positions[i] + shapes[i] * link.way);
                sum.1 += link.weight * velocities[i];
            }
            sum
        });
        carried.into_iter().unzip()
    }

    /// Half axes of surfels, by the mean of `J_i` with the same weights.
    ///
    /// Their cross product is the cofactor of that mean times the normal, so it stays normal to the surface; and discs
    /// that covered the surface still do when it is stretched.
    fn carry_axes(&self, shapes: &[Mat3]) -> Vec<[Vec3; 2]> {
        parallel::map(self.axes.len(), GRAIN, |v| {
            let add = |sum: Mat3, link: &Link| sum + shapes[link.phyxel as usize] * link.weight;
            let shape = self.links(v).iter().fold(Mat3::ZERO, add);
            self.axes[v].map(|axis| shape * axis)
        })
    }

    /// What is carried, where the phyxels carry it.
    pub fn carry(&self, positions: &[Vec3], velocities: &[Vec3], shapes: &[Mat3]) -> Carried {
        Carried { positions: self.carry_points(positions, velocities, shapes).0, axes: self.carry_axes(shapes) }
    }

    /// The skin where the phyxels carry it.
    pub fn show(&self, positions: &[Vec3], velocities: &[Vec3], shapes: &[Mat3]) -> FrameSkin {
        let (positions, velocities) = self.carry_points(positions, velocities, shapes);
        let axes = self.carry_axes(shapes);
        let normals = match axes.is_empty() {
            true => vertex_normals(&positions, &self.triangles),
            false => axes.iter().copied().map(disc_normal).collect(),
        };
        FrameSkin {
            positions,
            normals,
            velocities,
            temperatures: Vec::new(),
            strains: Vec::new(),
            triangles: self.triangles.clone(),
            axes,
            crease: None,
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
