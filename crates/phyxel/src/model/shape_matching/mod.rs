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
use crate::contact::ContactContext;
use crate::frame::FrameSkin;
use crate::heat::{ConductionBlock, rest_conduction};
use crate::model::{BodyModel, ContactReactions, CutPlane, ModelTraits, Moved, View, ViewMut};
use crate::numerics::Aabb;
use crate::parallel;
use crate::skin::Skin;
use crate::step::StepContext;
use crate::store::{Flags, Particles};
use crate::world::World;
use glam::{Mat3, Quat, Vec3};
use phyxel_laws::linalg::rotation::fit_rotation;
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
    /// Conduction graphs of neighbours at rest.
    conduction: Vec<ConductionBlock>,
    /// Mean cluster length of each body, m.
    cluster_lengths: Vec<Real>,
    embeddings: Vec<Option<skin::ClusterEmbedding>>,
    /// Connected components of each body.
    pieces: Vec<u32>,
}

/// Properties of the model.
pub(super) const TRAITS: ModelTraits = ModelTraits { can_be_cut: true, ..ModelTraits::SPHERES };

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
        let rotation = fit_rotation(&particles.rest[range.clone()], &particles.position[range.clone()]);
        self.clusters.extend(groups.into_iter().map(|group| Cluster {
            body: index,
            members: group.into_iter().map(|sample| sample + body.particles.start).collect(),
            rotation,
            plastic: Mat3::IDENTITY,
        }));
        self.bodies.push(MatchedBody { id, settings, broken: 0 });
        self.invalidate();
    }

    fn derive(&self, view: &View) -> DerivedClusters {
        let mut cluster_lengths = vec![(0.0, 0u32); self.bodies.len()];
        for cluster in &self.clusters {
            let entry = &mut cluster_lengths[cluster.body as usize];
            *entry = (entry.0 + bounding_edge(&cluster.members, view.particles), entry.1 + 1);
        }
        let cluster_lengths: Vec<Real> =
            cluster_lengths.iter().map(|&(sum, count)| sum / count.max(1) as Real).collect();
        let thermal = self.thermal_params(view, &cluster_lengths);
        let ranges: Vec<Range<usize>> = self.bodies.iter().map(|shape| view.range(shape.id)).collect();
        let mut batches = ClusterBatches::new(&self.clusters, &thermal.params, &ranges, view.particles);
        batches.set_gain_indices(&thermal.param_index);
        if thermal.has_stretch() {
            batches.set_rest_deformations(|c| (self.clusters[c as usize].plastic, thermal.stretch(c as usize)));
        }
        let embeddings = (0..self.bodies.len())
            .map(|index| match view.body(self.bodies[index].id) {
                Body { skin: Skin::Mesh(mesh), spacing, particles: range, .. } if !range.is_empty() => {
                    Some(skin::ClusterEmbedding::new(
                        mesh,
                        &self.clusters,
                        index as u32,
                        &batches.shapes,
                        view.particles,
                        *spacing,
                    ))
                }
                _ => None,
            })
            .collect();
        let conduction = self.find_conduction(view);
        DerivedClusters { thermal, batches, conduction, cluster_lengths, embeddings, pieces: self.count_pieces() }
    }

    /// Conduction graphs of neighbours at rest that share a cluster, by body.
    fn find_conduction(&self, view: &View) -> Vec<ConductionBlock> {
        let mut groups: Vec<Vec<&[u32]>> = vec![Vec::new(); self.bodies.len()];
        self.clusters.iter().for_each(|cluster| groups[cluster.body as usize].push(&cluster.members));
        parallel::map(groups.len(), 4, |index| {
            let id = self.bodies[index].id;
            let graph = rest_conduction(view.body(id), view.material(id), view.particles, &groups[index]);
            ConductionBlock { first: view.range(id).start, graph: Arc::new(graph) }
        })
    }

    fn count_pieces(&self) -> Vec<u32> {
        let mut groups: Vec<Vec<&[u32]>> = vec![Vec::new(); self.bodies.len()];
        self.clusters.iter().for_each(|cluster| groups[cluster.body as usize].push(&cluster.members));
        parallel::map(groups.len(), 16, |body| clusters::count_pieces(groups[body].iter().copied()))
    }

    fn current_derived(&self, view: &View) -> Cow<'_, DerivedClusters> {
        match &self.derived {
            Some(derived) => Cow::Borrowed(derived),
            None => Cow::Owned(self.derive(view)),
        }
    }
}

impl BodyModel for ShapeMatchingModel {
    fn invalidate(&mut self) {
        self.derived = None;
    }

    fn rearrange(&mut self, moved: &Moved) {
        for cluster in &mut self.clusters {
            cluster.members = cluster.members.iter().filter_map(|&i| moved.order.target(i)).collect();
            cluster.members.sort_unstable();
        }
        self.clusters.retain(|cluster| !cluster.members.is_empty());
        self.invalidate();
    }

    fn prepare(&mut self, view: &View) {
        if self.derived.is_none() {
            self.derived = Some(Box::new(self.derive(view)));
        }
    }

    /// Conduction graph inside its bodies.
    fn conduction(&self) -> Vec<ConductionBlock> {
        self.derived.as_deref().map_or(Vec::new(), |derived| derived.conduction.clone())
    }

    /// Advances velocities by `dt (g + f/m)` plus the mean over clusters of `alpha/dt (goal - x)` and
    /// damping, `[MHTG05]` eq. 9 with weights and mean corrected.
    fn advance_velocities(
        &mut self,
        view: &mut ViewMut,
        previous: &[Vec3],
        _contacts: &ContactContext,
        context: &StepContext,
    ) -> ContactReactions {
        let Some(DerivedClusters { thermal, batches, .. }) = self.derived.as_deref_mut() else {
            return ContactReactions::default();
        };
        let dt = f64::from(context.dt);
        self.last_dt = dt;
        let gains: Vec<StepGains> = parallel::map(thermal.params.len(), 256, |c| thermal.params[c].gains(dt));
        let Particles { position, velocity, force, mass, flags, .. } = &mut *view.particles;
        let gravity_step = context.gravity * context.dt;
        batches.advance(&gains, position, previous, velocity, |i, correction| {
            let acceleration_step = force.get(i).map_or(Vec3::ZERO, |force| *force * (context.dt / mass[i]));
            if flags[i].has(Flags::FIXED) {
                Vec3::ZERO
            } else {
                previous[i] + gravity_step + acceleration_step + correction
            }
        });
        batches.for_each_fit(|cluster, rotation, _| self.clusters[cluster as usize].rotation = rotation);
        self.record_damping_heat(view.particles, previous, &gains);
        ContactReactions::default()
    }

    fn set(&mut self, id: BodyId, setting: &Setting) -> bool {
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

    fn cut(&mut self, id: BodyId, plane: CutPlane, world: &mut World) {
        let Some(index) = self.bodies.iter().position(|body| body.id == id) else { return };
        let above = |i: u32| plane.is_above(world.particles.rest[i as usize]);
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

    fn body_states(&self, view: &View, strains: &mut [Real]) -> Vec<(BodyId, BodyState)> {
        let derived = self.current_derived(view);
        let misfits = derived.batches.measure_misfits(view.particles);
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
        self.bodies
            .iter()
            .map(|body| body.id)
            .zip(states)
            .filter(|(id, _)| !view.bodies[id.0 as usize].is_empty())
            .collect()
    }

    fn skins(&self, view: &View, _values: [&[Real]; 2]) -> Vec<(BodyId, FrameSkin)> {
        let derived = self.current_derived(view);
        let embedded = self.bodies.iter().zip(&derived.embeddings);
        embedded
            .filter_map(|(body, embedding)| match (&view.bodies[body.id.0 as usize].skin, embedding) {
                (Skin::Mesh(mesh), Some(embedding)) => {
                    let quadratic = body.settings.mode == MatchingMode::Quadratic;
                    Some((
                        body.id,
                        embedding.frame_skin(mesh, &self.clusters, &derived.batches, view.particles, quadratic),
                    ))
                }
                _ => None,
            })
            .collect()
    }

    /// Clusters are removed with their particles.
    fn remove_body(&mut self, _id: BodyId) {}

    fn change_phase(&mut self, view: &mut ViewMut, context: &StepContext) {
        self.update_plasticity(view.particles, context);
    }

    fn update_thermal_state(&mut self, view: &View) {
        self.update_thermal_params(view);
    }
}

/// Elastic strain `S - I` of `[MHTG05]`: the deformation relative to the plastic and expanded rest shape
/// without its rotation, less the identity.
fn elastic_strain(rotation: Quat, affine: Mat3, rest: Mat3) -> Mat3 {
    Mat3::from_quat(rotation.conjugate()) * affine * plasticity::inverse(rest) - Mat3::IDENTITY
}

/// Longest edge of the bounding box of particles at rest with their diameter, m.
fn bounding_edge(members: &[u32], particles: &Particles) -> Real {
    let aabb = Aabb::from_points(members.iter().map(|&i| particles.rest[i as usize]));
    let diameter = members.first().map_or(0.0, |&i| 2.0 * particles.radius[i as usize]);
    aabb.extent().max_element().max(0.0) + diameter
}
