//! Verlet list of molecules and soft solid particles, and their roles in pair interactions.

use super::pair_interactions::CORE;
use crate::Real;
use crate::neighbours::{QuerySphere, close_pairs, close_pairs_within};
use crate::numerics::Csr;
use crate::parallel;
use glam::Vec3;

/// Particles per task.
const GRAIN: usize = 512;
/// Cut-off of viscosity and conduction, sizes.
pub(super) const DPD_CUTOFF: Real = 2.0;
/// Skin of the Verlet list, sizes.
const VERLET_SKIN: Real = 0.25;

/// Role of a particle in pair interactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Bound by stiff springs.
    Solid,
    /// Bound by softened springs: it has a repulsive core.
    Soft,
    /// Free of springs.
    Molecule,
}

/// Particle that may interact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub particle: u32,
    pub position: Vec3,
    /// Size, m.
    pub size: Real,
    pub role: Role,
}

/// Verlet list: neighbours of each interacting particle in compressed rows, valid until particles have moved
/// by half the skin.
#[derive(Clone, Debug, Default)]
pub(super) struct VerletList {
    /// Particle of each row, ascending: particles with neighbours, and all molecules.
    pub particles: Vec<u32>,
    /// Rows of the neighbours, ascending, so that sums do not depend on when the list was built.
    neighbours: Csr<u32>,
    /// All candidates and their positions at the build, m. One without neighbours may get some later.
    positions_at_build: Vec<(u32, Vec3)>,
    /// Skin: sum of the displacements of two particles that keeps the list valid, m.
    skin: Real,
}

impl VerletList {
    /// Builds the list of all pairs with a molecule within the cut-off, or a soft particle within its core,
    /// plus the skin.
    pub fn build(candidates: &[Candidate], cutoff: Real) -> Self {
        let size = candidates.iter().map(|c| c.size).fold(0.0, Real::max);
        let skin = VERLET_SKIN * size;
        let sphere = |k: usize| {
            let c = &candidates[k];
            QuerySphere { position: c.position, radius: 0.5 * (cutoff * c.size + skin), index: k as u32 }
        };
        let spheres = |filter: &dyn Fn(Role) -> bool| -> Vec<QuerySphere> {
            (0..candidates.len()).filter(|&k| filter(candidates[k].role)).map(sphere).collect()
        };
        let is_in_range = |a: &QuerySphere, b: &QuerySphere| {
            let [a, b] = [a, b].map(|sphere| &candidates[sphere.index as usize]);
            let range = interaction_range(a.role, b.role, cutoff) * 0.5 * (a.size + b.size) + skin;
            a.position.distance_squared(b.position) < range * range
        };
        let active = spheres(&|role| role != Role::Solid);
        let mut pairs = close_pairs_within(&active, 0.0, is_in_range);
        pairs.append(&mut close_pairs(&active, &spheres(&|role| role == Role::Solid), 0.0, is_in_range));
        Self::from_pairs(candidates, &pairs, skin)
    }

    fn from_pairs(candidates: &[Candidate], pairs: &[(u32, u32)], skin: Real) -> Self {
        let mut count = vec![0u32; candidates.len()];
        pairs.iter().flat_map(|&(a, b)| [a, b]).for_each(|k| count[k as usize] += 1);
        let is_listed = |k: usize| count[k] > 0 || candidates[k].role == Role::Molecule;
        let listed: Vec<u32> = (0..candidates.len()).filter(|&k| is_listed(k)).map(|k| k as u32).collect();
        let mut row_of = vec![0u32; candidates.len()];
        (0..).zip(&listed).for_each(|(row, &candidate)| row_of[candidate as usize] = row);
        let rows_of_pairs = pairs.iter().map(|&(a, b)| (row_of[a as usize], row_of[b as usize]));
        let lengths = listed.iter().map(|&candidate| count[candidate as usize]);
        let mut neighbours = Csr::with_lengths(lengths, rows_of_pairs.flat_map(|(a, b)| [(a, b), (b, a)]));
        parallel::for_each_chunk(&mut neighbours.rows_mut(), GRAIN, |_, rows| {
            rows.iter_mut().for_each(|row| row.sort_unstable());
        });
        let particle = |&k: &u32| candidates[k as usize].particle;
        Self {
            particles: listed.iter().map(particle).collect(),
            positions_at_build: candidates.iter().map(|candidate| (candidate.particle, candidate.position)).collect(),
            neighbours,
            skin,
        }
    }

    /// Returns true if no candidate has moved by more than half the skin.
    pub fn is_valid(&self, position: impl Fn(u32) -> Vec3 + Sync) -> bool {
        let limit = 0.25 * self.skin * self.skin;
        let are_valid = parallel::map_ranges(self.positions_at_build.len(), 1 << 13, |range| {
            self.positions_at_build[range].iter().all(|&(i, built_at)| position(i).distance_squared(built_at) < limit)
        });
        !are_valid.contains(&false)
    }

    /// Rows of the neighbours of a row.
    pub fn of(&self, row: usize) -> &[u32] {
        self.neighbours.row(row)
    }
}

/// Range of the interaction of two roles, sizes.
fn interaction_range(a: Role, b: Role, cutoff: Real) -> Real {
    match (a, b) {
        (Role::Molecule, _) | (_, Role::Molecule) => cutoff.max(DPD_CUTOFF),
        (Role::Soft, _) | (_, Role::Soft) => CORE,
        (Role::Solid, Role::Solid) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_invalid_when_a_particle_without_neighbours_has_moved() {
        let at = |particle: u32, x: Real, role: Role| Candidate {
            particle,
            position: Vec3::new(x, 0.0, 0.0),
            size: 1.0,
            role,
        };
        let candidates = [at(0, 0.0, Role::Molecule), at(1, 1.0, Role::Molecule), at(2, 9.0, Role::Solid)];
        let list = VerletList::build(&candidates, 2.0);
        assert_eq!(list.particles, [0, 1]);
        let moved = |distance: Real| move |i: u32| Vec3::new([0.0, 1.0, 9.0 - distance][i as usize], 0.0, 0.0);
        assert!(list.is_valid(moved(0.12)));
        assert!(!list.is_valid(moved(0.13)), "half the skin is an eighth of a size");
    }
}
