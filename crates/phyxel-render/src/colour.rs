//! Colours: what eyes see, what numbers mean, what files hold.
//!
//! Scales run evenly in lightness in the OKLab space (Ottosson 2020), so that equal steps look equal, also in grey.

use crate::view::Colouring;
use glam::Vec3;
use std::sync::LazyLock;

/// Ends of a colour scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Value of the darkest colour.
    pub low: f32,
    /// Value of the lightest colour.
    pub high: f32,
}

impl Range {
    /// Place of a value on the scale, 0 to 1; the middle where the scale has no width.
    pub(crate) fn place(&self, value: f32) -> f32 {
        let width = self.high - self.low;
        if width > 0.0 { ((value - self.low) / width).clamp(0.0, 1.0) } else { 0.5 }
    }

    /// The smallest and largest of some values, 0 to 1 without any.
    pub(crate) fn of(values: impl Iterator<Item = f32>) -> Self {
        let start = Self { low: f32::INFINITY, high: f32::NEG_INFINITY };
        let found = values
            .filter(|value| value.is_finite())
            .fold(start, |range, value| Self { low: range.low.min(value), high: range.high.max(value) });
        if found.low <= found.high { found } else { Self { low: 0.0, high: 1.0 } }
    }
}

/// Light of a colour as files write it (sRGB, 0 to 1).
pub(crate) fn to_light(color: [f32; 3]) -> Vec3 {
    Vec3::from_array(color.map(|part| {
        let part = part.clamp(0.0, 1.0);
        if part <= 0.040_45 { part / 12.92 } else { libm::powf((part + 0.055) / 1.055, 2.4) }
    }))
}

/// Codes of evenly spaced lights: fine enough that the steepest part of the curve has four of them to a code.
static CODES: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let code = |k: usize| {
        let part = k as f32 / (COUNT - 1) as f32;
        let code = if part <= 0.003_130_8 { 12.92 * part } else { 1.055 * libm::powf(part, 1.0 / 2.4) - 0.055 };
        (255.0 * code + 0.5) as u8
    };
    (0..COUNT).map(code).collect()
});
const COUNT: usize = 1 << 14;

/// A colour as files write it, 0 to 255, from light.
pub(crate) fn to_bytes(light: Vec3) -> [u8; 3] {
    light.to_array().map(|part| CODES[(part.clamp(0.0, 1.0) * (COUNT - 1) as f32 + 0.5) as usize])
}

/// Light of a colour in OKLab, given by lightness, chroma and hue (turns).
fn oklch(lightness: f32, chroma: f32, hue: f32) -> Vec3 {
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

/// The same with as much of the chroma as there is light for.
fn shown(lightness: f32, chroma: f32, hue: f32) -> Vec3 {
    let fits = |light: Vec3| light.min_element() >= 0.0 && light.max_element() <= 1.0;
    let (mut low, mut high) = (0.0, chroma);
    if fits(oklch(lightness, chroma, hue)) {
        return oklch(lightness, chroma, hue);
    }
    for _ in 0..12 {
        let middle = 0.5 * (low + high);
        if fits(oklch(lightness, middle, hue)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    oklch(lightness, low, hue)
}

/// Light of a place on the scale of a colouring: dark violet over red to light yellow for temperatures, dark blue over
/// green to light yellow for the others.
pub(crate) fn scale(colouring: Colouring, place: f32) -> Vec3 {
    let (from, to) = if colouring == Colouring::Temperature { (-0.22, 0.27) } else { (0.77, 0.31) };
    let chroma = 0.11 + 0.10 * libm::sinf(std::f32::consts::PI * place.clamp(0.0, 1.0));
    shown(0.28 + 0.66 * place, chroma, from + (to - from) * place)
}

/// Light of the colour of a body by its number: neighbours in number differ much in hue.
pub(crate) fn of_body(number: usize) -> Vec3 {
    let golden = 0.618_034 * number as f32;
    shown(0.66 + 0.12 * ((number % 3) as f32 - 1.0), 0.13, golden - golden.floor())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_undo_light() {
        for byte in 0..=255u8 {
            let part = f32::from(byte) / 255.0;
            assert_eq!(to_bytes(to_light([part; 3])), [byte; 3]);
        }
    }

    #[test]
    fn scales_get_lighter_all_the_way_and_stay_within_what_screens_show() {
        let lightness = |light: Vec3| light.dot(Vec3::new(0.2126, 0.7152, 0.0722));
        for colouring in [Colouring::Temperature, Colouring::Strain] {
            let lights: Vec<Vec3> = (0..=50).map(|k| scale(colouring, k as f32 / 50.0)).collect();
            assert!(lights.windows(2).all(|pair| lightness(pair[0]) < lightness(pair[1])));
            assert!(lights.iter().all(|light| light.min_element() > -1e-3 && light.max_element() < 1.001));
        }
    }

    #[test]
    fn places_on_a_scale_are_limited() {
        let range = Range { low: -1.0, high: 3.0 };
        assert_eq!([-2.0, -1.0, 1.0, 3.0, 9.0].map(|value| range.place(value)), [0.0, 0.0, 0.5, 1.0, 1.0]);
        assert_eq!(Range { low: 2.0, high: 2.0 }.place(2.0), 0.5);
        assert_eq!(Range::of([f32::NAN].into_iter()), Range { low: 0.0, high: 1.0 });
        assert_eq!(Range::of([3.0, 1.0].into_iter()), Range { low: 1.0, high: 3.0 });
    }
}
