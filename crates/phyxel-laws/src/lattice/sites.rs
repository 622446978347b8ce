//! Sites of cubic closest packing around a particle, and sets of them.

use crate::Real;
use glam::Vec3;
use std::f32::consts::FRAC_1_SQRT_2;
use std::num::NonZeroU8;

/// Number of sites within 2.1 particle spacings: shells of 12, 6, 24 and 12 at 1, 1.41, 1.73 and 2 spacings.
pub const SITES: usize = 54;

/// Number of nearest sites. They are numbered first.
pub const NEAREST: usize = 12;

/// End of each shell in the numbering of sites.
pub const SHELL_ENDS: [usize; 4] = [12, 18, 42, 54];

/// A site of the lattice around a particle, other than its own.
///
/// Sites are numbered by shells from the inside, and within a shell so that the first is opposite to the
/// last, the second to the last but one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site(NonZeroU8);

impl Site {
    /// Site with a number; `None` from [`SITES`] on.
    pub const fn new(number: usize) -> Option<Self> {
        if number < SITES { Self::from_tag(number as u8 + 1) } else { None }
    }

    /// Site with a tag, its number plus 1; `None` for 0.
    #[inline(always)]
    pub(super) const fn from_tag(tag: u8) -> Option<Self> {
        match NonZeroU8::new(tag) {
            Some(tag) => Some(Self(tag)),
            None => None,
        }
    }

    /// Number, below [`SITES`].
    #[inline(always)]
    pub const fn number(self) -> usize {
        self.0.get() as usize - 1
    }

    /// Integer coordinates `(a, b, c)` of the position `D/sqrt(2) (a, b, c)`, with an even sum.
    pub const fn coordinates(self) -> [i8; 3] {
        COORDINATES[self.number()]
    }

    /// Position in the lattice frame, in particle spacings.
    #[inline(always)]
    pub const fn position(self) -> Vec3 {
        POSITIONS[self.number()]
    }

    /// Opposite site.
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

    /// All sites, from the inside outwards.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..SITES).filter_map(Self::new)
    }
}

/// A set of sites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SiteSet(u64);

impl SiteSet {
    /// No site.
    pub const NONE: Self = Self(0);
    /// Every site.
    pub const ALL: Self = Self((1 << SITES) - 1);

    /// Set from a bit for each site; other bits are ignored.
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// One bit per site.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Returns true if a site is in the set.
    #[inline(always)]
    pub const fn contains(self, site: Site) -> bool {
        self.0 >> site.number() & 1 == 1
    }

    /// The set with a site added.
    #[must_use]
    pub const fn with(self, site: Site) -> Self {
        Self(self.0 | 1 << site.number())
    }

    /// The set with a site removed.
    #[must_use]
    pub const fn without(self, site: Site) -> Self {
        Self(self.0 & !(1 << site.number()))
    }

    /// Number of sites in the set.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Returns true if the set is empty.
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
