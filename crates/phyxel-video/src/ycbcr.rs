//! Conversion of RGB to planes of YCbCr 4:2:0.

use openh264::formats::YUVSource;

/// Fraction bits of the fixed-point coefficients.
const FRACTION_BITS: u32 = 16;
const ONE: f64 = (1 << FRACTION_BITS) as f64;
const HALF: i32 = 1 << (FRACTION_BITS - 1);

/// Weights of red, green and blue in luma, ITU-R BT.709-6 table 3.
const LUMA_WEIGHTS: [f64; 3] = [0.2126, 0.7152, 0.0722];

// Luma has 219 levels from 16, chroma 224 levels about 128 (BT.709-6, "limited range").
const Y_COEFFICIENTS: [i32; 3] = luma_coefficients();
const CB_COEFFICIENTS: [i32; 3] = chroma_coefficients(2);
const CR_COEFFICIENTS: [i32; 3] = chroma_coefficients(0);

const fn round(value: f64) -> i32 {
    (if value < 0.0 { value - 0.5 } else { value + 0.5 }) as i32
}

const fn luma_coefficients() -> [i32; 3] {
    let scale = ONE * 219.0 / 255.0;
    [round(scale * LUMA_WEIGHTS[0]), round(scale * LUMA_WEIGHTS[1]), round(scale * LUMA_WEIGHTS[2])]
}

/// Coefficients of the difference of one channel and luma, scaled to a range of one. Their sum is zero, so that grey
/// has no chroma.
const fn chroma_coefficients(channel: usize) -> [i32; 3] {
    let scale = ONE * 224.0 / 255.0 / (2.0 * (1.0 - LUMA_WEIGHTS[channel]));
    let mut coefficients =
        [round(-scale * LUMA_WEIGHTS[0]), round(-scale * LUMA_WEIGHTS[1]), round(-scale * LUMA_WEIGHTS[2])];
    coefficients[channel] = 0;
    coefficients[channel] = -(coefficients[0] + coefficients[1] + coefficients[2]);
    coefficients
}

/// Picture in YCbCr 4:2:0 with even sides; the last column or row of odd ones is repeated.
#[derive(Clone, Debug)]
pub(crate) struct YCbCrPlanes {
    /// Width and height of the RGB pictures.
    source_size: (usize, usize),
    /// Width and height of the luma plane.
    luma_size: (usize, usize),
    luma: Vec<u8>,
    cb: Vec<u8>,
    cr: Vec<u8>,
    /// Sums of two rows of the RGB picture.
    row_sums: Vec<[i32; 3]>,
}

impl YCbCrPlanes {
    /// Black planes for pictures of this size in pixels; both sides must be positive.
    pub(crate) fn new(width: usize, height: usize) -> Self {
        let luma_size = (width.next_multiple_of(2), height.next_multiple_of(2));
        let chroma_length = luma_size.0 * luma_size.1 / 4;
        Self {
            source_size: (width, height),
            luma_size,
            luma: vec![16; luma_size.0 * luma_size.1],
            cb: vec![128; chroma_length],
            cr: vec![128; chroma_length],
            row_sums: vec![[0; 3]; width],
        }
    }

    /// Bytes of an RGB picture.
    pub(crate) fn picture_bytes(&self) -> usize {
        self.source_size.0 * self.source_size.1 * 3
    }

    /// Converts a picture of [`YCbCrPlanes::picture_bytes`] bytes.
    pub(crate) fn convert_rgb(&mut self, rgb: &[u8]) {
        let (width, height) = self.source_size;
        let row = |y: usize| &rgb[3 * width * y.min(height - 1)..][..3 * width];
        for (y, target) in self.luma.chunks_exact_mut(self.luma_size.0).enumerate() {
            write_luma(row(y), target);
        }
        let chroma_width = self.luma_size.0 / 2;
        let targets = self.cb.chunks_exact_mut(chroma_width).zip(self.cr.chunks_exact_mut(chroma_width));
        for (y, (cb, cr)) in targets.enumerate() {
            add_rows(row(2 * y), row(2 * y + 1), &mut self.row_sums);
            write_chroma(&self.row_sums, cb, cr);
        }
    }
}

/// Converts a row to luma.
fn write_luma(row: &[u8], target: &mut [u8]) {
    for (pixel, luma) in row.as_chunks::<3>().0.iter().zip(target.iter_mut()) {
        *luma = (16 + ((dot(Y_COEFFICIENTS, pixel.map(i32::from)) + HALF) >> FRACTION_BITS)) as u8;
    }
    if let [.., last, padding] = target
        && row.len() / 3 % 2 == 1
    {
        *padding = *last;
    }
}

/// Adds two rows.
fn add_rows(upper: &[u8], lower: &[u8], sums: &mut [[i32; 3]]) {
    let pairs = upper.as_chunks::<3>().0.iter().zip(lower.as_chunks::<3>().0);
    for (sum, (above, below)) in sums.iter_mut().zip(pairs) {
        *sum = [0, 1, 2].map(|channel| i32::from(above[channel]) + i32::from(below[channel]));
    }
}

/// Converts the sums of two rows to chroma.
///
/// Chroma samples lie at the even columns and between the rows (H.264 annex E, chroma sample location 0, the default).
/// So the neighbours to the left and right have weights of a quarter each.
fn write_chroma(sums: &[[i32; 3]], cb: &mut [u8], cr: &mut [u8]) {
    const SHIFT: u32 = FRACTION_BITS + 3;
    let last = sums.len() - 1;
    for (index, (cb, cr)) in cb.iter_mut().zip(cr).enumerate() {
        let (left, centre, right) = ((2 * index).saturating_sub(1), 2 * index, (2 * index + 1).min(last));
        let weighted_sum =
            [0, 1, 2].map(|channel| sums[left][channel] + 2 * sums[centre][channel] + sums[right][channel]);
        let quantise =
            |coefficients| (128 + ((dot(coefficients, weighted_sum) + (HALF << 3)) >> SHIFT)).clamp(0, 255) as u8;
        *cb = quantise(CB_COEFFICIENTS);
        *cr = quantise(CR_COEFFICIENTS);
    }
}

fn dot(coefficients: [i32; 3], channels: [i32; 3]) -> i32 {
    coefficients[0] * channels[0] + coefficients[1] * channels[1] + coefficients[2] * channels[2]
}

impl YUVSource for YCbCrPlanes {
    fn dimensions(&self) -> (usize, usize) {
        self.luma_size
    }

    fn strides(&self) -> (usize, usize, usize) {
        (self.luma_size.0, self.luma_size.0 / 2, self.luma_size.0 / 2)
    }

    fn y(&self) -> &[u8] {
        &self.luma
    }

    fn u(&self) -> &[u8] {
        &self.cb
    }

    fn v(&self) -> &[u8] {
        &self.cr
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ycbcr_of(rgb: [u8; 3]) -> (u8, u8, u8) {
        let mut planes = YCbCrPlanes::new(6, 4);
        planes.convert_rgb(&rgb.repeat(24));
        let uniform_value = |plane: &[u8]| {
            assert!(plane.iter().all(|value| *value == plane[0]), "{rgb:?}: {plane:?}");
            plane[0]
        };
        (uniform_value(&planes.luma), uniform_value(&planes.cb), uniform_value(&planes.cr))
    }

    #[test]
    fn colour_bars_have_the_values_of_the_standard() {
        // Colour bars of 100 %, ITU-R BT.709, in eight bits.
        let bars = [
            ([255, 255, 255], (235, 128, 128)),
            ([255, 255, 0], (219, 16, 138)),
            ([0, 255, 255], (188, 154, 16)),
            ([0, 255, 0], (173, 42, 26)),
            ([255, 0, 255], (78, 214, 230)),
            ([255, 0, 0], (63, 102, 240)),
            ([0, 0, 255], (32, 240, 118)),
            ([0, 0, 0], (16, 128, 128)),
        ];
        for (rgb, planes) in bars {
            assert_eq!(ycbcr_of(rgb), planes, "{rgb:?}");
        }
    }

    #[test]
    fn every_colour_is_within_half_a_level_of_the_formula() {
        for red in (0..=255).step_by(17) {
            for green in (0..=255).step_by(15) {
                for blue in (0..=255).step_by(51) {
                    let [r, g, b] = [red, green, blue].map(|value: u8| f64::from(value) / 255.0);
                    let luma = LUMA_WEIGHTS[0] * r + LUMA_WEIGHTS[1] * g + LUMA_WEIGHTS[2] * b;
                    let exact =
                        [16.0 + 219.0 * luma, 128.0 + 224.0 * (b - luma) / 1.8556, 128.0 + 224.0 * (r - luma) / 1.5748];
                    let (y, u, v) = ycbcr_of([red, green, blue]);
                    for (value, exact) in [y, u, v].into_iter().zip(exact) {
                        // Half a level by rounding, and 3 * 255 / 2^17 by the coefficients.
                        assert!((f64::from(value) - exact).abs() < 0.506, "{red} {green} {blue}: {value} for {exact}");
                    }
                }
            }
        }
    }

    #[test]
    fn grey_has_no_chroma() {
        for value in 0..=255 {
            let (_, cb, cr) = ycbcr_of([value; 3]);
            assert_eq!((cb, cr), (128, 128));
        }
    }

    #[test]
    fn the_last_column_and_row_of_odd_sides_are_repeated() {
        let (mut odd, mut even) = (YCbCrPlanes::new(5, 3), YCbCrPlanes::new(6, 4));
        let colour = |x: usize, y: usize| [40 * x as u8, 60 * y as u8, (17 * x + 90 * y) as u8];
        let picture = |width: usize, height: usize| -> Vec<u8> {
            let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
            pixels.flat_map(|(x, y)| colour(x.min(4), y.min(2))).collect()
        };
        odd.convert_rgb(&picture(5, 3));
        even.convert_rgb(&picture(6, 4));
        assert_eq!((odd.luma, odd.cb, odd.cr), (even.luma, even.cb, even.cr));
    }

    #[test]
    fn chroma_samples_lie_at_even_columns() {
        // A ramp from left to right has, at column 2 i, the chroma of that column.
        let mut planes = YCbCrPlanes::new(32, 2);
        let row: Vec<u8> = (0..32).flat_map(|x: u8| [8 * x, 0, 0]).collect();
        planes.convert_rgb(&[row.clone(), row].concat());
        for index in 1..16 {
            let (_, _, cr) = ycbcr_of([16 * index as u8, 0, 0]);
            assert_eq!(planes.cr[index], cr);
        }
    }
}
