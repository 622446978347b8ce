//! Random numbers: the splitmix64 hash `[SLF14]` of a key and a counter.
//!
//! [`CounterRng`] draws the number of a given step, particle and stream: there is no state between two
//! numbers, so they do not depend on the order of the particles, and a resumed run draws the same ones.
//! [`SequentialRng`] draws one number after the other. Both give the same numbers on every machine.

use crate::Real;
use glam::Vec3;

/// Increment of splitmix64: 2^64 over the golden ratio, odd.
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// Finaliser of splitmix64 `[SLF14]`: every bit of the output depends on every bit of the input.
const fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// Number in [0, 1) from the 24 highest bits.
fn unit_interval(bits: u64) -> Real {
    (bits >> 40) as Real / (1u64 << 24) as Real
}

/// Counter-based random number generator of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterRng {
    key: u64,
}

impl CounterRng {
    /// Generator for a seed and a step number.
    pub fn new(seed: u64, step: u64) -> Self {
        let seed = mix(seed.wrapping_add(GOLDEN_GAMMA));
        Self { key: mix(seed.wrapping_add(step.wrapping_mul(GOLDEN_GAMMA)).wrapping_add(GOLDEN_GAMMA)) }
    }

    fn at(&self, counter: u64) -> u64 {
        mix(self.key.wrapping_add(counter.wrapping_mul(GOLDEN_GAMMA)))
    }

    /// 64 random bits of a particle in one of its streams; different streams are independent.
    pub fn bits(&self, particle: u32, stream: u32) -> u64 {
        self.at(u64::from(stream) << 32 | u64::from(particle))
    }

    /// Uniform number in [0, 1).
    pub fn uniform(&self, particle: u32, stream: u32) -> Real {
        unit_interval(self.bits(particle, stream))
    }

    /// The numbers at the counters 1, 2, 3 and so on.
    pub fn sequence(self) -> SequentialRng {
        SequentialRng { rng: self, counter: 0 }
    }
}

/// Sequential random number generator: splitmix64 with a hashed seed.
#[derive(Clone, Debug)]
pub struct SequentialRng {
    rng: CounterRng,
    counter: u64,
}

impl SequentialRng {
    /// Starts the sequence of a seed.
    pub fn new(seed: u64) -> Self {
        CounterRng { key: mix(seed ^ GOLDEN_GAMMA) }.sequence()
    }

    /// Returns an independent sequence, for work that must not depend on the order of other draws.
    pub fn fork(&self, stream: u64) -> Self {
        CounterRng { key: mix(self.rng.key ^ mix(stream.wrapping_add(GOLDEN_GAMMA))) }.sequence()
    }

    /// Draws 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.counter += 1;
        self.rng.at(self.counter)
    }

    /// Draws a uniform number in [0, 1).
    pub fn uniform(&mut self) -> Real {
        unit_interval(self.bits())
    }

    /// Draws a uniform point in the cube [0, 1)^3.
    pub fn uniform_vec3(&mut self) -> Vec3 {
        Vec3::new(self.uniform(), self.uniform(), self.uniform())
    }

    /// Draws a uniform integer below `end`; zero when `end` is.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(end)) >> 64) as u64
    }

    /// Permutes items at random (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// Probability that a Poisson event of a rate (1/s) occurs within a time step (s): `1 - exp(-rate dt)`.
///
/// Two steps of half the length have the same probability. 0 where the rate is not positive or is NaN.
pub fn event_probability(rate: Real, dt: Real) -> Real {
    let expected = rate * dt;
    if expected > 0.0 { -libm::expm1f(-expected) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Mat3, Quat};

    impl SequentialRng {
        /// Uniform point in the cube [-1, 1)^3.
        pub(crate) fn point(&mut self) -> Vec3 {
            self.uniform_vec3() * 2.0 - 1.0
        }

        pub(crate) fn rotation(&mut self) -> Quat {
            Quat::from_xyzw(self.uniform() - 0.5, self.uniform() - 0.5, self.uniform() - 0.5, self.uniform() - 0.5)
                .normalize()
        }

        pub(crate) fn matrix(&mut self) -> Mat3 {
            Mat3::from_cols(self.point(), self.point(), self.point())
        }
    }

    const COUNT: u32 = 100_000;

    /// Asserts mean and variance of uniform numbers, and no correlation of successive ones. The standard
    /// deviation of the mean of `n` numbers is `sqrt(1/12n)`, that of the variance `sqrt(1/180n)`, and that
    /// of the mean product of two `1/(12 sqrt n)`; five times that is exceeded once in a million.
    fn assert_uniform(numbers: impl Fn(u32) -> Real) {
        let n = f64::from(COUNT);
        let numbers: Vec<f64> = (0..=COUNT).map(|k| f64::from(numbers(k))).collect();
        assert!(numbers.iter().all(|x| (0.0..1.0).contains(x)));
        let mean = numbers.iter().sum::<f64>() / n;
        let variance = numbers.iter().map(|x| (x - 0.5) * (x - 0.5)).sum::<f64>() / n;
        let covariance = numbers.windows(2).map(|pair| (pair[0] - 0.5) * (pair[1] - 0.5)).sum::<f64>() / n;
        assert!((mean - 0.5).abs() < 5.0 * (1.0 / (12.0 * n)).sqrt(), "mean {mean}");
        assert!((variance - 1.0 / 12.0).abs() < 5.0 * (1.0 / (180.0 * n)).sqrt(), "variance {variance}");
        assert!(covariance.abs() < 5.0 / (12.0 * n.sqrt()), "covariance {covariance}");
        let mut bins = [0i32; 16];
        numbers.iter().for_each(|x| bins[(x * 16.0) as usize] += 1);
        let expected = n / 16.0;
        assert!(bins.iter().all(|&bin| (f64::from(bin) - expected).abs() < 5.0 * expected.sqrt()), "{bins:?}");
    }

    #[test]
    fn numbers_are_uniform_and_uncorrelated_along_each_counter() {
        for other in [0, 1, 77, u32::MAX] {
            let rng = CounterRng::new(u64::from(other), u64::from(other));
            assert_uniform(|k| rng.uniform(k, other));
            assert_uniform(|k| rng.uniform(other, k));
            assert_uniform(|k| CounterRng::new(u64::from(other), u64::from(k)).uniform(other, 3));
            assert_uniform(|k| CounterRng::new(u64::from(k), u64::from(other)).uniform(3, other));
        }
    }

    #[test]
    fn a_seed_gives_the_same_sequence_again_and_another_seed_or_fork_another() {
        let numbers = |mut rng: SequentialRng| [(); 8].map(|()| rng.bits());
        let rng = SequentialRng::new(7);
        assert_eq!(numbers(rng.clone()), numbers(SequentialRng::new(7)));
        assert_ne!(numbers(rng.clone()), numbers(SequentialRng::new(8)));
        assert_ne!(numbers(rng.clone()), numbers(rng.fork(0)));
        assert_eq!(numbers(CounterRng::new(7, 3).sequence())[1], CounterRng::new(7, 3).bits(2, 0));
    }

    #[test]
    fn a_sequence_is_uniform() {
        let numbers = std::cell::RefCell::new(SequentialRng::new(1));
        assert_uniform(|_| numbers.borrow_mut().uniform());
        assert!((0..1000).all(|_| numbers.borrow_mut().below(3) < 3));
    }

    #[test]
    fn shuffling_keeps_the_items() {
        let mut items: Vec<u32> = (0..100).collect();
        SequentialRng::new(2).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn different_counters_give_different_numbers() {
        let mut all: Vec<u64> = Vec::new();
        for (seed, step) in (0..8).flat_map(|seed| (0..8).map(move |step| (seed, step))) {
            let rng = CounterRng::new(seed, step);
            all.extend((0..64).flat_map(|i| (0..64).map(move |stream| rng.bits(i, stream))));
        }
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn two_half_steps_have_the_probability_of_a_whole_step() {
        for rate in [1e-6, 0.3, 5.0, 80.0] {
            let (whole, half) = (event_probability(rate, 0.1), event_probability(rate, 0.05));
            assert!((1.0 - (1.0 - half) * (1.0 - half) - whole).abs() < 1e-6 * whole.max(1e-6) + 1e-7);
        }
        assert!((event_probability(1e-6, 1e-3) / 1e-9 - 1.0).abs() < 1e-6, "small probabilities keep their digits");
        assert_eq!((event_probability(Real::INFINITY, 0.1), event_probability(1e9, 1.0)), (1.0, 1.0));
        assert_eq!(
            (event_probability(-3.0, 0.1), event_probability(Real::NAN, 0.1), event_probability(0.0, 0.1)),
            (0.0, 0.0, 0.0)
        );
    }
}
