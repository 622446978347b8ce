//! Embedded skins: vertices of a mesh, or surfels, interpolated from the phyxels around them.

use crate::Real;
use crate::frame::{FrameSkin, Topology};
use crate::geometry::{surface_topology, vertex_normals};
use crate::neighbours::RadiusSearch;
use crate::numerics::Csr;
use crate::parallel;
use crate::skin::{Skin, disc_normal};
use glam::{Mat3, Vec3};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Vertices per task.
const GRAIN: usize = 512;
/// Width of the Gaussian weight, as a fraction of the support of a phyxel.
const KERNEL_WIDTH: Real = 0.5;

/// Points of an embedded skin: the vertices of a mesh, or surfels.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct EmbeddedSkin {
    /// Positions, m.
    positions: Vec<Vec3>,
    /// Half axes of surfels, m; empty for a mesh.
    axes: Vec<[Vec3; 2]>,
}

impl EmbeddedSkin {
    /// Skin at rest; `None` for skins that are not embedded.
    fn at_rest(skin: &Skin) -> Option<Self> {
        match skin {
            Skin::Mesh(mesh) => Some(Self { positions: mesh.positions.clone(), axes: Vec::new() }),
            Skin::Surfels(surfels) => Some(Self { positions: surfels.positions.clone(), axes: surfels.axes.clone() }),
            Skin::Particles | Skin::Isosurface(_) | Skin::Faces | Skin::Smooth(_) => None,
        }
    }
}

/// Embedding of the points of a skin in the phyxels of a body.
#[derive(Clone, Debug)]
pub(super) struct PhyxelEmbedding {
    /// By vertex.
    weights: Csr<PhyxelWeight>,
    /// Half axes of surfels in the reference configuration, m; empty for a mesh.
    axes: Vec<[Vec3; 2]>,
    triangles: Arc<Vec<[u32; 3]>>,
    topology: Topology,
}

/// Weight of a phyxel for a vertex.
#[derive(Clone, Copy, Debug)]
struct PhyxelWeight {
    phyxel: u32,
    /// Partition of unity: those of a vertex add up to 1.
    weight: Real,
    /// Vertex relative to the phyxel in the reference configuration, m.
    offset: Vec3,
}

impl PhyxelEmbedding {
    /// Embeds the skin of a body in the reference configuration; `in_reference` is the skin there, if that
    /// is not the rest shape. `None` for skins that are not embedded.
    pub fn of_skin(
        skin: &Skin,
        in_reference: Option<&EmbeddedSkin>,
        reference: &[Vec3],
        supports: &[Real],
    ) -> Option<Self> {
        let points = match in_reference {
            Some(points) => points.clone(),
            None => EmbeddedSkin::at_rest(skin)?,
        };
        let triangles: &[[u32; 3]] = if let Skin::Mesh(mesh) = skin { &mesh.triangles } else { &[] };
        Some(Self::new(points, triangles, reference, supports))
    }

    fn new(points: EmbeddedSkin, triangles: &[[u32; 3]], reference: &[Vec3], supports: &[Real]) -> Self {
        let EmbeddedSkin { positions: vertices, axes } = points;
        let max_support = supports.iter().copied().fold(0.0, Real::max);
        let search = RadiusSearch::new(reference, max_support);
        let by_vertex =
            parallel::map(vertices.len(), GRAIN, |v| phyxel_weights(vertices[v], &search, reference, supports));
        let (triangles, topology) = (Arc::new(triangles.to_vec()), surface_topology(triangles));
        Self { weights: Csr::from_rows(by_vertex), axes, triangles, topology }
    }

    /// Positions and velocities of the points: the weighted mean of `x_i + J_i (X - X_i)` (`[MKN04]` eq.
    /// 27), exact for affine motion.
    fn embed_points(&self, positions: &[Vec3], velocities: &[Vec3], gradients: &[Mat3]) -> (Vec<Vec3>, Vec<Vec3>) {
        let embedded = parallel::map(self.weights.row_count(), GRAIN, |v| {
            let mut sum = (Vec3::ZERO, Vec3::ZERO);
            for w in self.weights.row(v) {
                let i = w.phyxel as usize;
                sum.0 += w.weight * (positions[i] + gradients[i] * w.offset);
                sum.1 += w.weight * velocities[i];
            }
            sum
        });
        embedded.into_iter().unzip()
    }

    /// Half axes of surfels, by the mean of `J_i` with the same weights.
    ///
    /// Their cross product is the cofactor of that mean times the normal, so it stays normal to the
    /// surface, and discs still cover a surface that is stretched.
    fn embed_axes(&self, gradients: &[Mat3]) -> Vec<[Vec3; 2]> {
        parallel::map(self.axes.len(), GRAIN, |v| {
            let add = |sum: Mat3, w: &PhyxelWeight| sum + gradients[w.phyxel as usize] * w.weight;
            let mean = self.weights.row(v).iter().fold(Mat3::ZERO, add);
            self.axes[v].map(|axis| mean * axis)
        })
    }

    /// Points of the skin in the present configuration.
    pub fn embed(&self, positions: &[Vec3], velocities: &[Vec3], gradients: &[Mat3]) -> EmbeddedSkin {
        EmbeddedSkin {
            positions: self.embed_points(positions, velocities, gradients).0,
            axes: self.embed_axes(gradients),
        }
    }

    /// Skin of a frame in the present configuration.
    pub fn frame_skin(&self, positions: &[Vec3], velocities: &[Vec3], gradients: &[Mat3]) -> FrameSkin {
        let (positions, velocities) = self.embed_points(positions, velocities, gradients);
        let axes = self.embed_axes(gradients);
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

/// Weights of the phyxels around a vertex; the nearest alone if none has the vertex in its support.
fn phyxel_weights(vertex: Vec3, search: &RadiusSearch, reference: &[Vec3], supports: &[Real]) -> Vec<PhyxelWeight> {
    let mut weights = Vec::new();
    search.visit(vertex, |phyxel, square| {
        let support = supports[phyxel as usize];
        if square < support * support {
            let width = KERNEL_WIDTH * support;
            // A Gaussian cut off smoothly at the support: weights are continuous in the position of a vertex.
            let cutoff = 1.0 - square / (support * support);
            let weight = libm::expf(-square / (width * width)) * cutoff * cutoff;
            weights.push(PhyxelWeight { phyxel, weight, offset: vertex - reference[phyxel as usize] });
        }
    });
    let total: Real = weights.iter().map(|w| w.weight).sum();
    if total < 1e-6 {
        let nearest = search.nearest(vertex).unwrap_or(0);
        let offset = vertex - reference.get(nearest as usize).copied().unwrap_or_default();
        return vec![PhyxelWeight { phyxel: nearest, weight: 1.0, offset }];
    }
    weights.iter_mut().for_each(|w| w.weight /= total);
    weights
}
