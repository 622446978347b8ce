//! Embedded meshes: each vertex follows the fitted maps of the clusters around it.

use super::Cluster;
use super::batches::ClusterBatches;
use crate::Real;
use crate::frame::{FrameSkin, Topology};
use crate::geometry::{surface_topology, vertex_normals};
use crate::numerics::Csr;
use crate::parallel;
use crate::skin::SkinMesh;
use crate::store::Particles;
use glam::{DMat3, DVec3, Vec3};
use phyxel_laws::shape_matching::rest::{RestShape, quadratic_monomials};
use std::sync::Arc;

/// Vertices per task.
const GRAIN: usize = 1024;
/// A cluster affects vertices up to this multiple of the distance of its farthest point.
const REACH: Real = 1.25;

/// Embedding of the vertices of a mesh in the clusters of a body.
#[derive(Clone, Debug)]
pub(super) struct ClusterEmbedding {
    /// Clusters of the body.
    clusters: Vec<u32>,
    /// Index into `clusters` and weight, by vertex; the weights of a vertex add up to 1.
    weights: Csr<(u32, Real)>,
    triangles: Arc<Vec<[u32; 3]>>,
    topology: Topology,
}

/// Map of a cluster from its rest shape to the present shape.
struct ClusterMap {
    centre: DVec3,
    rest_centre: DVec3,
    gyration_radius: f64,
    affine: DMat3,
    quadratic: [[f64; 6]; 3],
    mean_monomials: [f64; 6],
    velocity: DVec3,
    velocity_gradient: DMat3,
}

impl ClusterEmbedding {
    pub fn new(
        mesh: &SkinMesh,
        clusters: &[Cluster],
        body: u32,
        shapes: &[RestShape],
        particles: &Particles,
        spacing: Real,
    ) -> Self {
        let of_body: Vec<u32> = (0..clusters.len() as u32).filter(|&c| clusters[c as usize].body == body).collect();
        let reach: Vec<Real> = of_body
            .iter()
            .map(|&c| {
                let distance = |&i: &u32| particles.rest[i as usize].distance(shapes[c as usize].centre);
                REACH * (clusters[c as usize].members.iter().map(distance).fold(0.0, Real::max) + spacing)
            })
            .collect();
        let by_vertex = parallel::map(mesh.positions.len(), GRAIN, |v| {
            let candidates = of_body.iter().enumerate();
            cluster_weights(
                mesh.positions[v],
                candidates.map(|(k, &c)| (k as u32, shapes[c as usize].centre, reach[k])),
            )
        });
        let (triangles, topology) = (Arc::new(mesh.triangles.clone()), surface_topology(&mesh.triangles));
        Self { clusters: of_body, weights: Csr::from_rows(by_vertex), triangles, topology }
    }

    /// Skin of a frame in the present configuration.
    pub fn frame_skin(
        &self,
        mesh: &SkinMesh,
        clusters: &[Cluster],
        batches: &ClusterBatches,
        particles: &Particles,
        quadratic: bool,
    ) -> FrameSkin {
        let maps = parallel::map(self.clusters.len(), 8, |k| {
            let c = self.clusters[k] as usize;
            let shape = (&batches.shapes[c], batches.weights[c].as_slice());
            ClusterMap::fit(&clusters[c], shape, particles, quadratic)
        });
        let embedded = parallel::map(mesh.positions.len(), GRAIN, |v| {
            let rest = mesh.positions[v].as_dvec3();
            let mut sum = (DVec3::ZERO, DVec3::ZERO);
            for &(k, weight) in self.weights.row(v) {
                let (x, velocity) = maps[k as usize].point(rest);
                sum = (sum.0 + x * f64::from(weight), sum.1 + velocity * f64::from(weight));
            }
            (sum.0.as_vec3(), sum.1.as_vec3())
        });
        let (positions, velocities): (Vec<Vec3>, Vec<Vec3>) = embedded.into_iter().unzip();
        let normals = vertex_normals(&positions, &self.triangles);
        FrameSkin {
            positions,
            normals,
            velocities,
            temperatures: Vec::new(),
            strains: Vec::new(),
            triangles: self.triangles.clone(),
            axes: Vec::new(),
            crease: None,
            topology: self.topology,
        }
    }
}

/// Weights of the clusters around a vertex; the nearest alone if none affects it.
fn cluster_weights(vertex: Vec3, clusters: impl Iterator<Item = (u32, Vec3, Real)>) -> Vec<(u32, Real)> {
    let mut weights = Vec::new();
    let mut nearest = (Real::INFINITY, 0);
    for (k, centre, reach) in clusters {
        let ratio = vertex.distance_squared(centre) / (reach * reach);
        if ratio < nearest.0 {
            nearest = (ratio, k);
        }
        if ratio < 1.0 {
            weights.push((k, (1.0 - ratio) * (1.0 - ratio)));
        }
    }
    let total: Real = weights.iter().map(|(_, weight)| weight).sum();
    if total < 1e-6 {
        return vec![(nearest.1, 1.0)];
    }
    weights.iter_mut().for_each(|(_, weight)| *weight /= total);
    weights
}

impl ClusterMap {
    /// Fits the best affine map of a cluster, and the best quadratic map of its residual.
    ///
    /// Fitting the residual makes affine motion exact whatever points the cluster has.
    fn fit(cluster: &Cluster, (shape, weights): (&RestShape, &[f32]), particles: &Particles, quadratic: bool) -> Self {
        let gyration_radius = f64::from(shape.gyration_radius);
        let members = || cluster.members.iter().zip(weights).map(|(&i, &w)| (i as usize, f64::from(w)));
        let centre: DVec3 = members().map(|(i, w)| w * particles.position[i].as_dvec3()).sum();
        let velocity: DVec3 = members().map(|(i, w)| w * particles.velocity[i].as_dvec3()).sum();
        let rest_centre: DVec3 = members().map(|(i, w)| w * particles.rest[i].as_dvec3()).sum();
        let q = |i: usize| (particles.rest[i].as_dvec3() - rest_centre) / gyration_radius;
        let (mut sum, mut rate_sum, mut square) = (DMat3::ZERO, DMat3::ZERO, DMat3::ZERO);
        for (i, w) in members() {
            let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z) * w;
            sum += outer(particles.position[i].as_dvec3() - centre, q(i));
            rate_sum += outer(particles.velocity[i].as_dvec3() - velocity, q(i));
            square += outer(q(i), q(i));
        }
        let rows = std::array::from_fn(|i| std::array::from_fn(|j| square.col(j)[i]));
        let inverse = phyxel_laws::linalg::eigen::pseudo_inverse::<3>(rows, 1e-5);
        let matrix = |m: [[f64; 3]; 3]| DMat3::from_cols_array_2d(&m).transpose();
        let rotation = DMat3::from_quat(cluster.rotation.as_dquat());
        let affine = sum * matrix(inverse.inverse) + rotation * matrix(inverse.null_projector) * gyration_radius;
        let velocity_gradient = rate_sum * matrix(inverse.inverse);
        let mean_monomials = shape.mean_monomials.map(f64::from);
        let mut map = Self {
            centre,
            rest_centre,
            gyration_radius,
            affine,
            quadratic: [[0.0; 6]; 3],
            mean_monomials,
            velocity,
            velocity_gradient,
        };
        if quadratic {
            map.fit_quadratic(cluster, (shape, weights), particles);
        }
        map
    }

    fn fit_quadratic(&mut self, cluster: &Cluster, (shape, weights): (&RestShape, &[f32]), particles: &Particles) {
        let mut sums = [[0.0; 9]; 3];
        for (&i, &w) in cluster.members.iter().zip(weights) {
            let w = f64::from(w);
            let q = (particles.rest[i as usize].as_dvec3() - self.rest_centre) / self.gyration_radius;
            let residual = particles.position[i as usize].as_dvec3() - self.centre - self.affine * q;
            let s = quadratic_monomials(q);
            for (k, row) in sums.iter_mut().enumerate() {
                for (j, sum) in row.iter_mut().enumerate() {
                    *sum += w * residual[k] * if j < 3 { q[j] } else { s[j - 3] - self.mean_monomials[j - 3] };
                }
            }
        }
        let packed = |i: usize, j: usize| {
            let (low, high) = (i.min(j), i.max(j));
            f64::from(shape.inverse_moments9[low * 9 - low * (low + 1) / 2 + high])
        };
        let map = |row: &[f64; 9], j: usize| (0..9).map(|k| row[k] * packed(k, j)).sum::<f64>();
        let extra = DMat3::from_cols_array_2d(&std::array::from_fn(|j| std::array::from_fn(|i| map(&sums[i], j))));
        self.affine += extra;
        self.quadratic = std::array::from_fn(|i| std::array::from_fn(|j| map(&sums[i], j + 3)));
    }

    /// Position and velocity of a point of the rest shape.
    fn point(&self, rest: DVec3) -> (DVec3, DVec3) {
        let q = (rest - self.rest_centre) / self.gyration_radius;
        let s = quadratic_monomials(q);
        let quadratic: [f64; 3] =
            std::array::from_fn(|i| (0..6).map(|j| self.quadratic[i][j] * (s[j] - self.mean_monomials[j])).sum());
        (self.centre + self.affine * q + DVec3::from_array(quadratic), self.velocity + self.velocity_gradient * q)
    }
}
