//! Pair forces between the molecules of a melt: long-range attraction, short-range repulsion (`[TPF89]` eqs.
//! 11 to 13).

/// Pair force at distance `d`, divided by the product of the masses: `d (-alpha/(d + zeta)^a + beta'/d^b)`,
/// positive when repulsive, with `beta' = beta (d/r)^-p` inside the collision radius `r`.
///
/// `[TPF89]` puts the sum of pair forces on the left of eq. 15, where its sign is wrong; it belongs to the
/// external forces. With a cut-off, a switching function takes both terms smoothly to zero between the two
/// distances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairLaw {
    /// Strength of the attraction, `alpha`.
    pub attraction: f64,
    /// Strength of the repulsion, `beta`.
    pub repulsion: f64,
    /// Exponents `a` and `b`.
    pub exponents: [f64; 2],
    /// Softening length of the attraction, `zeta`.
    pub softening: f64,
    /// Collision radius `r`.
    pub collision_radius: f64,
    /// Collision exponent `p`.
    pub collision_exponent: f64,
    /// Distances between which the force is switched off.
    pub cutoff: Option<[f64; 2]>,
}

/// Lower bound on distances as a fraction of the collision radius. Molecules of a melt never come so close;
/// particles of a crushed solid may, and must not explode when it melts.
pub const MIN_DISTANCE: f64 = 0.4;

impl PairLaw {
    /// Magnitudes of attraction and repulsion at a distance.
    pub fn components(&self, distance: f64) -> [f64; 2] {
        let d = distance.max(MIN_DISTANCE * self.collision_radius);
        let switch = self.cutoff.map_or(1.0, |[start, end]| switching((d - start) / (end - start)));
        let [a, b] = self.exponents;
        let collision = if d < self.collision_radius {
            1.0 / power(d / self.collision_radius, self.collision_exponent)
        } else {
            1.0
        };
        let attraction = self.attraction * d / power(d + self.softening, a);
        let repulsion = self.repulsion * collision * d / power(d, b);
        [attraction * switch, repulsion * switch]
    }

    /// Net force at a distance, positive when repulsive.
    pub fn force(&self, distance: f64) -> f64 {
        let [attraction, repulsion] = self.components(distance);
        repulsion - attraction
    }

    /// Law whose face-centred cubic packing of one molecule per unit volume has zero pressure and a bulk
    /// modulus of 1.
    ///
    /// Lattice sums: zero pressure is `sum F d = 0`, the bulk modulus is `-1/18 sum F' d^2`. `None` without a
    /// cut-off, as the sums diverge, and where no strengths meet both conditions.
    pub fn calibrated(&self) -> Option<Self> {
        let end = self.cutoff?[1];
        let unit_law = Self { attraction: 1.0, repulsion: 1.0, ..*self };
        let (mut attraction, mut repulsion) = (0.0, 0.0);
        for_each_site(end, |d| {
            let terms = unit_law.components(d);
            attraction += terms[0] * d;
            repulsion += terms[1] * d;
        });
        let balanced = Self { attraction: 1.0, repulsion: attraction / repulsion, ..*self };
        let mut slope = 0.0;
        let h = 1e-5;
        for_each_site(end, |d| slope += (balanced.force(d + h) - balanced.force(d - h)) / (2.0 * h) * d * d);
        let modulus = -slope / 18.0;
        let is_valid = modulus.is_finite() && modulus > 0.0 && balanced.repulsion.is_finite();
        is_valid.then(|| Self { attraction: 1.0 / modulus, repulsion: balanced.repulsion / modulus, ..*self })
    }
}

/// `x^exponent` for exponents of at least 0, by repeated squaring for small integers.
fn power(x: f64, exponent: f64) -> f64 {
    if exponent > 16.0 || exponent.fract() != 0.0 {
        return libm::pow(x, exponent);
    }
    let (mut remaining, mut square, mut product) = (exponent as u32, x, 1.0);
    while remaining > 0 {
        if remaining % 2 == 1 {
            product *= square;
        }
        square *= square;
        remaining /= 2;
    }
    product
}

/// Switching function: 1 for `x <= 0`, 0 for `x >= 1`, with two continuous derivatives.
fn switching(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    1.0 - x * x * x * (10.0 - x * (15.0 - 6.0 * x))
}

/// Visits the distances from a site of a face-centred cubic lattice, one site per unit volume, to all others
/// within `cutoff`.
fn for_each_site(cutoff: f64, mut visit: impl FnMut(f64)) {
    // Four sites in a cube of edge 4^(1/3): the points of even index sum of a grid of half that spacing.
    let step = 0.5 * libm::cbrt(4.0);
    let max_index = (cutoff / step) as i64 + 1;
    for x in -max_index..=max_index {
        for y in -max_index..=max_index {
            for z in -max_index..=max_index {
                let d = step * ((x * x + y * y + z * z) as f64).sqrt();
                if (x + y + z) % 2 == 0 && d > 0.0 && d < cutoff {
                    visit(d);
                }
            }
        }
    }
}

/// Weight function of dissipative particle dynamics, `(1 - x)^2`, at `x = distance/cutoff`; for viscosity and
/// conduction.
///
/// The coefficients below normalise sums over neighbours of uniform density.
pub fn dpd_weight(x: f32) -> f32 {
    let complement = (1.0 - x).max(0.0);
    complement * complement
}

/// Integral of `x^4 dpd_weight(x)` from 0 to 1.
const FOURTH_MOMENT: f64 = 1.0 / 105.0;

/// Pair damping coefficient `gamma = 15/(2 pi int r^4 w dr)` for which a fluid of one molecule per unit
/// volume has viscosity 1.
///
/// Damping `gamma w(r)` along the line of a pair gives `eta = 2 pi gamma n^2/15 int r^4 w dr` (`[GW97]`,
/// dissipative part).
pub fn damping_for_viscosity(cutoff: f64) -> f64 {
    15.0 / (2.0 * std::f64::consts::PI * cutoff.powi(5) * FOURTH_MOMENT)
}

/// Pair conductance coefficient for which a material of one molecule per unit volume has conductivity 1: with
/// `G = coefficient w(r)`, `1/2 sum G r r^T = I`.
pub fn conductance_for_conductivity(cutoff: f64) -> f64 {
    6.0 / (4.0 * std::f64::consts::PI * cutoff.powi(5) * FOURTH_MOMENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TPF89: PairLaw = PairLaw {
        attraction: 1.0,
        repulsion: 1.0e4,
        exponents: [2.0, 4.0],
        softening: 0.0,
        collision_radius: 1.0,
        collision_exponent: 0.0,
        cutoff: None,
    };

    #[test]
    fn the_pair_law_of_tpf89_is_in_equilibrium_at_the_root_of_the_ratio_of_strengths() {
        assert!(TPF89.force(100.0).abs() < 1e-12);
        assert!(TPF89.force(99.0) > 0.0 && TPF89.force(101.0) < 0.0);
        // -1/d + 1e4/d^3 at 50.
        assert!((TPF89.force(50.0) - (1e4 / 125e3 - 0.02)).abs() < 1e-12);
    }

    #[test]
    fn repulsion_grows_inside_the_collision_radius_and_stays_finite() {
        let hard = PairLaw { collision_radius: 60.0, collision_exponent: 2.0, ..TPF89 };
        assert_eq!(hard.components(60.0), TPF89.components(60.0));
        assert!((hard.components(30.0)[1] / TPF89.components(30.0)[1] - 4.0).abs() < 1e-12);
        assert_eq!(hard.components(0.0), hard.components(24.0));
    }

    #[test]
    fn a_cut_off_switches_the_force_off_smoothly() {
        let cut = PairLaw { cutoff: Some([120.0, 200.0]), ..TPF89 };
        assert_eq!(cut.force(119.0), TPF89.force(119.0));
        assert_eq!(cut.force(201.0), 0.0);
        assert!((cut.force(160.0) / TPF89.force(160.0) - 0.5).abs() < 1e-12);
        let max_jump =
            (120..200).map(|d| (cut.force(f64::from(d) + 1.0) - cut.force(f64::from(d))).abs()).fold(0.0, f64::max);
        assert!(max_jump < 4e-4, "{max_jump}");
    }

    #[test]
    fn a_calibrated_law_has_zero_pressure_and_unit_bulk_modulus_in_a_closest_packing() {
        for exponents in [[2.0, 4.0], [3.0, 6.0], [7.0, 13.0]] {
            let law = PairLaw { exponents, cutoff: Some([1.7, 2.5]), ..TPF89 }.calibrated().unwrap();
            // Virial of a site in the scaled packing.
            let pressure = |s: f64| {
                let mut sum = 0.0;
                for_each_site(2.5 / s, |d| sum += law.force(s * d) * d);
                sum / (6.0 * s * s)
            };
            assert!(pressure(1.0).abs() < 1e-9, "{}", pressure(1.0));
            let h = 1e-4;
            let modulus = -(pressure(1.0 + h) - pressure(1.0 - h)) / (2.0 * h) / 3.0;
            assert!((modulus - 1.0).abs() < 1e-4, "{exponents:?}: {modulus}");
        }
        assert_eq!(TPF89.calibrated(), None);
    }

    /// Counts the densities of zero pressure of a packing under uniform compression and expansion.
    #[test]
    fn the_default_exponents_have_one_density_of_zero_pressure_and_those_of_tpf89_cut_off_have_three() {
        let sign_changes = |exponents: [f64; 2]| {
            let law = PairLaw { exponents, cutoff: Some([1.75, 2.5]), ..TPF89 }.calibrated().unwrap();
            let pressure = |s: f64| {
                let mut sum = 0.0;
                for_each_site(2.5 / s, |d| sum += law.force(s * d) * d);
                sum
            };
            let signs: Vec<bool> = (0..100).map(|k| pressure(0.7 + 0.007 * f64::from(k) + 1e-4) > 0.0).collect();
            signs.windows(2).filter(|pair| pair[0] != pair[1]).count()
        };
        assert_eq!([sign_changes([4.0, 8.0]), sign_changes([2.0, 4.0])], [1, 3], "two of the three are stable");
    }

    #[test]
    fn powers_are_powers() {
        for exponent in [0.0, 1.0, 2.0, 2.5, 7.0, 16.0, 20.0] {
            for x in [0.25, 0.9, 1.0, 3.0] {
                assert!((power(x, exponent) / libm::pow(x, exponent) - 1.0).abs() < 1e-14, "{x} to {exponent}");
            }
        }
    }

    #[test]
    fn the_fourth_moment_is_the_integral() {
        let n = 100_000;
        let sum: f64 = (0..n).map(|i| (f64::from(i) + 0.5) / f64::from(n)).map(|x| x.powi(4) * (1.0 - x).powi(2)).sum();
        assert!((sum / f64::from(n) - FOURTH_MOMENT).abs() < 1e-9);
        assert_eq!(dpd_weight(1.5), 0.0);
    }
}
