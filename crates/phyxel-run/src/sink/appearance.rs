//! Appearance of materials in terms of scene formats: linear colour, roughness, metalness, transmission.

use phyxel::Real;
use phyxel::material::Finish;
use serde::{Deserialize, Serialize};

/// Appearance of a surface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Appearance {
    /// Name of the material.
    pub name: String,
    /// Red, green, blue in 0..1 (sRGB).
    pub color: [Real; 3],
    /// Surface finish.
    pub finish: Finish,
}

impl Appearance {
    /// Appearance of a material.
    pub fn new(name: &str, color: [Real; 3], finish: Finish) -> Self {
        Self { name: name.to_string(), color, finish }
    }

    /// Appearance of an obstacle, from its colour.
    pub fn for_obstacle(color: [Real; 3]) -> Self {
        let [r, g, b] = color.map(|channel| (channel.clamp(0.0, 1.0) * 255.0).round() as u8);
        Self { name: format!("obstacle_{r:02x}{g:02x}{b:02x}"), color, finish: Finish::Matte }
    }

    /// Colour in linear RGB.
    pub fn linear_color(&self) -> [Real; 3] {
        linear_rgb(self.color)
    }

    /// Fraction of transmitted light. Wax scatters all of it and counts as opaque.
    pub fn transmission(&self) -> Real {
        let transmission = self.finish.transmission();
        if transmission > 0.5 { transmission } else { 0.0 }
    }

    /// Index of refraction: that of water for transparent surfaces, else the usual one of solids.
    pub fn refractive_index(&self) -> Real {
        if self.transmission() > 0.0 { 1.33 } else { 1.5 }
    }
}

/// Converts sRGB to linear RGB.
pub(crate) fn linear_rgb(color: [Real; 3]) -> [Real; 3] {
    color.map(|channel| {
        let channel = channel.clamp(0.0, 1.0);
        if channel <= 0.04045 { channel / 12.92 } else { ((channel + 0.055) / 1.055).powf(2.4) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn black_white_and_middle_grey_are_linearised() {
        let [black, grey, white] = linear_rgb([0.0, 0.5, 1.0]);
        assert_eq!((black, white), (0.0, 1.0));
        assert!((grey - 0.214).abs() < 1e-3, "{grey}");
    }

    #[test]
    fn jelly_and_glass_transmit_light_and_wax_does_not() {
        let transmission = |finish| Appearance::new("it", [0.5; 3], finish).transmission();
        assert!(transmission(Finish::Jelly) > 0.5 && transmission(Finish::Clear) > 0.5);
        assert_eq!((transmission(Finish::Wax), transmission(Finish::Metal)), (0.0, 0.0));
    }

    #[test]
    fn obstacles_of_one_colour_share_an_appearance() {
        assert_eq!(Appearance::for_obstacle([1.0, 0.5, 0.0]).name, "obstacle_ff8000");
    }
}
