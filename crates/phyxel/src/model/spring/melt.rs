//! Molecules: forces between those near each other, viscosity, and ways for heat.

use super::pair_table::{PairTable, Strength};
use super::settings::Summation;
use crate::Real;
use crate::grid::{Dot, close_pairs, close_pairs_within};
use crate::heat::Link;
use crate::parallel;
use glam::Vec3;
use phyxel_laws::molecular::{conductance_for_conductivity, damping_for_viscosity, nearness};

/// Particles per task.
const GRAIN: usize = 512;
/// Solid particles that are soft keep apart below this distance, in sizes.
const CORE: Real = 0.75;
/// Below this distance, in sizes, they are pushed apart no more strongly.
const CORE_FLOOR: Real = 0.6;
/// Viscosity and conduction reach this far, in sizes.
pub(super) const REACH: Real = 2.0;
/// Neighbours are looked for this much farther than needed, in sizes, so that they last for several steps.
const SLACK: Real = 0.25;

/// What a particle is to its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Held by stiff springs.
    Solid,
    /// Held by springs that have softened: it keeps others from sharing its place.
    Soft,
    /// Free.
    Molecule,
}

/// A particle that may have neighbours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub particle: u32,
    pub position: Vec3,
    /// m.
    pub size: Real,
    pub kind: Kind,
}

/// Pairs of particles that act on each other, by particle.
#[derive(Clone, Debug, Default)]
pub(super) struct Neighbours {
    /// Particles with neighbours, and molecules without, rising.
    pub members: Vec<u32>,
    start: Vec<u32>,
    /// Places among the members, rising: sums do not depend on when the neighbours were found.
    near: Vec<u32>,
    /// All particles that were looked at, and where they were, m: one without neighbours may come near some later.
    watched: Vec<(u32, Vec3)>,
    /// How far they may go, two together, before neighbours are looked for again, m.
    slack: Real,
}

impl Neighbours {
    /// Looks for all pairs of which one is a molecule within the cut-off, or one is soft within its core.
    pub fn find(candidates: &[Candidate], cutoff: Real) -> Self {
        let size = candidates.iter().map(|c| c.size).fold(0.0, Real::max);
        let slack = SLACK * size;
        let dot = |place: usize| {
            let c = &candidates[place];
            Dot { position: c.position, radius: 0.5 * (cutoff * c.size + slack), particle: place as u32 }
        };
        let dots = |wanted: &dyn Fn(Kind) -> bool| -> Vec<Dot> {
            (0..candidates.len()).filter(|&place| wanted(candidates[place].kind)).map(dot).collect()
        };
        let acts = |a: &Dot, b: &Dot| {
            let [a, b] = [a, b].map(|dot| &candidates[dot.particle as usize]);
            let reach = reach(a.kind, b.kind, cutoff) * 0.5 * (a.size + b.size) + slack;
            a.position.distance_squared(b.position) < reach * reach
        };
        let live = dots(&|kind| kind != Kind::Solid);
        let mut pairs = close_pairs_within(&live, 0.0, acts);
        pairs.append(&mut close_pairs(&live, &dots(&|kind| kind == Kind::Solid), 0.0, acts));
        Self::of_pairs(candidates, &pairs, slack)
    }

    fn of_pairs(candidates: &[Candidate], pairs: &[(u32, u32)], slack: Real) -> Self {
        let mut count = vec![0u32; candidates.len()];
        pairs.iter().flat_map(|&(a, b)| [a, b]).for_each(|place| count[place as usize] += 1);
        let is_member = |place: usize| count[place] > 0 || candidates[place].kind == Kind::Molecule;
        let chosen: Vec<u32> = (0..candidates.len()).filter(|&place| is_member(place)).map(|p| p as u32).collect();
        let mut start = vec![0u32; chosen.len() + 1];
        let mut place_of = vec![0u32; candidates.len()];
        for (place, &candidate) in chosen.iter().enumerate() {
            start[place + 1] = start[place] + count[candidate as usize];
            place_of[candidate as usize] = place as u32;
        }
        let mut near = vec![0u32; 2 * pairs.len()];
        let mut next = start.clone();
        for &(a, b) in pairs {
            for (from, to) in [(a, b), (b, a)] {
                let slot = &mut next[place_of[from as usize] as usize];
                near[*slot as usize] = place_of[to as usize];
                *slot += 1;
            }
        }
        let mut rows: Vec<&mut [u32]> = Vec::with_capacity(chosen.len());
        let mut rest = &mut near[..];
        for place in 0..chosen.len() {
            let (row, after) = rest.split_at_mut((start[place + 1] - start[place]) as usize);
            rows.push(row);
            rest = after;
        }
        parallel::for_each_chunk(&mut rows, GRAIN, |_, rows| rows.iter_mut().for_each(|row| row.sort_unstable()));
        let particle = |&place: &u32| candidates[place as usize].particle;
        Self {
            members: chosen.iter().map(particle).collect(),
            watched: candidates.iter().map(|candidate| (candidate.particle, candidate.position)).collect(),
            start,
            near,
            slack,
        }
    }

    /// Whether they still hold where the particles are now.
    pub fn hold(&self, position: impl Fn(u32) -> Vec3 + Sync) -> bool {
        let limit = 0.25 * self.slack * self.slack;
        let parts = parallel::map_ranges(self.watched.len(), 1 << 13, |range| {
            self.watched[range].iter().all(|&(i, found_at)| position(i).distance_squared(found_at) < limit)
        });
        !parts.contains(&false)
    }

    /// Places of the neighbours of a member.
    pub fn of(&self, place: usize) -> &[u32] {
        &self.near[self.start[place] as usize..self.start[place + 1] as usize]
    }
}

/// Distance up to which two kinds act on each other, in sizes.
fn reach(a: Kind, b: Kind, cutoff: Real) -> Real {
    match (a, b) {
        (Kind::Molecule, _) | (_, Kind::Molecule) => cutoff.max(REACH),
        (Kind::Soft, _) | (_, Kind::Soft) => CORE,
        (Kind::Solid, Kind::Solid) => 0.0,
    }
}

/// A member during a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub position: Vec3,
    pub velocity: Vec3,
    /// kg.
    pub mass: Real,
    /// m.
    pub size: Real,
    pub kind: Kind,
    /// Place of its body in the model.
    pub body: u32,
    /// Roots of the factors on attraction and repulsion.
    pub factors: [Real; 2],
    /// Pa s.
    pub viscosity: Real,
    /// W/(m K).
    pub conductivity: Real,
}

/// What every pair needs to know of a member, close together in memory.
#[derive(Clone, Copy, Debug)]
struct Mote {
    position: Vec3,
    size: Real,
    velocity: Vec3,
    viscosity: Real,
}

impl Mote {
    fn of(member: &Member) -> Self {
        let &Member { position, size, velocity, viscosity, .. } = member;
        Self { position, size, velocity, viscosity }
    }
}

/// What the neighbours of a member do to it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Effect {
    /// N.
    pub force: Vec3,
    /// Sum of the stiffnesses of its pairs, N/m.
    pub stiffness: Real,
    /// Sum of the dampings of its pairs, N s/m.
    pub damping: Real,
    /// Half of what viscosity takes away, W.
    pub lost: Real,
    /// Fastest approach of a neighbour, sizes per second.
    pub approach: Real,
}

/// Pairs of neighbours and the laws they follow.
pub(super) struct Pairs<'a> {
    pub neighbours: &'a Neighbours,
    pub members: &'a [Member],
    /// Laws by body, and how their forces are added up.
    pub laws: &'a [(&'a PairTable, Summation)],
}

impl Pairs<'_> {
    /// Effects of all neighbours on all members.
    pub fn effects(&self) -> Vec<Effect> {
        let motes = parallel::map(self.members.len(), GRAIN, |place| Mote::of(&self.members[place]));
        // Most melts are alike throughout; then what is not in a mote need not be looked at.
        if self.is_plain() { self.effects_of::<true>(&motes) } else { self.effects_of::<false>(&motes) }
    }

    /// Whether all members are molecules of one body, with the usual strengths, and their law has a cut-off.
    fn is_plain(&self) -> bool {
        let Some(first) = self.members.first() else { return true };
        let (table, summation) = self.laws[first.body as usize];
        let alike = |m: &Member| m.body == first.body && m.kind == Kind::Molecule && m.factors == [1.0; 2];
        let is_usual = matches!(table.strength, Strength::Modulus(_)) && summation == Summation::Cutoff;
        is_usual && self.members.iter().all(alike)
    }

    fn effects_of<const PLAIN: bool>(&self, motes: &[Mote]) -> Vec<Effect> {
        let thickness = damping_for_viscosity(REACH.into()) as Real;
        parallel::map(motes.len(), GRAIN, |place| {
            let mut effect = Effect::default();
            for &other in self.neighbours.of(place) {
                self.add::<PLAIN>(motes, [place, other as usize], thickness, &mut effect);
            }
            effect
        })
    }

    /// Adds what a neighbour does. Molecules at one place part upwards and downwards, by their order.
    #[inline(always)]
    fn add<const PLAIN: bool>(&self, motes: &[Mote], pair: [usize; 2], thickness: Real, effect: &mut Effect) {
        let (me, other) = (&motes[pair[0]], &motes[pair[1]]);
        let size = 0.5 * (me.size + other.size);
        let mut between = me.position - other.position;
        let mut square = between.length_squared();
        if square < 1e-12 * size * size {
            let up = if pair[1] < pair[0] { Vec3::Y } else { Vec3::NEG_Y };
            between = up * (1e-6 * size);
            square = 1e-12 * size * size;
        }
        let [mine, yours] = pair.map(|place| &self.members[if PLAIN { 0 } else { place }]);
        let fluid = PLAIN || mine.kind == Kind::Molecule || yours.kind == Kind::Molecule;
        let (push, stiffness) = if PLAIN {
            let (table, _) = self.laws[mine.body as usize];
            let (length, strength) = table.units([me.size, other.size], [0.0; 2]);
            let square = square / (length * length);
            let pull = table.at(square);
            let unit = strength / length;
            (unit * pull.push([1.0; 2]), unit * pull.stiffness(square, [1.0; 2]))
        } else {
            self.push(mine, yours, square, fluid)
        };
        effect.force += between * push;
        effect.stiffness += stiffness;
        let reach = REACH * size;
        if square < reach * reach {
            let distance = square.sqrt();
            let closing = -(me.velocity - other.velocity).dot(between) / distance;
            effect.approach = effect.approach.max(closing / size);
            if fluid {
                let viscosity =
                    if PLAIN { 0.5 * (me.viscosity + other.viscosity) } else { pair_viscosity(mine, yours) };
                let damping = thickness * size * viscosity * nearness(distance / reach);
                effect.force += between * (damping * closing / distance);
                effect.damping += damping;
                effect.lost += 0.5 * damping * closing * closing;
            }
        }
    }

    /// Force that pushes a pair apart over its distance (N/m), and its stiffness (N/m).
    #[inline(always)]
    fn push(&self, me: &Member, other: &Member, square: Real, fluid: bool) -> (Real, Real) {
        let mine = self.push_by(me.body, me, other, square, fluid);
        if me.body == other.body {
            return mine;
        }
        let theirs = self.push_by(other.body, me, other, square, fluid);
        (0.5 * (mine.0 + theirs.0), 0.5 * (mine.1 + theirs.1))
    }

    #[inline(always)]
    fn push_by(&self, body: u32, me: &Member, other: &Member, square: Real, fluid: bool) -> (Real, Real) {
        let (table, summation) = self.laws[body as usize];
        let (length, strength) = table.units([me.size, other.size], [me.mass, other.mass]);
        let square = square / (length * length);
        let unit = strength / length;
        if !fluid {
            return push_by_core(table, square, unit);
        }
        let pull = table.at(square);
        let factors = [me.factors[0] * other.factors[0], me.factors[1] * other.factors[1]];
        let both = me.kind == Kind::Molecule && other.kind == Kind::Molecule;
        let elsewhere = summation != Summation::Cutoff && both && me.body == other.body;
        let push = if elsewhere { 0.0 } else { unit * pull.push(factors) };
        (push, unit * pull.stiffness(square, factors))
    }

    /// Ways for heat between molecules, and from molecules into what is near.
    pub fn links(&self) -> Vec<Link> {
        let coefficient = conductance_for_conductivity(REACH.into()) as Real;
        let parts = parallel::map_ranges(self.members.len(), GRAIN, |range| {
            let mut links = Vec::new();
            for place in range {
                let me = &self.members[place];
                let later = self.neighbours.of(place).iter().filter(|&&other| other as usize > place);
                for &other in later {
                    let you = &self.members[other as usize];
                    let size = 0.5 * (me.size + you.size);
                    let square = me.position.distance_squared(you.position);
                    let fluid = me.kind == Kind::Molecule || you.kind == Kind::Molecule;
                    let sum = me.conductivity + you.conductivity;
                    if fluid && square < REACH * REACH * size * size && sum > 0.0 {
                        let distance = square.sqrt();
                        let conductivity = 2.0 * me.conductivity * you.conductivity / sum;
                        let conductance = coefficient * conductivity * size * nearness(distance / (REACH * size));
                        let particles = [place, other as usize].map(|place| self.neighbours.members[place]);
                        links.push(Link { particles, conductance });
                    }
                }
            }
            links
        });
        parts.concat()
    }

    /// Energy of all pairs of which one is a molecule, J.
    pub fn energy(&self) -> f64 {
        let parts = parallel::map_ranges(self.members.len(), GRAIN, |range| {
            let mut sum = 0.0;
            for place in range {
                let me = &self.members[place];
                for &other in self.neighbours.of(place) {
                    let you = &self.members[other as usize];
                    if me.kind == Kind::Molecule || you.kind == Kind::Molecule {
                        sum += 0.5 * f64::from(self.energy_of(me, you));
                    }
                }
            }
            sum
        });
        parts.iter().sum()
    }

    fn energy_of(&self, me: &Member, you: &Member) -> Real {
        let of_law = |body: u32| {
            let (table, _) = self.laws[body as usize];
            let (length, strength) = table.units([me.size, you.size], [me.mass, you.mass]);
            let [pull, push] = table.energy(me.position.distance_squared(you.position) / (length * length));
            strength * length * (pull * me.factors[0] * you.factors[0] + push * me.factors[1] * you.factors[1])
        };
        if me.body == you.body { of_law(me.body) } else { 0.5 * (of_law(me.body) + of_law(you.body)) }
    }
}

/// Soft solid particles repel each other within their core only, and not more the closer they are once they are very close:
/// springs may have let them come there before they softened, and what pushes them apart then must not be a shot.
fn push_by_core(table: &PairTable, square: Real, unit: Real) -> (Real, Real) {
    if square >= CORE * CORE {
        return (0.0, 0.0);
    }
    let repulsion = [0.0, 1.0];
    let floor = square.max(CORE_FLOOR * CORE_FLOOR);
    let (here, rim) = (table.at(floor), table.at(CORE * CORE));
    let force = here.push(repulsion) * floor.sqrt() - rim.push(repulsion) * CORE;
    (unit * force / square.sqrt().max(0.1), unit * here.stiffness(floor, repulsion))
}

/// Viscosity between two members: that of the molecule where the other is solid.
fn pair_viscosity(me: &Member, other: &Member) -> Real {
    match (me.kind, other.kind) {
        (Kind::Molecule, Kind::Molecule) => 0.5 * (me.viscosity + other.viscosity),
        (Kind::Molecule, _) => me.viscosity,
        _ => other.viscosity,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_no_longer_hold_when_a_particle_that_had_none_has_moved() {
        let at = |particle: u32, x: Real, kind: Kind| Candidate {
            particle,
            position: Vec3::new(x, 0.0, 0.0),
            size: 1.0,
            kind,
        };
        let candidates = [at(0, 0.0, Kind::Molecule), at(1, 1.0, Kind::Molecule), at(2, 9.0, Kind::Solid)];
        let found = Neighbours::find(&candidates, 2.0);
        assert_eq!(found.members, [0, 1]);
        let place = |moved: Real| move |i: u32| Vec3::new([0.0, 1.0, 9.0 - moved][i as usize], 0.0, 0.0);
        assert!(found.hold(place(0.12)));
        assert!(!found.hold(place(0.13)), "an eighth is half of what is looked at beyond the reach");
    }
}
