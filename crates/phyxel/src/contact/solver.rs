//! Momentum that things exchange where they touch.

use super::work::{friction_warms, matter, shared_heat};
use crate::Real;
use crate::parallel;
use crate::world::World;
use glam::Vec3;
use phyxel_laws::contact::{Pace, Surface, Touch, friction_work, touched_velocity};

/// Meetings per task.
const GRAIN: usize = 1024;

/// Particles that touch: the first, and those that it touches by their parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting<const N: usize> {
    particles: [u32; N],
    /// Parts of their velocities in that of the first relative to the others; they add up to nothing.
    parts: [Real; N],
    /// Places of them among the touched particles.
    places: [u32; N],
    touch: Touch,
    surface: Surface,
    pace: Pace,
    /// Inverse masses; nothing for what is held, 1/kg.
    ease: [Real; N],
    /// Inverse of the sum of inverse masses, kg.
    mass: Real,
    /// Momentum that the model has given the first already, kg m/s.
    given: Vec3,
}

impl<const N: usize> Meeting<N> {
    pub fn new(
        world: &World,
        particles: [u32; N],
        parts: [Real; N],
        touch: Touch,
        surface: Surface,
        pace: Pace,
    ) -> Self {
        let store = &world.particles;
        let inverse = |k: usize| {
            let i = particles[k] as usize;
            if store.is_held(i) { 0.0 } else { parts[k] * parts[k] / store.mass[i] }
        };
        let sum: Real = (0..N).map(inverse).sum();
        let mass = if sum > 0.0 { 1.0 / sum } else { 0.0 };
        let ease = particles.map(|i| if store.is_held(i as usize) { 0.0 } else { 1.0 / store.mass[i as usize] });
        Self { particles, parts, places: [0; N], touch, surface, pace, ease, mass, given: Vec3::ZERO }
    }

    /// After the model has given the first this momentum, friction included, kg m/s.
    pub fn after(self, given: Vec3) -> Self {
        Self { given, surface: Surface::default(), ..self }
    }

    /// The first relative to the others.
    fn relative(&self, velocity: &[Vec3]) -> Vec3 {
        (1..N).fold(velocity[self.particles[0] as usize] * self.parts[0], |sum, k| {
            sum + velocity[self.particles[k] as usize] * self.parts[k]
        })
    }
}

/// How a particle shares itself out over the meetings that it takes part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sharing {
    /// A meeting takes the part that the busiest of its particles can give.
    Evenly,
    /// Each particle gives a meeting a part of its mass, by its part in it. So what is light is done with at once, however many share
    /// the heavy ones.
    ByMass,
}

/// Exchanges momentum in meetings, all at once per round.
pub(super) struct Solver<const N: usize> {
    meetings: Vec<Meeting<N>>,
    /// Touched particles, rising.
    touched: Vec<u32>,
    /// First entry of each touched particle in `entries`.
    start: Vec<u32>,
    /// Meeting and side (`N meeting + side`).
    entries: Vec<u32>,
    /// Momentum that the first of each meeting was given, kg m/s; empty where friction warms nothing.
    exchanged: Vec<Vec3>,
    sharing: Sharing,
}

impl<const N: usize> Solver<N> {
    pub fn new(world: &World, count: usize, describe: impl Fn(usize) -> Meeting<N> + Sync) -> Self {
        let mut meetings = parallel::map(count, GRAIN, describe);
        let mut counts = vec![0u32; if count == 0 { 0 } else { world.particles.len() }];
        meetings.iter().flat_map(|meeting| meeting.particles).for_each(|i| counts[i as usize] += 1);
        let given = meetings.iter().map(|meeting| meeting.given);
        let exchanged = if friction_warms(world) { given.collect() } else { Vec::new() };
        let (mut touched, mut start, mut next) = (Vec::new(), vec![0], Vec::new());
        // From here on `counts` holds the place of each touched particle.
        for (i, count) in counts.iter_mut().enumerate().filter(|(_, count)| **count > 0) {
            let end = start.last().copied().unwrap_or(0);
            next.push(end);
            start.push(end + *count);
            *count = touched.len() as u32;
            touched.push(i as u32);
        }
        let mut entries = vec![0; N * count];
        for (k, meeting) in meetings.iter_mut().enumerate() {
            meeting.places = meeting.particles.map(|i| counts[i as usize]);
            for (side, place) in meeting.places.into_iter().enumerate() {
                let next = &mut next[place as usize];
                entries[*next as usize] = (N * k + side) as u32;
                *next += 1;
            }
        }
        Self { meetings, touched, start, entries, exchanged, sharing: Sharing::Evenly }
    }

    /// The same with particles that share themselves out by mass.
    pub fn by_mass(self) -> Self {
        Self { sharing: Sharing::ByMass, ..self }
    }

    /// Whether a particle takes part in a meeting.
    pub fn touches(&self, particle: u32) -> bool {
        self.touched.binary_search(&particle).is_ok()
    }

    /// One round: each active meeting exchanges its share of the momentum it needs.
    ///
    /// A particle in several active meetings would overshoot if each did all; a meeting does the part that its particles can give. The part
    /// is the same for all of them, so momentum is kept.
    pub fn exchange_momentum(&mut self, world: &mut World) {
        if self.meetings.is_empty() {
            return;
        }
        let velocity = &world.particles.velocity;
        let wanted = parallel::map(self.meetings.len(), GRAIN, |k| {
            let meeting = &self.meetings[k];
            let relative = meeting.relative(velocity);
            (touched_velocity(relative, &meeting.touch, &meeting.surface, &meeting.pace) - relative) * meeting.mass
        });
        let around = |place: usize| &self.entries[self.start[place] as usize..self.start[place + 1] as usize];
        let busy = parallel::map(self.touched.len(), GRAIN, |place| {
            let active = around(place).iter().filter(|&&entry| wanted[entry as usize / N] != Vec3::ZERO);
            match self.sharing {
                Sharing::Evenly => active.count() as Real,
                Sharing::ByMass => active.map(|&entry| self.part(entry).abs()).sum(),
            }
        });
        let shares = parallel::map(self.meetings.len(), GRAIN, |k| self.share(&self.meetings[k], &busy));
        for ((exchanged, wanted), share) in self.exchanged.iter_mut().zip(&wanted).zip(&shares) {
            *exchanged += *wanted * *share;
        }
        let changes = parallel::map(self.touched.len(), GRAIN, |place| {
            let mut impulse = Vec3::ZERO;
            for &entry in around(place) {
                impulse += wanted[entry as usize / N] * (shares[entry as usize / N] * self.part(entry));
            }
            impulse
        });
        for (&i, impulse) in self.touched.iter().zip(changes) {
            if !world.particles.is_held(i as usize) {
                world.particles.velocity[i as usize] += impulse / world.particles.mass[i as usize];
            }
        }
    }

    /// What a particle has to do with a meeting.
    fn part(&self, entry: u32) -> Real {
        self.meetings[entry as usize / N].parts[entry as usize % N]
    }

    /// The part of what a meeting wants that its particles can give, where each of those that are touched is so busy.
    fn share(&self, meeting: &Meeting<N>, busy: &[Real]) -> Real {
        let busy = meeting.places.map(|place| busy[place as usize]);
        match self.sharing {
            Sharing::Evenly => 1.0 / busy.into_iter().fold(1.0, Real::max),
            Sharing::ByMass => {
                // The inverse of the mass of a part `p / busy` of a particle that takes part by `p`.
                let split: Real = (0..N).map(|k| meeting.parts[k].abs() * busy[k] * meeting.ease[k]).sum();
                if split > 0.0 { 1.0 / (split * meeting.mass) } else { 0.0 }
            }
        }
    }

    /// Notes the heat that friction made in all rounds.
    pub fn note_friction(&self, world: &mut World) {
        if self.exchanged.is_empty() {
            return;
        }
        let heats = parallel::map(self.meetings.len(), GRAIN, |k| {
            let meeting = &self.meetings[k];
            let start = meeting.relative(&world.scratch.velocity_before);
            let end = meeting.relative(&world.particles.velocity);
            let work = friction_work(-self.exchanged[k], meeting.touch.normal, start, end);
            shared_heat([0, 1].map(|side| matter(world, meeting.particles[side])), work)
        });
        let made = world.particles.make_heat();
        for (meeting, [first, others]) in self.meetings.iter().zip(heats) {
            made[meeting.particles[0] as usize] += first;
            for k in 1..N {
                made[meeting.particles[k] as usize] -= others * f64::from(meeting.parts[k]);
            }
        }
    }
}
