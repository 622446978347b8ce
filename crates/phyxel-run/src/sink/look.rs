//! How matter looks, in the words that scene formats share: linear colour, roughness, metalness, what it lets through.

use phyxel::Real;
use phyxel::material::Finish;
use serde::{Deserialize, Serialize};

/// A surface as light meets it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Look {
    /// Name of the material.
    pub name: String,
    /// Red, green, blue in 0..1, not linearised.
    pub color: [Real; 3],
    /// How light meets it.
    pub finish: Finish,
}

impl Look {
    /// Of a material.
    pub fn new(name: &str, color: [Real; 3], finish: Finish) -> Self {
        Self { name: name.to_string(), color, finish }
    }

    /// Of an obstacle, which has a colour and nothing else.
    pub fn of_obstacle(color: [Real; 3]) -> Self {
        let [r, g, b] = color.map(|part| (part.clamp(0.0, 1.0) * 255.0).round() as u8);
        Self { name: format!("obstacle_{r:02x}{g:02x}{b:02x}"), color, finish: Finish::Matte }
    }

    /// Colour in proportion to light.
    pub fn linear_color(&self) -> [Real; 3] {
        linear(self.color)
    }

    /// Part of the light that goes through. Wax glows but hides what is behind it, so it counts as opaque.
    pub fn transmission(&self) -> Real {
        let let_through = self.finish.transmission();
        if let_through > 0.5 { let_through } else { 0.0 }
    }

    /// Index of refraction: that of water for what is let through, else the usual one of solids.
    pub fn refraction(&self) -> Real {
        if self.transmission() > 0.0 { 1.33 } else { 1.5 }
    }
}

/// From numbers as people and screens write colours (sRGB) to numbers in proportion to light.
pub(crate) fn linear(color: [Real; 3]) -> [Real; 3] {
    color.map(|part| {
        let part = part.clamp(0.0, 1.0);
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn black_white_and_middle_grey_are_linearised() {
        let [black, grey, white] = linear([0.0, 0.5, 1.0]);
        assert_eq!((black, white), (0.0, 1.0));
        assert!((grey - 0.214).abs() < 1e-3, "{grey}");
    }

    #[test]
    fn jelly_and_glass_let_light_through_and_wax_does_not() {
        let transmission = |finish| Look::new("it", [0.5; 3], finish).transmission();
        assert!(transmission(Finish::Jelly) > 0.5 && transmission(Finish::Clear) > 0.5);
        assert_eq!((transmission(Finish::Wax), transmission(Finish::Metal)), (0.0, 0.0));
    }

    #[test]
    fn obstacles_of_one_colour_share_a_look() {
        assert_eq!(Look::of_obstacle([1.0, 0.5, 0.0]).name, "obstacle_ff8000");
    }
}
