//! Cubic closest packing around a particle: sites, their numbers, and their weights.

use crate::Real;
use crate::elastic::VOIGT;
use crate::lanes::{Eight, Lanes, Numbers, Portable, WIDTH};
use glam::Vec3;
use std::f32::consts::{FRAC_1_SQRT_2, SQRT_2};
use std::num::NonZeroU8;

/// Sites within 2.1 particle distances: shells of 12, 6, 24 and 12 at 1, 1.41, 1.73 and 2 distances.
pub const SITES: usize = 54;

/// The nearest sites. They have the first numbers.
pub const NEAREST: usize = 12;

/// Where each shell ends in the numbering of sites.
pub const SHELL_ENDS: [usize; 4] = [12, 18, 42, 54];

/// A place of the lattice around a particle, other than its own.
///
/// Numbers go by shells from the inside, and within a shell so that the first lies opposite the last, the second opposite
/// the last but one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site(NonZeroU8);

impl Site {
    /// Site of a number; `None` from [`SITES`] on.
    pub const fn new(number: usize) -> Option<Self> {
        if number < SITES { Self::from_mark(number as u8 + 1) } else { None }
    }

    /// From its number and 1; `None` for 0.
    #[inline(always)]
    pub(super) const fn from_mark(mark: u8) -> Option<Self> {
        match NonZeroU8::new(mark) {
            Some(mark) => Some(Self(mark)),
            None => None,
        }
    }

    /// Its number, below [`SITES`].
    #[inline(always)]
    pub const fn number(self) -> usize {
        self.0.get() as usize - 1
    }

    /// Coordinates `(a, b, c)` of `D/sqrt(2) (a, b, c)`, with an even sum.
    pub const fn coordinates(self) -> [i8; 3] {
        COORDINATES[self.number()]
    }

    /// Where it lies in an unturned lattice, in particle distances.
    #[inline(always)]
    pub const fn position(self) -> Vec3 {
        POSITIONS[self.number()]
    }

    /// The site on the other side.
    pub const fn opposite(self) -> Self {
        let number = self.number();
        let (mut shell, mut start) = (0, 0);
        while SHELL_ENDS[shell] <= number {
            start = SHELL_ENDS[shell];
            shell += 1;
        }
        match Self::new(start + SHELL_ENDS[shell] - 1 - number) {
            Some(site) => site,
            None => self,
        }
    }

    /// All sites, from the inside.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..SITES).filter_map(Self::new)
    }
}

/// Some of the sites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SiteSet(u64);

impl SiteSet {
    /// No site.
    pub const NONE: Self = Self(0);
    /// Every site.
    pub const ALL: Self = Self((1 << SITES) - 1);

    /// Sets in one number, a bit for each site; others are left out.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// A bit for each site.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether a site is in it.
    #[inline(always)]
    pub const fn contains(self, site: Site) -> bool {
        self.0 >> site.number() & 1 == 1
    }

    /// With a site more.
    #[must_use]
    pub const fn with(self, site: Site) -> Self {
        Self(self.0 | 1 << site.number())
    }

    /// With a site less.
    #[must_use]
    pub const fn without(self, site: Site) -> Self {
        Self(self.0 & !(1 << site.number()))
    }

    /// How many.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

const fn is_even(a: i8, b: i8, c: i8) -> bool {
    (a + b + c) % 2 == 0
}

const fn coordinates() -> [[i8; 3]; SITES] {
    let mut sites = [[0; 3]; SITES];
    let (mut count, mut square) = (0, 2);
    while square <= 8 {
        let mut code = 0;
        while code < 125 {
            let (a, b, c) = (code / 25 - 2, code / 5 % 5 - 2, code % 5 - 2);
            if is_even(a, b, c) && a * a + b * b + c * c == square {
                sites[count] = [a, b, c];
                count += 1;
            }
            code += 1;
        }
        square += 2;
    }
    sites
}

const COORDINATES: [[i8; 3]; SITES] = coordinates();

const POSITIONS: [Vec3; SITES] = positions();

const fn positions() -> [Vec3; SITES] {
    let mut positions = [Vec3::ZERO; SITES];
    let mut number = 0;
    while number < SITES {
        let [a, b, c] = COORDINATES[number];
        let (a, b, c) = (a as Real, b as Real, c as Real);
        positions[number] = Vec3::new(a * FRAC_1_SQRT_2, b * FRAC_1_SQRT_2, c * FRAC_1_SQRT_2);
        number += 1;
    }
    positions
}

/// With coordinates from -2 to 2 of an even sum, `25 a + 5 b + c + 62` is even: half of it counts 63 places, which are the
/// sites, the particle itself, and the eight corners.
const fn place([a, b, c]: [i8; 3]) -> usize {
    ((25 * a as i32 + 5 * b as i32 + c as i32 + 62) / 2) as usize
}

const PLACES: usize = 64;

const fn marks() -> [u8; PLACES] {
    let mut marks = [0; PLACES];
    let mut number = 0;
    while number < SITES {
        marks[place(COORDINATES[number])] = number as u8 + 1;
        number += 1;
    }
    marks
}

/// Number of the site at each place and 1; 0 where there is none.
const MARKS: [u8; PLACES] = marks();

/// Adding and taking off this rounds a small number to the nearest whole. Its own last bits are 0, so that those of a sum
/// are a whole number.
const ROUNDING: Real = 12_582_912.0;

#[inline(always)]
fn rounded<L: Lanes>(x: L) -> L {
    (x + L::splat(ROUNDING)) - L::splat(ROUNDING)
}

#[inline(always)]
fn size<L: Lanes>(x: L) -> L {
    x.max(L::zero() - x)
}

/// Coordinates of the sites nearest to eight points with these coordinates, never the origin. Points far outside stay
/// outside of the table; those that are no numbers get there.
///
/// Choices are numbers 0 and 1: branches would be taken at random.
#[inline(always)]
pub(super) fn nearest_coordinates<L: Lanes>(at: [L; 3]) -> [L; 3] {
    let [zero, one, minus, far] = [L::zero(), L::splat(1.0), L::splat(-1.0), L::splat(-4.0)];
    let [mut whole, mut off, mut sizes, mut signs, mut aside] = [[zero; 3]; 5];
    for i in 0..3 {
        // The smaller is minus the larger of the negative.
        let near = zero - (zero - at[i].max(far)).max(far);
        whole[i] = rounded(near);
        let rest = near - whole[i];
        off[i] = size(rest);
        aside[i] = rest.where_greater(zero, one, minus);
        sizes[i] = size(near);
        signs[i] = near.where_greater(zero, one, minus);
    }
    // An odd sum: the coordinate that was rounded most goes to the other side.
    let half = L::splat(0.5) * (whole[0] + whole[1] + whole[2]);
    let odd = L::splat(2.0) * size(half - rounded(half));
    let x = off[1].where_greater(off[0], zero, off[2].where_greater(off[0], zero, one));
    let y = (one - x) * off[2].where_greater(off[1], zero, one);
    let chosen = [x, y, one - x - y];
    // The origin itself is no site: there the largest two coordinates go out.
    let z = sizes[2].where_greater(sizes[0], zero, sizes[2].where_greater(sizes[1], zero, one));
    let y = (one - z) * sizes[1].where_greater(sizes[0], zero, one);
    let dropped = [one - z - y, y, z];
    let mut square = zero;
    for i in 0..3 {
        whole[i] = whole[i] + odd * chosen[i] * aside[i];
        square = square + whole[i] * whole[i];
    }
    for i in 0..3 {
        whole[i] = square.where_greater(L::splat(0.5), whole[i], (one - dropped[i]) * signs[i]);
    }
    whole
}

/// Places of the sites with these coordinates, in the last bits of numbers.
#[inline(always)]
pub(super) fn places<L: Lanes>([a, b, c]: [L; 3]) -> L {
    let from_middle = L::splat(12.5) * a + L::splat(2.5) * b + L::splat(0.5) * c;
    let most = size(a).max(size(b)).max(size(c));
    most.where_greater(L::splat(2.5), L::splat(32.0), from_middle) + L::splat(ROUNDING + 31.0)
}

/// Number and 1 of the site at a place; 0 where there is none.
#[inline(always)]
pub(super) fn mark_at(place: Real) -> u8 {
    MARKS[place.to_bits() as usize % PLACES]
}

/// The site nearest to a way from the particle, in particle distances and in the frame of the lattice.
///
/// Coordinates are rounded, and where their sum is odd the one that was rounded most goes to the other side. The particle
/// itself takes no neighbour: what is nearest to it goes to the nearest of the twelve. `None` where the nearest site is
/// beyond the table, and for what is no number.
pub fn nearest_site(way: Vec3) -> Option<Site> {
    let at = (way * SQRT_2).to_array().map(Portable::splat);
    Site::from_mark(mark_at(places(nearest_coordinates(at)).to_array()[0]))
}

/// Rows of eight that hold all sites.
pub(super) const ROWS: usize = SITES.div_ceil(WIDTH);

/// A lattice of one particle distance, with weights that fade out within a support.
///
/// A weight is a function of the distance of the site, not of the particle on it: `(1 - |l|^2/h^2)^3`, and 1 for the
/// particle itself. So forces are linear near the shape at rest and have no jumps.
#[derive(Clone, Debug, PartialEq)]
pub struct Lattice {
    distance: Real,
    /// Without unit.
    weights: [Real; SITES],
    inside: SiteSet,
    total: Real,
    /// `sum w l_x^2`, squared particle distances.
    pub(super) moment: Real,
    /// `w l` by site, particle distances.
    pub(super) weighed: [[Eight; ROWS]; 3],
    /// `w l l^T` by site, in the order of Voigt.
    pub(super) squares: [[Eight; ROWS]; 6],
    /// Rows that have sites with a weight.
    pub(super) rows: usize,
    /// By marks: how near a neighbour has to be, and -1 where there is no site with a weight.
    pub(super) nearest: [Real; PLACES],
}

impl Lattice {
    /// Support of 42 neighbours, in particle distances.
    pub const WIDE: Real = 1.9;
    /// Support of 18 neighbours, in particle distances.
    pub const NARROW: Real = 1.5;

    /// Of a particle distance `D` (m) and a support in particle distances, which counts up to 2.1.
    pub fn new(distance: Real, support: Real) -> Self {
        let mut lattice = Self {
            distance,
            weights: [0.0; SITES],
            inside: SiteSet::NONE,
            total: 1.0,
            moment: 0.0,
            weighed: [[[0.0; WIDTH]; ROWS]; 3],
            squares: [[[0.0; WIDTH]; ROWS]; 6],
            rows: 0,
            nearest: [-1.0; PLACES],
        };
        for site in Site::all() {
            let ratio = 1.0 - site.position().length_squared() / (support * support);
            // Less than a millionth is rounding, of a support that ends at the site.
            if support > 0.0 && ratio > 1e-6 {
                lattice.add(site, ratio * ratio * ratio);
            }
        }
        lattice
    }

    fn add(&mut self, site: Site, weight: Real) {
        let (number, l) = (site.number(), site.position());
        let (row, lane) = (number / WIDTH, number % WIDTH);
        self.weights[number] = weight;
        self.inside = self.inside.with(site);
        self.total += weight;
        self.moment += weight * l.x * l.x;
        (0..3).for_each(|axis| self.weighed[axis][row][lane] = weight * l[axis]);
        (0..6).for_each(|k| self.squares[k][row][lane] = weight * l[VOIGT[k].0] * l[VOIGT[k].1]);
        self.rows = row + 1;
        self.nearest[number + 1] = Real::INFINITY;
    }

    /// Particle distance `D`, m.
    pub fn distance(&self) -> Real {
        self.distance
    }

    /// Weight of a site, without unit; that of the particle itself is 1.
    #[inline(always)]
    pub fn weight(&self, site: Site) -> Real {
        self.weights[site.number()]
    }

    /// Where a site lies in the frame of the lattice, m.
    #[inline(always)]
    pub fn position(&self, site: Site) -> Vec3 {
        site.position() * self.distance
    }

    /// Sites that have a weight.
    pub fn inside(&self) -> SiteSet {
        self.inside
    }

    /// Sum of all weights, that of the particle itself among them.
    pub fn total_weight(&self) -> Real {
        self.total
    }

    /// `M = sum w l_x^2` over all sites, m2. As the lattice is cubic, `sum w l l^T = M I`.
    pub fn moment(&self) -> Real {
        self.moment * self.distance * self.distance
    }

    /// Volume of a particle, `D^3/sqrt(2)`, m3.
    pub fn volume(&self) -> Real {
        self.distance * self.distance * self.distance * FRAC_1_SQRT_2
    }

    /// Stiffness `k = 2 E V/M` (N/m) of the forces `k w (R l - r)`, half of which act, for a Young's modulus `E` (Pa).
    ///
    /// Those forces have the energy `k/4 sum w |r - R l|^2`. In a lattice that is stretched by a symmetric `S` it is
    /// `k M/4 |S - I|^2`, which per volume is that of a solid with the shear modulus `E/2` and Poisson's ratio 0.
    pub fn stiffness(&self, young_modulus: Real) -> Real {
        let moment = self.moment();
        if moment > 0.0 { 2.0 * young_modulus * self.volume() / moment } else { 0.0 }
    }
}
