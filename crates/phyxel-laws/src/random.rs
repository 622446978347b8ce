//! Random numbers that follow from what they are for, and from nothing else.
//!
//! Nothing is kept between two numbers, so they do not depend on the order in which particles ask, and a resumed run gets
//! the same again.

use crate::Real;

/// 2^64 over the golden ratio, odd.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of splitmix64 `[SLF14]`: every bit of the answer depends on every bit of the question.
const fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// The random numbers of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dice {
    key: u64,
}

impl Dice {
    /// For a seed and the number of a step.
    pub fn new(seed: u64, step: u64) -> Self {
        let seed = mix(seed.wrapping_add(GOLDEN));
        Self { key: mix(seed.wrapping_add(step.wrapping_mul(GOLDEN)).wrapping_add(GOLDEN)) }
    }

    /// 64 random bits of a particle, for one of its purposes: two with different purposes are independent.
    pub fn bits(&self, particle: u32, purpose: u32) -> u64 {
        let counter = u64::from(purpose) << 32 | u64::from(particle);
        mix(self.key.wrapping_add(counter.wrapping_mul(GOLDEN)))
    }

    /// A number from 0, included, to 1, not included.
    pub fn unit(&self, particle: u32, purpose: u32) -> Real {
        (self.bits(particle, purpose) >> 40) as Real / (1u64 << 24) as Real
    }
}

/// Chance that something with a rate (1/s) happens within a time (s): `1 - exp(-rate dt)`.
///
/// Two steps of half the length give the same chance. 0 where the rate is not above 0 or is no number.
pub fn chance(rate: Real, dt: Real) -> Real {
    let expected = rate * dt;
    if expected > 0.0 { -libm::expm1f(-expected) } else { 0.0 }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use glam::{Mat3, Quat, Vec3};

    /// A stream of random numbers, for tests of all laws.
    pub(crate) struct Stream(pub(crate) Dice, pub(crate) u32);

    impl Stream {
        pub(crate) fn new(seed: u64) -> Self {
            Self(Dice::new(seed, 0), 0)
        }

        pub(crate) fn unit(&mut self) -> Real {
            self.1 += 1;
            self.0.unit(self.1, 0)
        }

        /// In the cube from -1 to 1.
        pub(crate) fn point(&mut self) -> Vec3 {
            Vec3::new(self.unit(), self.unit(), self.unit()) * 2.0 - 1.0
        }

        pub(crate) fn turn(&mut self) -> Quat {
            Quat::from_xyzw(self.unit() - 0.5, self.unit() - 0.5, self.unit() - 0.5, self.unit() - 0.5).normalize()
        }

        pub(crate) fn matrix(&mut self) -> Mat3 {
            Mat3::from_cols(self.point(), self.point(), self.point())
        }
    }

    const COUNT: u32 = 100_000;

    /// Mean and variance of even numbers, and no relation between neighbours. With `n` numbers the means spread by
    /// `sqrt(1/12n)`, the variance by `sqrt(1/180n)`, and the product of two by `1/(12 sqrt n)`; five times that is exceeded
    /// once in a million.
    fn look_even(numbers: impl Fn(u32) -> Real) {
        let n = f64::from(COUNT);
        let numbers: Vec<f64> = (0..=COUNT).map(|k| f64::from(numbers(k))).collect();
        assert!(numbers.iter().all(|x| (0.0..1.0).contains(x)));
        let mean = numbers.iter().sum::<f64>() / n;
        let variance = numbers.iter().map(|x| (x - 0.5) * (x - 0.5)).sum::<f64>() / n;
        let related = numbers.windows(2).map(|pair| (pair[0] - 0.5) * (pair[1] - 0.5)).sum::<f64>() / n;
        assert!((mean - 0.5).abs() < 5.0 * (1.0 / (12.0 * n)).sqrt(), "mean {mean}");
        assert!((variance - 1.0 / 12.0).abs() < 5.0 * (1.0 / (180.0 * n)).sqrt(), "variance {variance}");
        assert!(related.abs() < 5.0 / (12.0 * n.sqrt()), "related {related}");
        let mut bins = [0i32; 16];
        numbers.iter().for_each(|x| bins[(x * 16.0) as usize] += 1);
        let expected = n / 16.0;
        assert!(bins.iter().all(|&bin| (f64::from(bin) - expected).abs() < 5.0 * expected.sqrt()), "{bins:?}");
    }

    #[test]
    fn numbers_are_even_and_independent_along_each_counter() {
        for other in [0, 1, 77, u32::MAX] {
            let dice = Dice::new(u64::from(other), u64::from(other));
            look_even(|k| dice.unit(k, other));
            look_even(|k| dice.unit(other, k));
            look_even(|k| Dice::new(u64::from(other), u64::from(k)).unit(other, 3));
            look_even(|k| Dice::new(u64::from(k), u64::from(other)).unit(3, other));
        }
    }

    #[test]
    fn counters_do_not_stand_for_each_other() {
        let mut all: Vec<u64> = Vec::new();
        for (seed, step) in (0..8).flat_map(|seed| (0..8).map(move |step| (seed, step))) {
            let dice = Dice::new(seed, step);
            all.extend((0..64).flat_map(|i| (0..64).map(move |purpose| dice.bits(i, purpose))));
        }
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn the_chance_of_two_half_steps_is_that_of_a_whole() {
        for rate in [1e-6, 0.3, 5.0, 80.0] {
            let (whole, half) = (chance(rate, 0.1), chance(rate, 0.05));
            assert!((1.0 - (1.0 - half) * (1.0 - half) - whole).abs() < 1e-6 * whole.max(1e-6) + 1e-7);
        }
        assert!((chance(1e-6, 1e-3) / 1e-9 - 1.0).abs() < 1e-6, "small chances are not lost");
        assert_eq!((chance(Real::INFINITY, 0.1), chance(1e9, 1.0)), (1.0, 1.0));
        assert_eq!((chance(-3.0, 0.1), chance(Real::NAN, 0.1), chance(0.0, 0.1)), (0.0, 0.0, 0.0));
    }
}
