//! Shape matching: points are pulled to where their rest shape, turned and deformed as a whole, would put them.
//!
//! After `[MHTG05]`, with the corrections listed in [`phyxel_laws::matching`]. Unconditionally stable; keeps
//! linear and angular momentum.

mod clusters;
mod packs;
mod settings;
mod skin;
#[cfg(test)]
mod tests;

use self::packs::{Misfit, Pace, Packs};
pub use self::settings::{Clusters, ShapeMode, ShapeSettings};
use super::BodyState;
use crate::Real;
use crate::body::{Body, BodyId};
use crate::command::Setting;
use crate::frame::FrameSkin;
use crate::heat::{Ways, ways_at_rest};
use crate::material::Material;
use crate::parallel;
use crate::particles::{Flags, Particles, Rearrangement};
use crate::skin::Skin;
use crate::step::StepContext;
use glam::{Mat3, Quat, Vec3};
use phyxel_laws::matching::{Kind, LINEAR, QUADRATIC, RIGID};
use phyxel_laws::{plasticity, stiffness};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Points that are matched together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cluster {
    /// Place of its body in the model.
    body: u32,
    /// Particles, rising.
    members: Vec<u32>,
    /// Turn of the rest shape in the last step.
    rotation: Quat,
    /// Permanent deformation.
    plastic: Mat3,
}

/// A body and its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ShapeBody {
    id: BodyId,
    settings: ShapeSettings,
    broken: u64,
}

/// What follows from the settings of a body and its material.
#[derive(Clone, Copy, Debug)]
struct Tuning {
    kind: Kind,
    beta: Real,
    keep_volume: bool,
    /// Time constant of the pull, s.
    tau: f64,
    /// Part of critical damping, if no rate is given.
    damping: f64,
    /// 1/s.
    damping_rate: Option<f64>,
}

impl Tuning {
    /// Pull `alpha` of a step.
    fn alpha(&self, dt: f64) -> f64 {
        stiffness::pull(dt, self.tau)
    }

    fn pace(&self, dt: f64) -> Pace {
        let alpha = self.alpha(dt);
        let damp = match self.damping_rate {
            Some(rate) => stiffness::damped_part(rate, dt),
            None => stiffness::material_damping(self.damping, dt, self.tau),
        };
        Pace { pull: (alpha / dt) as f32, damp: damp as f32 }
    }
}

/// Shape matching for all bodies that use it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ShapeModel {
    bodies: Vec<ShapeBody>,
    clusters: Vec<Cluster>,
    /// Length of the last step, s; 0 before the first.
    last_dt: f64,
    #[serde(skip)]
    derived: Option<Box<Derived>>,
}

/// What follows from the description and is made anew when that changes.
#[derive(Clone, Debug)]
struct Derived {
    tuning: Vec<Tuning>,
    packs: Packs,
    /// Ways for heat along neighbours at rest.
    ways: Arc<Ways>,
    /// Mean cluster length of each body, m.
    lengths: Vec<Real>,
    /// Temperature of each body that `tuning` was made for.
    warmth: Vec<Real>,
    bindings: Vec<Option<skin::Binding>>,
    /// Parts of each body that hang together.
    pieces: Vec<u32>,
}

impl ShapeModel {
    /// Number of clusters of all bodies.
    pub fn cluster_count(&self) -> usize {
        self.clusters.len()
    }

    /// Number of memberships: points counted once for each cluster they are in.
    pub fn membership_count(&self) -> usize {
        self.clusters.iter().map(|cluster| cluster.members.len()).sum()
    }

    pub(crate) fn add_body(&mut self, id: BodyId, body: &Body, particles: &Particles, settings: ShapeSettings) {
        let range = body.range();
        let groups =
            clusters::group_samples(&particles.rest[range.clone()], &settings.clusters, settings.overlap, body.spacing);
        let place = self.bodies.len() as u32;
        let turn = turn_of(&particles.rest[range.clone()], &particles.position[range.clone()]);
        self.clusters.extend(groups.into_iter().map(|group| Cluster {
            body: place,
            members: group.into_iter().map(|sample| sample + body.particles.start).collect(),
            rotation: turn,
            plastic: Mat3::IDENTITY,
        }));
        self.bodies.push(ShapeBody { id, settings, broken: 0 });
        self.refresh();
    }

    pub(crate) fn refresh(&mut self) {
        self.derived = None;
    }

    pub(crate) fn rearrange(&mut self, order: &Rearrangement) {
        for cluster in &mut self.clusters {
            cluster.members = cluster.members.iter().filter_map(|&i| order.target(i)).collect();
            cluster.members.sort_unstable();
        }
        self.clusters.retain(|cluster| !cluster.members.is_empty());
        self.refresh();
    }

    pub(crate) fn prepare(&mut self, bodies: &[Body], materials: &[Material], particles: &Particles) {
        if self.derived.is_none() {
            self.derived = Some(Box::new(self.derive(bodies, materials, particles)));
        }
    }

    fn derive(&self, bodies: &[Body], materials: &[Material], particles: &Particles) -> Derived {
        let mut lengths = vec![(0.0, 0u32); self.bodies.len()];
        for cluster in &self.clusters {
            let entry = &mut lengths[cluster.body as usize];
            *entry = (entry.0 + extent(&cluster.members, particles), entry.1 + 1);
        }
        let lengths: Vec<Real> = lengths.iter().map(|&(sum, count)| sum / count.max(1) as Real).collect();
        let warmth = self.measure_warmth(bodies, materials, particles);
        let tuning = self.tune_all(bodies, materials, &lengths, &warmth);
        let ranges: Vec<Range<usize>> = self.bodies.iter().map(|shape| bodies[shape.id.0 as usize].range()).collect();
        let packs = Packs::new(&self.clusters, &tuning, &ranges, particles);
        let bindings = (0..self.bodies.len())
            .map(|place| match &bodies[self.bodies[place].id.0 as usize] {
                Body { skin: Skin::Mesh(mesh), spacing, particles: range, .. } if !range.is_empty() => {
                    Some(skin::Binding::new(mesh, &self.clusters, place as u32, &packs.shapes, particles, *spacing))
                }
                _ => None,
            })
            .collect();
        let ways = Arc::new(self.ways_between(bodies, materials, particles));
        Derived { tuning, packs, ways, lengths, warmth, bindings, pieces: self.count_pieces() }
    }

    fn measure_warmth(&self, bodies: &[Body], materials: &[Material], particles: &Particles) -> Vec<Real> {
        parallel::map(self.bodies.len(), 16, |place| {
            let body = &bodies[self.bodies[place].id.0 as usize];
            mean_temperature(body, &materials[body.material.0 as usize], particles)
        })
    }

    fn tune_all(&self, bodies: &[Body], materials: &[Material], lengths: &[Real], warmth: &[Real]) -> Vec<Tuning> {
        let tuned = self.bodies.iter().zip(lengths).zip(warmth).map(|((shape, &length), &temperature)| {
            let body = &bodies[shape.id.0 as usize];
            tune(&shape.settings, &materials[body.material.0 as usize], length, temperature)
        });
        tuned.collect()
    }

    /// Ways for heat between neighbours at rest that share a cluster.
    fn ways_between(&self, bodies: &[Body], materials: &[Material], particles: &Particles) -> Ways {
        let mut groups: Vec<Vec<&[u32]>> = vec![Vec::new(); self.bodies.len()];
        self.clusters.iter().for_each(|cluster| groups[cluster.body as usize].push(&cluster.members));
        let ways = parallel::map(groups.len(), 4, |place| {
            let body = &bodies[self.bodies[place].id.0 as usize];
            let material = &materials[body.material.0 as usize];
            ways_at_rest(body, material, particles, &groups[place])
        });
        ways.into_iter().fold(Ways::default(), |mut all, mut one| {
            all.links.append(&mut one.links);
            all.faces.append(&mut one.faces);
            all
        })
    }

    /// Ways for heat inside its bodies.
    pub(crate) fn ways(&self) -> Option<&Arc<Ways>> {
        self.derived.as_deref().map(|derived| &derived.ways)
    }

    /// Stiffness follows the mean temperature of a body.
    pub(crate) fn follow_temperature(&mut self, bodies: &[Body], materials: &[Material], particles: &Particles) {
        let warmth = self.measure_warmth(bodies, materials, particles);
        let Some(derived) = self.derived.as_deref() else { return };
        if warmth != derived.warmth {
            let tuning = self.tune_all(bodies, materials, &derived.lengths, &warmth);
            if let Some(derived) = self.derived.as_deref_mut() {
                (derived.tuning, derived.warmth) = (tuning, warmth);
            }
        }
    }

    fn count_pieces(&self) -> Vec<u32> {
        let mut groups: Vec<Vec<&[u32]>> = vec![Vec::new(); self.bodies.len()];
        self.clusters.iter().for_each(|cluster| groups[cluster.body as usize].push(&cluster.members));
        parallel::map(groups.len(), 16, |body| clusters::count_pieces(groups[body].iter().copied()))
    }

    fn derived(&self, bodies: &[Body], materials: &[Material], particles: &Particles) -> Cow<'_, Derived> {
        match &self.derived {
            Some(derived) => Cow::Borrowed(derived),
            None => Cow::Owned(self.derive(bodies, materials, particles)),
        }
    }

    /// `v += dt (g + f/m) + mean over clusters of (alpha/dt (goal - x) + damping)`, `[MHTG05]` eq. 9 with weights and
    /// mean corrected.
    pub(crate) fn advance_velocities(&mut self, particles: &mut Particles, before: &[Vec3], context: &StepContext) {
        let Some(Derived { tuning, packs, .. }) = self.derived.as_deref_mut() else { return };
        let dt = f64::from(context.dt);
        self.last_dt = dt;
        let paces: Vec<Pace> = tuning.iter().map(|tuning| tuning.pace(dt)).collect();
        let Particles { position, velocity, force, mass, flags, .. } = particles;
        let fall = context.gravity * context.dt;
        packs.advance(
            |body| paces[body as usize],
            position,
            before,
            velocity,
            |i, change| {
                let pushed = force.get(i).map_or(Vec3::ZERO, |force| *force * (context.dt / mass[i]));
                if flags[i].has(Flags::HELD) { Vec3::ZERO } else { before[i] + fall + pushed + change }
            },
        );
        packs.read(|cluster, rotation, _| self.clusters[cluster as usize].rotation = rotation);
    }

    /// Permanent deformation, `[MHTG05]` eqs. 15 and 16.
    pub(crate) fn flow(&mut self, bodies: &[Body], materials: &[Material], context: &StepContext) {
        let Some(derived) = self.derived.as_deref_mut() else { return };
        let plastic_law = |cluster: &Cluster| {
            let body = &bodies[self.bodies[cluster.body as usize].id.0 as usize];
            materials[body.material.0 as usize].plasticity
        };
        if !self.clusters.iter().any(|cluster| plastic_law(cluster).is_some()) {
            return;
        }
        let mut flowed: Vec<(u32, Mat3)> = Vec::new();
        derived.packs.read(|number, rotation, affine| {
            let cluster = &self.clusters[number as usize];
            if let Some(law) = plastic_law(cluster) {
                let strain = strain(rotation, affine, cluster.plastic);
                let amount = context.dt * law.creep;
                if let Some(new) = plasticity::flow(cluster.plastic, strain, law.yield_strain, amount, law.max) {
                    flowed.push((number, new));
                }
            }
        });
        if !flowed.is_empty() {
            flowed.iter().for_each(|&(number, plastic)| self.clusters[number as usize].plastic = plastic);
            derived.packs.set_plastic(|number| self.clusters[number as usize].plastic);
        }
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
        self.refresh();
        true
    }

    pub(crate) fn cut(&mut self, id: BodyId, point: Vec3, normal: Vec3, particles: &Particles) {
        let Some(place) = self.bodies.iter().position(|body| body.id == id) else { return };
        let above = |i: u32| (particles.rest[i as usize] - point).dot(normal) > 0.0;
        let mut parted = Vec::with_capacity(self.clusters.len());
        for cluster in self.clusters.drain(..) {
            let is_whole = cluster.body as usize != place
                || cluster.members.iter().all(|&i| above(i))
                || !cluster.members.iter().any(|&i| above(i));
            if is_whole {
                parted.push(cluster);
                continue;
            }
            let (up, down) = cluster.members.iter().partition(|&&i| above(i));
            parted.push(Cluster { members: up, ..cluster });
            parted.push(Cluster { members: down, ..cluster });
            self.bodies[place].broken += 1;
        }
        self.clusters = parted;
        self.refresh();
    }

    pub(crate) fn states(
        &self,
        bodies: &[Body],
        materials: &[Material],
        particles: &Particles,
        strains: &mut [Real],
    ) -> Vec<(BodyId, BodyState)> {
        let derived = self.derived(bodies, materials, particles);
        let misfits = derived.packs.measure(particles);
        let dt = if self.last_dt > 0.0 { self.last_dt } else { 1.0 / 120.0 };
        let mut states: Vec<BodyState> =
            self.bodies.iter().map(|body| BodyState { broken: body.broken, ..BodyState::default() }).collect();
        for ((cluster, misfit), &mass) in self.clusters.iter().zip(&misfits).zip(&derived.packs.totals) {
            let tuning = &derived.tuning[cluster.body as usize];
            let state = &mut states[cluster.body as usize];
            state.elastic += elastic_energy(tuning, dt, mass, misfit);
            let strain = plasticity::spectral_norm(strain(misfit.rotation, misfit.affine, cluster.plastic));
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
        let derived = self.derived(bodies, materials, particles);
        let carried = self.bodies.iter().zip(&derived.bindings);
        carried
            .filter_map(|(body, binding)| match (&bodies[body.id.0 as usize].skin, binding) {
                (Skin::Mesh(mesh), Some(binding)) => {
                    let bent = body.settings.mode == ShapeMode::Quadratic;
                    Some((body.id, binding.carry(mesh, &self.clusters, &derived.packs, particles, bent)))
                }
                _ => None,
            })
            .collect()
    }
}

/// `alpha/(2 dt^2)` times the weighted square distances: the energy whose gradient is the pull.
fn elastic_energy(tuning: &Tuning, dt: f64, mass: f64, misfit: &Misfit) -> f64 {
    let stiffness = tuning.alpha(dt) / (dt * dt);
    let beta = if tuning.kind == RIGID { 0.0 } else { f64::from(tuning.beta) };
    0.5 * stiffness * mass * (beta * misfit.fitted + (1.0 - beta) * misfit.rigid)
}

/// Deformation in the frame of the plastic rest shape, less the identity.
fn strain(rotation: Quat, affine: Mat3, plastic: Mat3) -> Mat3 {
    Mat3::from_quat(rotation.conjugate()) * affine * plasticity::inverse(plastic) - Mat3::IDENTITY
}

/// The turn that brings rest positions nearest to positions.
fn turn_of(rest: &[Vec3], now: &[Vec3]) -> Quat {
    let count = rest.len().max(1) as f64;
    let mean = |points: &[Vec3]| points.iter().map(|p| p.as_dvec3()).sum::<glam::DVec3>() / count;
    let (a, b) = (mean(rest), mean(now));
    let sum = rest.iter().zip(now).fold(glam::DMat3::ZERO, |sum, (q, p)| {
        let (q, p) = (q.as_dvec3() - a, p.as_dvec3() - b);
        sum + glam::DMat3::from_cols(p * q.x, p * q.y, p * q.z)
    });
    phyxel_laws::rotation::nearest_rotation(sum, Quat::IDENTITY)
}

/// Longest edge of the box around some particles at rest, m.
fn extent(members: &[u32], particles: &Particles) -> Real {
    let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let (min, max) = members.iter().fold(start, |(min, max), &i| {
        let x = particles.rest[i as usize];
        (min.min(x), max.max(x))
    });
    let diameter = members.first().map_or(0.0, |&i| 2.0 * particles.radius[i as usize]);
    (max - min).max_element().max(0.0) + diameter
}

fn mean_temperature(body: &Body, material: &Material, particles: &Particles) -> Real {
    let range = body.range();
    let sum: f64 = range.clone().map(|i| f64::from(material.heat.temperature(particles.enthalpy[i]))).sum();
    (sum / range.len().max(1) as f64) as Real
}

fn tune(settings: &ShapeSettings, material: &Material, length: Real, temperature: Real) -> Tuning {
    let young = material.young_modulus.at(temperature);
    Tuning {
        kind: match settings.mode {
            ShapeMode::Rigid => RIGID,
            ShapeMode::Linear => LINEAR,
            ShapeMode::Quadratic => QUADRATIC,
        },
        beta: settings.beta,
        keep_volume: settings.keep_volume,
        tau: f64::from(settings.tau.unwrap_or_else(|| stiffness::bar_time_constant(length, young, material.density))),
        damping: f64::from(material.damping),
        damping_rate: settings.damping_rate.map(f64::from),
    }
}
