//! Docking rates and cracks: which sites a neighbour may occupy.

use super::green_strain;
use super::sites::{NEAREST, SITES, Site, SiteSet};
use crate::Real;
use crate::linalg::eigen::symmetric_eigen;
use crate::rng::event_probability;
use glam::{Mat3, Vec3};

/// Rate law of docking (`[WHP06]` section 4.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DockingLaw {
    /// Largest rate of docking, 1/s.
    pub max_rate: Real,
    /// Rise of the rate of an occupied dock and fall of that of a vacant one, 1/s2. (The paper changes rates
    /// by a fixed amount per step, whatever its length.)
    pub decay: Real,
}

/// The docks of a particle: its twelve nearest sites.
///
/// Rates are 4 bytes each: in one byte or two, the change of a short step would be lost by rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Docks {
    /// Rates of docking, 1/s.
    pub rates: [Real; NEAREST],
    /// Docks that had a neighbour in the last step, one bit each.
    pub occupied: u16,
}

/// One bit for every dock.
const ALL_DOCKS: u16 = (1 << NEAREST) - 1;

/// Docks on the path to each site: the `a` in `l = a + b` with `a` and `b` among the nearest.
const PATH_DOCKS: [u16; SITES] = path_docks();

const fn path_docks() -> [u16; SITES] {
    let mut paths = [0; SITES];
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
                paths[number] |= 1 << dock;
            }
        }
        dock += 1;
    }
    paths
}

impl Docks {
    /// Docks of a particle that is solid from the start: rates at their maximum, present neighbours docked.
    pub fn all_occupied(law: &DockingLaw) -> Self {
        Self { rates: [law.max_rate; NEAREST], occupied: ALL_DOCKS }
    }

    /// Docks of a particle that has just become solid: nothing is docked yet.
    pub fn all_vacant(law: &DockingLaw) -> Self {
        Self { rates: [law.max_rate; NEAREST], occupied: 0 }
    }

    /// Returns true if no dock is cracked.
    pub fn is_uncracked(&self) -> bool {
        self.rates.iter().all(|rate| *rate > 0.0)
    }

    /// Sites that no crack closes.
    ///
    /// A site beyond the docks is open if more than half of the docks on the path to it are uncracked, so
    /// that no force acts across a crack, whichever cleavage plane it follows.
    pub fn uncracked_sites(&self) -> SiteSet {
        let uncracked =
            self.rates.iter().enumerate().fold(0, |bits, (dock, rate)| bits | u16::from(*rate > 0.0) << dock);
        if uncracked == ALL_DOCKS {
            return SiteSet::ALL;
        }
        let mut open = u64::from(uncracked);
        for number in NEAREST..SITES {
            let path = PATH_DOCKS[number];
            open |= u64::from(2 * (path & uncracked).count_ones() > path.count_ones()) << number;
        }
        SiteSet::from_bits(open)
    }

    /// Sites that neighbours may occupy in this step. `random` returns a uniform number in [0, 1) for each dock
    /// (below [`NEAREST`]).
    ///
    /// A docked neighbour stays docked. A vacant dock accepts a neighbour with probability
    /// `1 - exp(-rate dt)`, a cracked one never.
    pub fn open_sites(&self, dt: Real, mut random: impl FnMut(usize) -> Real) -> SiteSet {
        let uncracked = self.uncracked_sites().bits();
        let mut open = uncracked | u64::from(ALL_DOCKS);
        for dock in (0..NEAREST).filter(|dock| self.occupied >> dock & 1 == 0) {
            let docks = random(dock) < event_probability(self.rates[dock], dt);
            open &= !(u64::from(!docks) << dock);
        }
        SiteSet::from_bits(open & uncracked)
    }

    /// Updates rates after a step in which these sites were occupied. A rate of 0 stays 0: a crack that
    /// closes does not heal.
    pub fn update(&mut self, occupied: SiteSet, law: &DockingLaw, dt: Real) {
        self.occupied = occupied.bits() as u16 & ALL_DOCKS;
        for (dock, rate) in self.rates.iter_mut().enumerate() {
            let step = if self.occupied >> dock & 1 == 1 { law.decay * dt } else { -law.decay * dt };
            *rate = if *rate > 0.0 { (*rate + step).min(law.max_rate).max(0.0) } else { 0.0 };
        }
    }

    /// Opens a crack at a dock. Sites beyond the docks follow from the docks.
    pub fn crack(&mut self, site: Site) {
        if let Some(rate) = self.rates.get_mut(site.number()) {
            *rate = 0.0;
            self.occupied &= !(1 << site.number());
        }
    }

    /// Resets all rates to their maximum, as where melt freezes to a crack.
    pub fn heal(&mut self, law: &DockingLaw) {
        self.rates = [law.max_rate; NEAREST];
    }
}

/// Normals of the cleavage planes of a closest packing, {100} (squares) and {111} (triangles), one of each
/// pair.
const CLEAVAGE_NORMALS: [[i8; 3]; 7] = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 1, -1], [1, -1, 1], [-1, 1, 1]];

/// Docks in front of the cleavage plane most nearly perpendicular to a direction in the lattice frame, one
/// bit each.
pub fn docks_in_front(direction: Vec3) -> u16 {
    let (mut best, mut front) = (-1.0, Vec3::X);
    for [a, b, c] in CLEAVAGE_NORMALS {
        let normal = Vec3::new(a.into(), b.into(), c.into()).normalize();
        let along = direction.dot(normal);
        if along.abs() > best {
            (best, front) = (along.abs(), normal * along.signum());
        }
    }
    // Docks in the plane have no component along its normal; others have 0.7 of their length or more.
    let sites = (0..NEAREST).filter_map(Site::new).filter(|site| site.position().dot(front) > 0.5);
    sites.fold(0, |bits, site| bits | 1 << site.number())
}

/// Docks opposite to these.
pub fn docks_opposite(docks: u16) -> u16 {
    let sites = (0..NEAREST).filter(|dock| docks >> dock & 1 == 1).filter_map(Site::new);
    sites.fold(0, |bits, site| bits | 1 << site.opposite().number())
}

/// Tensile stress along a direction `n` in the lattice frame, Pa: Young's modulus times Green's strain
/// `(|A n|^2 - 1)/2`.
pub fn tensile_stress(young_modulus: Real, deformation: &Mat3, direction: Vec3) -> Real {
    0.5 * young_modulus * ((*deformation * direction).length_squared() - 1.0)
}

/// Largest tensile principal stress, Pa, and its direction in the lattice frame, if it exceeds a strength (Pa).
pub fn principal_stress_above(strength: Real, young_modulus: Real, deformation: &Mat3) -> Option<(Real, Vec3)> {
    let strain = green_strain(*deformation);
    // No principal strain exceeds the Frobenius norm, which is cheaper and suffices for most particles.
    let square: Real = (0..6).map(|k| strain[k] * strain[k] * if k < 3 { 1.0 } else { 2.0 }).sum();
    let bound = young_modulus * square.sqrt();
    if !(bound.is_finite() && bound > strength) {
        return None;
    }
    let [xx, yy, zz, yz, xz, xy] = strain.map(f64::from);
    let (values, vectors) = symmetric_eigen([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]);
    let first = (1..3).fold(0, |first, k| if values[k] > values[first] { k } else { first });
    let stress = young_modulus * values[first] as Real;
    let direction = Vec3::from_array(vectors.map(|row| row[first] as Real));
    (stress > strength && direction.is_finite()).then_some((stress, direction))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::CounterRng;

    const LAW: DockingLaw = DockingLaw { max_rate: 50.0, decay: 100.0 };

    fn sites(predicate: impl Fn([i8; 3]) -> bool) -> SiteSet {
        Site::all().filter(|site| predicate(site.coordinates())).fold(SiteSet::NONE, SiteSet::with)
    }

    #[test]
    fn rates_rise_at_occupied_docks_and_fall_at_vacant_ones() {
        let mut docks = Docks { rates: [25.0; NEAREST], occupied: 0 };
        let occupied = SiteSet::from_bits(0b11);
        docks.update(occupied, &LAW, 0.1);
        assert_eq!((docks.rates[0], docks.rates[1], docks.rates[2], docks.occupied), (35.0, 35.0, 15.0, 0b11));
        (0..10).for_each(|_| docks.update(occupied, &LAW, 0.1));
        assert_eq!((docks.rates[1], docks.rates[11]), (50.0, 0.0));
        docks.update(SiteSet::ALL, &LAW, 0.1);
        assert_eq!(docks.rates[11], 0.0, "a crack that closes does not heal");
        docks.rates = [Real::NAN; NEAREST];
        docks.update(SiteSet::ALL, &LAW, 0.1);
        assert_eq!(docks.rates, [0.0; NEAREST]);
    }

    #[test]
    fn occupied_docks_are_open_at_once_and_vacant_ones_at_their_rate() {
        assert_eq!(Docks::all_occupied(&LAW).open_sites(1e-6, |_| 0.5), SiteSet::ALL);
        let vacant = Docks::all_vacant(&LAW);
        let opened = |dt: Real| {
            let of = |step: u64| {
                let rng = CounterRng::new(5, step);
                (vacant.open_sites(dt, |dock| rng.uniform(9, dock as u32)).bits() & u64::from(ALL_DOCKS)).count_ones()
            };
            f64::from((0..2000).map(of).sum::<u32>()) / 24000.0
        };
        for dt in [1e-4, 1e-2, 0.1] {
            let expected = f64::from(event_probability(LAW.max_rate, dt));
            // Five standard deviations of a binomial fraction of 24000.
            let tolerance = 5.0 * (expected * (1.0 - expected) / 24000.0).sqrt();
            assert!((opened(dt) - expected).abs() < tolerance, "{dt}: {} {expected}", opened(dt));
        }
    }

    #[test]
    fn a_cracked_dock_never_opens_unless_it_is_healed() {
        let mut docks = Docks::all_occupied(&LAW);
        let site = Site::new(3).unwrap();
        docks.crack(site);
        docks.crack(Site::new(30).unwrap());
        for _ in 0..100 {
            let open = docks.open_sites(1e9, |_| 0.0);
            assert!(!open.contains(site) && open.bits() & u64::from(ALL_DOCKS) == u64::from(ALL_DOCKS) & !(1 << 3));
            docks.update(SiteSet::ALL, &LAW, 1.0);
        }
        docks.heal(&LAW);
        assert!(docks.open_sites(1e9, |_| 0.0).contains(site));
    }

    #[test]
    fn sites_across_a_crack_are_closed_and_all_others_open() {
        // Normals of cleavage planes; sites beyond the crack are those in front.
        for normal in [[1, 0, 0], [0, 0, -1], [1, 1, 1], [1, -1, -1]] {
            let height = |site: [i8; 3]| -> i8 { (0..3).map(|k| site[k] * normal[k]).sum() };
            let mut docks = Docks::all_occupied(&LAW);
            let beyond = sites(|site| height(site) > 0);
            for site in Site::all().filter(|site| beyond.contains(*site)) {
                docks.crack(site);
            }
            assert_eq!(docks.open_sites(1.0, |_| 0.0), sites(|site| height(site) <= 0), "{normal:?}");
        }
    }

    #[test]
    fn docks_in_front_of_a_cleavage_plane_are_three_or_four() {
        // Four docks are in front of a {100} plane, three in front of a {111} plane.
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
    fn the_largest_principal_stress_is_found_for_any_stretch_and_rotation() {
        let mut rng = CounterRng::new(11, 0).sequence();
        for _ in 0..200 {
            let along = rng.point().normalize();
            let across = along.any_orthonormal_vector();
            let frame = Mat3::from_cols(along, across, along.cross(across));
            let stretched = frame * Mat3::from_diagonal(Vec3::new(1.02, 1.01, 0.9)) * frame.transpose();
            let deformation = Mat3::from_rotation_x(3.0 * (rng.uniform() - 0.5)) * stretched;
            // Green's strain of a stretch of 1.02 is 0.0202. Squares of numbers near 1 in f32: a few times
            // 1e-7.
            let (stress, direction) = principal_stress_above(2.01e4, 1e6, &deformation).expect("exceeds the strength");
            assert!((stress - 2.02e4).abs() < 1.0, "{stress}");
            // Principal strains differ by 1e-2: directions are accurate to 1e-5.
            assert!(direction.dot(along).abs() > 1.0 - 1e-4);
            assert!((tensile_stress(1e6, &deformation, along) - 2.02e4).abs() < 1.0);
            assert_eq!(principal_stress_above(2.03e4, 1e6, &deformation), None);
        }
        assert_eq!(principal_stress_above(0.0, 1e6, &Mat3::NAN), None);
        let compressed = Mat3::from_diagonal(Vec3::splat(0.9));
        assert_eq!(principal_stress_above(1e3, 1e6, &compressed), None, "compression is no tension");
    }
}
