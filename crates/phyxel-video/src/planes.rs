//! RGB to the brightness and colour planes that films are made of.

use openh264::formats::YUVSource;

/// Bits behind the point of the coefficients.
const BITS: u32 = 16;
const ONE: f64 = (1 << BITS) as f64;
const HALF: i32 = 1 << (BITS - 1);

/// Share of red, green and blue in brightness, ITU-R BT.709-6 table 3.
const SHARE: [f64; 3] = [0.2126, 0.7152, 0.0722];

/// Brightness has 219 steps from 16, colour 224 steps about 128 (BT.709-6, "limited range").
const LUMA: [i32; 3] = luma_coefficients();
const BLUE: [i32; 3] = chroma_coefficients(2);
const RED: [i32; 3] = chroma_coefficients(0);

const fn round(value: f64) -> i32 {
    (if value < 0.0 { value - 0.5 } else { value + 0.5 }) as i32
}

const fn luma_coefficients() -> [i32; 3] {
    let scale = ONE * 219.0 / 255.0;
    [round(scale * SHARE[0]), round(scale * SHARE[1]), round(scale * SHARE[2])]
}

/// Difference of one channel and brightness, scaled to a width of one. The three sum to zero, so that grey stays grey.
const fn chroma_coefficients(channel: usize) -> [i32; 3] {
    let scale = ONE * 224.0 / 255.0 / (2.0 * (1.0 - SHARE[channel]));
    let mut coefficients = [round(-scale * SHARE[0]), round(-scale * SHARE[1]), round(-scale * SHARE[2])];
    coefficients[channel] = 0;
    coefficients[channel] = -(coefficients[0] + coefficients[1] + coefficients[2]);
    coefficients
}

/// A picture in YCbCr 4:2:0 with sides that are even; odd ones repeat their last column or row.
#[derive(Clone, Debug)]
pub(crate) struct Planes {
    /// Size of the pictures that come in.
    source: (usize, usize),
    /// Size of the brightness plane.
    size: (usize, usize),
    luma: Vec<u8>,
    blue: Vec<u8>,
    red: Vec<u8>,
    /// Sum of two rows of the source.
    rows: Vec<[i32; 3]>,
}

impl Planes {
    /// Black planes for pictures of this size in pixels, neither side 0.
    pub(crate) fn new(width: usize, height: usize) -> Self {
        let size = (width.next_multiple_of(2), height.next_multiple_of(2));
        let quarter = size.0 * size.1 / 4;
        Self {
            source: (width, height),
            size,
            luma: vec![16; size.0 * size.1],
            blue: vec![128; quarter],
            red: vec![128; quarter],
            rows: vec![[0; 3]; width],
        }
    }

    /// Bytes of a picture.
    pub(crate) fn picture_bytes(&self) -> usize {
        self.source.0 * self.source.1 * 3
    }

    /// Takes over a picture of [`Planes::picture_bytes`] bytes.
    pub(crate) fn read(&mut self, rgb: &[u8]) {
        let (width, height) = self.source;
        let row = |y: usize| &rgb[3 * width * y.min(height - 1)..][..3 * width];
        for (y, target) in self.luma.chunks_exact_mut(self.size.0).enumerate() {
            write_luma(row(y), target);
        }
        let half = self.size.0 / 2;
        let targets = self.blue.chunks_exact_mut(half).zip(self.red.chunks_exact_mut(half));
        for (y, (blue, red)) in targets.enumerate() {
            add_rows(row(2 * y), row(2 * y + 1), &mut self.rows);
            write_chroma(&self.rows, blue, red);
        }
    }
}

fn write_luma(row: &[u8], target: &mut [u8]) {
    for (pixel, luma) in row.as_chunks::<3>().0.iter().zip(target.iter_mut()) {
        *luma = (16 + ((weigh(LUMA, pixel.map(i32::from)) + HALF) >> BITS)) as u8;
    }
    if let [.., last, padding] = target
        && row.len() / 3 % 2 == 1
    {
        *padding = *last;
    }
}

fn add_rows(upper: &[u8], lower: &[u8], sums: &mut [[i32; 3]]) {
    let pairs = upper.as_chunks::<3>().0.iter().zip(lower.as_chunks::<3>().0);
    for (sum, (above, below)) in sums.iter_mut().zip(pairs) {
        *sum = [0, 1, 2].map(|channel| i32::from(above[channel]) + i32::from(below[channel]));
    }
}

/// Colour sits at the even columns and between the rows (H.264 annex E, chroma sample location 0, which is assumed where
/// nothing else is said), so neighbours to the left and right count by a quarter each.
fn write_chroma(sums: &[[i32; 3]], blue: &mut [u8], red: &mut [u8]) {
    const SHIFT: u32 = BITS + 3;
    let last = sums.len() - 1;
    for (index, (blue, red)) in blue.iter_mut().zip(red).enumerate() {
        let (left, centre, right) = ((2 * index).saturating_sub(1), 2 * index, (2 * index + 1).min(last));
        let mean = [0, 1, 2].map(|channel| sums[left][channel] + 2 * sums[centre][channel] + sums[right][channel]);
        let step = |coefficients| (128 + ((weigh(coefficients, mean) + (HALF << 3)) >> SHIFT)).clamp(0, 255) as u8;
        *blue = step(BLUE);
        *red = step(RED);
    }
}

fn weigh(coefficients: [i32; 3], channels: [i32; 3]) -> i32 {
    coefficients[0] * channels[0] + coefficients[1] * channels[1] + coefficients[2] * channels[2]
}

impl YUVSource for Planes {
    fn dimensions(&self) -> (usize, usize) {
        self.size
    }

    fn strides(&self) -> (usize, usize, usize) {
        (self.size.0, self.size.0 / 2, self.size.0 / 2)
    }

    fn y(&self) -> &[u8] {
        &self.luma
    }

    fn u(&self) -> &[u8] {
        &self.blue
    }

    fn v(&self) -> &[u8] {
        &self.red
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_colour(rgb: [u8; 3]) -> (u8, u8, u8) {
        let mut planes = Planes::new(6, 4);
        planes.read(&rgb.repeat(24));
        let flat = |plane: &[u8]| {
            assert!(plane.iter().all(|value| *value == plane[0]), "{rgb:?}: {plane:?}");
            plane[0]
        };
        (flat(&planes.luma), flat(&planes.blue), flat(&planes.red))
    }

    #[test]
    fn known_colours_have_the_values_of_the_standard() {
        // The bars of 100 % of ITU-R BT.709 in eight bits.
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
            assert_eq!(one_colour(rgb), planes, "{rgb:?}");
        }
    }

    #[test]
    fn every_colour_is_within_half_a_step_of_the_formula() {
        for red in (0..=255).step_by(17) {
            for green in (0..=255).step_by(15) {
                for blue in (0..=255).step_by(51) {
                    let [r, g, b] = [red, green, blue].map(|value: u8| f64::from(value) / 255.0);
                    let bright = SHARE[0] * r + SHARE[1] * g + SHARE[2] * b;
                    let exact = [
                        16.0 + 219.0 * bright,
                        128.0 + 224.0 * (b - bright) / 1.8556,
                        128.0 + 224.0 * (r - bright) / 1.5748,
                    ];
                    let (y, u, v) = one_colour([red, green, blue]);
                    for (value, exact) in [y, u, v].into_iter().zip(exact) {
                        // Half a step of rounding, and 3 * 255 / 2^17 of the coefficients.
                        assert!((f64::from(value) - exact).abs() < 0.506, "{red} {green} {blue}: {value} for {exact}");
                    }
                }
            }
        }
    }

    #[test]
    fn grey_has_no_colour() {
        for value in 0..=255 {
            let (_, blue, red) = one_colour([value; 3]);
            assert_eq!((blue, red), (128, 128));
        }
    }

    #[test]
    fn odd_sides_repeat_their_last_column_and_row() {
        let (mut odd, mut even) = (Planes::new(5, 3), Planes::new(6, 4));
        let colour = |x: usize, y: usize| [40 * x as u8, 60 * y as u8, (17 * x + 90 * y) as u8];
        let picture = |width: usize, height: usize| -> Vec<u8> {
            let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
            pixels.flat_map(|(x, y)| colour(x.min(4), y.min(2))).collect()
        };
        odd.read(&picture(5, 3));
        even.read(&picture(6, 4));
        assert_eq!((odd.luma, odd.blue, odd.red), (even.luma, even.blue, even.red));
    }

    #[test]
    fn colour_sits_at_even_columns() {
        // A ramp from left to right has, at column 2 i, the colour of that column.
        let mut planes = Planes::new(32, 2);
        let row: Vec<u8> = (0..32).flat_map(|x: u8| [8 * x, 0, 0]).collect();
        planes.read(&[row.clone(), row].concat());
        for index in 1..16 {
            let (_, _, red) = one_colour([16 * index as u8, 0, 0]);
            assert_eq!(planes.red[index], red);
        }
    }
}
