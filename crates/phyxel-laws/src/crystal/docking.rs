//! Which sites a neighbour may take: rates of docking, and cracks.

use super::lattice::{NEAREST, SITES, Site, SiteSet};
use crate::Real;
use crate::random::chance;
use glam::Mat3;

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

    /// Sites that neighbours may take in this step. `random` gives each dock (below [`NEAREST`]) an even number of 0 to 1.
    ///
    /// What is docked stays so; an empty dock takes what is there with the chance `1 - exp(-rate dt)`, a cracked one never.
    /// A site farther out is open if more than half of the docks on the way to it are not cracked, so that nothing holds
    /// across a crack, whichever of the planes of the lattice it follows.
    pub fn open_sites(&self, dt: Real, mut random: impl FnMut(usize) -> Real) -> SiteSet {
        let mut whole = 0u16;
        let mut open = 0u64;
        for (dock, &rate) in self.rates.iter().enumerate().filter(|(_, rate)| **rate > 0.0) {
            whole |= 1 << dock;
            let docks = self.held >> dock & 1 == 1 || random(dock) < chance(rate, dt);
            open |= u64::from(docks) << dock;
        }
        if whole == EVERY {
            return SiteSet::from_bits(open | !u64::from(EVERY));
        }
        for number in NEAREST..SITES {
            let gates = GATES[number];
            open |= u64::from(2 * (gates & whole).count_ones() > gates.count_ones()) << number;
        }
        SiteSet::from_bits(open)
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

    /// Lets a site take neighbours again, as where melt freezes to a crack.
    pub fn heal(&mut self, site: Site, law: &DockingLaw) {
        if let Some(rate) = self.rates.get_mut(site.number()) {
            *rate = law.most;
        }
    }

    /// Opens cracks at docks across which matter of this shape is drawn by more than a strength (Pa). Returns whether
    /// there were any.
    pub fn crack_beyond(&mut self, strength: Real, young_modulus: Real, shape: &Mat3) -> bool {
        let mut cracked = false;
        for site in (0..NEAREST).filter_map(Site::new) {
            if self.rates[site.number()] > 0.0 && tension(young_modulus, shape, site) > strength {
                self.crack(site);
                cracked = true;
            }
        }
        cracked
    }
}

/// Tension along the way to a site, Pa: Young's modulus times Green's strain `(|A n|^2 - 1)/2` in that direction.
pub fn tension(young_modulus: Real, shape: &Mat3, site: Site) -> Real {
    0.5 * young_modulus * ((*shape * site.position().normalize()).length_squared() - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Dice;
    use glam::Vec3;

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
        docks.heal(site, &LAW);
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
    fn docks_crack_where_matter_is_drawn_too_much() {
        let shape = Mat3::from_rotation_x(0.4) * Mat3::from_diagonal(Vec3::new(1.02, 1.0, 1.0));
        let mut docks = Docks::grown(&LAW);
        // Nearest sites with a part along x are drawn by half the strain, the others by none.
        assert!(!docks.crack_beyond(1.02e4, 1e6, &shape));
        assert!(docks.crack_beyond(1.0e4, 1e6, &shape));
        for site in (0..NEAREST).filter_map(Site::new) {
            assert_eq!(docks.rates[site.number()] == 0.0, site.coordinates()[0] != 0);
        }
        assert!(!docks.crack_beyond(0.0, 1e6, &Mat3::NAN));
    }
}
