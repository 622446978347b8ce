//! Sampling: pseudo-random numbers by pixel, low-discrepancy sequences, and directions.

use glam::{Vec2, Vec3A};

/// Integer hash (finaliser of MurmurHash3).
fn mix(mut x: u32) -> u32 {
    x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
    x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
    x ^ (x >> 16)
}

/// Pseudo-random generator of one pixel in one pass.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PixelRng {
    state: u32,
}

impl PixelRng {
    pub fn new(x: u32, y: u32, pass: u32) -> Self {
        Self { state: mix(x ^ mix(y ^ mix(pass.wrapping_mul(0x9e37_79b9)))) }
    }

    /// Uniform number in 0..1.
    pub fn uniform(&mut self) -> f32 {
        self.state = self.state.wrapping_add(0x9e37_79b9);
        (mix(self.state) >> 8) as f32 / (1u32 << 24) as f32
    }

    /// Uniform point of the unit square.
    pub fn uniform_pair(&mut self) -> Vec2 {
        Vec2::new(self.uniform(), self.uniform())
    }
}

/// Low-discrepancy samples of the unit square: the pixels of a 4 x 4 tile take 16 consecutive points of the R2 sequence
/// `[Rob18]` in the order of a Bayer matrix, so that a filter over a tile averages all of them. `shift` randomises the
/// sequence (Cranley-Patterson rotation).
pub(crate) fn r2_tile_sample(x: u32, y: u32, k: u32, shift: Vec2) -> Vec2 {
    const BAYER: [u32; 16] = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5];
    let index = k * 16 + BAYER[((y % 4) * 4 + x % 4) as usize];
    // Powers of the inverse plastic number.
    let point = Vec2::new(0.754_877_7, 0.569_840_3) * index as f32 + shift;
    point - point.floor()
}

/// Two tangents that form an orthonormal basis with a unit vector `[DBC17]`.
pub(crate) fn orthonormal_basis(normal: Vec3A) -> (Vec3A, Vec3A) {
    let sign = 1.0_f32.copysign(normal.z);
    let a = -1.0 / (sign + normal.z);
    let b = normal.x * normal.y * a;
    (
        Vec3A::new(1.0 + sign * normal.x * normal.x * a, sign * b, -sign * normal.x),
        Vec3A::new(b, sign + normal.y * normal.y * a, -normal.y),
    )
}

/// Direction of the hemisphere about a normal, with density proportional to the cosine, for a point of the unit square.
pub(crate) fn sample_cosine_hemisphere(normal: Vec3A, point: Vec2) -> Vec3A {
    let (sin, cos) = libm::sincosf(std::f32::consts::TAU * point.y);
    let radius = point.x.sqrt();
    let (a, b) = orthonormal_basis(normal);
    (a * (radius * cos) + b * (radius * sin) + normal * (1.0 - point.x).max(0.0).sqrt()).normalize()
}

/// Direction within a cone about an axis, for a point of the unit square.
pub(crate) fn sample_cone(axis: Vec3A, tan_half_angle: f32, point: Vec2) -> Vec3A {
    let (sin, cos) = libm::sincosf(std::f32::consts::TAU * point.y);
    let radius = tan_half_angle * point.x.sqrt();
    let (a, b) = orthonormal_basis(axis);
    (axis + a * (radius * cos) + b * (radius * sin)).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_follow_the_cosine() {
        let normal = Vec3A::new(0.3, -0.8, 0.5).normalize();
        let mut rng = PixelRng::new(1, 2, 3);
        let count = 40_000;
        let mean: f32 =
            (0..count).map(|_| sample_cosine_hemisphere(normal, rng.uniform_pair()).dot(normal)).sum::<f32>()
                / count as f32;
        // The mean is 2/3; its standard deviation is sqrt(1/18 / 40,000) = 0.0012.
        assert!((mean - 2.0 / 3.0).abs() < 0.005, "{mean}");
    }

    #[test]
    fn the_samples_of_a_tile_cover_the_square() {
        let mut quarters = [0; 4];
        for k in 0..16 {
            let point = r2_tile_sample(k % 4, k / 4, 0, Vec2::new(0.3, 0.9));
            quarters[(point.x > 0.5) as usize + 2 * (point.y > 0.5) as usize] += 1;
        }
        assert!(quarters.iter().all(|&count| (3..=5).contains(&count)), "{quarters:?}");
    }

    #[test]
    fn bases_are_orthonormal() {
        for normal in [Vec3A::Z, Vec3A::NEG_Z, Vec3A::X, Vec3A::new(0.6, 0.0, -0.8)] {
            let (a, b) = orthonormal_basis(normal);
            assert!(a.dot(b).abs() < 1e-6 && a.dot(normal).abs() < 1e-6 && b.dot(normal).abs() < 1e-6);
            assert!((a.length() - 1.0).abs() < 1e-6 && a.cross(b).distance(normal) < 1e-5);
        }
    }
}
