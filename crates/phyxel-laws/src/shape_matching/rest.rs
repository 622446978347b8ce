//! Moments of rest shapes, computed once before the first step.

use super::fit::packed_index;
use crate::linalg::eigen::pseudo_inverse;
use crate::simd::{F32x8, WIDTH};
use glam::{DVec3, Vec3};

/// Rest shapes of eight clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RestBatch {
    /// Radius of gyration, m.
    pub gyration_radius: F32x8,
    /// Inverse of `sum w q q^T`: xx, yy, zz, xy, yz, zx.
    pub inverse_moments: [F32x8; 6],
    /// Projector on the null space, the directions without extent, in the same order.
    pub null_projector: [F32x8; 6],
    /// Number of directions with extent.
    pub rank: F32x8,
    /// Weighted mean of the quadratic monomials of `q`.
    pub mean_monomials: [F32x8; 6],
    /// Inverse of the 9 x 9 moment matrix `sum w q~ q~^T`, packed upper triangle.
    pub inverse_moments9: [F32x8; 45],
}

impl Default for RestBatch {
    /// Eight clusters without extent.
    fn default() -> Self {
        Self {
            gyration_radius: [1.0; WIDTH],
            inverse_moments: [[0.0; WIDTH]; 6],
            null_projector: std::array::from_fn(|i| if i < 3 { [1.0; WIDTH] } else { [0.0; WIDTH] }),
            rank: [0.0; WIDTH],
            mean_monomials: [[0.0; WIDTH]; 6],
            inverse_moments9: [[0.0; WIDTH]; 45],
        }
    }
}

/// Rest shape of one cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct RestShape {
    /// Centre of mass in the body's own frame, m.
    pub centre: Vec3,
    /// Radius of gyration, m; 1 for coincident points.
    pub gyration_radius: f32,
    /// Inverse of `sum w q q^T`: xx, yy, zz, xy, yz, zx.
    pub inverse_moments: [f32; 6],
    /// Projector on the null space.
    pub null_projector: [f32; 6],
    /// Number of directions with extent.
    pub rank: usize,
    /// Weighted mean of the quadratic monomials of `q`.
    pub mean_monomials: [f32; 6],
    /// Inverse of the 9 x 9 moment matrix, packed upper triangle.
    pub inverse_moments9: [f32; 45],
}

/// Directions with less than this fraction of the largest moment count as without extent.
const RANK_TOLERANCE: f64 = 1e-5;

/// Quadratic monomials of a vector: squares, then xy, yz, zx.
pub fn quadratic_monomials(q: DVec3) -> [f64; 6] {
    [q.x * q.x, q.y * q.y, q.z * q.z, q.x * q.y, q.y * q.z, q.z * q.x]
}

impl RestShape {
    /// Computes the moments of points `(rest position, weight)`; weights add up to 1.
    pub fn from_points(points: impl Iterator<Item = (Vec3, f64)> + Clone) -> Self {
        let centre = points.clone().fold(DVec3::ZERO, |sum, (x, w)| sum + w * x.as_dvec3());
        let rms_distance =
            points.clone().map(|(x, w)| w * (x.as_dvec3() - centre).length_squared()).sum::<f64>().sqrt();
        let gyration_radius = if (rms_distance as f32) > 0.0 { f64::from(rms_distance as f32) } else { 1.0 };
        // Offsets rounded to f32, as the kernels have them.
        let offset = |x: Vec3| (((x.as_dvec3() - centre) / gyration_radius).as_vec3()).as_dvec3();
        let mut mean = [0.0; 6];
        for (x, w) in points.clone() {
            let s = quadratic_monomials(offset(x));
            (0..6).for_each(|i| mean[i] += w * s[i]);
        }
        let mean = mean.map(|m| m as f32);
        let mut moments = [[0.0; 9]; 9];
        for (x, w) in points {
            let q = offset(x);
            let s = quadratic_monomials(q);
            let all: [f64; 9] = std::array::from_fn(|i| if i < 3 { q[i] } else { s[i - 3] - f64::from(mean[i - 3]) });
            (0..9).for_each(|i| (0..9).for_each(|j| moments[i][j] += w * all[i] * all[j]));
        }
        Self::from_moments(centre, gyration_radius, mean, moments)
    }

    fn from_moments(centre: DVec3, gyration_radius: f64, mean: [f32; 6], moments: [[f64; 9]; 9]) -> Self {
        let linear =
            pseudo_inverse::<3>(std::array::from_fn(|i| std::array::from_fn(|j| moments[i][j])), RANK_TOLERANCE);
        let all = pseudo_inverse::<9>(moments, RANK_TOLERANCE);
        let packed6 = |m: &[[f64; 3]; 3]| [m[0][0], m[1][1], m[2][2], m[0][1], m[1][2], m[2][0]].map(|x| x as f32);
        let mut inverse9 = [0.0; 45];
        for i in 0..9 {
            for j in i..9 {
                inverse9[packed_index(i, j)] = all.inverse[i][j] as f32;
            }
        }
        Self {
            centre: centre.as_vec3(),
            gyration_radius: gyration_radius as f32,
            inverse_moments: packed6(&linear.inverse),
            null_projector: packed6(&linear.null_projector),
            rank: linear.rank,
            mean_monomials: mean,
            inverse_moments9: inverse9,
        }
    }

    /// Offset of a rest position, in radii of gyration.
    pub fn offset(&self, rest: Vec3) -> Vec3 {
        (rest - self.centre) / self.gyration_radius
    }
}

impl RestBatch {
    /// Writes a rest shape to a lane.
    pub fn set(&mut self, lane: usize, shape: &RestShape) {
        self.gyration_radius[lane] = shape.gyration_radius;
        self.rank[lane] = shape.rank as f32;
        for i in 0..6 {
            self.inverse_moments[i][lane] = shape.inverse_moments[i];
            self.null_projector[i][lane] = shape.null_projector[i];
            self.mean_monomials[i][lane] = shape.mean_monomials[i];
        }
        (0..45).for_each(|i| self.inverse_moments9[i][lane] = shape.inverse_moments9[i]);
    }
}
