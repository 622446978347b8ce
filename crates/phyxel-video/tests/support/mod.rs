//! Test pictures and image metrics.

#![allow(dead_code)]

pub mod mp4;
pub mod sequence;

/// Picture like those of a renderer: a shaded sphere before a gradient, moving with `index`.
pub fn test_picture(width: usize, height: usize, index: usize) -> Vec<u8> {
    let centre = (width as f32 * (0.3 + 0.01 * index as f32), height as f32 * 0.5);
    let radius = height as f32 * 0.3;
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x as f32, y as f32)));
    let shade = |(x, y): (f32, f32)| {
        let (dx, dy) = ((x - centre.0) / radius, (y - centre.1) / radius);
        let square = 1.0 - dx * dx - dy * dy;
        if square > 0.0 {
            let brightness = (0.3 + 0.6 * (square.sqrt() * 0.7 - dy * 0.5 - dx * 0.3)).clamp(0.05, 1.0);
            [230.0 * brightness, 120.0 * brightness, 60.0 * brightness]
        } else {
            let fade = y / height as f32;
            [60.0 + 120.0 * fade, 80.0 + 110.0 * fade, 110.0 + 90.0 * fade]
        }
    };
    pixels.flat_map(|pixel| shade(pixel).map(|value| value.round() as u8)).collect()
}

/// Peak signal-to-noise ratio of two pictures, dB.
pub fn psnr(one: &[u8], other: &[u8]) -> f64 {
    assert_eq!(one.len(), other.len());
    let squares = one.iter().zip(other).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2));
    let mean = squares.sum::<f64>() / one.len() as f64;
    10.0 * (255.0 * 255.0 / mean.max(1e-9)).log10()
}

/// RGB of a pixel from YCbCr of ITU-R BT.709, limited range, by the formulas of the standard.
pub fn to_rgb(luma: u8, cb: u8, cr: u8) -> [u8; 3] {
    let y = (f64::from(luma) - 16.0) / 219.0;
    let (cb, cr) = ((f64::from(cb) - 128.0) / 224.0, (f64::from(cr) - 128.0) / 224.0);
    let (r, b) = (y + 1.5748 * cr, y + 1.8556 * cb);
    let g = (y - 0.2126 * r - 0.0722 * b) / 0.7152;
    [r, g, b].map(|value| (255.0 * value).round().clamp(0.0, 255.0) as u8)
}
