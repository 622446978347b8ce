//! Solid particles: forces of lattices that lie among present neighbours.

use super::{CrystalModel, CrystalSettings, Derived, Dock, Docking, GRAIN, Lie};
use crate::Real;
use crate::body::Body;
use crate::grid::Surroundings;
use crate::material::{Curve, Heat, Material};
use crate::model::slowest_swing;
use crate::parallel;
use crate::particles::Particles;
use glam::{Mat3, Vec3};
use phyxel_laws::crystal::{DockingLaw, Docks, Lattice, Member, NEAREST, Pose, Site, SiteSet, drift, match_lattice};
use phyxel_laws::lanes::{Level, WIDTH};
use phyxel_laws::random::Dice;

/// Part of the limit of stability that a step may take.
const SAFETY: f64 = 0.8;
/// Least bulk modulus of what pressure adds, as a part of Young's modulus: without it a hard fall can collapse the lattice.
const LEAST_BULK: Real = 0.1;
/// Particles per task of turning lists around.
const LISTS: usize = 4096;
/// Largest rate of damping times the step: above it particles would turn back.
const MOST_DAMPING: Real = 0.5;

/// How a body is as a solid.
#[derive(Clone, Debug)]
pub(super) struct Solid {
    /// Particle distance, m.
    pub distance: Real,
    pub lattice: Lattice,
    /// Young's modulus where it is stiffest, Pa.
    pub young: Real,
    /// N/m, there.
    pub stiffness: Real,
    /// Young's modulus over temperature, Pa, where it is not the same everywhere.
    softening: Option<Curve>,
    /// Tension at which it cracks, Pa, over temperature.
    strength: Option<Curve>,
    pub heat: Heat,
    /// How docks follow their neighbours, if they do.
    pub docking: Option<DockingLaw>,
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
        let varies = material.heat.softening.is_some() || !material.young_modulus.all(|value| value == young);
        let docking = settings.docking.or(material.strength.as_ref().map(|_| Docking::default()));
        Self {
            distance,
            lattice,
            young,
            stiffness,
            softening: varies.then(|| material.young_modulus.clone()),
            strength: material.strength.clone(),
            heat: material.heat,
            docking: docking.map(DockingLaw::from),
            damping,
            softness,
            stable,
        }
    }

    /// Stiffness of a pair that is not matched (N/m), and the distance within which it pushes (m).
    fn bumper(&self, other: &Self) -> (Real, Real) {
        let nearest = Site::new(0).map_or(0.0, |site| self.lattice.weight(site));
        (nearest * self.stiffness.min(other.stiffness), 0.5 * (self.distance + other.distance))
    }

    /// Force of a particle on this one, `way` (m) from it, that is not matched with it, N: as that of a matched one along the way to
    /// it, where it is nearer than its site (`[WHP06]` eq. 14).
    fn push(&self, other: &Self, way: Vec3) -> Vec3 {
        let ((stiffness, distance), length) = (self.bumper(other), way.length());
        if length > 0.0 && length < distance { way * (-stiffness * (distance / length - 1.0)) } else { Vec3::ZERO }
    }

    /// Energy of that force, of which each of the two has half, J.
    pub fn push_energy(&self, other: &Self, way: Vec3) -> Real {
        let (stiffness, distance) = self.bumper(other);
        0.25 * stiffness * (distance - way.length()).max(0.0).powi(2)
    }

    /// Part of the stiffness that is left at an enthalpy (J/kg), 0 to 1.
    ///
    /// What melts is no softer for it: it has fewer solid particles.
    pub fn part_left(&self, enthalpy: f64) -> Real {
        let Some(curve) = &self.softening else { return 1.0 };
        let temperature = self.heat.temperature(enthalpy);
        curve.at(temperature) * self.heat.stiffness_of_mix(temperature, 0.0) / self.young.max(Real::MIN_POSITIVE)
    }

    /// Force of a lattice on one of its nearest neighbours that this bears, N: twice that which it has in matter which is drawn
    /// by its strength, as single pairs are drawn now more and now less than the mean around them.
    fn bond_strength(&self, enthalpy: f64) -> Option<Real> {
        let strength = self.strength(enthalpy)?;
        // Half of k w times the way from the site, which is 0.7 to 0.8 of strain times distance for the pairs across a plane.
        let nearest = Site::new(0).map_or(0.0, |site| self.lattice.weight(site));
        Some(
            2.0 * 0.5 * 0.75 * self.stiffness * nearest * self.distance * strength / self.young.max(Real::MIN_POSITIVE),
        )
    }

    /// Tension at which it cracks at an enthalpy (J/kg), Pa; `None` if it never does.
    pub fn strength(&self, enthalpy: f64) -> Option<Real> {
        self.strength.as_ref().map(|curve| curve.at(self.heat.temperature(enthalpy)))
    }
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
    /// Velocity (m/s) and mass (kg) of each.
    members: Vec<(Vec3, Real)>,
    sites: Vec<Option<Site>>,
    /// Force of those that are not matched, N.
    pushed: Vec3,
}

impl Neighbourhood {
    /// Those that take a site, with their place in the list.
    #[inline(always)]
    fn taken(&self, lattice: &Lattice) -> impl Iterator<Item = (usize, Site, Member)> {
        let all = self.entries.iter().zip(&self.ways).zip(&self.members).zip(&self.sites);
        all.filter_map(|(((&entry, &way), &(velocity, mass)), site)| {
            let site = (*site)?;
            Some((entry, site, Member { way, velocity, mass, weight: lattice.weight(site) }))
        })
    }
}

/// How the lattice of a particle lies after a step.
#[derive(Clone, Copy)]
struct Lay {
    pose: Lie,
    /// Sites that are taken; `None` for what is not solid.
    taken: Option<SiteSet>,
    /// Docks whose neighbours are drawn more than any bears alone, a bit for each.
    overdrawn: u16,
}

/// What lattices see of a particle, in the order of places: so neighbours are near each other in memory.
#[derive(Clone, Copy)]
struct Row {
    position: Vec3,
    /// [`NOBODY`] for what is not solid.
    object: u32,
    velocity: Vec3,
    mass: Real,
}

/// Object of particles that are in none.
const NOBODY: u32 = u32::MAX;

impl CrystalModel {
    /// Adds the forces of all lattices, lets them follow their neighbours, and cracks what is drawn too much.
    pub(super) fn pull(&mut self, derived: &mut Derived, particles: &mut Particles, dt: Real) {
        let mut pulls = std::mem::take(&mut derived.pulls);
        turn_around(&derived.around, &mut pulls.back);
        let docks = derived.matter.iter().any(|matter| matter.is_solid && matter.solid.docking.is_some());
        let refusals = if docks { self.find_refusals(derived, particles) } else { Vec::new() };
        let rows = parallel::map(derived.around.order.len(), GRAIN, |place| self.row(derived, particles, place));
        let found = pulls.find(&Pull { model: self, derived, particles, rows, refusals, dt });
        let lay = |k: usize| found[derived.places[k] as usize / GRAIN][derived.places[k] as usize % GRAIN];
        parallel::for_each_chunk(&mut self.poses, GRAIN, |first, poses| {
            (first..).zip(poses).for_each(|(k, pose)| *pose = lay(k).pose);
        });
        for (first, matter) in derived.bodies() {
            let forces = &mut particles.force[matter.range.clone()];
            parallel::for_each_chunk(forces, GRAIN, |from, forces| {
                for (k, force) in (first + from..).zip(forces) {
                    *force += pulls.force(&derived.around, derived.places[k] as usize);
                }
            });
        }
        if docks {
            let closed = parallel::map_chunks(&mut self.docks, GRAIN, |first, docks| {
                (first..).zip(docks).fold(false, |any, (k, dock)| any | follow(dock, derived.docking(k), &lay(k), dt))
            });
            let overdrawn = found.iter().flatten().zip(&derived.around.order);
            let overdrawn =
                overdrawn.filter(|(lay, _)| lay.overdrawn != 0).map(|(lay, &k)| (k, lay.overdrawn)).collect();
            let cracked = self.crack(derived, particles) | self.tear(derived, particles, overdrawn);
            if cracked || closed.contains(&true) {
                self.split(derived, particles, &pulls.back);
            }
        }
        derived.pulls = pulls;
    }

    fn row(&self, derived: &Derived, particles: &Particles, place: usize) -> Row {
        let k = derived.around.order[place] as usize;
        let i = derived.indices[k] as usize;
        Row {
            position: particles.position[i],
            object: if self.shares[k] > 0.0 { self.objects[k] } else { NOBODY },
            velocity: particles.velocity[i],
            mass: particles.mass[i],
        }
    }
}

/// Lets docks follow the sites that were taken. Returns whether one has lost its last rate.
fn follow(dock: &mut Dock, law: Option<&DockingLaw>, lay: &Lay, dt: Real) -> bool {
    let (Some(law), Some(taken)) = (law, lay.taken) else { return false };
    let before = dock.rates;
    dock.change(|docks| docks.follow(taken, law, dt));
    dock.rates.iter().zip(&before).any(|(now, before)| *now <= 0.0 && *before > 0.0)
}

impl Pulls {
    /// Finds the forces of all lattices. Returns how they lie then, in parts of as many places as a task has.
    fn find(&mut self, pull: &Pull) -> Vec<Vec<Lay>> {
        let around = &pull.derived.around;
        self.others.resize(WIDTH * around.near.len(), Vec3::ZERO);
        self.own.resize(around.order.len(), Vec3::ZERO);
        let mut tasks = Vec::new();
        let (mut others, mut own, back) = (&mut self.others[..], &mut self.own[..], &self.back[..]);
        for first in (0..around.order.len()).step_by(GRAIN) {
            let end = (first + GRAIN).min(around.order.len());
            let entries = WIDTH * (around.start[end] - around.start[first]) as usize;
            let (mine, rest) = others.split_at_mut(entries);
            let (here, left) = own.split_at_mut(end - first);
            (others, own) = (rest, left);
            tasks.push((first, mine, here));
        }
        parallel::map_items(tasks, |(first, others, own)| {
            let mut room = Neighbourhood::default();
            let mut entry = 0;
            let mut found = Vec::with_capacity(own.len());
            for (place, own) in (first..).zip(own) {
                let count = WIDTH * around.of(place).len();
                let others = &mut others[entry..entry + count];
                entry += count;
                let back = &back[WIDTH * around.start[place] as usize..][..count];
                found.push(pull.exert(place, back, &mut room, own, others));
            }
            found
        })
    }

    /// Force on a particle by all lattices that it is in, N.
    pub fn force(&self, around: &Surroundings, place: usize) -> Vec3 {
        let first = WIDTH * around.start[place] as usize;
        let entries = (first..).zip(around.of(place).iter().flatten()).filter(|(_, other)| **other as usize != place);
        entries.fold(self.own[place], |sum, (entry, _)| sum + self.others[self.back[entry] as usize])
    }
}

/// Finds where the list of each neighbour has a particle, in the order of lists.
///
/// Lists rise, and so do the particles that a task goes through: how many of a list have come already is counted, once for each list
/// and task, and then kept.
pub(super) fn turn_around(around: &Surroundings, back: &mut Vec<u32>) {
    back.resize(WIDTH * around.near.len(), 0);
    let (count, mut left, mut tasks) = (around.order.len(), &mut back[..], Vec::new());
    for first in (0..count).step_by(LISTS) {
        let end = (first + LISTS).min(count);
        let (mine, rest) = left.split_at_mut(WIDTH * (around.start[end] - around.start[first]) as usize);
        left = rest;
        tasks.push((first..end, mine));
    }
    parallel::for_each_item(tasks, |(places, back)| {
        let lists = &around.near[around.start[places.start] as usize..around.start[places.end] as usize];
        let lowest = lists.iter().map(|eight| eight[0]).min().unwrap_or(0) as usize;
        let highest = lists.iter().flatten().copied().max().unwrap_or(0) as usize;
        let mut next = vec![u32::MAX; highest + 1 - lowest.min(highest)];
        let mut back = back.iter_mut();
        for place in places.clone() {
            for (&other, back) in around.of(place).iter().flatten().zip(&mut back) {
                if other as usize == place {
                    continue;
                }
                let next = &mut next[other as usize - lowest];
                if *next == u32::MAX {
                    let before =
                        around.of(other as usize).iter().flatten().take_while(|&&p| (p as usize) < places.start);
                    *next = WIDTH as u32 * around.start[other as usize] + before.count() as u32;
                }
                *back = *next;
                *next += 1;
            }
        }
    });
}

/// What forces of lattices depend on.
struct Pull<'a> {
    model: &'a CrystalModel,
    derived: &'a Derived,
    particles: &'a Particles,
    rows: Vec<Row>,
    /// Neighbours that are not taken for a crack, in the order of lists; empty where there are none.
    refusals: Vec<bool>,
    dt: Real,
}

impl Pull<'_> {
    /// Forces of one lattice on its particle and the neighbours. Returns how it lies.
    ///
    /// A neighbour that does not take this particle is left out of everything, so that nothing holds from one side alone, and
    /// forces have no torque: they are those of the match.
    fn exert(&self, place: usize, back: &[u32], room: &mut Neighbourhood, own: &mut Vec3, others: &mut [Vec3]) -> Lay {
        let Self { model, derived, particles, ref rows, dt, .. } = *self;
        *own = Vec3::ZERO;
        others.fill(Vec3::ZERO);
        let k = derived.around.order[place] as usize;
        let share = model.shares[k];
        if share <= 0.0 {
            return Lay { pose: model.poses[k], taken: None, overdrawn: 0 };
        }
        let (solid, enthalpy) = (derived.solid(k), particles.enthalpy[derived.indices[k] as usize]);
        self.gather(place, back, room);
        let lattice = &solid.lattice;
        let previous = Pose::from(model.poses[k]);
        let open = self.open_sites(k, solid);
        let found = match_lattice(Level::detect(), lattice, &previous, &room.ways, open, &mut room.sites);
        let rotation = Mat3::from_quat(found.pose.rotation);
        let Row { velocity, mass, .. } = rows[place];
        let myself = Member { way: Vec3::ZERO, velocity, mass, weight: 1.0 };
        let rate = share * solid.damping.min(MOST_DAMPING / dt);
        let drift = drift(std::iter::once(myself).chain(room.taken(lattice).map(|(_, _, member)| member)));
        *own = lattice.damping_force(rate, &drift, &myself) + room.pushed * share;
        let stiffness = 0.5 * share * solid.part_left(enthalpy) * solid.stiffness;
        let bears = solid.bond_strength(enthalpy).map_or(Real::INFINITY, |force| force * force);
        let mut overdrawn = 0;
        for (entry, site, member) in room.taken(lattice) {
            let half = lattice.force(stiffness, &rotation, site, member.way);
            if half.length_squared() > bears && half.dot(member.way) < 0.0 && site.number() < NEAREST {
                overdrawn |= 1 << site.number();
            }
            others[entry] = half + lattice.damping_force(rate, &drift, &member);
            *own -= half;
        }
        Lay { pose: found.pose.into(), taken: Some(found.taken), overdrawn }
    }

    /// Sites of a lattice that may be taken in this step.
    fn open_sites(&self, k: usize, solid: &Solid) -> SiteSet {
        if solid.docking.is_none() {
            return solid.lattice.inside();
        }
        // The first purpose is that of melting and freezing.
        let dice = Dice::new(0, self.model.steps);
        Docks::from(self.model.docks[k]).open_sites(self.dt, |dock| dice.unit(k as u32, 1 + dock as u32))
    }

    /// Finds neighbours of the same object that take this particle too, and how others push it away.
    fn gather(&self, place: usize, back: &[u32], room: &mut Neighbourhood) {
        let Self { model, derived, ref rows, ref refusals, .. } = *self;
        let order = &derived.around.order;
        let mine = rows[place];
        let first = WIDTH * derived.around.start[place] as usize;
        let refuses = |entry: usize| refusals.get(entry).copied().unwrap_or(false);
        room.entries.clear();
        room.ways.clear();
        room.members.clear();
        room.pushed = Vec3::ZERO;
        for (entry, &other) in derived.around.of(place).iter().flatten().enumerate() {
            let Row { position, object, velocity, mass } = rows[other as usize];
            if other as usize == place || object == NOBODY {
                continue;
            }
            let way = position - mine.position;
            let back = back[entry] as usize;
            if object == mine.object && !refuses(back) {
                room.entries.push(entry);
                room.ways.push(way);
                room.members.push((velocity, mass));
            }
            if object != mine.object || refuses(back) || refuses(first + entry) {
                let (k, j) = (order[place] as usize, order[other as usize] as usize);
                room.pushed += derived.solid(k).push(derived.solid(j), way) * model.shares[j];
            }
        }
        room.sites.clear();
        room.sites.resize(room.ways.len(), None);
    }
}
