//! What is known of a cluster's rest shape before the first step.

use super::fit::packed;
use crate::lanes::{Eight, WIDTH};
use crate::symmetric::pseudo_inverse;
use glam::{DVec3, Vec3};

/// Rest shapes of eight clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rest {
    /// Root mean square distance of the points from their centre, m.
    pub size: Eight,
    /// Inverse of `sum w q q^T`: xx, yy, zz, xy, yz, zx.
    pub inverse: [Eight; 6],
    /// Projector on the directions in which the shape has no extent, in the same order.
    pub missing: [Eight; 6],
    /// Number of directions in which it has extent.
    pub rank: Eight,
    /// Weighted mean of the products of `q`.
    pub mean: [Eight; 6],
    /// Inverse of the nine-dimensional `sum w q~ q~^T`, packed upper triangle.
    pub inverse9: [Eight; 45],
}

impl Default for Rest {
    /// Eight points without extent.
    fn default() -> Self {
        Self {
            size: [1.0; WIDTH],
            inverse: [[0.0; WIDTH]; 6],
            missing: std::array::from_fn(|i| if i < 3 { [1.0; WIDTH] } else { [0.0; WIDTH] }),
            rank: [0.0; WIDTH],
            mean: [[0.0; WIDTH]; 6],
            inverse9: [[0.0; WIDTH]; 45],
        }
    }
}

/// Rest shape of one cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct RestShape {
    /// Centre of mass in the body's own frame, m.
    pub centre: Vec3,
    /// Root mean square distance of the points from it, m; 1 for coincident points.
    pub size: f32,
    /// Inverse of `sum w q q^T`: xx, yy, zz, xy, yz, zx.
    pub inverse: [f32; 6],
    /// Projector on the missing directions.
    pub missing: [f32; 6],
    /// Number of directions with extent.
    pub rank: usize,
    /// Weighted mean of the products of `q`.
    pub mean: [f32; 6],
    /// Inverse of the nine-dimensional moment matrix, packed upper triangle.
    pub inverse9: [f32; 45],
}

/// Directions with less than this part of the largest moment count as missing.
const CUT_OFF: f64 = 1e-5;

/// Squares, then xy, yz, zx.
pub fn products(q: DVec3) -> [f64; 6] {
    [q.x * q.x, q.y * q.y, q.z * q.z, q.x * q.y, q.y * q.z, q.z * q.x]
}

impl RestShape {
    /// Measures points `(rest position, weight)`, weights adding up to 1.
    pub fn measure(points: impl Iterator<Item = (Vec3, f64)> + Clone) -> Self {
        let centre = points.clone().fold(DVec3::ZERO, |sum, (x, w)| sum + w * x.as_dvec3());
        let spread = points.clone().map(|(x, w)| w * (x.as_dvec3() - centre).length_squared()).sum::<f64>().sqrt();
        let size = if (spread as f32) > 0.0 { f64::from(spread as f32) } else { 1.0 };
        // Offsets as the kernels will see them, rounded.
        let offset = |x: Vec3| (((x.as_dvec3() - centre) / size).as_vec3()).as_dvec3();
        let mut mean = [0.0; 6];
        for (x, w) in points.clone() {
            let s = products(offset(x));
            (0..6).for_each(|i| mean[i] += w * s[i]);
        }
        let mean = mean.map(|m| m as f32);
        let mut moments = [[0.0; 9]; 9];
        for (x, w) in points {
            let q = offset(x);
            let s = products(q);
            let all: [f64; 9] = std::array::from_fn(|i| if i < 3 { q[i] } else { s[i - 3] - f64::from(mean[i - 3]) });
            (0..9).for_each(|i| (0..9).for_each(|j| moments[i][j] += w * all[i] * all[j]));
        }
        Self::from_moments(centre, size, mean, moments)
    }

    fn from_moments(centre: DVec3, size: f64, mean: [f32; 6], moments: [[f64; 9]; 9]) -> Self {
        let linear = pseudo_inverse::<3>(std::array::from_fn(|i| std::array::from_fn(|j| moments[i][j])), CUT_OFF);
        let all = pseudo_inverse::<9>(moments, CUT_OFF);
        let six = |m: &[[f64; 3]; 3]| [m[0][0], m[1][1], m[2][2], m[0][1], m[1][2], m[2][0]].map(|x| x as f32);
        let mut inverse9 = [0.0; 45];
        for i in 0..9 {
            for j in i..9 {
                inverse9[packed(i, j)] = all.inverse[i][j] as f32;
            }
        }
        Self {
            centre: centre.as_vec3(),
            size: size as f32,
            inverse: six(&linear.inverse),
            missing: six(&linear.missing),
            rank: linear.rank,
            mean,
            inverse9,
        }
    }

    /// Offset of a rest position, in cluster sizes.
    pub fn offset(&self, rest: Vec3) -> Vec3 {
        (rest - self.centre) / self.size
    }
}

impl Rest {
    /// Puts a rest shape into a lane.
    pub fn set(&mut self, lane: usize, shape: &RestShape) {
        self.size[lane] = shape.size;
        self.rank[lane] = shape.rank as f32;
        for i in 0..6 {
            self.inverse[i][lane] = shape.inverse[i];
            self.missing[i][lane] = shape.missing[i];
            self.mean[i][lane] = shape.mean[i];
        }
        (0..45).for_each(|i| self.inverse9[i][lane] = shape.inverse9[i]);
    }
}
