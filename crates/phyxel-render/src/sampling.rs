//! Numbers that look random but follow from the place in the picture.

use glam::{Vec2, Vec3A};

/// A well-mixed number from another (the finaliser of MurmurHash3).
fn mix(mut x: u32) -> u32 {
    x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
    x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
    x ^ (x >> 16)
}

/// Random numbers of one pixel in one pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dice {
    state: u32,
}

impl Dice {
    pub fn new(x: u32, y: u32, pass: u32) -> Self {
        Self { state: mix(x ^ mix(y ^ mix(pass.wrapping_mul(0x9e37_79b9)))) }
    }

    /// Evenly in 0..1.
    pub fn number(&mut self) -> f32 {
        self.state = self.state.wrapping_add(0x9e37_79b9);
        (mix(self.state) >> 8) as f32 / (1u32 << 24) as f32
    }

    /// A point of the unit square.
    pub fn pair(&mut self) -> Vec2 {
        Vec2::new(self.number(), self.number())
    }
}

/// Pairs that fill the unit square evenly: pixels of a 4 x 4 tile take the numbers 0 to 15 of a sequence in turn, so
/// that a filter over a tile sees all of it. `shift` is random, the same for a whole tile or different.
pub(crate) fn spread_pair(x: u32, y: u32, number: u32, shift: Vec2) -> Vec2 {
    const ORDER: [u32; 16] = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5];
    let place = number * 16 + ORDER[((y % 4) * 4 + x % 4) as usize];
    // The additive sequence of the plastic number (Roberts 2018).
    let pair = Vec2::new(0.754_877_7, 0.569_840_3) * place as f32 + shift;
    pair - pair.floor()
}

/// Two directions across a unit vector and each other (Duff et al. 2017).
pub(crate) fn across(normal: Vec3A) -> (Vec3A, Vec3A) {
    let sign = 1.0_f32.copysign(normal.z);
    let a = -1.0 / (sign + normal.z);
    let b = normal.x * normal.y * a;
    (
        Vec3A::new(1.0 + sign * normal.x * normal.x * a, sign * b, -sign * normal.x),
        Vec3A::new(b, sign + normal.y * normal.y * a, -normal.y),
    )
}

/// A direction on the side of a normal, with probability in proportion to the cosine between them.
pub(crate) fn cosine_direction(normal: Vec3A, pair: Vec2) -> Vec3A {
    let (sin, cos) = libm::sincosf(std::f32::consts::TAU * pair.y);
    let radius = pair.x.sqrt();
    let (a, b) = across(normal);
    (a * (radius * cos) + b * (radius * sin) + normal * (1.0 - pair.x).max(0.0).sqrt()).normalize()
}

/// A direction within a cone about an axis; `width` is the tangent of its half angle.
pub(crate) fn cone_direction(axis: Vec3A, width: f32, pair: Vec2) -> Vec3A {
    let (sin, cos) = libm::sincosf(std::f32::consts::TAU * pair.y);
    let radius = width * pair.x.sqrt();
    let (a, b) = across(axis);
    (axis + a * (radius * cos) + b * (radius * sin)).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_follow_the_cosine() {
        let normal = Vec3A::new(0.3, -0.8, 0.5).normalize();
        let mut dice = Dice::new(1, 2, 3);
        let count = 40_000;
        let mean: f32 =
            (0..count).map(|_| cosine_direction(normal, dice.pair()).dot(normal)).sum::<f32>() / count as f32;
        // Two thirds, with a standard deviation of a quarter of a hundredth.
        assert!((mean - 2.0 / 3.0).abs() < 0.005, "{mean}");
    }

    #[test]
    fn a_tile_covers_the_square() {
        let mut quarters = [0; 4];
        for k in 0..16 {
            let pair = spread_pair(k % 4, k / 4, 0, Vec2::new(0.3, 0.9));
            quarters[(pair.x > 0.5) as usize + 2 * (pair.y > 0.5) as usize] += 1;
        }
        assert!(quarters.iter().all(|&count| (3..=5).contains(&count)), "{quarters:?}");
    }

    #[test]
    fn axes_across_are_square_to_each_other() {
        for normal in [Vec3A::Z, Vec3A::NEG_Z, Vec3A::X, Vec3A::new(0.6, 0.0, -0.8)] {
            let (a, b) = across(normal);
            assert!(a.dot(b).abs() < 1e-6 && a.dot(normal).abs() < 1e-6 && b.dot(normal).abs() < 1e-6);
            assert!((a.length() - 1.0).abs() < 1e-6 && a.cross(b).distance(normal) < 1e-5);
        }
    }
}
