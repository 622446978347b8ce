//! Frame rates as the fractions that films are timed with.

/// Ticks per second and ticks per picture; their ratio is the frame rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    /// Ticks per second.
    pub(crate) timescale: u32,
    /// Ticks per picture.
    pub(crate) delta: u32,
}

/// Rates that television divides by 1.001, pictures per second.
const TELEVISION: [u32; 5] = [24, 30, 48, 60, 120];

/// How near a fraction must be to be meant, relative. A rate written with five digits (23.976) is this near.
const TELEVISION_NEAR: f64 = 1e-5;

/// How near a fraction must be to end the search, relative: a thousandth of a second in eleven days.
const NEAR: f64 = 1e-9;

/// Largest numerator and denominator of the search.
const LARGEST: f64 = 1e6;

/// Least ticks per second; some players round times to ticks of their own when they are coarser.
const LEAST_TIMESCALE: u32 = 10_000;

impl Rate {
    /// The fraction meant by a rate in pictures per second; `None` outside 0.01 to 1000.
    pub(crate) fn from_hertz(rate: f64) -> Option<Self> {
        if !(0.01..=1000.0).contains(&rate) {
            return None;
        }
        let (mut timescale, mut delta) = television(rate).unwrap_or_else(|| nearest_fraction(rate));
        while timescale < LEAST_TIMESCALE {
            (timescale, delta) = (timescale * 10, delta * 10);
        }
        Some(Self { timescale, delta })
    }

    /// Ticks of a number of pictures.
    pub(crate) fn ticks(self, pictures: u32) -> u64 {
        u64::from(pictures) * u64::from(self.delta)
    }

    /// Number of pictures nearest to a duration in seconds, at least one.
    pub(crate) fn pictures_in(self, seconds: f64) -> u32 {
        let pictures = seconds * f64::from(self.timescale) / f64::from(self.delta);
        (pictures.round() as u32).max(1)
    }
}

fn television(rate: f64) -> Option<(u32, u32)> {
    let meant = |base: &&u32| (f64::from(**base) / 1.001 - rate).abs() <= TELEVISION_NEAR * rate;
    TELEVISION.iter().find(meant).map(|base| (base * 1000, 1001))
}

/// The first convergent of the continued fraction of `rate` that is near enough, or the last that is small enough.
fn nearest_fraction(rate: f64) -> (u32, u32) {
    let (mut before, mut now) = ((0.0, 1.0), (1.0, 0.0));
    let mut rest = rate;
    loop {
        let whole = rest.floor();
        let next = (whole * now.0 + before.0, whole * now.1 + before.1);
        if next.0 > LARGEST || next.1 > LARGEST {
            break;
        }
        (before, now) = (now, next);
        rest = 1.0 / (rest - whole);
        if (now.0 / now.1 - rate).abs() <= NEAR * rate || !rest.is_finite() {
            break;
        }
    }
    (now.0 as u32, now.1 as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_exact_fractions() {
        let cases = [
            (24.0, 24, 1),
            (25.0, 25, 1),
            (30.0, 30, 1),
            (60.0, 60, 1),
            (1000.0, 1000, 1),
            (12.5, 25, 2),
            (0.5, 1, 2),
            (23.976, 24000, 1001),
            (29.97, 30000, 1001),
            (59.94, 60000, 1001),
            (24000.0 / 1001.0, 24000, 1001),
            (1.0 / 3.0, 1, 3),
            (33.333333, 100, 3),
            (14.985, 2997, 200),
            (0.01, 1, 100),
        ];
        for (hertz, numerator, denominator) in cases {
            let rate = Rate::from_hertz(hertz).unwrap();
            let (given, meant) = (u64::from(rate.timescale) * denominator, u64::from(rate.delta) * numerator);
            assert_eq!(given, meant, "{hertz}: {rate:?}");
            assert!(rate.timescale >= LEAST_TIMESCALE, "{hertz}: {rate:?}");
        }
    }

    #[test]
    fn any_rate_is_near_its_fraction() {
        // With parts up to 10^6, neighbouring convergents differ by less than 10^-6 of the rate for rates from 1 up; below,
        // by less than 10^-6 / 0.01.
        for step in 0..5000 {
            let hertz = 0.01 * 1.0023_f64.powi(step);
            let rate = Rate::from_hertz(hertz).unwrap();
            let error = (f64::from(rate.timescale) / f64::from(rate.delta) / hertz - 1.0).abs();
            assert!(error < if hertz < 1.0 { 1e-4 } else { 1e-5 }, "{hertz}: {rate:?} is off by {error}");
        }
    }

    #[test]
    fn rates_without_sense_are_refused() {
        for hertz in [0.0, -30.0, f64::NAN, f64::INFINITY, 1e-9, 1e9] {
            assert_eq!(Rate::from_hertz(hertz), None);
        }
    }

    #[test]
    fn two_seconds_are_a_whole_number_of_pictures() {
        for (hertz, pictures) in [(30.0, 60), (23.976, 48), (12.5, 25), (0.1, 1)] {
            assert_eq!(Rate::from_hertz(hertz).unwrap().pictures_in(2.0), pictures);
        }
    }
}
