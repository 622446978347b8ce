//! Colour spaces and colour maps.
//!
//! Colour maps are linear in the lightness of OKLab `[Ott20]`, so that they are perceptually uniform, also in grey.
//! Colours are linear RGB unless said otherwise.

use crate::settings::Colouring;
use glam::Vec3;
use std::sync::LazyLock;

/// Range of values of a colour map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColourRange {
    /// Value of the darkest colour.
    pub low: f32,
    /// Value of the lightest colour.
    pub high: f32,
}

impl ColourRange {
    /// Maps a value to 0 to 1, clamped; to 0.5 where the range is empty.
    pub(crate) fn normalise(&self, value: f32) -> f32 {
        let width = self.high - self.low;
        if width > 0.0 { ((value - self.low) / width).clamp(0.0, 1.0) } else { 0.5 }
    }

    /// Range of the finite values; 0 to 1 if there are none.
    pub(crate) fn of_values(values: impl Iterator<Item = f32>) -> Self {
        let start = Self { low: f32::INFINITY, high: f32::NEG_INFINITY };
        let found = values
            .filter(|value| value.is_finite())
            .fold(start, |range, value| Self { low: range.low.min(value), high: range.high.max(value) });
        if found.low <= found.high { found } else { Self { low: 0.0, high: 1.0 } }
    }
}

/// Converts sRGB, 0 to 1, to linear RGB.
pub(crate) fn srgb_to_linear(color: [f32; 3]) -> Vec3 {
    Vec3::from_array(color.map(|channel| {
        let channel = channel.clamp(0.0, 1.0);
        if channel <= 0.040_45 { channel / 12.92 } else { libm::powf((channel + 0.055) / 1.055, 2.4) }
    }))
}

/// sRGB codes of equidistant linear values: four per code where the transfer function is steepest.
static SRGB_CODES: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let code = |k: usize| {
        let linear = k as f32 / (CODE_COUNT - 1) as f32;
        let code = if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * libm::powf(linear, 1.0 / 2.4) - 0.055 };
        (255.0 * code + 0.5) as u8
    };
    (0..CODE_COUNT).map(code).collect()
});
/// Length of [`SRGB_CODES`].
const CODE_COUNT: usize = 1 << 14;

/// Converts linear RGB to sRGB codes, 0 to 255.
pub(crate) fn linear_to_srgb(colour: Vec3) -> [u8; 3] {
    colour.to_array().map(|channel| SRGB_CODES[(channel.clamp(0.0, 1.0) * (CODE_COUNT - 1) as f32 + 0.5) as usize])
}

/// Converts OKLab in polar coordinates (lightness, chroma, hue in turns) to linear RGB.
fn oklch_to_linear(lightness: f32, chroma: f32, hue: f32) -> Vec3 {
    let (sin, cos) = libm::sincosf(std::f32::consts::TAU * hue);
    let (a, b) = (chroma * cos, chroma * sin);
    let l = lightness + 0.396_337_78 * a + 0.215_803_76 * b;
    let m = lightness - 0.105_561_346 * a - 0.063_854_17 * b;
    let s = lightness - 0.089_484_18 * a - 1.291_485_5 * b;
    let [l, m, s] = [l, m, s].map(|x| x * x * x);
    Vec3::new(
        4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s,
        -1.268_438 * l + 2.609_757_4 * m - 0.341_319_4 * s,
        -0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s,
    )
}

/// The same, with the largest chroma within the gamut (gamut mapping by bisection).
fn clip_chroma(lightness: f32, chroma: f32, hue: f32) -> Vec3 {
    let is_in_gamut = |colour: Vec3| colour.min_element() >= 0.0 && colour.max_element() <= 1.0;
    let (mut low, mut high) = (0.0, chroma);
    if is_in_gamut(oklch_to_linear(lightness, chroma, hue)) {
        return oklch_to_linear(lightness, chroma, hue);
    }
    for _ in 0..12 {
        let middle = 0.5 * (low + high);
        if is_in_gamut(oklch_to_linear(lightness, middle, hue)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    oklch_to_linear(lightness, low, hue)
}

/// Colour map of a colouring for 0 to 1: dark violet over red to light yellow for temperatures, dark blue over
/// green to light yellow for the others.
pub(crate) fn colour_map(colouring: Colouring, t: f32) -> Vec3 {
    let (start_hue, end_hue) = if colouring == Colouring::Temperature { (-0.22, 0.27) } else { (0.77, 0.31) };
    let chroma = 0.11 + 0.10 * libm::sinf(std::f32::consts::PI * t.clamp(0.0, 1.0));
    clip_chroma(0.28 + 0.66 * t, chroma, start_hue + (end_hue - start_hue) * t)
}

/// Colour of a body by its index: consecutive indices differ in hue by the golden ratio.
pub(crate) fn body_colour(index: usize) -> Vec3 {
    let hue = 0.618_034 * index as f32;
    clip_chroma(0.66 + 0.12 * ((index % 3) as f32 - 1.0), 0.13, hue - hue.floor())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srgb_conversions_are_inverse() {
        for code in 0..=255u8 {
            let channel = f32::from(code) / 255.0;
            assert_eq!(linear_to_srgb(srgb_to_linear([channel; 3])), [code; 3]);
        }
    }

    #[test]
    fn colour_maps_increase_in_luminance_within_the_gamut() {
        let luminance = |colour: Vec3| colour.dot(Vec3::new(0.2126, 0.7152, 0.0722));
        for colouring in [Colouring::Temperature, Colouring::Strain] {
            let colours: Vec<Vec3> = (0..=50).map(|k| colour_map(colouring, k as f32 / 50.0)).collect();
            assert!(colours.windows(2).all(|pair| luminance(pair[0]) < luminance(pair[1])));
            assert!(colours.iter().all(|colour| colour.min_element() > -1e-3 && colour.max_element() < 1.001));
        }
    }

    #[test]
    fn values_are_clamped_to_the_range() {
        let range = ColourRange { low: -1.0, high: 3.0 };
        assert_eq!([-2.0, -1.0, 1.0, 3.0, 9.0].map(|value| range.normalise(value)), [0.0, 0.0, 0.5, 1.0, 1.0]);
        assert_eq!(ColourRange { low: 2.0, high: 2.0 }.normalise(2.0), 0.5);
        assert_eq!(ColourRange::of_values([f32::NAN].into_iter()), ColourRange { low: 0.0, high: 1.0 });
        assert_eq!(ColourRange::of_values([3.0, 1.0].into_iter()), ColourRange { low: 1.0, high: 3.0 });
    }
}
