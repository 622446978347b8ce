//! Cracks: where they open, who may not hold whom across them, and what comes apart.

use super::{CrystalModel, Derived, GRAIN};
use crate::Real;
use crate::model::Parts;
use crate::parallel;
use crate::particles::Particles;
use glam::{Mat3, Vec3};
use phyxel_laws::crystal::{
    Docks, NEAREST, Pose, Site, docks_in_front, docks_opposite, sites_of, tension, tension_beyond,
};
use phyxel_laws::lanes::{Level, WIDTH};

/// Particles that are nearer than this may hold each other, in particle distances.
pub(super) const TOGETHER: Real = 1.3;

/// Held docks that a particle keeps when single pairs are torn: those of a corner. With fewer it would crumble off.
const FEWEST: u32 = 2;

/// A particle under more tension than it bears.
#[derive(Clone, Copy, Debug)]
struct Strained {
    place: usize,
    /// Tension over strength.
    excess: Real,
    /// Direction of the tension in the frame of the lattice.
    along: Vec3,
}

/// A neighbour on a dock.
#[derive(Clone, Copy, Debug)]
struct Docked {
    /// Number of the neighbour.
    k: usize,
    site: Site,
}

impl CrystalModel {
    /// Neighbours that particles do not take because a crack is between them: a byte for each neighbour in the order of lists.
    /// Empty where nobody refuses anybody.
    pub(super) fn find_refusals(&self, derived: &Derived, particles: &Particles) -> Vec<bool> {
        let around = &derived.around;
        let cracked =
            |k: usize| derived.docking(k).is_some() && self.shares[k] > 0.0 && !Docks::from(self.docks[k]).is_whole();
        if !(0..self.docks.len()).any(cracked) {
            return Vec::new();
        }
        let mut refusals = vec![false; WIDTH * around.near.len()];
        let mut tasks = Vec::new();
        let mut left = &mut refusals[..];
        for first in (0..around.order.len()).step_by(GRAIN) {
            let end = (first + GRAIN).min(around.order.len());
            let (mine, rest) = left.split_at_mut(WIDTH * (around.start[end] - around.start[first]) as usize);
            left = rest;
            tasks.push((first..end, mine));
        }
        parallel::for_each_item(tasks, |(places, refusals)| {
            let (mut ways, mut sites) = (Vec::new(), Vec::new());
            let mut entry = 0;
            for place in places {
                let (k, near) = (around.order[place] as usize, around.of(place));
                let mine = &mut refusals[entry..entry + WIDTH * near.len()];
                entry += mine.len();
                if !cracked(k) {
                    continue;
                }
                let at = |k: usize| particles.position[derived.indices[k] as usize];
                ways.clear();
                ways.extend(near.iter().flatten().map(|&other| at(around.order[other as usize] as usize) - at(k)));
                sites.clear();
                sites.resize(ways.len(), None);
                let (lattice, pose) = (&derived.solid(k).lattice, Pose::from(self.poses[k]));
                sites_of(Level::detect(), lattice, &pose, &ways, &mut sites);
                let open = Docks::from(self.docks[k]).uncracked();
                for (refusal, site) in mine.iter_mut().zip(&sites) {
                    *refusal = site.is_some_and(|site| !open.contains(site));
                }
            }
        });
        refusals
    }

    /// Opens cracks where tension is beyond strength. Returns whether there are new ones.
    ///
    /// The particle that is strained most is first; its neighbours wait for the next step, in which they know that it has given
    /// way. So a crack grows by a particle distance in a step, which is about as fast as sound, and there is one where there
    /// could be many.
    pub(super) fn crack(&mut self, derived: &Derived, particles: &Particles) -> bool {
        let mut strained = self.find_strained(derived, particles);
        if strained.is_empty() {
            return false;
        }
        let order = &derived.around.order;
        let number = |one: &Strained| order[one.place];
        strained.sort_unstable_by(|a, b| b.excess.total_cmp(&a.excess).then(number(a).cmp(&number(b))));
        let mut waits = vec![false; order.len()];
        let mut any = false;
        for one in strained {
            let k = number(&one) as usize;
            if waits[k] {
                continue;
            }
            let docked = self.docked(derived, particles, one.place);
            let Some(front) = self.weaker_side(derived, &one, k, &docked) else { continue };
            for neighbour in docked.iter().filter(|neighbour| front >> neighbour.site.number() & 1 == 1) {
                self.part(derived, particles, k, neighbour);
            }
            any = true;
            waits[k] = true;
            docked.iter().for_each(|neighbour| waits[neighbour.k] = true);
        }
        any
    }

    /// Parts single pairs: docks of particles by their bits, in the order of places. Returns whether there were any.
    ///
    /// At the tip of a crack, and in what is left of a section, single pairs are drawn much more than matter around them on the mean.
    pub(super) fn tear(&mut self, derived: &Derived, particles: &Particles, overdrawn: Vec<(u32, u16)>) -> bool {
        let mut any = false;
        for (k, docks) in overdrawn {
            let place = derived.places[k as usize] as usize;
            for neighbour in self.docked(derived, particles, place) {
                let keep_enough = [k as usize, neighbour.k].iter().all(|&k| self.docks[k].held.count_ones() > FEWEST);
                if docks >> neighbour.site.number() & 1 == 1 && keep_enough {
                    self.part(derived, particles, k as usize, &neighbour);
                    any = true;
                }
            }
        }
        any
    }

    fn find_strained(&self, derived: &Derived, particles: &Particles) -> Vec<Strained> {
        let order = &derived.around.order;
        let found = parallel::map_ranges(order.len(), GRAIN, |range| {
            let mut strained = Vec::new();
            for place in range {
                let k = order[place] as usize;
                let (solid, enthalpy) = (derived.solid(k), particles.enthalpy[derived.indices[k] as usize]);
                let Some(strength) = solid.strength(enthalpy).filter(|_| self.shares[k] >= 1.0) else { continue };
                let young = solid.young * solid.part_left(enthalpy);
                if let Some((tension, along)) = tension_beyond(strength, young, &self.poses[k].shape) {
                    strained.push(Strained { place, excess: tension / strength.max(Real::MIN_POSITIVE), along });
                }
            }
            strained
        });
        found.concat()
    }

    /// Neighbours that are on docks of a particle.
    fn docked(&self, derived: &Derived, particles: &Particles, place: usize) -> Vec<Docked> {
        let order = &derived.around.order;
        let k = order[place] as usize;
        let others = derived.around.of(place).iter().flatten().filter(|&&other| other as usize != place);
        let solid = others.map(|&other| order[other as usize] as usize);
        let mine = solid.filter(|&other| self.objects[other] == self.objects[k] && self.shares[other] > 0.0);
        let at = |other| self.dock_of(derived, particles, k, other).map(|site| Docked { k: other, site });
        mine.filter_map(at).collect()
    }

    /// The dock of a particle on which another is, if it holds it there.
    fn dock_of(&self, derived: &Derived, particles: &Particles, k: usize, other: usize) -> Option<Site> {
        let at = |k: usize| particles.position[derived.indices[k] as usize];
        let mut site = [None];
        let (lattice, pose) = (&derived.solid(k).lattice, Pose::from(self.poses[k]));
        sites_of(Level::detect(), lattice, &pose, &[at(other) - at(k)], &mut site);
        site[0].filter(|site| site.number() < NEAREST && self.docks[k].held >> site.number() & 1 == 1)
    }

    /// Docks on that side of a strained particle on which its neighbours are drawn more, a bit for each; `None` where a crack would
    /// leave a single layer on either side of it.
    fn weaker_side(&self, derived: &Derived, one: &Strained, k: usize, docked: &[Docked]) -> Option<u16> {
        let front = docks_in_front(one.along);
        let sides = [front, docks_opposite(front)];
        let across = Mat3::from_quat(self.poses[k].rotation) * one.along;
        let drawn = |side: u16| {
            let behind = docked.iter().any(|neighbour| docks_opposite(side) >> neighbour.site.number() & 1 == 1);
            let there = || docked.iter().filter(|neighbour| side >> neighbour.site.number() & 1 == 1);
            let sign = if side == front { 1.0 } else { -1.0 };
            let deep = there().all(|neighbour| {
                let along = Mat3::from_quat(self.poses[neighbour.k].rotation).transpose() * (across * sign);
                derived.docking(neighbour.k).is_none() || self.docks[neighbour.k].held & docks_in_front(along) != 0
            });
            let tensions = there().map(|neighbour| {
                let along = Mat3::from_quat(self.poses[neighbour.k].rotation).transpose() * across;
                tension(1.0, &self.poses[neighbour.k].shape, along)
            });
            let count = there().count();
            (behind && deep && count > 0).then(|| tensions.sum::<Real>() / count as Real)
        };
        match sides.map(drawn) {
            [Some(a), Some(b)] => Some(if b > a { sides[1] } else { sides[0] }),
            [a, b] => a.map(|_| sides[0]).or(b.map(|_| sides[1])),
        }
    }

    /// Opens the crack between a particle and a neighbour, on both sides.
    fn part(&mut self, derived: &Derived, particles: &Particles, k: usize, neighbour: &Docked) {
        let back = self.dock_of(derived, particles, neighbour.k, k);
        self.docks[k].change(|docks| docks.crack(neighbour.site));
        if let Some(site) = back.filter(|_| derived.docking(neighbour.k).is_some()) {
            self.docks[neighbour.k].change(|docks| docks.crack(site));
        }
        self.bodies[derived.owners[k] as usize].broken += 1;
    }

    /// What no longer holds together becomes objects of its own, which never match each other again.
    pub(super) fn split(&mut self, derived: &Derived, particles: &Particles, back: &[u32]) {
        let around = &derived.around;
        let refusals = self.find_refusals(derived, particles);
        let refuses = |entry: usize| refusals.get(entry).copied().unwrap_or(false);
        let mut parts = Parts::new(around.order.len());
        for place in 0..around.order.len() {
            let (k, first) = (around.order[place] as usize, WIDTH * around.start[place] as usize);
            let near = TOGETHER * derived.solid(k).distance;
            for (entry, &other) in (first..).zip(around.of(place).iter().flatten()) {
                let j = around.order[other as usize] as usize;
                let one = other as usize > place && self.objects[k] == self.objects[j] && self.both_solid(k, j);
                let at = |k: usize| particles.position[derived.indices[k] as usize];
                if one
                    && at(k).distance_squared(at(j)) < near * near
                    && !refuses(entry)
                    && !refuses(back[entry] as usize)
                {
                    parts.unite([k as u32, j as u32]);
                }
            }
        }
        self.name_parts(derived, &mut parts);
    }

    fn both_solid(&self, a: usize, b: usize) -> bool {
        self.shares[a] > 0.0 && self.shares[b] > 0.0
    }

    /// Numbers objects anew where they have come apart: the part with the first particle keeps its number.
    fn name_parts(&mut self, derived: &Derived, parts: &mut Parts) {
        let count = self.next_object as usize;
        let mut may_part = vec![false; count];
        for k in (0..self.objects.len()).filter(|&k| self.shares[k] > 0.0 && derived.docking(k).is_some()) {
            may_part[self.objects[k] as usize] = true;
        }
        let mut keeps = vec![u32::MAX; count];
        let mut names = vec![u32::MAX; self.objects.len()];
        for k in 0..self.objects.len() {
            let (object, root) = (self.objects[k] as usize, parts.root(k as u32));
            if self.shares[k] <= 0.0 || !may_part[object] {
                continue;
            }
            if keeps[object] == u32::MAX {
                keeps[object] = root;
            }
            if keeps[object] != root {
                if names[root as usize] == u32::MAX {
                    names[root as usize] = self.new_object();
                }
                self.objects[k] = names[root as usize];
            }
        }
    }
}
