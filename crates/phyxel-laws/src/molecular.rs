//! Molecules of a melt: every pair attracts from afar and repels when close (`[TPF89]` eqs. 11 to 13).

/// Force between two molecules at distance `d`, divided by the product of their masses:
/// `d (-alpha/(d + zeta)^a + beta'/d^b)`, positive when it pushes apart, with `beta' = beta (d/r)^-p` inside the collision
/// radius. (The source puts the sum on the left of its eq. 15, where its sign is wrong; it belongs to the outside forces.)
///
/// With a cut-off both parts fade smoothly between the two distances and are zero beyond the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairLaw {
    /// Strength of the attraction, `alpha`.
    pub attraction: f64,
    /// Strength of the repulsion, `beta`.
    pub repulsion: f64,
    /// Exponents `a` and `b`.
    pub exponents: [f64; 2],
    /// Distance by which the attraction is blunted, `zeta`.
    pub bluntness: f64,
    /// Collision radius `r`.
    pub radius: f64,
    /// Collision exponent `p`.
    pub collision: f64,
    /// Where the force begins to fade, and where it is gone.
    pub cutoff: Option<[f64; 2]>,
}

/// Distances are not taken as smaller than this part of the collision radius. A melt never comes so close; particles of a
/// crushed solid may, and must not be shot apart when it melts.
pub const CLOSEST: f64 = 0.4;

impl PairLaw {
    /// The two parts of the force at a distance: attraction and repulsion, both at least 0.
    pub fn parts(&self, distance: f64) -> [f64; 2] {
        let d = distance.max(CLOSEST * self.radius);
        let fade = self.cutoff.map_or(1.0, |[start, end]| fade((d - start) / (end - start)));
        let [a, b] = self.exponents;
        let collision = if d < self.radius { 1.0 / power(d / self.radius, self.collision) } else { 1.0 };
        let pull = self.attraction * d / power(d + self.bluntness, a);
        let push = self.repulsion * collision * d / power(d, b);
        [pull * fade, push * fade]
    }

    /// Force that pushes apart.
    pub fn force(&self, distance: f64) -> f64 {
        let [pull, push] = self.parts(distance);
        push - pull
    }

    /// The same law with strengths for which closely packed molecules, one per unit of volume, rest without pressure and
    /// have a bulk modulus of 1. Without a cut-off the sums have no end; `None` then, and where no strengths do it.
    ///
    /// Sums run over the sites of a closest packing: without pressure `sum F d = 0`, and the bulk modulus is
    /// `-1/18 sum F' d^2`.
    pub fn balanced(&self) -> Option<Self> {
        let end = self.cutoff?[1];
        let unit = Self { attraction: 1.0, repulsion: 1.0, ..*self };
        let (mut pull, mut push) = (0.0, 0.0);
        for_each_site(end, |d| {
            let parts = unit.parts(d);
            pull += parts[0] * d;
            push += parts[1] * d;
        });
        let ratio = Self { attraction: 1.0, repulsion: pull / push, ..*self };
        let mut slope = 0.0;
        let h = 1e-5;
        for_each_site(end, |d| slope += (ratio.force(d + h) - ratio.force(d - h)) / (2.0 * h) * d * d);
        let modulus = -slope / 18.0;
        let good = modulus.is_finite() && modulus > 0.0 && ratio.repulsion.is_finite();
        good.then(|| Self { attraction: 1.0 / modulus, repulsion: ratio.repulsion / modulus, ..*self })
    }
}

/// `x` to a power of at least 0, quickly where that is a small whole number.
fn power(x: f64, exponent: f64) -> f64 {
    if exponent > 16.0 || exponent.fract() != 0.0 {
        return libm::pow(x, exponent);
    }
    let (mut left, mut square, mut product) = (exponent as u32, x, 1.0);
    while left > 0 {
        if left % 2 == 1 {
            product *= square;
        }
        square *= square;
        left /= 2;
    }
    product
}

/// 1 before the interval, 0 after it, smooth up to the second derivative.
fn fade(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    1.0 - x * x * x * (10.0 - x * (15.0 - 6.0 * x))
}

/// Distances from one site of a closest packing with one site per unit of volume to all others within reach.
fn for_each_site(reach: f64, mut visit: impl FnMut(f64)) {
    // Four sites in a cube of edge 4^(1/3); half of that is the step of the even points of a grid.
    let step = 0.5 * libm::cbrt(4.0);
    let far = (reach / step) as i64 + 1;
    for x in -far..=far {
        for y in -far..=far {
            for z in -far..=far {
                let d = step * ((x * x + y * y + z * z) as f64).sqrt();
                if (x + y + z) % 2 == 0 && d > 0.0 && d < reach {
                    visit(d);
                }
            }
        }
    }
}

/// Weight of neighbours for viscosity and conduction, at a distance over its reach: `(1 - x)^2`.
///
/// With the coefficients below the sums over neighbours in matter of even density come out right.
pub fn nearness(x: f32) -> f32 {
    let rest = (1.0 - x).max(0.0);
    rest * rest
}

/// Integral of `x^4 nearness(x)` from 0 to 1.
const FOURTH_MOMENT: f64 = 1.0 / 105.0;

/// Damping between two molecules, along their line and times their nearness, for which a fluid of one molecule per unit of
/// volume has viscosity 1: `15 / (2 pi integral of r^4 w dr)` for neighbours up to `reach`.
///
/// Pairwise damping `gamma w` gives `eta = 2 pi gamma n^2 / 15 * integral of r^4 w dr` (`[GW97]`, the dissipative part).
pub fn damping_for_viscosity(reach: f64) -> f64 {
    15.0 / (2.0 * std::f64::consts::PI * reach.powi(5) * FOURTH_MOMENT)
}

/// Conductance between two molecules, times their nearness, for which matter of one molecule per unit of volume has
/// conductivity 1: `1/2 sum G r r^T = I`.
pub fn conductance_for_conductivity(reach: f64) -> f64 {
    6.0 / (4.0 * std::f64::consts::PI * reach.powi(5) * FOURTH_MOMENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: PairLaw = PairLaw {
        attraction: 1.0,
        repulsion: 1.0e4,
        exponents: [2.0, 4.0],
        bluntness: 0.0,
        radius: 1.0,
        collision: 0.0,
        cutoff: None,
    };

    #[test]
    fn the_source_s_molecules_rest_at_the_root_of_their_strengths() {
        assert!(SOURCE.force(100.0).abs() < 1e-12);
        assert!(SOURCE.force(99.0) > 0.0 && SOURCE.force(101.0) < 0.0);
        // -1/d + 1e4/d^3 at 50.
        assert!((SOURCE.force(50.0) - (1e4 / 125e3 - 0.02)).abs() < 1e-12);
    }

    #[test]
    fn repulsion_grows_inside_the_collision_radius_and_is_never_endless() {
        let hard = PairLaw { radius: 60.0, collision: 2.0, ..SOURCE };
        assert_eq!(hard.parts(60.0), SOURCE.parts(60.0));
        assert!((hard.parts(30.0)[1] / SOURCE.parts(30.0)[1] - 4.0).abs() < 1e-12);
        assert_eq!(hard.parts(0.0), hard.parts(24.0));
    }

    #[test]
    fn a_cut_off_fades_smoothly() {
        let cut = PairLaw { cutoff: Some([120.0, 200.0]), ..SOURCE };
        assert_eq!(cut.force(119.0), SOURCE.force(119.0));
        assert_eq!(cut.force(201.0), 0.0);
        assert!((cut.force(160.0) / SOURCE.force(160.0) - 0.5).abs() < 1e-12);
        let jump =
            (120..200).map(|d| (cut.force(f64::from(d) + 1.0) - cut.force(f64::from(d))).abs()).fold(0.0, f64::max);
        assert!(jump < 4e-4, "{jump}");
    }

    #[test]
    fn a_balanced_law_has_no_pressure_and_the_bulk_modulus_one_in_a_closest_packing() {
        for exponents in [[2.0, 4.0], [3.0, 6.0], [7.0, 13.0]] {
            let law = PairLaw { exponents, cutoff: Some([1.7, 2.5]), ..SOURCE }.balanced().unwrap();
            // Energy of a site by squeezing the packing: its second derivative by the volume.
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
        assert_eq!(SOURCE.balanced(), None);
    }

    /// Whether a closest packing that is squeezed or stretched always wants back.
    #[test]
    fn the_usual_exponents_have_one_density_without_pressure_and_the_source_s_cut_off_have_two() {
        let changes = |exponents: [f64; 2]| {
            let law = PairLaw { exponents, cutoff: Some([1.75, 2.5]), ..SOURCE }.balanced().unwrap();
            let pressure = |s: f64| {
                let mut sum = 0.0;
                for_each_site(2.5 / s, |d| sum += law.force(s * d) * d);
                sum
            };
            let signs: Vec<bool> = (0..100).map(|k| pressure(0.7 + 0.007 * f64::from(k) + 1e-4) > 0.0).collect();
            signs.windows(2).filter(|pair| pair[0] != pair[1]).count()
        };
        assert_eq!([changes([4.0, 8.0]), changes([2.0, 4.0])], [1, 3], "two of three are densities to rest at");
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
        assert_eq!(nearness(1.5), 0.0);
    }
}
