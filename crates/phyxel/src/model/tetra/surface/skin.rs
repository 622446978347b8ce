//! Skins of tetrahedral bodies: boundary faces, their subdivision, or an embedded mesh that follows by
//! barycentric weights.

use super::subdivided::SubdividedSurface;
use crate::Real;
use crate::frame::{FrameSkin, Topology};
use crate::geometry::{surface_topology, vertex_normals};
use crate::model::tetra::body::TetBody;
use crate::neighbours::RadiusSearch;
use crate::parallel;
use crate::skin::{CREASE_ANGLE, Skin, SkinMesh};
use crate::store::Particles;
use glam::Vec3;
use phyxel_laws::fem::Element;
use std::ops::{Add, Mul, Range};
use std::sync::{Arc, Mutex, PoisonError};

/// Vertices per task.
const GRAIN: usize = 512;

/// Cache of the skin of the last frame, which the next frame updates.
///
/// Frames only read a world, so this is behind a lock. Skins do not depend on it: a clone starts empty.
#[derive(Debug, Default)]
pub(in crate::model::tetra) struct SkinCache(Mutex<Option<SkinEmbedding>>);

impl Clone for SkinCache {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Embedding of a skin in a body: weights of nodes for each vertex.
#[derive(Debug)]
struct SkinEmbedding {
    /// Nodes of each element when it was made, by index in the body.
    elements: Vec<[u32; 4]>,
    weights: SkinWeights,
    triangles: Arc<Vec<[u32; 3]>>,
    topology: Topology,
    /// Angle above which edges are sharp, degrees.
    crease_angle: Option<Real>,
}

/// Nodes of each vertex, by index in the body, with weights of sum 1.
#[derive(Debug)]
enum SkinWeights {
    Subdivided(Box<SubdividedSurface>),
    Barycentric(Vec<[(u32, Real); 4]>),
}

impl TetBody {
    /// Skin of a body whose particles are `range`, interpolated from nodal positions, velocities,
    /// temperatures and strains; `None` for skins that are not embedded.
    pub fn frame_skin(
        &self,
        skin: &Skin,
        range: Range<usize>,
        particles: &Particles,
        values: [&[Real]; 2],
    ) -> Option<FrameSkin> {
        let first = range.start as u32;
        let local = |nodes: &[u32; 4]| nodes.map(|node| node.wrapping_sub(first));
        let mut cache = self.skin_cache.0.lock().unwrap_or_else(PoisonError::into_inner);
        let embedding = match cache.take() {
            Some(same) if same.elements.iter().copied().eq(self.elements.iter().map(local)) => same,
            last => self.embed(skin, last, self.elements.iter().map(local).collect(), range.clone(), particles)?,
        };
        let frame = embedding.frame_skin(range, particles, values);
        *cache = Some(embedding);
        Some(frame)
    }

    /// Embeds a skin in elements with these nodes, starting from the last embedding.
    fn embed(
        &self,
        skin: &Skin,
        last: Option<SkinEmbedding>,
        elements: Vec<[u32; 4]>,
        range: Range<usize>,
        particles: &Particles,
    ) -> Option<SkinEmbedding> {
        let smooth = match skin {
            Skin::Faces => None,
            Skin::Smooth(smooth) => Some(smooth),
            Skin::Mesh(mesh) => {
                let weights = SkinWeights::Barycentric(self.embed_mesh(mesh, &elements, &particles.rest[range]));
                let (triangles, topology) = (Arc::new(mesh.triangles.clone()), surface_topology(&mesh.triangles));
                return Some(SkinEmbedding { elements, weights, triangles, topology, crease_angle: None });
            }
            Skin::Particles | Skin::Isosurface(_) | Skin::Surfels(_) => return None,
        };
        let mut surface = match last {
            Some(SkinEmbedding { weights: SkinWeights::Subdivided(mut surface), elements: old, .. }) => {
                surface.renumber(&old, &elements);
                surface
            }
            _ => Box::new(SubdividedSurface::new(smooth)),
        };
        let topology = surface.update(self.boundary_surface(range));
        let triangles = Arc::new(surface.subdivision.triangles().to_vec());
        let crease = if smooth.is_none() { Some(CREASE_ANGLE) } else { None };
        Some(SkinEmbedding {
            elements,
            weights: SkinWeights::Subdivided(surface),
            triangles,
            topology,
            crease_angle: crease,
        })
    }

    /// Finds barycentric weights for each vertex of a mesh, in the element that it is in or the nearest
    /// one; `rest` are the rest positions of nodes, m.
    fn embed_mesh(&self, mesh: &SkinMesh, elements: &[[u32; 4]], rest: &[Vec3]) -> Vec<[(u32, Real); 4]> {
        let position = |node: u32| rest[node as usize];
        let centroids: Vec<Vec3> =
            elements.iter().map(|element| 0.25 * element.iter().map(|&node| position(node)).sum::<Vec3>()).collect();
        let corner_distances =
            |(element, centroid): (&[u32; 4], &Vec3)| element.map(|node| position(node).distance(*centroid));
        let radius = elements.iter().zip(&centroids).flat_map(corner_distances).fold(0.0, Real::max);
        // Vertices may lie a little outside.
        let search = RadiusSearch::new(&centroids, 1.5 * radius);
        parallel::map(mesh.positions.len(), GRAIN, |v| {
            let vertex = mesh.positions[v];
            let weights_in = |element: u32| {
                barycentric(&self.element(element as usize), vertex - position(elements[element as usize][0]))
            };
            let mut best: Option<(Real, u32)> = None;
            search.visit(vertex, |element, _| {
                let (distance, _) = weights_in(element);
                if best.is_none_or(|(min_distance, _)| distance < min_distance) {
                    best = Some((distance, element));
                }
            });
            let nearest = best.map(|(_, element)| element).or_else(|| search.nearest(vertex));
            nearest.map_or([(0, 0.0); 4], |element| {
                let ((_, weights), nodes) = (weights_in(element), elements[element as usize]);
                std::array::from_fn(|k| (nodes[k], weights[k]))
            })
        })
    }
}

impl SkinEmbedding {
    /// Skin at the present nodal values.
    fn frame_skin(&self, range: Range<usize>, particles: &Particles, values: [&[Real]; 2]) -> FrameSkin {
        let (positions, velocities) = (
            self.interpolate(&particles.position[range.clone()]),
            self.interpolate(&particles.velocity[range.clone()]),
        );
        // Loop subdivision smooths extrema; the Butterfly scheme has negative weights and may overshoot a
        // little.
        let [temperatures, strains] = values.map(|values| self.interpolate(&values[range.clone()]));
        FrameSkin {
            normals: vertex_normals(&positions, &self.triangles),
            positions,
            velocities,
            temperatures,
            strains,
            triangles: self.triangles.clone(),
            axes: Vec::new(),
            crease: self.crease_angle,
            topology: self.topology,
        }
    }

    /// Interpolates nodal values at the vertices. Uniform values are returned unchanged.
    fn interpolate<T>(&self, nodes: &[T]) -> Vec<T>
    where
        T: Copy + Default + PartialEq + Send + Sync + Add<Output = T> + Mul<Real, Output = T>,
    {
        if let Some(first) = nodes.first().filter(|first| nodes.iter().all(|node| node == *first)) {
            return vec![*first; self.weights.len()];
        }
        parallel::map(self.weights.len(), GRAIN, |v| {
            let terms = self.weights.row(v).iter();
            terms.fold(T::default(), |sum, &(node, weight)| sum + nodes[node as usize] * weight)
        })
    }
}

impl SkinWeights {
    /// Number of vertices.
    fn len(&self) -> usize {
        match self {
            Self::Subdivided(surface) => surface.subdivision.weights().len(),
            Self::Barycentric(weights) => weights.len(),
        }
    }

    /// Nodes and weights of a vertex.
    fn row(&self, vertex: usize) -> &[(u32, Real)] {
        match self {
            Self::Subdivided(surface) => surface.subdivision.weights().terms(vertex),
            Self::Barycentric(weights) => &weights[vertex],
        }
    }
}

/// Distance of a point beyond the faces of an element, m, negative inside, and its barycentric
/// coordinates; `offset` is its position relative to the first corner, m.
fn barycentric(element: &Element, offset: Vec3) -> (Real, [Real; 4]) {
    let [b, c, d] = element.gradients.map(|gradient| gradient.dot(offset));
    let weights = [1.0 - (b + c + d), b, c, d];
    let face_distance = |corner: usize| -weights[corner] / element.gradient(corner).length();
    ((0..4).map(face_distance).fold(Real::NEG_INFINITY, Real::max), weights)
}
