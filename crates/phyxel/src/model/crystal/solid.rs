//! Solid particles: forces of lattices that lie among present neighbours.

use super::{CrystalSettings, Derived, GRAIN, Lie};
use crate::Real;
use crate::body::Body;
use crate::grid::Surroundings;
use crate::material::Material;
use crate::model::slowest_swing;
use crate::parallel;
use crate::particles::Particles;
use glam::{Mat3, Vec3};
use phyxel_laws::crystal::{Lattice, Member, Pose, Site, drift, match_lattice};
use phyxel_laws::lanes::{Level, WIDTH};

/// Part of the limit of stability that a step may take.
const SAFETY: f64 = 0.8;
/// Least bulk modulus of what pressure adds, as a part of Young's modulus: without it a hard fall can collapse the lattice.
const LEAST_BULK: Real = 0.1;
/// Largest rate of damping times the step: above it particles would turn back.
const MOST_DAMPING: Real = 0.5;

/// How a body is as a solid.
#[derive(Clone, Debug)]
pub(super) struct Solid {
    /// Particle distance, m.
    pub distance: Real,
    pub lattice: Lattice,
    /// N/m.
    pub stiffness: Real,
    /// Rate at which what is no rigid motion fades, 1/s.
    damping: Real,
    /// How much fuller places get by a pascal, 1/Pa.
    pub softness: Real,
    /// Longest stable step, s.
    pub stable: f64,
}

impl Solid {
    pub fn new(settings: &CrystalSettings, body: &Body, material: &Material, mass: Real, rest: &[Vec3]) -> Self {
        let distance = body.spacing;
        let lattice = Lattice::new(distance, settings.support);
        let young = material.stiffest();
        let stiffness = lattice.stiffness(young);
        // A particle that moves against all others is pulled by each with all of `k w`, and they move too.
        let pull = 2.0 * f64::from(stiffness) * f64::from(lattice.total_weight() - 1.0);
        let stable = if pull > 0.0 { 2.0 * SAFETY * (f64::from(mass) / pull).sqrt() } else { f64::INFINITY };
        // Resistance to stretching of a neighbourhood, `rate m M/W`, against that of a bar of which the slowest swing has the
        // damping that is asked for.
        let slowest = slowest_swing(rest, young, material.density) as Real;
        let asked = 2.0 * material.damping * young / slowest.max(1e-30);
        let damping = asked * lattice.volume() * lattice.total_weight() / (mass * lattice.moment());
        // The lattice alone has the bulk modulus E/3.
        let bulk = young / (3.0 * (1.0 - 2.0 * material.poisson_ratio)) - young / 3.0;
        let softness = if young > 0.0 { 1.0 / bulk.max(LEAST_BULK * young) } else { 0.0 };
        Self { distance, lattice, stiffness, damping, softness, stable }
    }
}

/// What solids keep from step to step, by particle.
pub(super) struct Lattices<'a> {
    pub poses: &'a mut [Lie],
    pub objects: &'a [u32],
    pub shares: &'a [Real],
}

/// Forces of lattices in a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Pulls {
    /// Force on each particle of its own lattice, N, by place.
    own: Vec<Vec3>,
    /// Force on each neighbour, N, in the order of lists.
    others: Vec<Vec3>,
    /// Where the list of a neighbour has the particle, in the order of lists.
    back: Vec<u32>,
}

/// Room for the neighbours of a particle.
#[derive(Default)]
struct Neighbourhood {
    /// Place in the list of each neighbour that is looked at.
    entries: Vec<usize>,
    ways: Vec<Vec3>,
    sites: Vec<Option<Site>>,
}

impl Pulls {
    /// Finds the forces of all lattices, and lets them follow their neighbours.
    pub fn find(&mut self, derived: &Derived, lattices: Lattices, particles: &Particles, dt: Real) {
        let Lattices { poses, objects, shares } = lattices;
        let around = &derived.around;
        self.others.resize(WIDTH * around.near.len(), Vec3::ZERO);
        self.own.resize(around.order.len(), Vec3::ZERO);
        let mut tasks = Vec::new();
        let (mut others, mut own) = (&mut self.others[..], &mut self.own[..]);
        for first in (0..around.order.len()).step_by(GRAIN) {
            let end = (first + GRAIN).min(around.order.len());
            let entries = WIDTH * (around.start[end] - around.start[first]) as usize;
            let (mine, rest) = others.split_at_mut(entries);
            let (here, left) = own.split_at_mut(end - first);
            (others, own) = (rest, left);
            tasks.push((first, mine, here));
        }
        let poses_now: &[Lie] = poses;
        let pull = Pull { derived, particles, objects, shares, dt };
        let found = parallel::map_items(tasks, |(first, others, own)| {
            let mut room = Neighbourhood::default();
            let mut entry = 0;
            let mut found = Vec::with_capacity(own.len());
            for (place, own) in (first..).zip(own) {
                let count = WIDTH * around.of(place).len();
                let others = &mut others[entry..entry + count];
                entry += count;
                let previous = poses_now[around.order[place] as usize].into();
                found.push(pull.exert(place, &previous, &mut room, own, others));
            }
            found
        });
        for (&k, pose) in around.order.iter().zip(found.into_iter().flatten()) {
            poses[k as usize] = pose.into();
        }
        self.turn_around(around);
    }

    /// Finds where the list of each neighbour has a particle. Lists rise, and so do the particles that are gone through.
    fn turn_around(&mut self, around: &Surroundings) {
        self.back.resize(self.others.len(), 0);
        let mut next: Vec<u32> = around.start[..around.order.len()].iter().map(|&start| start * WIDTH as u32).collect();
        for place in 0..around.order.len() {
            let first = WIDTH * around.start[place] as usize;
            for (entry, &other) in (first..).zip(around.of(place).iter().flatten()) {
                if other as usize != place {
                    self.back[entry] = next[other as usize];
                    next[other as usize] += 1;
                }
            }
        }
    }

    /// Force on a particle by all lattices that it is in, N.
    pub fn force(&self, around: &Surroundings, place: usize) -> Vec3 {
        let first = WIDTH * around.start[place] as usize;
        let entries = (first..).zip(around.of(place).iter().flatten()).filter(|(_, other)| **other as usize != place);
        entries.fold(self.own[place], |sum, (entry, _)| sum + self.others[self.back[entry] as usize])
    }
}

/// What forces of lattices depend on.
struct Pull<'a> {
    derived: &'a Derived,
    particles: &'a Particles,
    objects: &'a [u32],
    shares: &'a [Real],
    dt: Real,
}

impl Pull<'_> {
    /// Forces of one lattice on its particle and the neighbours. Returns how it lies.
    fn exert(
        &self,
        place: usize,
        previous: &Pose,
        room: &mut Neighbourhood,
        own: &mut Vec3,
        others: &mut [Vec3],
    ) -> Pose {
        let Self { derived, particles, objects, shares, dt } = *self;
        *own = Vec3::ZERO;
        others.fill(Vec3::ZERO);
        let around = &derived.around;
        let k = around.order[place] as usize;
        let (i, owner) = (derived.indices[k] as usize, derived.owners[k]);
        if shares[k] <= 0.0 {
            return *previous;
        }
        let solid = &derived.matter[owner as usize].solid;
        room.entries.clear();
        room.ways.clear();
        let index = |other: u32| derived.indices[around.order[other as usize] as usize] as usize;
        for (entry, &other) in around.of(place).iter().flatten().enumerate() {
            let number = around.order[other as usize] as usize;
            if other as usize != place && objects[number] == objects[k] && shares[number] > 0.0 {
                room.entries.push(entry);
                room.ways.push(particles.position[index(other)] - particles.position[i]);
            }
        }
        room.sites.clear();
        room.sites.resize(room.ways.len(), None);
        let lattice = &solid.lattice;
        let found = match_lattice(Level::detect(), lattice, previous, &room.ways, lattice.inside(), &mut room.sites);
        let rotation = Mat3::from_quat(found.pose.rotation);
        let near = around.of(place);
        let member = |entry: usize, way: Vec3, site: Site| {
            let j = index(near[entry / WIDTH][entry % WIDTH]);
            Member { way, velocity: particles.velocity[j], mass: particles.mass[j], weight: lattice.weight(site) }
        };
        let myself = Member { way: Vec3::ZERO, velocity: particles.velocity[i], mass: particles.mass[i], weight: 1.0 };
        let taken =
            || room.entries.iter().zip(&room.ways).zip(&room.sites).filter_map(|((e, w), s)| s.map(|s| (*e, *w, s)));
        let rate = shares[k] * solid.damping.min(MOST_DAMPING / dt);
        let drift = drift(std::iter::once(myself).chain(taken().map(|(entry, way, site)| member(entry, way, site))));
        *own = lattice.damping_force(rate, &drift, &myself);
        for (entry, way, site) in taken() {
            let half = 0.5 * shares[k] * lattice.force(solid.stiffness, &rotation, site, way);
            others[entry] = half + lattice.damping_force(rate, &drift, &member(entry, way, site));
            *own -= half;
        }
        found.pose
    }
}
