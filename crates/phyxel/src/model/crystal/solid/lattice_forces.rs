//! Forces of lattices on solid particles and their neighbours.
//!
//! Every solid particle matches its lattice to its neighbours and stores the forces on itself and on each of
//! them, in the order of neighbour lists. Each particle then gathers its forces through the transposed lists.

use super::SolidConstants;
use crate::Real;
use crate::model::crystal::{CrystalModel, Derived, GRAIN, StoredDocks, StoredFrame};
use crate::neighbours::NeighbourTable;
use crate::parallel;
use crate::store::Particles;
use glam::{Mat3, Vec3};
use phyxel_laws::lattice::{
    DockingLaw, Docks, Lattice, LatticeFrame, NEAREST, NeighbourhoodMember, Site, SiteSet, fit_rigid_motion,
    match_lattice,
};
use phyxel_laws::rng::CounterRng;
use phyxel_laws::simd::{SimdLevel, WIDTH};

/// Lists per task of the transpose.
const LIST_GRAIN: usize = 4096;
/// Largest damping rate times the step: above it velocities would be reversed.
const MAX_DAMPING: Real = 0.5;

/// Forces of all lattices in a step. Particles are in sorted order; an entry is a slot of a neighbour list.
#[derive(Clone, Debug, Default)]
pub(in crate::model::crystal) struct LatticeForces {
    /// Force of the lattice of each particle on the particle itself, N.
    on_self: Vec<Vec3>,
    /// Force of a lattice on each neighbour, N, by entry.
    on_neighbours: Vec<Vec3>,
    /// Entry of the particle in the list of its neighbour, by entry.
    reverse: Vec<u32>,
}

/// Candidate neighbours of one particle.
#[derive(Default)]
struct MatchWorkspace {
    /// Entry of each candidate, counted from the start of the list.
    entries: Vec<usize>,
    offsets: Vec<Vec3>,
    /// Velocity (m/s) and mass (kg) of each.
    velocities_and_masses: Vec<(Vec3, Real)>,
    sites: Vec<Option<Site>>,
    /// Contact force of unmatched neighbours on the particle, N.
    contact_force: Vec3,
}

impl MatchWorkspace {
    /// Candidates that have a site, with their entries.
    #[inline(always)]
    fn assigned(&self, lattice: &Lattice) -> impl Iterator<Item = (usize, Site, NeighbourhoodMember)> {
        let all = self.entries.iter().zip(&self.offsets).zip(&self.velocities_and_masses).zip(&self.sites);
        all.filter_map(|(((&entry, &offset), &(velocity, mass)), site)| {
            let site = (*site)?;
            Some((entry, site, NeighbourhoodMember { offset, velocity, mass, weight: lattice.weight(site) }))
        })
    }
}

/// Result of matching the lattice of a particle.
#[derive(Clone, Copy)]
struct MatchResult {
    frame: StoredFrame,
    /// Occupied sites; `None` for particles without lattice forces.
    occupied: Option<SiteSet>,
    /// Docks whose bond is loaded beyond its strength, one bit each.
    overloaded: u16,
}

/// Particle data for matching, in sorted order, so that neighbours are near each other in memory.
#[derive(Clone, Copy)]
struct ParticleRow {
    position: Vec3,
    /// [`NO_OBJECT`] for particles without lattice forces.
    object: u32,
    velocity: Vec3,
    mass: Real,
}

/// Object of particles that belong to none.
const NO_OBJECT: u32 = u32::MAX;

impl CrystalModel {
    /// Adds the forces of all lattices, updates their frames and docks, and opens cracks.
    pub(in crate::model::crystal) fn exert_lattice_forces(
        &mut self,
        derived: &mut Derived,
        particles: &mut Particles,
        dt: Real,
    ) {
        let mut lattice_forces = std::mem::take(&mut derived.lattice_forces);
        transpose_lists(&derived.table, &mut lattice_forces.reverse);
        let has_docks = derived.constants.iter().any(|body| body.is_solid && body.solid.docking.is_some());
        let cracked = if has_docks { self.cracked_entries(derived, particles) } else { Vec::new() };
        let rows = parallel::map(derived.table.order.len(), GRAIN, |s| self.row(derived, particles, s));
        let context = MatchContext { model: self, derived, particles, rows, cracked, dt };
        let results = lattice_forces.compute(&context);
        let result = |k: usize| {
            let s = derived.sorted_index[k] as usize;
            results[s / GRAIN][s % GRAIN]
        };
        parallel::for_each_chunk(&mut self.lattice_frames, GRAIN, |first, frames| {
            (first..).zip(frames).for_each(|(k, frame)| *frame = result(k).frame);
        });
        for (first, body) in derived.bodies() {
            let forces = &mut particles.force[body.range.clone()];
            parallel::for_each_chunk(forces, GRAIN, |from, forces| {
                for (k, force) in (first + from..).zip(forces) {
                    *force += lattice_forces.force(&derived.table, derived.sorted_index[k] as usize);
                }
            });
        }
        if has_docks {
            let closed = parallel::map_chunks(&mut self.docks, GRAIN, |first, docks| {
                (first..)
                    .zip(docks)
                    .fold(false, |any, (k, docks)| any | update_docks(docks, derived.docking(k), &result(k), dt))
            });
            let with_particle = results.iter().flatten().zip(&derived.table.order);
            let overloaded = with_particle
                .filter(|(result, _)| result.overloaded != 0)
                .map(|(result, &k)| (k, result.overloaded))
                .collect();
            let has_cracked = self.open_cracks(derived, particles) | self.break_pairs(derived, particles, overloaded);
            if has_cracked || closed.contains(&true) {
                self.split_objects(derived, particles, &lattice_forces.reverse);
            }
        }
        derived.lattice_forces = lattice_forces;
    }

    fn row(&self, derived: &Derived, particles: &Particles, s: usize) -> ParticleRow {
        let k = derived.table.order[s] as usize;
        let i = derived.indices[k] as usize;
        ParticleRow {
            position: particles.position[i],
            object: if self.solid_fractions[k] > 0.0 { self.objects[k] } else { NO_OBJECT },
            velocity: particles.velocity[i],
            mass: particles.mass[i],
        }
    }
}

/// Updates docks by the sites that were occupied. Returns true if the rate of one has become 0.
fn update_docks(docks: &mut StoredDocks, law: Option<&DockingLaw>, result: &MatchResult, dt: Real) -> bool {
    let (Some(law), Some(occupied)) = (law, result.occupied) else { return false };
    let before = docks.rates;
    docks.modify(|docks| docks.update(occupied, law, dt));
    docks.rates.iter().zip(&before).any(|(now, before)| *now <= 0.0 && *before > 0.0)
}

impl LatticeForces {
    /// Computes the forces of all lattices. Returns the results of matching, in chunks of [`GRAIN`].
    fn compute(&mut self, context: &MatchContext) -> Vec<Vec<MatchResult>> {
        let table = &context.derived.table;
        self.on_neighbours.resize(WIDTH * table.blocks.len(), Vec3::ZERO);
        self.on_self.resize(table.order.len(), Vec3::ZERO);
        let mut tasks = Vec::new();
        let (mut on_neighbours, mut on_self) = (&mut self.on_neighbours[..], &mut self.on_self[..]);
        let reverse = &self.reverse[..];
        for first in (0..table.order.len()).step_by(GRAIN) {
            let end = (first + GRAIN).min(table.order.len());
            let entries = WIDTH * (table.offsets[end] - table.offsets[first]) as usize;
            let (task_neighbours, other_neighbours) = on_neighbours.split_at_mut(entries);
            let (task_self, other_self) = on_self.split_at_mut(end - first);
            (on_neighbours, on_self) = (other_neighbours, other_self);
            tasks.push((first, task_neighbours, task_self));
        }
        parallel::map_items(tasks, |(first, on_neighbours, on_self)| {
            let mut workspace = MatchWorkspace::default();
            let mut entry = 0;
            let mut results = Vec::with_capacity(on_self.len());
            for (s, on_self) in (first..).zip(on_self) {
                let count = WIDTH * table.neighbours(s).len();
                let on_neighbours = &mut on_neighbours[entry..entry + count];
                entry += count;
                let reverse = &reverse[WIDTH * table.offsets[s] as usize..][..count];
                results.push(context.exert(s, reverse, &mut workspace, on_self, on_neighbours));
            }
            results
        })
    }

    /// Force on a particle by its own lattice and those of its neighbours, N.
    pub fn force(&self, table: &NeighbourTable, s: usize) -> Vec3 {
        let first = WIDTH * table.offsets[s] as usize;
        let entries = (first..).zip(table.neighbours(s).iter().flatten()).filter(|(_, t)| **t as usize != s);
        entries.fold(self.on_self[s], |sum, (entry, _)| sum + self.on_neighbours[self.reverse[entry] as usize])
    }
}

/// Transposes neighbour lists: finds the entry of a particle in the list of each of its neighbours, by entry.
///
/// Lists are sorted, and a task visits particles in increasing order. So each task counts the smaller indices
/// of a list once and then increments the count.
pub(in crate::model::crystal) fn transpose_lists(table: &NeighbourTable, reverse: &mut Vec<u32>) {
    reverse.resize(WIDTH * table.blocks.len(), 0);
    let (count, mut remaining, mut tasks) = (table.order.len(), &mut reverse[..], Vec::new());
    for first in (0..count).step_by(LIST_GRAIN) {
        let end = (first + LIST_GRAIN).min(count);
        let entries = WIDTH * (table.offsets[end] - table.offsets[first]) as usize;
        let (task, rest) = remaining.split_at_mut(entries);
        remaining = rest;
        tasks.push((first..end, task));
    }
    parallel::for_each_item(tasks, |(range, reverse)| {
        let blocks = &table.blocks[table.offsets[range.start] as usize..table.offsets[range.end] as usize];
        let lowest = blocks.iter().map(|block| block[0]).min().unwrap_or(0) as usize;
        let highest = blocks.iter().flatten().copied().max().unwrap_or(0) as usize;
        let mut next = vec![u32::MAX; highest + 1 - lowest.min(highest)];
        let mut reverse = reverse.iter_mut();
        for s in range.clone() {
            for (&t, reverse) in table.neighbours(s).iter().flatten().zip(&mut reverse) {
                if t as usize == s {
                    continue;
                }
                let next = &mut next[t as usize - lowest];
                if *next == u32::MAX {
                    let list = table.neighbours(t as usize).iter().flatten();
                    let smaller = list.take_while(|&&u| (u as usize) < range.start).count();
                    *next = WIDTH as u32 * table.offsets[t as usize] + smaller as u32;
                }
                *reverse = *next;
                *next += 1;
            }
        }
    });
}

/// Inputs of the lattice forces of a step.
struct MatchContext<'a> {
    model: &'a CrystalModel,
    derived: &'a Derived,
    particles: &'a Particles,
    rows: Vec<ParticleRow>,
    /// True for neighbours across a crack, by entry; empty if there are no cracks.
    cracked: Vec<bool>,
    dt: Real,
}

impl MatchContext<'_> {
    /// Computes the forces of one lattice on its particle and the neighbours. Returns the match.
    ///
    /// A neighbour that rejects this particle is not matched at all, so that no force acts from one side
    /// alone and forces have no torque: they are those of the match.
    fn exert(
        &self,
        s: usize,
        reverse: &[u32],
        workspace: &mut MatchWorkspace,
        on_self: &mut Vec3,
        on_neighbours: &mut [Vec3],
    ) -> MatchResult {
        let Self { model, derived, particles, ref rows, dt, .. } = *self;
        *on_self = Vec3::ZERO;
        on_neighbours.fill(Vec3::ZERO);
        let k = derived.table.order[s] as usize;
        let solid_fraction = model.solid_fractions[k];
        if solid_fraction <= 0.0 {
            return MatchResult { frame: model.lattice_frames[k], occupied: None, overloaded: 0 };
        }
        let (solid, enthalpy) = (derived.solid(k), particles.enthalpy[derived.indices[k] as usize]);
        self.gather_candidates(s, reverse, workspace);
        let lattice = &solid.lattice;
        let previous = LatticeFrame::from(model.lattice_frames[k]);
        let (open, level) = (self.open_sites(k, solid), SimdLevel::detect());
        let matched = match_lattice(level, lattice, &previous, &workspace.offsets, open, &mut workspace.sites);
        let rotation = Mat3::from_quat(matched.frame.rotation);
        let ParticleRow { velocity, mass, .. } = rows[s];
        let centre = NeighbourhoodMember { offset: Vec3::ZERO, velocity, mass, weight: 1.0 };
        let rate = solid_fraction * solid.damping_rate.min(MAX_DAMPING / dt);
        let neighbours = workspace.assigned(lattice).map(|(_, _, member)| member);
        let motion = fit_rigid_motion(std::iter::once(centre).chain(neighbours));
        *on_self = lattice.damping_force(rate, &motion, &centre) + workspace.contact_force * solid_fraction;
        let stiffness = 0.5 * solid_fraction * solid.stiffness_ratio(enthalpy) * solid.stiffness;
        let squared_strength = solid.bond_strength(enthalpy).map_or(Real::INFINITY, |force| force * force);
        let mut overloaded = 0;
        for (entry, site, member) in workspace.assigned(lattice) {
            let force = lattice.force(stiffness, &rotation, site, member.offset);
            let is_tensile = force.dot(member.offset) < 0.0;
            if force.length_squared() > squared_strength && is_tensile && site.number() < NEAREST {
                overloaded |= 1 << site.number();
            }
            on_neighbours[entry] = force + lattice.damping_force(rate, &motion, &member);
            *on_self -= force;
        }
        MatchResult { frame: matched.frame.into(), occupied: Some(matched.occupied), overloaded }
    }

    /// Sites of a lattice that may be occupied in this step.
    fn open_sites(&self, k: usize, solid: &SolidConstants) -> SiteSet {
        if solid.docking.is_none() {
            return solid.lattice.weighted_sites();
        }
        // Stream 0 is that of melting and freezing.
        let rng = CounterRng::new(0, self.model.steps);
        Docks::from(self.model.docks[k]).open_sites(self.dt, |dock| rng.uniform(k as u32, 1 + dock as u32))
    }

    /// Gathers neighbours of the same object that do not reject the particle, and the contact forces of
    /// others on it.
    fn gather_candidates(&self, s: usize, reverse: &[u32], workspace: &mut MatchWorkspace) {
        let Self { model, derived, ref rows, ref cracked, .. } = *self;
        let (table, order) = (&derived.table, &derived.table.order);
        let own = rows[s];
        let first = WIDTH * table.offsets[s] as usize;
        let is_cracked = |entry: usize| cracked.get(entry).copied().unwrap_or(false);
        workspace.entries.clear();
        workspace.offsets.clear();
        workspace.velocities_and_masses.clear();
        workspace.contact_force = Vec3::ZERO;
        for (entry, &t) in table.neighbours(s).iter().flatten().enumerate() {
            let ParticleRow { position, object, velocity, mass } = rows[t as usize];
            if t as usize == s || object == NO_OBJECT {
                continue;
            }
            let offset = position - own.position;
            let is_rejected = is_cracked(reverse[entry] as usize);
            if object == own.object && !is_rejected {
                workspace.entries.push(entry);
                workspace.offsets.push(offset);
                workspace.velocities_and_masses.push((velocity, mass));
            }
            if object != own.object || is_rejected || is_cracked(first + entry) {
                let (k, other) = (order[s] as usize, order[t as usize] as usize);
                let force = derived.solid(k).contact_force(derived.solid(other), offset);
                workspace.contact_force += force * model.solid_fractions[other];
            }
        }
        workspace.sites.clear();
        workspace.sites.resize(workspace.offsets.len(), None);
    }
}
