//! Shape matching: velocities are corrected towards goal positions, those of the rest shape after the best
//! rigid, affine or quadratic map to the present shape.
//!
//! After `[MHTG05]`, with the departures listed in [`phyxel_laws::shape_matching`]. Unconditionally stable;
//! conserves linear and angular momentum.

mod batch;
mod batches;
mod clusters;
mod damping_heat;
mod params;
mod plastic_flow;
mod settings;
mod skin;
#[cfg(test)]
mod tests;
mod thermal;

use self::batches::{ClusterBatches, StepGains};
pub use self::settings::{Clusters, MatchingMode, ShapeMatchingSettings};
use self::thermal::ThermalParams;
use super::BodyState;
use crate::Real;
use crate::body::{Body, BodyId};
use crate::commands::Setting;
use crate::frame::FrameSkin;
use crate::heat::{ConductionGraph, rest_conduction};
use crate::material::Material;
use crate::parallel;
use crate::skin::Skin;
use crate::step::StepContext;
use crate::store::{Flags, Particles, Rearrangement};
use glam::{Mat3, Quat, Vec3};
use phyxel_laws::material::plasticity;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Cluster: points that are matched together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cluster {
    /// Index of its body in the model.
    body: u32,
    /// Particles, ascending.
    members: Vec<u32>,
    /// Rotation of the rest shape in the last step.
    rotation: Quat,
    /// Plastic deformation `Sp`.
    plastic: Mat3,
}

/// Body of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct MatchedBody {
    id: BodyId,
    settings: ShapeMatchingSettings,
    /// Clusters that cuts have split.
    broken: u64,
}

/// Shape matching of all bodies that use it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ShapeMatchingModel {
    bodies: Vec<MatchedBody>,
    clusters: Vec<Cluster>,
    /// Length of the last step, s; 0 before the first.
    last_dt: f64,
    #[serde(skip)]
    derived: Option<Box<DerivedClusters>>,
}

/// Data derived from the description, rebuilt when that changes.
#[derive(Clone, Debug)]
struct DerivedClusters {
    thermal: ThermalParams,
    batches: ClusterBatches,
    /// Conduction graph of neighbours at rest.
    conduction: Arc<ConductionGraph>,
    /// Mean cluster length of each body, m.
    cluster_lengths: Vec<Real>,
    embeddings: Vec<Option<skin::ClusterEmbedding>>,
    /// Connected components of each body.
    pieces: Vec<u32>,
}

impl ShapeMatchingModel {
    /// Number of clusters of all bodies.
    pub fn cluster_count(&self) -> usize {
        self.clusters.len()
    }

    /// Number of memberships: points counted once for each cluster they are in.
    pub fn membership_count(&self) -> usize {
        self.clusters.iter().map(|cluster| cluster.members.len()).sum()
    }

    pub(crate) fn add_body(&mut self, id: BodyId, body: &Body, particles: &Particles, settings: ShapeMatchingSettings) {
        let range = body.range();
        let groups =
            clusters::group_samples(&particles.rest[range.clone()], &settings.clusters, settings.overlap, body.spacing);
        let index = self.bodies.len() as u32;
        let rotation = best_rotation(&particles.rest[range.clone()], &particles.position[range.clone()]);
        self.clusters.extend(groups.into_iter().map(|group| Cluster {
            body: index,
            members: group.into_iter().map(|sample| sample + body.particles.start).collect(),
            rotation,
            plastic: Mat3::IDENTITY,
        }));
        self.bodies.push(MatchedBody { id, settings, broken: 0 });
        self.invalidate();
    }

    pub(crate) fn invalidate(&mut self) {
        self.derived = None;
    }

    pub(crate) fn rearrange(&mut self, order: &Rearrangement) {
        for cluster in &mut self.clusters {
            cluster.members = cluster.members.iter().filter_map(|&i| order.target(i)).collect();
            cluster.members.sort_unstable();
        }
        self.clusters.retain(|cluster| !cluster.members.is_empty());
        self.invalidate();
    }

    pub(crate) fn prepare(&mut self, bodies: &[Body], materials: &[Material], particles: &Particles) {
        if self.derived.is_none() {
            self.derived = Some(Box::new(self.derive(bodies, materials, particles)));
        }
    }

    fn derive(&self, bodies: &[Body], materials: &[Material], particles: &Particles) -> DerivedClusters {
        let mut cluster_lengths = vec![(0.0, 0u32); self.bodies.len()];
        for cluster in &self.clusters {
            let entry = &mut cluster_lengths[cluster.body as usize];
            *entry = (entry.0 + bounding_edge(&cluster.members, particles), entry.1 + 1);
        }
        let cluster_lengths: Vec<Real> =
            cluster_lengths.iter().map(|&(sum, count)| sum / count.max(1) as Real).collect();
        let thermal = self.thermal_params(bodies, materials, particles, &cluster_lengths);
        let ranges: Vec<Range<usize>> = self.bodies.iter().map(|shape| bodies[shape.id.0 as usize].range()).collect();
        let mut batches = ClusterBatches::new(&self.clusters, &thermal.params, &ranges, particles);
        batches.set_gain_indices(&thermal.param_index);
        if thermal.has_stretch() {
            batches.set_rest_deformations(|c| (self.clusters[c as usize].plastic, thermal.stretch(c as usize)));
        }
        let embeddings = (0..self.bodies.len())
            .map(|index| match &bodies[self.bodies[index].id.0 as usize] {
                Body { skin: Skin::Mesh(mesh), spacing, particles: range, .. } if !range.is_empty() => {
                    Some(skin::ClusterEmbedding::new(
                        mesh,
                        &self.clusters,
                        index as u32,
                        &batches.shapes,
                        particles,
                        *spacing,
                    ))
                }
                _ => None,
            })
            .collect();
        let conduction = Arc::new(self.find_conduction(bodies, materials, particles));
        DerivedClusters { thermal, batches, conduction, cluster_lengths, embeddings, pieces: self.count_pieces() }
    }

    /// Conduction graph of neighbours at rest that share a cluster.
    fn find_conduction(&self, bodies: &[Body], materials: &[Material], particles: &Particles) -> ConductionGraph {
        let mut groups: Vec<Vec<&[u32]>> = vec![Vec::new(); self.bodies.len()];
        self.clusters.iter().for_each(|cluster| groups[cluster.body as usize].push(&cluster.members));
        let graphs = parallel::map(groups.len(), 4, |index| {
            let body = &bodies[self.bodies[index].id.0 as usize];
            let material = &materials[body.material.0 as usize];
            rest_conduction(body, material, particles, &groups[index])
        });
        graphs.into_iter().fold(ConductionGraph::default(), |mut all, mut one| {
            all.links.append(&mut one.links);
            all.faces.append(&mut one.faces);
            all
        })
    }

    /// Conduction graph inside its bodies.
    pub(crate) fn conduction(&self) -> Option<&Arc<ConductionGraph>> {
        self.derived.as_deref().map(|derived| &derived.conduction)
    }

    fn count_pieces(&self) -> Vec<u32> {
        let mut groups: Vec<Vec<&[u32]>> = vec![Vec::new(); self.bodies.len()];
        self.clusters.iter().for_each(|cluster| groups[cluster.body as usize].push(&cluster.members));
        parallel::map(groups.len(), 16, |body| clusters::count_pieces(groups[body].iter().copied()))
    }

    fn current_derived(
        &self,
        bodies: &[Body],
        materials: &[Material],
        particles: &Particles,
    ) -> Cow<'_, DerivedClusters> {
        match &self.derived {
            Some(derived) => Cow::Borrowed(derived),
            None => Cow::Owned(self.derive(bodies, materials, particles)),
        }
    }

    /// Advances velocities by `dt (g + f/m)` plus the mean over clusters of `alpha/dt (goal - x)` and
    /// damping, `[MHTG05]` eq. 9 with weights and mean corrected.
    pub(crate) fn advance_velocities(&mut self, particles: &mut Particles, before: &[Vec3], context: &StepContext) {
        let Some(DerivedClusters { thermal, batches, .. }) = self.derived.as_deref_mut() else { return };
        let dt = f64::from(context.dt);
        self.last_dt = dt;
        let gains: Vec<StepGains> = parallel::map(thermal.params.len(), 256, |c| thermal.params[c].gains(dt));
        let Particles { position, velocity, force, mass, flags, .. } = particles;
        let gravity_step = context.gravity * context.dt;
        batches.advance(&gains, position, before, velocity, |i, correction| {
            let acceleration_step = force.get(i).map_or(Vec3::ZERO, |force| *force * (context.dt / mass[i]));
            if flags[i].has(Flags::FIXED) {
                Vec3::ZERO
            } else {
                before[i] + gravity_step + acceleration_step + correction
            }
        });
        batches.for_each_fit(|cluster, rotation, _| self.clusters[cluster as usize].rotation = rotation);
        self.record_damping_heat(particles, before, &gains);
    }

    pub(crate) fn set(&mut self, id: BodyId, setting: &Setting) -> bool {
        let Some(body) = self.bodies.iter_mut().find(|body| body.id == id) else { return false };
        match *setting {
            Setting::Mode(mode) => body.settings.mode = mode,
            Setting::Beta(beta) => body.settings.beta = beta,
            Setting::Tau(tau) => body.settings.tau = tau,
            Setting::DampingRate(rate) => body.settings.damping_rate = rate,
            _ => return false,
        }
        self.invalidate();
        true
    }

    pub(crate) fn cut(&mut self, id: BodyId, point: Vec3, normal: Vec3, particles: &Particles) {
        let Some(index) = self.bodies.iter().position(|body| body.id == id) else { return };
        let above = |i: u32| (particles.rest[i as usize] - point).dot(normal) > 0.0;
        let mut split = Vec::with_capacity(self.clusters.len());
        for cluster in self.clusters.drain(..) {
            let is_whole = cluster.body as usize != index
                || cluster.members.iter().all(|&i| above(i))
                || !cluster.members.iter().any(|&i| above(i));
            if is_whole {
                split.push(cluster);
                continue;
            }
            let (up, down) = cluster.members.iter().partition(|&&i| above(i));
            split.push(Cluster { members: up, ..cluster });
            split.push(Cluster { members: down, ..cluster });
            self.bodies[index].broken += 1;
        }
        self.clusters = split;
        self.invalidate();
    }

    pub(crate) fn body_states(
        &self,
        bodies: &[Body],
        materials: &[Material],
        particles: &Particles,
        strains: &mut [Real],
    ) -> Vec<(BodyId, BodyState)> {
        let derived = self.current_derived(bodies, materials, particles);
        let misfits = derived.batches.measure_misfits(particles);
        let dt = if self.last_dt > 0.0 { self.last_dt } else { 1.0 / 120.0 };
        let mut states: Vec<BodyState> =
            self.bodies.iter().map(|body| BodyState { broken: body.broken, ..BodyState::default() }).collect();
        for (c, (cluster, misfit)) in self.clusters.iter().zip(&misfits).enumerate() {
            let (params, mass) = (derived.thermal.cluster_params(c), derived.batches.totals[c]);
            let state = &mut states[cluster.body as usize];
            state.elastic_energy += params.elastic_energy(dt, mass, misfit);
            // Thermal expansion is free of stress and does not count.
            let rest = cluster.plastic * derived.thermal.stretch(c);
            let strain = plasticity::spectral_norm(elastic_strain(misfit.rotation, misfit.affine, rest));
            state.strain_max = state.strain_max.max(f64::from(strain));
            cluster.members.iter().for_each(|&i| strains[i as usize] = strains[i as usize].max(strain));
        }
        for (state, &pieces) in states.iter_mut().zip(&derived.pieces) {
            state.pieces = pieces;
        }
        self.bodies.iter().map(|body| body.id).zip(states).filter(|(id, _)| !bodies[id.0 as usize].is_empty()).collect()
    }

    pub(crate) fn skins(
        &self,
        bodies: &[Body],
        materials: &[Material],
        particles: &Particles,
    ) -> Vec<(BodyId, FrameSkin)> {
        let derived = self.current_derived(bodies, materials, particles);
        let embedded = self.bodies.iter().zip(&derived.embeddings);
        embedded
            .filter_map(|(body, embedding)| match (&bodies[body.id.0 as usize].skin, embedding) {
                (Skin::Mesh(mesh), Some(embedding)) => {
                    let quadratic = body.settings.mode == MatchingMode::Quadratic;
                    Some((body.id, embedding.frame_skin(mesh, &self.clusters, &derived.batches, particles, quadratic)))
                }
                _ => None,
            })
            .collect()
    }
}

/// Elastic strain `S - I` of `[MHTG05]`: the deformation relative to the plastic and expanded rest shape
/// without its rotation, less the identity.
fn elastic_strain(rotation: Quat, affine: Mat3, rest: Mat3) -> Mat3 {
    Mat3::from_quat(rotation.conjugate()) * affine * plasticity::inverse(rest) - Mat3::IDENTITY
}

/// Rotation that fits rest positions best to positions.
fn best_rotation(rest: &[Vec3], now: &[Vec3]) -> Quat {
    let count = rest.len().max(1) as f64;
    let mean = |points: &[Vec3]| points.iter().map(|p| p.as_dvec3()).sum::<glam::DVec3>() / count;
    let (a, b) = (mean(rest), mean(now));
    let sum = rest.iter().zip(now).fold(glam::DMat3::ZERO, |sum, (q, p)| {
        let (q, p) = (q.as_dvec3() - a, p.as_dvec3() - b);
        sum + glam::DMat3::from_cols(p * q.x, p * q.y, p * q.z)
    });
    phyxel_laws::linalg::rotation::nearest_rotation(sum, Quat::IDENTITY)
}

/// Longest edge of the bounding box of particles at rest with their diameter, m.
fn bounding_edge(members: &[u32], particles: &Particles) -> Real {
    let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let (min, max) = members.iter().fold(start, |(min, max), &i| {
        let x = particles.rest[i as usize];
        (min.min(x), max.max(x))
    });
    let diameter = members.first().map_or(0.0, |&i| 2.0 * particles.radius[i as usize]);
    (max - min).max_element().max(0.0) + diameter
}
