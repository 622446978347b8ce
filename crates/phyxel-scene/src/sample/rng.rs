//! Counter-based pseudo-random numbers.

use phyxel::Real;

/// Counter-based random number generator: the splitmix64 hash `[SLF14]` of a seed and a counter.
///
/// The same seed gives the same numbers on every machine.
#[derive(Clone, Debug)]
pub struct CounterRng {
    seed: u64,
    counter: u64,
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

impl CounterRng {
    /// Starts the stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self { seed: mix(seed ^ GOLDEN), counter: 0 }
    }

    /// Returns an independent stream, for work that must not depend on the order of other draws.
    pub fn fork(&self, stream: u64) -> Self {
        Self { seed: mix(self.seed ^ mix(stream.wrapping_add(GOLDEN))), counter: 0 }
    }

    /// Draws 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.counter += 1;
        mix(self.seed.wrapping_add(self.counter.wrapping_mul(GOLDEN)))
    }

    /// Draws a uniform number in [0, 1).
    pub fn uniform(&mut self) -> Real {
        (self.next_u64() >> 40) as Real / (1u64 << 24) as Real
    }

    /// Draws a uniform integer below `end`; zero when `end` is.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(end)) >> 64) as u64
    }

    /// Permutes items at random (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_again_and_another_seed_others() {
        let numbers = |mut random: CounterRng| [(); 8].map(|()| random.next_u64());
        assert_eq!(numbers(CounterRng::new(7)), numbers(CounterRng::new(7)));
        assert_ne!(numbers(CounterRng::new(7)), numbers(CounterRng::new(8)));
        assert_ne!(numbers(CounterRng::new(7)), numbers(CounterRng::new(7).fork(0)));
    }

    #[test]
    fn numbers_are_uniform() {
        let mut random = CounterRng::new(1);
        let mut bins = [0; 10];
        for _ in 0..100_000 {
            let unit = random.uniform();
            assert!((0.0..1.0).contains(&unit));
            bins[(unit * 10.0) as usize] += 1;
        }
        // The standard deviation of a bin is 95; five of them are exceeded once in a million bins.
        assert!(bins.iter().all(|count: &i32| (count - 10_000).abs() < 475), "{bins:?}");
        assert!((0..1000).all(|_| random.below(3) < 3));
    }

    #[test]
    fn shuffling_keeps_the_items() {
        let mut items: Vec<u32> = (0..100).collect();
        CounterRng::new(2).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
