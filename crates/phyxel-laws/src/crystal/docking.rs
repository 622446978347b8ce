//! Which sites a neighbour may take: rates of docking, and cracks.

use super::lattice::{NEAREST, SITES, Site, SiteSet};
use super::strain;
use crate::Real;
use crate::random::chance;
use crate::symmetric::eigen;
use glam::{Mat3, Vec3};

/// How readily sites take neighbours (`[WHP06]` section 4.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DockingLaw {
    /// Largest rate of docking, 1/s.
    pub most: Real,
    /// How fast the rate of a taken site rises and that of an empty one falls, 1/s2. (The source changes rates by as
    /// much in every step, however long it is.)
    pub change: Real,
}

/// The docks of a particle: its twelve nearest sites.
///
/// Rates are 4 bytes each: in a byte, or in two, what changes in a short step would be lost by rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Docks {
    /// Rates of docking, 1/s.
    pub rates: [Real; NEAREST],
    /// Docks that held a neighbour in the last step, a bit for each.
    pub held: u16,
}

const EVERY: u16 = (1 << NEAREST) - 1;

/// The docks past which the way to each site leads: `l = a + b` with `a` and `b` among the nearest.
const GATES: [u16; SITES] = gates();

const fn gates() -> [u16; SITES] {
    let mut gates = [0; SITES];
    let (mut number, mut dock) = (0, 0);
    while number < SITES {
        if dock == NEAREST {
            (number, dock) = (number + 1, 0);
            continue;
        }
        if let (Some(site), Some(near)) = (Site::new(number), Site::new(dock)) {
            let ([a, b, c], [x, y, z]) = (site.coordinates(), near.coordinates());
            let (a, b, c) = (a - x, b - y, c - z);
            if a * a + b * b + c * c == 2 {
                gates[number] |= 1 << dock;
            }
        }
        dock += 1;
    }
    gates
}

impl Docks {
    /// Of a particle that is solid from the start: all rates at their largest, and what is there is docked.
    pub fn grown(law: &DockingLaw) -> Self {
        Self { rates: [law.most; NEAREST], held: EVERY }
    }

    /// Of a particle that has just become solid: nothing is docked yet.
    pub fn frozen(law: &DockingLaw) -> Self {
        Self { rates: [law.most; NEAREST], held: 0 }
    }

    /// Whether there is no crack at any dock.
    pub fn is_whole(&self) -> bool {
        self.rates.iter().all(|rate| *rate > 0.0)
    }

    /// Sites that no crack closes.
    ///
    /// A site farther out than the docks is open if more than half of the docks on the way to it are not cracked, so that nothing
    /// holds across a crack, whichever of the planes of the lattice it follows.
    pub fn uncracked(&self) -> SiteSet {
        let whole = self.rates.iter().enumerate().fold(0, |bits, (dock, rate)| bits | u16::from(*rate > 0.0) << dock);
        if whole == EVERY {
            return SiteSet::ALL;
        }
        let mut open = u64::from(whole);
        for number in NEAREST..SITES {
            let gates = GATES[number];
            open |= u64::from(2 * (gates & whole).count_ones() > gates.count_ones()) << number;
        }
        SiteSet::from_bits(open)
    }

    /// Sites that neighbours may take in this step. `random` gives each dock (below [`NEAREST`]) an even number of 0 to 1.
    ///
    /// What is docked stays so; an empty dock takes what is there with the chance `1 - exp(-rate dt)`, a cracked one never.
    pub fn open_sites(&self, dt: Real, mut random: impl FnMut(usize) -> Real) -> SiteSet {
        let uncracked = self.uncracked().bits();
        let mut open = uncracked | u64::from(EVERY);
        for dock in (0..NEAREST).filter(|dock| self.held >> dock & 1 == 0) {
            let docks = random(dock) < chance(self.rates[dock], dt);
            open &= !(u64::from(!docks) << dock);
        }
        SiteSet::from_bits(open & uncracked)
    }

    /// Rates after a step in which these sites were taken. A rate that is 0 stays 0: a crack that closes does not heal.
    pub fn follow(&mut self, taken: SiteSet, law: &DockingLaw, dt: Real) {
        self.held = taken.bits() as u16 & EVERY;
        for (dock, rate) in self.rates.iter_mut().enumerate() {
            let step = if self.held >> dock & 1 == 1 { law.change * dt } else { -law.change * dt };
            *rate = if *rate > 0.0 { (*rate + step).min(law.most).max(0.0) } else { 0.0 };
        }
    }

    /// Opens a crack at a site; those that are no docks follow the docks.
    pub fn crack(&mut self, site: Site) {
        if let Some(rate) = self.rates.get_mut(site.number()) {
            *rate = 0.0;
            self.held &= !(1 << site.number());
        }
    }

    /// Lets all sites take neighbours again, as where melt freezes to a crack.
    pub fn heal(&mut self, law: &DockingLaw) {
        self.rates = [law.most; NEAREST];
    }
}

/// Normals of the planes along which a closest packing comes apart: its squares and its triangles, one of each pair.
const PLANES: [[i8; 3]; 7] = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 1, -1], [1, -1, 1], [-1, 1, 1]];

/// Docks in front of the plane that lies best across a direction in the frame of the lattice, a bit for each.
pub fn docks_in_front(direction: Vec3) -> u16 {
    let (mut best, mut front) = (-1.0, Vec3::X);
    for [a, b, c] in PLANES {
        let normal = Vec3::new(a.into(), b.into(), c.into()).normalize();
        let along = direction.dot(normal);
        if along.abs() > best {
            (best, front) = (along.abs(), normal * along.signum());
        }
    }
    // Docks in the plane have no part along its normal, others 0.7 of their length and more.
    let sites = (0..NEAREST).filter_map(Site::new).filter(|site| site.position().dot(front) > 0.5);
    sites.fold(0, |bits, site| bits | 1 << site.number())
}

/// Docks on the other side of these.
pub fn docks_opposite(docks: u16) -> u16 {
    let sites = (0..NEAREST).filter(|dock| docks >> dock & 1 == 1).filter_map(Site::new);
    sites.fold(0, |bits, site| bits | 1 << site.opposite().number())
}

/// Tension along a direction in the frame of the lattice, Pa: Young's modulus times Green's strain `(|A n|^2 - 1)/2`.
pub fn tension(young_modulus: Real, shape: &Mat3, direction: Vec3) -> Real {
    0.5 * young_modulus * ((*shape * direction).length_squared() - 1.0)
}

/// The largest tension of a shape, Pa, and its direction in the frame of the lattice, if it is above a strength (Pa).
pub fn tension_beyond(strength: Real, young_modulus: Real, shape: &Mat3) -> Option<(Real, Vec3)> {
    let strain = strain(*shape);
    // No principal strain is larger than the root of the sum of all squares. It is cheaper, and tells of most shapes that they hold.
    let square: Real = (0..6).map(|k| strain[k] * strain[k] * if k < 3 { 1.0 } else { 2.0 }).sum();
    let largest = young_modulus * square.sqrt();
    if !(largest.is_finite() && largest > strength) {
        return None;
    }
    let [xx, yy, zz, yz, xz, xy] = strain.map(f64::from);
    let (values, vectors) = eigen([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]);
    let first = (1..3).fold(0, |first, k| if values[k] > values[first] { k } else { first });
    let tension = young_modulus * values[first] as Real;
    let direction = Vec3::from_array(vectors.map(|row| row[first] as Real));
    (tension > strength && direction.is_finite()).then_some((tension, direction))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Dice;

    const LAW: DockingLaw = DockingLaw { most: 50.0, change: 100.0 };

    fn sites(wanted: impl Fn([i8; 3]) -> bool) -> SiteSet {
        Site::all().filter(|site| wanted(site.coordinates())).fold(SiteSet::NONE, SiteSet::with)
    }

    #[test]
    fn rates_rise_where_sites_are_taken_and_fall_where_they_are_empty() {
        let mut docks = Docks { rates: [25.0; NEAREST], held: 0 };
        let taken = SiteSet::from_bits(0b11);
        docks.follow(taken, &LAW, 0.1);
        assert_eq!((docks.rates[0], docks.rates[1], docks.rates[2], docks.held), (35.0, 35.0, 15.0, 0b11));
        (0..10).for_each(|_| docks.follow(taken, &LAW, 0.1));
        assert_eq!((docks.rates[1], docks.rates[11]), (50.0, 0.0));
        docks.follow(SiteSet::ALL, &LAW, 0.1);
        assert_eq!(docks.rates[11], 0.0, "a crack that closes does not heal");
        docks.rates = [Real::NAN; NEAREST];
        docks.follow(SiteSet::ALL, &LAW, 0.1);
        assert_eq!(docks.rates, [0.0; NEAREST]);
    }

    #[test]
    fn grown_docks_hold_at_once_and_frozen_ones_by_and_by() {
        assert_eq!(Docks::grown(&LAW).open_sites(1e-6, |_| 0.5), SiteSet::ALL);
        let frozen = Docks::frozen(&LAW);
        let opened = |dt: Real| {
            let of = |step: u64| {
                let dice = Dice::new(5, step);
                (frozen.open_sites(dt, |dock| dice.unit(9, dock as u32)).bits() & u64::from(EVERY)).count_ones()
            };
            f64::from((0..2000).map(of).sum::<u32>()) / 24000.0
        };
        for dt in [1e-4, 1e-2, 0.1] {
            let expected = f64::from(chance(LAW.most, dt));
            // Five standard deviations of a share of 24000.
            let spread = 5.0 * (expected * (1.0 - expected) / 24000.0).sqrt();
            assert!((opened(dt) - expected).abs() < spread, "{dt}: {} {expected}", opened(dt));
        }
    }

    #[test]
    fn a_cracked_dock_never_opens_unless_it_is_healed() {
        let mut docks = Docks::grown(&LAW);
        let site = Site::new(3).unwrap();
        docks.crack(site);
        docks.crack(Site::new(30).unwrap());
        for _ in 0..100 {
            let open = docks.open_sites(1e9, |_| 0.0);
            assert!(!open.contains(site) && open.bits() & u64::from(EVERY) == u64::from(EVERY) & !(1 << 3));
            docks.follow(SiteSet::ALL, &LAW, 1.0);
        }
        docks.heal(&LAW);
        assert!(docks.open_sites(1e9, |_| 0.0).contains(site));
    }

    #[test]
    fn nothing_holds_across_a_crack_and_all_holds_within_its_sides() {
        // Planes of the lattice with their normals; sites beyond the crack are those in front.
        for normal in [[1, 0, 0], [0, 0, -1], [1, 1, 1], [1, -1, -1]] {
            let height = |site: [i8; 3]| -> i8 { (0..3).map(|k| site[k] * normal[k]).sum() };
            let mut docks = Docks::grown(&LAW);
            let beyond = sites(|site| height(site) > 0);
            for site in Site::all().filter(|site| beyond.contains(*site)) {
                docks.crack(site);
            }
            assert_eq!(docks.open_sites(1.0, |_| 0.0), sites(|site| height(site) <= 0), "{normal:?}");
        }
    }

    #[test]
    fn matter_comes_apart_along_planes_of_its_lattice() {
        // Four docks lie in front of a square of the lattice, three in front of a triangle.
        for (direction, count) in
            [([1.0, 0.1, -0.2], 4), ([0.1, 0.2, -3.0], 4), ([1.0, 0.9, 1.1], 3), ([-1.0, -1.0, 0.7], 3)]
        {
            let direction = Vec3::from_array(direction);
            let front = docks_in_front(direction);
            assert_eq!(front.count_ones(), count, "{direction}");
            for site in (0..NEAREST).filter_map(Site::new).filter(|site| front >> site.number() & 1 == 1) {
                assert!(site.position().dot(direction) > 0.0, "{direction}");
            }
            assert_eq!(docks_opposite(front), docks_in_front(-direction));
            assert_eq!(front & docks_opposite(front), 0);
        }
    }

    #[test]
    fn the_largest_tension_is_found_whatever_way_matter_is_drawn_and_turned() {
        let mut numbers = (0..).map(|k| Dice::new(11, 0).unit(k, 0) - 0.5);
        let mut number = || numbers.next().unwrap_or(0.0);
        for _ in 0..200 {
            let along = Vec3::new(number(), number(), number()).normalize();
            let across = along.any_orthonormal_vector();
            let frame = Mat3::from_cols(along, across, along.cross(across));
            let stretched = frame * Mat3::from_diagonal(Vec3::new(1.02, 1.01, 0.9)) * frame.transpose();
            let shape = Mat3::from_rotation_x(3.0 * number()) * stretched;
            // Green's strain of a stretch of 1.02 is 0.0202. Squares of numbers near 1 in f32: 1e-7 of 1, a few times.
            let (tension, direction) = tension_beyond(2.01e4, 1e6, &shape).expect("is drawn by more");
            assert!((tension - 2.02e4).abs() < 1.0, "{tension}");
            // Strains differ by 1e-2: directions are known to 1e-5.
            assert!(direction.dot(along).abs() > 1.0 - 1e-4);
            assert!((super::tension(1e6, &shape, along) - 2.02e4).abs() < 1.0);
            assert_eq!(tension_beyond(2.03e4, 1e6, &shape), None);
        }
        assert_eq!(tension_beyond(0.0, 1e6, &Mat3::NAN), None);
        assert_eq!(tension_beyond(1e3, 1e6, &Mat3::from_diagonal(Vec3::splat(0.9))), None, "matter that is pressed");
    }
}
