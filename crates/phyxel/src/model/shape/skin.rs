//! A mesh carried by clusters: each vertex follows the fitted maps of the clusters around it.

use super::Cluster;
use super::packs::Packs;
use crate::Real;
use crate::frame::{FrameSkin, Topology};
use crate::parallel;
use crate::particles::Particles;
use crate::skin::SkinMesh;
use crate::surface::{topology, vertex_normals};
use glam::{DMat3, DVec3, Vec3};
use phyxel_laws::matching::rest::{RestShape, products};
use std::sync::Arc;

/// Vertices per task.
const GRAIN: usize = 1024;
/// A cluster carries vertices up to this multiple of the distance of its farthest point.
const REACH: Real = 1.25;

/// Which clusters carry which vertex.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    /// Clusters of the body.
    clusters: Vec<u32>,
    /// First entry of each vertex in `links`.
    start: Vec<u32>,
    /// Place in `clusters` and weight; weights of a vertex add up to 1.
    links: Vec<(u32, Real)>,
    triangles: Arc<Vec<[u32; 3]>>,
    topology: Topology,
}

/// Where a cluster takes a point of its rest shape.
struct Map {
    centre: DVec3,
    rest_centre: DVec3,
    size: f64,
    affine: DMat3,
    bent: [[f64; 6]; 3],
    mean: [f64; 6],
    velocity: DVec3,
    rate: DMat3,
}

impl Binding {
    pub fn new(
        mesh: &SkinMesh,
        clusters: &[Cluster],
        body: u32,
        shapes: &[RestShape],
        particles: &Particles,
        spacing: Real,
    ) -> Self {
        let own: Vec<u32> = (0..clusters.len() as u32).filter(|&c| clusters[c as usize].body == body).collect();
        let reach: Vec<Real> = own
            .iter()
            .map(|&c| {
                let away = |&i: &u32| particles.rest[i as usize].distance(shapes[c as usize].centre);
                REACH * (clusters[c as usize].members.iter().map(away).fold(0.0, Real::max) + spacing)
            })
            .collect();
        let linked = parallel::map(mesh.positions.len(), GRAIN, |v| {
            let places = own.iter().enumerate();
            link(mesh.positions[v], places.map(|(k, &c)| (k as u32, shapes[c as usize].centre, reach[k])))
        });
        let mut start = vec![0];
        let mut links = Vec::new();
        for vertex in linked {
            links.extend(vertex);
            start.push(links.len() as u32);
        }
        let topology = topology(&mesh.triangles);
        Self { clusters: own, start, links, triangles: Arc::new(mesh.triangles.clone()), topology }
    }

    /// The mesh where the clusters carry it now.
    pub fn carry(
        &self,
        mesh: &SkinMesh,
        clusters: &[Cluster],
        packs: &Packs,
        particles: &Particles,
        bent: bool,
    ) -> FrameSkin {
        let maps = parallel::map(self.clusters.len(), 8, |k| {
            let number = self.clusters[k] as usize;
            let shape = (&packs.shapes[number], packs.weights[number].as_slice());
            Map::fit(&clusters[number], shape, particles, bent)
        });
        let moved = parallel::map(mesh.positions.len(), GRAIN, |v| {
            let links = &self.links[self.start[v] as usize..self.start[v + 1] as usize];
            let rest = mesh.positions[v].as_dvec3();
            let mut sum = (DVec3::ZERO, DVec3::ZERO);
            for &(place, weight) in links {
                let (x, velocity) = maps[place as usize].point(rest);
                sum = (sum.0 + x * f64::from(weight), sum.1 + velocity * f64::from(weight));
            }
            (sum.0.as_vec3(), sum.1.as_vec3())
        });
        let (positions, velocities): (Vec<Vec3>, Vec<Vec3>) = moved.into_iter().unzip();
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

/// Weights of the clusters around a vertex; the nearest one alone if none reaches it.
fn link(vertex: Vec3, clusters: impl Iterator<Item = (u32, Vec3, Real)>) -> Vec<(u32, Real)> {
    let mut links = Vec::new();
    let mut nearest = (Real::INFINITY, 0);
    for (place, centre, reach) in clusters {
        let ratio = vertex.distance_squared(centre) / (reach * reach);
        if ratio < nearest.0 {
            nearest = (ratio, place);
        }
        if ratio < 1.0 {
            links.push((place, (1.0 - ratio) * (1.0 - ratio)));
        }
    }
    let total: Real = links.iter().map(|(_, weight)| weight).sum();
    if total < 1e-6 {
        return vec![(nearest.1, 1.0)];
    }
    links.iter_mut().for_each(|(_, weight)| *weight /= total);
    links
}

impl Map {
    /// The best affine map of a cluster, and the best quadratic map of what the affine one leaves.
    ///
    /// Fitting the rest only makes an affine motion exact whatever points the cluster has.
    fn fit(cluster: &Cluster, (shape, weights): (&RestShape, &[f32]), particles: &Particles, bent: bool) -> Self {
        let size = f64::from(shape.size);
        let members = || cluster.members.iter().zip(weights).map(|(&i, &w)| (i as usize, f64::from(w)));
        let centre: DVec3 = members().map(|(i, w)| w * particles.position[i].as_dvec3()).sum();
        let velocity: DVec3 = members().map(|(i, w)| w * particles.velocity[i].as_dvec3()).sum();
        let rest_centre: DVec3 = members().map(|(i, w)| w * particles.rest[i].as_dvec3()).sum();
        let q = |i: usize| (particles.rest[i].as_dvec3() - rest_centre) / size;
        let (mut sum, mut rate_sum, mut square) = (DMat3::ZERO, DMat3::ZERO, DMat3::ZERO);
        for (i, w) in members() {
            let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z) * w;
            sum += outer(particles.position[i].as_dvec3() - centre, q(i));
            rate_sum += outer(particles.velocity[i].as_dvec3() - velocity, q(i));
            square += outer(q(i), q(i));
        }
        let rows = std::array::from_fn(|i| std::array::from_fn(|j| square.col(j)[i]));
        let inverse = phyxel_laws::symmetric::pseudo_inverse::<3>(rows, 1e-5);
        let matrix = |m: [[f64; 3]; 3]| DMat3::from_cols_array_2d(&m).transpose();
        let turn = DMat3::from_quat(cluster.rotation.as_dquat());
        let affine = sum * matrix(inverse.inverse) + turn * matrix(inverse.missing) * size;
        let rate = rate_sum * matrix(inverse.inverse);
        let mean = shape.mean.map(f64::from);
        let mut map = Self { centre, rest_centre, size, affine, bent: [[0.0; 6]; 3], mean, velocity, rate };
        if bent {
            map.fit_bend(cluster, (shape, weights), particles);
        }
        map
    }

    fn fit_bend(&mut self, cluster: &Cluster, (shape, weights): (&RestShape, &[f32]), particles: &Particles) {
        let mut sums = [[0.0; 9]; 3];
        for (&i, &w) in cluster.members.iter().zip(weights) {
            let w = f64::from(w);
            let q = (particles.rest[i as usize].as_dvec3() - self.rest_centre) / self.size;
            let left = particles.position[i as usize].as_dvec3() - self.centre - self.affine * q;
            let s = products(q);
            for (k, row) in sums.iter_mut().enumerate() {
                for (j, sum) in row.iter_mut().enumerate() {
                    *sum += w * left[k] * if j < 3 { q[j] } else { s[j - 3] - self.mean[j - 3] };
                }
            }
        }
        let packed = |i: usize, j: usize| {
            let (low, high) = (i.min(j), i.max(j));
            f64::from(shape.inverse9[low * 9 - low * (low + 1) / 2 + high])
        };
        let map = |row: &[f64; 9], j: usize| (0..9).map(|k| row[k] * packed(k, j)).sum::<f64>();
        let extra = DMat3::from_cols_array_2d(&std::array::from_fn(|j| std::array::from_fn(|i| map(&sums[i], j))));
        self.affine += extra;
        self.bent = std::array::from_fn(|i| std::array::from_fn(|j| map(&sums[i], j + 3)));
    }

    /// Position and velocity of a point of the rest shape.
    fn point(&self, rest: DVec3) -> (DVec3, DVec3) {
        let q = (rest - self.rest_centre) / self.size;
        let s = products(q);
        let bend: [f64; 3] = std::array::from_fn(|i| (0..6).map(|j| self.bent[i][j] * (s[j] - self.mean[j])).sum());
        (self.centre + self.affine * q + DVec3::from_array(bend), self.velocity + self.rate * q)
    }
}
