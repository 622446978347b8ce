//! Assignment of neighbours to sites, and sums over the occupied sites: eight neighbours, then eight sites at
//! a time.

use super::nearest::{nearest_coordinates, point_indices, tag_at};
use super::sites::{Site, SiteSet};
use super::weights::{Lattice, ROWS};
use crate::Real;
use crate::simd::{F32x8, SimdF32x8, WIDTH, dispatch};
use glam::{Mat3, Vec3};

/// Occupied sites of a lattice, and sums over their neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SiteAssignment {
    /// Sites that have a neighbour.
    pub occupied: SiteSet,
    /// `sum w r l^T`, row by row, with `l` in particle spacings, m.
    pub a_pq: [[Real; 3]; 3],
    /// `sum w l l^T`, squared particle spacings: xx, yy, zz, yz, xz, xy.
    pub a_qq: [Real; 6],
}

impl SiteAssignment {
    pub const NONE: Self = Self { occupied: SiteSet::NONE, a_pq: [[0.0; 3]; 3], a_qq: [0.0; 6] };
}

dispatch! {
    /// Assigns neighbours to sites and sums over them. `to_lattice` maps offsets to lattice coordinates.
    assign_sites = assign_and_sum [] [] (
        lattice: &Lattice,
        to_lattice: &Mat3,
        offsets: &[Vec3],
        open: SiteSet,
        sites: &mut [Option<Site>],
        assignment: &mut SiteAssignment,
    )
}

dispatch! {
    /// Finds the site nearest to each neighbour, whether it is free or not.
    nearest_sites = nearest_to_each [] [] (to_lattice: &Mat3, offsets: &[Vec3], sites: &mut [Option<Site>])
}

// Loops instead of closures: what is called inside a closure is not compiled for the vectors of the machine.

#[inline(always)]
fn assign_and_sum<L: SimdF32x8>(
    lattice: &Lattice,
    to_lattice: &Mat3,
    offsets: &[Vec3],
    open: SiteSet,
    sites: &mut [Option<Site>],
    assignment: &mut SiteAssignment,
) {
    let count = offsets.len().min(sites.len());
    let map = splat_matrix::<L>(to_lattice);
    // Squared distances by tag. -1 keeps neighbours off sites that are closed or without weight.
    let mut nearest = lattice.capture;
    let mut closed = lattice.weighted_sites().bits() & !open.bits();
    while closed != 0 {
        nearest[closed.trailing_zeros() as usize + 1] = -1.0;
        closed &= closed - 1;
    }
    let mut occupants = [u32::MAX; 64];
    let mut occupant_offsets = [[[0.0; WIDTH]; ROWS]; 3];
    sites.fill(None);
    let mut first = 0;
    while first < count {
        let mut index = [0; WIDTH];
        for lane in 0..WIDTH {
            index[lane] = (first + lane).min(count - 1) as u32;
        }
        let (points, squares) = locate(map, L::gather_vec3(offsets, &index));
        for lane in 0..WIDTH.min(count - first) {
            let j = first + lane;
            let tag = tag_at(points[lane]);
            let slot = tag as usize % 64;
            if squares[lane] < nearest[slot] {
                if let Some(other) = sites.get_mut(occupants[slot] as usize) {
                    *other = None;
                }
                sites[j] = Site::from_tag(tag);
                nearest[slot] = squares[lane];
                occupants[slot] = j as u32;
                let number = slot - 1;
                for axis in 0..3 {
                    occupant_offsets[axis][number / WIDTH % ROWS][number % WIDTH] = offsets[j][axis];
                }
            }
        }
        first += WIDTH;
    }
    sum_sites::<L>(lattice, &occupant_offsets, &occupants, assignment);
}

#[inline(always)]
fn nearest_to_each<L: SimdF32x8>(to_lattice: &Mat3, offsets: &[Vec3], sites: &mut [Option<Site>]) {
    let count = offsets.len().min(sites.len());
    let map = splat_matrix::<L>(to_lattice);
    let mut first = 0;
    while first < count {
        let mut index = [0; WIDTH];
        for lane in 0..WIDTH {
            index[lane] = (first + lane).min(count - 1) as u32;
        }
        let (points, _) = locate(map, L::gather_vec3(offsets, &index));
        for lane in 0..WIDTH.min(count - first) {
            sites[first + lane] = Site::from_tag(tag_at(points[lane]));
        }
        first += WIDTH;
    }
}

#[inline(always)]
fn splat_matrix<L: SimdF32x8>(matrix: &Mat3) -> [[L; 3]; 3] {
    let mut map = [[L::zero(); 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            map[i][j] = L::splat(matrix.col(j)[i]);
        }
    }
    map
}

/// Sums over the occupied sites, in the order of the sites.
#[inline(always)]
fn sum_sites<L: SimdF32x8>(
    lattice: &Lattice,
    offsets: &[[F32x8; ROWS]; 3],
    occupants: &[u32; 64],
    assignment: &mut SiteAssignment,
) {
    let mut present = [[0.0; WIDTH]; ROWS];
    let mut bits = 0;
    for number in 0..lattice.rows * WIDTH {
        let is_occupied = occupants[(number + 1) % 64] != u32::MAX;
        bits |= u64::from(is_occupied) << number;
        present[number / WIDTH][number % WIDTH] = if is_occupied { 1.0 } else { 0.0 };
    }
    assignment.occupied = SiteSet::from_bits(bits);
    let mut a_pq = [[L::zero(); 3]; 3];
    for row in 0..lattice.rows {
        for i in 0..3 {
            let offset = L::load(&offsets[i][row]);
            for j in 0..3 {
                a_pq[i][j] = a_pq[i][j] + offset * L::load(&lattice.first_moments[j][row]);
            }
        }
    }
    for i in 0..3 {
        for j in 0..3 {
            assignment.a_pq[i][j] = horizontal_sum(a_pq[i][j].to_array());
        }
    }
    if assignment.occupied == lattice.weighted_sites() {
        assignment.a_qq = [lattice.second_moment, lattice.second_moment, lattice.second_moment, 0.0, 0.0, 0.0];
        return;
    }
    let mut a_qq = [L::zero(); 6];
    for row in 0..lattice.rows {
        let present = L::load(&present[row]);
        for k in 0..6 {
            a_qq[k] = a_qq[k] + present * L::load(&lattice.second_moments[k][row]);
        }
    }
    for k in 0..6 {
        assignment.a_qq[k] = horizontal_sum(a_qq[k].to_array());
    }
}

#[inline(always)]
fn horizontal_sum([a, b, c, d, e, f, g, h]: F32x8) -> Real {
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// Finds the lattice points nearest to eight offsets, as [`point_indices`], and the squared distances from
/// them in the lattice frame.
#[inline(always)]
fn locate<L: SimdF32x8>(map: [[L; 3]; 3], offset: [L; 3]) -> (F32x8, F32x8) {
    let mut at = [L::zero(); 3];
    for i in 0..3 {
        at[i] = map[i][0] * offset[0] + map[i][1] * offset[1] + map[i][2] * offset[2];
    }
    let coordinates = nearest_coordinates(at);
    let mut square = L::zero();
    for i in 0..3 {
        let distance = at[i] - coordinates[i];
        square = square + distance * distance;
    }
    (point_indices(coordinates).to_array(), square.to_array())
}
