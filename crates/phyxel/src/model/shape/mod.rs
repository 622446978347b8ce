//! Shape matching: points are pulled to where their rest shape, turned and deformed as a whole, would put them.
//!
//! After `[MHTG05]`, with the corrections listed in [`phyxel_laws::matching`]. Unconditionally stable; keeps
//! linear and angular momentum.

mod clusters;
mod flow;
mod packs;
mod settings;
mod skin;
#[cfg(test)]
mod tests;
mod tuning;
mod warmth;
mod work;

use self::packs::{Pace, Packs};
pub use self::settings::{Clusters, ShapeMode, ShapeSettings};
use self::warmth::Thermal;
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
use phyxel_laws::plasticity;
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
    thermal: Thermal,
    packs: Packs,
    /// Ways for heat along neighbours at rest.
    ways: Arc<Ways>,
    /// Mean cluster length of each body, m.
    lengths: Vec<Real>,
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
        let thermal = self.find_thermal(bodies, materials, particles, &lengths);
        let ranges: Vec<Range<usize>> = self.bodies.iter().map(|shape| bodies[shape.id.0 as usize].range()).collect();
        let mut packs = Packs::new(&self.clusters, &thermal.tuning, &ranges, particles);
        packs.set_paces(&thermal.tuned);
        if thermal.grows() {
            packs.set_rest(|c| (self.clusters[c as usize].plastic, thermal.growth(c as usize)));
        }
        let bindings = (0..self.bodies.len())
            .map(|place| match &bodies[self.bodies[place].id.0 as usize] {
                Body { skin: Skin::Mesh(mesh), spacing, particles: range, .. } if !range.is_empty() => {
                    Some(skin::Binding::new(mesh, &self.clusters, place as u32, &packs.shapes, particles, *spacing))
                }
                _ => None,
            })
            .collect();
        let ways = Arc::new(self.ways_between(bodies, materials, particles));
        Derived { thermal, packs, ways, lengths, bindings, pieces: self.count_pieces() }
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
        let Some(Derived { thermal, packs, .. }) = self.derived.as_deref_mut() else { return };
        let dt = f64::from(context.dt);
        self.last_dt = dt;
        let paces: Vec<Pace> = parallel::map(thermal.tuning.len(), 256, |number| thermal.tuning[number].pace(dt));
        let Particles { position, velocity, force, mass, flags, .. } = particles;
        let fall = context.gravity * context.dt;
        packs.advance(&paces, position, before, velocity, |i, change| {
            let pushed = force.get(i).map_or(Vec3::ZERO, |force| *force * (context.dt / mass[i]));
            if flags[i].has(Flags::HELD) { Vec3::ZERO } else { before[i] + fall + pushed + change }
        });
        packs.read(|cluster, rotation, _| self.clusters[cluster as usize].rotation = rotation);
        self.note_damping(particles, before, &paces);
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
        for (number, (cluster, misfit)) in self.clusters.iter().zip(&misfits).enumerate() {
            let (tuning, mass) = (derived.thermal.tuning(number), derived.packs.totals[number]);
            let state = &mut states[cluster.body as usize];
            state.elastic += tuning.elastic_energy(dt, mass, misfit);
            // Stretch by warmth is free of stress and does not count.
            let rest = cluster.plastic * derived.thermal.growth(number);
            let strain = plasticity::spectral_norm(strain(misfit.rotation, misfit.affine, rest));
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

/// Deformation in the frame of the deformed and grown rest shape, less the identity.
fn strain(rotation: Quat, affine: Mat3, rest: Mat3) -> Mat3 {
    Mat3::from_quat(rotation.conjugate()) * affine * plasticity::inverse(rest) - Mat3::IDENTITY
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
