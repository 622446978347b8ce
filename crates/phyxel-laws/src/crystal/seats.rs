//! Which neighbour takes which site, and sums over those: eight neighbours, then eight sites at a time.

use super::lattice::{Lattice, ROWS, Site, SiteSet, mark_at, nearest_coordinates, places};
use crate::Real;
use crate::lanes::{Eight, Lanes, WIDTH, at_every_level};
use glam::{Mat3, Vec3};

/// What a lattice sees of its neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seats {
    /// Sites that are taken.
    pub taken: SiteSet,
    /// `sum w r l^T`, row by row, with `l` in particle distances, m.
    pub fitted: [[Real; 3]; 3],
    /// `sum w l l^T`, squared particle distances: xx, yy, zz, yz, xz, xy.
    pub moments: [Real; 6],
}

impl Seats {
    pub const NONE: Self = Self { taken: SiteSet::NONE, fitted: [[0.0; 3]; 3], moments: [0.0; 6] };
}

at_every_level! {
    /// Tells neighbours their sites and sums up what is on them. `to_lattice` maps ways to coordinates of the lattice.
    take_seats = take_and_sum [] [] (
        lattice: &Lattice,
        to_lattice: &Mat3,
        ways: &[Vec3],
        open: SiteSet,
        sites: &mut [Option<Site>],
        seats: &mut Seats,
    )
}

at_every_level! {
    /// Tells neighbours the sites nearest to them, whether others are there or not.
    find_sites = find_each [] [] (to_lattice: &Mat3, ways: &[Vec3], sites: &mut [Option<Site>])
}

// Loops instead of closures: what is called inside a closure is not compiled for the vectors of the machine.

#[inline(always)]
fn take_and_sum<L: Lanes>(
    lattice: &Lattice,
    to_lattice: &Mat3,
    ways: &[Vec3],
    open: SiteSet,
    sites: &mut [Option<Site>],
    seats: &mut Seats,
) {
    let count = ways.len().min(sites.len());
    let map = spread::<L>(to_lattice);
    // By marks. Nothing is near enough to a site that is closed, and to none at all.
    let mut nearest = lattice.nearest;
    let mut closed = lattice.inside().bits() & !open.bits();
    while closed != 0 {
        nearest[closed.trailing_zeros() as usize + 1] = -1.0;
        closed &= closed - 1;
    }
    let mut holders = [u32::MAX; 64];
    let mut taken = [[[0.0; WIDTH]; ROWS]; 3];
    sites.fill(None);
    let mut first = 0;
    while first < count {
        let mut index = [0; WIDTH];
        for lane in 0..WIDTH {
            index[lane] = (first + lane).min(count - 1) as u32;
        }
        let (places, off) = locate(map, L::gather(ways, &index));
        for lane in 0..WIDTH.min(count - first) {
            let j = first + lane;
            let mark = mark_at(places[lane]);
            let slot = mark as usize % 64;
            if off[lane] < nearest[slot] {
                if let Some(other) = sites.get_mut(holders[slot] as usize) {
                    *other = None;
                }
                sites[j] = Site::from_mark(mark);
                nearest[slot] = off[lane];
                holders[slot] = j as u32;
                let number = slot - 1;
                for axis in 0..3 {
                    taken[axis][number / WIDTH % ROWS][number % WIDTH] = ways[j][axis];
                }
            }
        }
        first += WIDTH;
    }
    sum_up::<L>(lattice, &taken, &holders, seats);
}

#[inline(always)]
fn find_each<L: Lanes>(to_lattice: &Mat3, ways: &[Vec3], sites: &mut [Option<Site>]) {
    let count = ways.len().min(sites.len());
    let map = spread::<L>(to_lattice);
    let mut first = 0;
    while first < count {
        let mut index = [0; WIDTH];
        for lane in 0..WIDTH {
            index[lane] = (first + lane).min(count - 1) as u32;
        }
        let (places, _) = locate(map, L::gather(ways, &index));
        for lane in 0..WIDTH.min(count - first) {
            sites[first + lane] = Site::from_mark(mark_at(places[lane]));
        }
        first += WIDTH;
    }
}

#[inline(always)]
fn spread<L: Lanes>(matrix: &Mat3) -> [[L; 3]; 3] {
    let mut map = [[L::zero(); 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            map[i][j] = L::splat(matrix.col(j)[i]);
        }
    }
    map
}

/// Sums over the taken sites, in the order of the sites.
#[inline(always)]
fn sum_up<L: Lanes>(lattice: &Lattice, ways: &[[Eight; ROWS]; 3], holders: &[u32; 64], seats: &mut Seats) {
    let mut present = [[0.0; WIDTH]; ROWS];
    let mut bits = 0;
    for number in 0..lattice.rows * WIDTH {
        let is_taken = holders[(number + 1) % 64] != u32::MAX;
        bits |= u64::from(is_taken) << number;
        present[number / WIDTH][number % WIDTH] = if is_taken { 1.0 } else { 0.0 };
    }
    seats.taken = SiteSet::from_bits(bits);
    let mut fitted = [[L::zero(); 3]; 3];
    for row in 0..lattice.rows {
        for i in 0..3 {
            let way = L::load(&ways[i][row]);
            for j in 0..3 {
                fitted[i][j] = fitted[i][j] + way * L::load(&lattice.weighed[j][row]);
            }
        }
    }
    for i in 0..3 {
        for j in 0..3 {
            seats.fitted[i][j] = sum_of(fitted[i][j].to_array());
        }
    }
    if seats.taken == lattice.inside() {
        seats.moments = [lattice.moment, lattice.moment, lattice.moment, 0.0, 0.0, 0.0];
        return;
    }
    let mut moments = [L::zero(); 6];
    for row in 0..lattice.rows {
        let present = L::load(&present[row]);
        for k in 0..6 {
            moments[k] = moments[k] + present * L::load(&lattice.squares[k][row]);
        }
    }
    for k in 0..6 {
        seats.moments[k] = sum_of(moments[k].to_array());
    }
}

#[inline(always)]
fn sum_of([a, b, c, d, e, f, g, h]: Eight) -> Real {
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// Places of the sites nearest to eight ways, in the last bits of numbers, and squared distances from them in the frame of
/// the lattice.
#[inline(always)]
fn locate<L: Lanes>(map: [[L; 3]; 3], way: [L; 3]) -> (Eight, Eight) {
    let mut at = [L::zero(); 3];
    for i in 0..3 {
        at[i] = map[i][0] * way[0] + map[i][1] * way[1] + map[i][2] * way[2];
    }
    let coordinates = nearest_coordinates(at);
    let mut off = L::zero();
    for i in 0..3 {
        let apart = at[i] - coordinates[i];
        off = off + apart * apart;
    }
    (places(coordinates).to_array(), off.to_array())
}
