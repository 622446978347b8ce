//! Random numbers that depend on a seed and a counter and on nothing else.

use phyxel::Real;

/// A stream of random numbers: the splitmix64 hash of `[SLF14]` of a seed and a running counter.
///
/// The same seed gives the same numbers on every machine.
#[derive(Clone, Debug)]
pub struct Random {
    seed: u64,
    counter: u64,
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

impl Random {
    /// The stream of a seed, from its start.
    pub fn new(seed: u64) -> Self {
        Self { seed: mix(seed ^ GOLDEN), counter: 0 }
    }

    /// Another stream, for a part of the work that must not depend on the other parts.
    pub fn fork(&self, part: u64) -> Self {
        Self { seed: mix(self.seed ^ mix(part.wrapping_add(GOLDEN))), counter: 0 }
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.counter += 1;
        mix(self.seed.wrapping_add(self.counter.wrapping_mul(GOLDEN)))
    }

    /// A number from zero, included, to one, not included.
    pub fn unit(&mut self) -> Real {
        (self.next_u64() >> 40) as Real / (1u64 << 24) as Real
    }

    /// A whole number less than `end`; zero when `end` is.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(end)) >> 64) as u64
    }

    /// Puts items into a random order.
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
        let numbers = |mut random: Random| [(); 8].map(|()| random.next_u64());
        assert_eq!(numbers(Random::new(7)), numbers(Random::new(7)));
        assert_ne!(numbers(Random::new(7)), numbers(Random::new(8)));
        assert_ne!(numbers(Random::new(7)), numbers(Random::new(7).fork(0)));
    }

    #[test]
    fn numbers_are_spread_evenly() {
        let mut random = Random::new(1);
        let mut bins = [0; 10];
        for _ in 0..100_000 {
            let unit = random.unit();
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
        Random::new(2).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
