//! Fracture of solids: opening of cracks, neighbours across them, and objects that come apart.

use crate::Real;
use crate::model::crystal::{CrystalModel, Derived, GRAIN};
use crate::numerics::UnionFind;
use crate::parallel;
use crate::store::Particles;
use glam::{Mat3, Vec3};
use phyxel_laws::lattice::{
    Docks, LatticeFrame, NEAREST, Site, docks_in_front, docks_opposite, nearest_sites_in_frame, principal_stress_above,
    tensile_stress,
};
use phyxel_laws::simd::{SimdLevel, WIDTH};

/// Distance within which particles are connected, in particle spacings.
pub(in crate::model::crystal) const BOND_RADIUS: Real = 1.3;

/// Occupied docks that a particle keeps when single pairs break: those of a corner. With fewer it would
/// crumble off.
const MIN_DOCKED: u32 = 2;

/// A particle whose principal stress exceeds its strength.
#[derive(Clone, Copy, Debug)]
struct OverstressedParticle {
    /// Index in sorted order.
    s: usize,
    /// Stress over strength.
    excess: Real,
    /// Direction of the stress in the lattice frame.
    direction: Vec3,
}

/// A neighbour on a dock.
#[derive(Clone, Copy, Debug)]
struct DockedNeighbour {
    /// Index in the model.
    k: usize,
    site: Site,
}

impl DockedNeighbour {
    /// Returns true if its dock is one of these, given by one bit each.
    fn is_in(&self, docks: u16) -> bool {
        docks >> self.site.number() & 1 == 1
    }
}

impl CrystalModel {
    /// Finds neighbours on sites that a crack closes: a flag for each entry of the neighbour lists. Empty
    /// without cracks.
    pub(in crate::model::crystal) fn cracked_entries(&self, derived: &Derived, particles: &Particles) -> Vec<bool> {
        let table = &derived.table;
        let has_crack = |k: usize| {
            derived.docking(k).is_some() && self.solid_fractions[k] > 0.0 && !Docks::from(self.docks[k]).is_uncracked()
        };
        if !(0..self.docks.len()).any(has_crack) {
            return Vec::new();
        }
        let mut cracked = vec![false; WIDTH * table.blocks.len()];
        let mut tasks = Vec::new();
        let mut remaining = &mut cracked[..];
        for first in (0..table.order.len()).step_by(GRAIN) {
            let end = (first + GRAIN).min(table.order.len());
            let entries = WIDTH * (table.offsets[end] - table.offsets[first]) as usize;
            let (task, rest) = remaining.split_at_mut(entries);
            remaining = rest;
            tasks.push((first..end, task));
        }
        parallel::for_each_item(tasks, |(range, cracked)| {
            let (mut offsets, mut sites) = (Vec::new(), Vec::new());
            let mut entry = 0;
            for s in range {
                let (k, list) = (table.order[s] as usize, table.neighbours(s));
                let cracked = &mut cracked[entry..entry + WIDTH * list.len()];
                entry += cracked.len();
                if !has_crack(k) {
                    continue;
                }
                let at = |k: usize| particles.position[derived.indices[k] as usize];
                offsets.clear();
                offsets.extend(list.iter().flatten().map(|&t| at(table.order[t as usize] as usize) - at(k)));
                sites.clear();
                sites.resize(offsets.len(), None);
                let (lattice, frame) = (&derived.solid(k).lattice, LatticeFrame::from(self.lattice_frames[k]));
                nearest_sites_in_frame(SimdLevel::detect(), lattice, &frame, &offsets, &mut sites);
                let open = Docks::from(self.docks[k]).uncracked_sites();
                for (cracked, site) in cracked.iter_mut().zip(&sites) {
                    *cracked = site.is_some_and(|site| !open.contains(site));
                }
            }
        });
        cracked
    }

    /// Opens cracks where stress exceeds strength. Returns true if there are new ones.
    ///
    /// The most overstressed particle comes first; its neighbours wait for the next step, in which they feel
    /// the loss of its forces. So a crack grows by one spacing in a step, which is about the speed of sound,
    /// and one crack forms where there could be many.
    pub(in crate::model::crystal) fn open_cracks(&mut self, derived: &Derived, particles: &Particles) -> bool {
        let mut overstressed = self.find_overstressed(derived, particles);
        if overstressed.is_empty() {
            return false;
        }
        let order = &derived.table.order;
        let index = |particle: &OverstressedParticle| order[particle.s];
        overstressed.sort_unstable_by(|a, b| b.excess.total_cmp(&a.excess).then(index(a).cmp(&index(b))));
        let mut waits = vec![false; order.len()];
        let mut has_cracked = false;
        for particle in overstressed {
            let k = index(&particle) as usize;
            if waits[k] {
                continue;
            }
            let docked = self.docked_neighbours(derived, particles, particle.s);
            let Some(side) = self.weaker_side(derived, particle.direction, k, &docked) else { continue };
            for neighbour in docked.iter().filter(|neighbour| neighbour.is_in(side)) {
                self.break_pair(derived, particles, k, neighbour);
            }
            has_cracked = true;
            waits[k] = true;
            docked.iter().for_each(|neighbour| waits[neighbour.k] = true);
        }
        has_cracked
    }

    /// Breaks single pairs, given as docks of particles (one bit each) in sorted order. Returns true if there
    /// were any.
    ///
    /// At crack tips and in the remaining section, single pairs carry much more than the mean around them.
    pub(in crate::model::crystal) fn break_pairs(
        &mut self,
        derived: &Derived,
        particles: &Particles,
        overloaded: Vec<(u32, u16)>,
    ) -> bool {
        let mut has_broken = false;
        for (k, docks) in overloaded {
            let s = derived.sorted_index[k as usize] as usize;
            for neighbour in self.docked_neighbours(derived, particles, s) {
                let enough_remain =
                    [k as usize, neighbour.k].iter().all(|&k| self.docks[k].occupied.count_ones() > MIN_DOCKED);
                if neighbour.is_in(docks) && enough_remain {
                    self.break_pair(derived, particles, k as usize, &neighbour);
                    has_broken = true;
                }
            }
        }
        has_broken
    }

    fn find_overstressed(&self, derived: &Derived, particles: &Particles) -> Vec<OverstressedParticle> {
        let order = &derived.table.order;
        let found = parallel::map_ranges(order.len(), GRAIN, |range| {
            let mut overstressed = Vec::new();
            for s in range {
                let k = order[s] as usize;
                let (solid, enthalpy) = (derived.solid(k), particles.enthalpy[derived.indices[k] as usize]);
                let Some(strength) = solid.strength(enthalpy).filter(|_| self.solid_fractions[k] >= 1.0) else {
                    continue;
                };
                let young_modulus = solid.young_modulus * solid.stiffness_ratio(enthalpy);
                let deformation = &self.lattice_frames[k].deformation;
                if let Some((stress, direction)) = principal_stress_above(strength, young_modulus, deformation) {
                    let excess = stress / strength.max(Real::MIN_POSITIVE);
                    overstressed.push(OverstressedParticle { s, excess, direction });
                }
            }
            overstressed
        });
        found.concat()
    }

    /// Neighbours on docks of a particle.
    fn docked_neighbours(&self, derived: &Derived, particles: &Particles, s: usize) -> Vec<DockedNeighbour> {
        let order = &derived.table.order;
        let k = order[s] as usize;
        let others = derived.table.neighbours(s).iter().flatten().filter(|&&t| t as usize != s);
        let others = others.map(|&t| order[t as usize] as usize);
        let matched =
            others.filter(|&other| self.objects[other] == self.objects[k] && self.solid_fractions[other] > 0.0);
        let docked =
            |other| self.occupied_dock(derived, particles, k, other).map(|site| DockedNeighbour { k: other, site });
        matched.filter_map(docked).collect()
    }

    /// Dock of a particle that another occupies, if it does.
    fn occupied_dock(&self, derived: &Derived, particles: &Particles, k: usize, other: usize) -> Option<Site> {
        let at = |k: usize| particles.position[derived.indices[k] as usize];
        let mut site = [None];
        let (lattice, frame) = (&derived.solid(k).lattice, LatticeFrame::from(self.lattice_frames[k]));
        nearest_sites_in_frame(SimdLevel::detect(), lattice, &frame, &[at(other) - at(k)], &mut site);
        site[0].filter(|site| site.number() < NEAREST && self.docks[k].occupied >> site.number() & 1 == 1)
    }

    /// Docks, one bit each, on the side of the cleavage plane of a particle on which its neighbours are
    /// stressed more. `None` where a crack would leave a single layer on either side of it.
    fn weaker_side(&self, derived: &Derived, direction: Vec3, k: usize, docked: &[DockedNeighbour]) -> Option<u16> {
        let front = docks_in_front(direction);
        let sides = [front, docks_opposite(front)];
        let direction = Mat3::from_quat(self.lattice_frames[k].rotation) * direction;
        let mean_stress = |side: u16| {
            let has_layer_behind = docked.iter().any(|neighbour| neighbour.is_in(docks_opposite(side)));
            let on_side = || docked.iter().filter(|neighbour| neighbour.is_in(side));
            let sign = if side == front { 1.0 } else { -1.0 };
            let has_second_layer = on_side().all(|neighbour| {
                let outwards =
                    Mat3::from_quat(self.lattice_frames[neighbour.k].rotation).transpose() * (direction * sign);
                let docks_outwards = self.docks[neighbour.k].occupied & docks_in_front(outwards);
                derived.docking(neighbour.k).is_none() || docks_outwards != 0
            });
            let stresses = on_side().map(|neighbour| {
                let local = Mat3::from_quat(self.lattice_frames[neighbour.k].rotation).transpose() * direction;
                tensile_stress(1.0, &self.lattice_frames[neighbour.k].deformation, local)
            });
            let count = on_side().count();
            (has_layer_behind && has_second_layer && count > 0).then(|| stresses.sum::<Real>() / count as Real)
        };
        match sides.map(mean_stress) {
            [Some(a), Some(b)] => Some(if b > a { sides[1] } else { sides[0] }),
            [a, b] => a.map(|_| sides[0]).or(b.map(|_| sides[1])),
        }
    }

    /// Opens the crack between a particle and a neighbour, on both sides.
    fn break_pair(&mut self, derived: &Derived, particles: &Particles, k: usize, neighbour: &DockedNeighbour) {
        let reverse = self.occupied_dock(derived, particles, neighbour.k, k);
        self.docks[k].modify(|docks| docks.crack(neighbour.site));
        if let Some(site) = reverse.filter(|_| derived.docking(neighbour.k).is_some()) {
            self.docks[neighbour.k].modify(|docks| docks.crack(site));
        }
        self.bodies[derived.body_of[k] as usize].broken += 1;
    }

    /// Makes objects of disconnected components, which never match each other again.
    pub(in crate::model::crystal) fn split_objects(
        &mut self,
        derived: &Derived,
        particles: &Particles,
        reverse: &[u32],
    ) {
        let table = &derived.table;
        let cracked = self.cracked_entries(derived, particles);
        let is_cracked = |entry: usize| cracked.get(entry).copied().unwrap_or(false);
        let mut components = UnionFind::new(table.order.len());
        for s in 0..table.order.len() {
            let (k, first) = (table.order[s] as usize, WIDTH * table.offsets[s] as usize);
            let radius = BOND_RADIUS * derived.solid(k).spacing;
            for (entry, &t) in (first..).zip(table.neighbours(s).iter().flatten()) {
                let other = table.order[t as usize] as usize;
                let same_object = self.objects[k] == self.objects[other];
                let at = |k: usize| particles.position[derived.indices[k] as usize];
                if t as usize > s
                    && same_object
                    && self.both_solid(k, other)
                    && at(k).distance_squared(at(other)) < radius * radius
                    && !is_cracked(entry)
                    && !is_cracked(reverse[entry] as usize)
                {
                    components.union([k as u32, other as u32]);
                }
            }
        }
        self.number_objects(derived, &mut components);
    }

    fn both_solid(&self, a: usize, b: usize) -> bool {
        self.solid_fractions[a] > 0.0 && self.solid_fractions[b] > 0.0
    }

    /// Renumbers objects that have come apart. The component of the first particle keeps the number.
    fn number_objects(&mut self, derived: &Derived, components: &mut UnionFind) {
        let count = self.next_object as usize;
        let mut may_split = vec![false; count];
        for k in (0..self.objects.len()).filter(|&k| self.solid_fractions[k] > 0.0 && derived.docking(k).is_some()) {
            may_split[self.objects[k] as usize] = true;
        }
        let mut first_root = vec![u32::MAX; count];
        let mut object_of_root = vec![u32::MAX; self.objects.len()];
        for k in 0..self.objects.len() {
            let (object, root) = (self.objects[k] as usize, components.find(k as u32));
            if self.solid_fractions[k] <= 0.0 || !may_split[object] {
                continue;
            }
            if first_root[object] == u32::MAX {
                first_root[object] = root;
            }
            if first_root[object] != root {
                if object_of_root[root as usize] == u32::MAX {
                    object_of_root[root as usize] = self.new_object();
                }
                self.objects[k] = object_of_root[root as usize];
            }
        }
    }
}
