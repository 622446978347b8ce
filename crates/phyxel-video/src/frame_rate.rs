//! Frame rates as rational numbers, in which MP4 files measure time.

/// Frame rate as the ratio of ticks per second to ticks per picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RationalRate {
    /// Ticks per second.
    pub(crate) timescale: u32,
    /// Ticks per picture.
    pub(crate) sample_delta: u32,
}

/// Frame rates that NTSC television divides by 1.001, pictures per second.
const NTSC_BASES: [u32; 5] = [24, 30, 48, 60, 120];

/// Relative tolerance for recognising an NTSC rate; a rate written with five digits (23.976) is within it.
const NTSC_TOLERANCE: f64 = 1e-5;

/// Relative tolerance at which the continued fraction ends: a millisecond in eleven days.
const TOLERANCE: f64 = 1e-9;

/// Largest numerator and denominator of a convergent.
const MAX_TERM: f64 = 1e6;

/// Fewest ticks per second; some players round times to their own ticks where these are coarser.
const MIN_TIMESCALE: u32 = 10_000;

impl RationalRate {
    /// Converts a rate in pictures per second; `None` outside 0.01 to 1000.
    pub(crate) fn from_hertz(rate: f64) -> Option<Self> {
        if !(0.01..=1000.0).contains(&rate) {
            return None;
        }
        let (mut timescale, mut sample_delta) = ntsc_fraction(rate).unwrap_or_else(|| best_convergent(rate));
        while timescale < MIN_TIMESCALE {
            (timescale, sample_delta) = (timescale * 10, sample_delta * 10);
        }
        Some(Self { timescale, sample_delta })
    }

    /// Duration of a number of pictures, ticks.
    pub(crate) fn ticks(self, pictures: u32) -> u64 {
        u64::from(pictures) * u64::from(self.sample_delta)
    }

    /// Number of pictures nearest to a duration in seconds, at least one.
    pub(crate) fn pictures_in(self, seconds: f64) -> u32 {
        let pictures = seconds * f64::from(self.timescale) / f64::from(self.sample_delta);
        (pictures.round() as u32).max(1)
    }
}

/// Fraction of the NTSC rate within tolerance of a rate.
fn ntsc_fraction(rate: f64) -> Option<(u32, u32)> {
    let is_near = |base: &&u32| (f64::from(**base) / 1.001 - rate).abs() <= NTSC_TOLERANCE * rate;
    NTSC_BASES.iter().find(is_near).map(|base| (base * 1000, 1001))
}

/// First convergent of the continued fraction of `rate` within `TOLERANCE`, or the last with terms up to `MAX_TERM`.
fn best_convergent(rate: f64) -> (u32, u32) {
    let (mut previous, mut current) = ((0.0, 1.0), (1.0, 0.0));
    let mut remainder = rate;
    loop {
        let whole = remainder.floor();
        let next = (whole * current.0 + previous.0, whole * current.1 + previous.1);
        if next.0 > MAX_TERM || next.1 > MAX_TERM {
            break;
        }
        (previous, current) = (current, next);
        remainder = 1.0 / (remainder - whole);
        if (current.0 / current.1 - rate).abs() <= TOLERANCE * rate || !remainder.is_finite() {
            break;
        }
    }
    (current.0 as u32, current.1 as u32)
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
            let rate = RationalRate::from_hertz(hertz).unwrap();
            let (found, expected) = (u64::from(rate.timescale) * denominator, u64::from(rate.sample_delta) * numerator);
            assert_eq!(found, expected, "{hertz}: {rate:?}");
            assert!(rate.timescale >= MIN_TIMESCALE, "{hertz}: {rate:?}");
        }
    }

    #[test]
    fn fractions_approximate_any_rate() {
        // With terms up to 10^6, neighbouring convergents differ by less than 10^-6 of the rate for rates from 1 up;
        // below, by less than 10^-6 / 0.01.
        for step in 0..5000 {
            let hertz = 0.01 * 1.0023_f64.powi(step);
            let rate = RationalRate::from_hertz(hertz).unwrap();
            let error = (f64::from(rate.timescale) / f64::from(rate.sample_delta) / hertz - 1.0).abs();
            assert!(error < if hertz < 1.0 { 1e-4 } else { 1e-5 }, "{hertz}: {rate:?} is off by {error}");
        }
    }

    #[test]
    fn rates_out_of_range_are_refused() {
        for hertz in [0.0, -30.0, f64::NAN, f64::INFINITY, 1e-9, 1e9] {
            assert_eq!(RationalRate::from_hertz(hertz), None);
        }
    }

    #[test]
    fn two_seconds_are_a_whole_number_of_pictures() {
        for (hertz, pictures) in [(30.0, 60), (23.976, 48), (12.5, 25), (0.1, 1)] {
            assert_eq!(RationalRate::from_hertz(hertz).unwrap().pictures_in(2.0), pictures);
        }
    }
}
