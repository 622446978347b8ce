//! The kernels against the formulas of the source, written down plainly in double precision.

use super::rest::{RestShape, products};
use super::*;
use crate::lanes::Level;
use crate::rotation::nearest_rotation;
use glam::{DMat3, DVec3, Mat3, Quat, Vec3};

/// A cluster of points, as a test sees it.
#[derive(Clone)]
struct Cloud {
    rest: Vec<Vec3>,
    weight: Vec<f64>,
    now: Vec<Vec3>,
    velocity: Vec<Vec3>,
}

struct Random(u64);

impl Random {
    fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }
    fn vector(&mut self, size: f32) -> Vec3 {
        Vec3::new(self.unit() - 0.5, self.unit() - 0.5, self.unit() - 0.5) * 2.0 * size
    }
}

fn random_cloud(seed: u64, count: usize, wobble: f32) -> Cloud {
    let mut random = Random(seed * 7919 + 13);
    let rest: Vec<Vec3> = (0..count).map(|_| random.vector(0.5)).collect();
    let raw: Vec<f64> = (0..count).map(|_| 0.2 + f64::from(random.unit())).collect();
    let total: f64 = raw.iter().sum();
    let turn = Quat::from_scaled_axis(random.vector(1.5));
    let shift = random.vector(3.0);
    let now = rest.iter().map(|&x| turn * x + shift + random.vector(wobble)).collect();
    let velocity = rest.iter().map(|_| random.vector(1.0)).collect();
    Cloud { rest, weight: raw.iter().map(|w| w / total).collect(), now, velocity }
}

/// Changes of velocity that the kernels want for a cloud, placed in one lane.
fn kernel_changes<const KIND: Kind>(
    level: Level,
    cloud: &Cloud,
    lane: usize,
    plastic: Mat3,
    pull: f32,
    damp: f32,
) -> Vec<Vec3> {
    let shape = RestShape::measure(cloud.rest.iter().copied().zip(cloud.weight.iter().copied()));
    let mut rest = Rest::default();
    rest.set(lane, &shape);
    let rows: Vec<Row> = (0..cloud.rest.len())
        .map(|k| {
            let mut row = Row::default();
            let q = shape.offset(cloud.rest[k]);
            (0..3).for_each(|i| row.q[i][lane] = q[i]);
            row.weight[lane] = cloud.weight[k] as f32;
            row
        })
        .collect();
    let mut blend = Blend { beta: [0.6; 8], keep_volume: [1.0; 8], ..Blend::default() };
    (0..3).for_each(|i| (0..3).for_each(|j| blend.plastic[i][j] = [plastic.col(j)[i]; 8]));
    let mut rotation = [[0.0; 8], [0.0; 8], [0.0; 8], [1.0; 8]];
    let (mut sums, mut goal) = (Sums::default(), Goal::default());
    let mut changes = vec![[[0.0; 8]; 3]; rows.len()];
    let index = |k: usize| std::array::from_fn(|other| if other == lane { k as u32 } else { 0 });
    let indices: Vec<Indices> = (0..rows.len()).map(index).collect();
    let anchor = [0; 8];
    if KIND == QUADRATIC {
        accumulate::<true, true>(level, &rows, &indices, &anchor, &rest.mean, &cloud.now, &cloud.velocity, &mut sums);
        fit::<KIND, true>(level, &rest, &blend, &sums, &mut rotation, &mut goal);
        apply::<true, true>(
            level,
            &rows,
            &indices,
            &anchor,
            &goal,
            &[pull; 8],
            &[damp; 8],
            &cloud.now,
            &cloud.velocity,
            &mut changes,
        );
    } else {
        accumulate::<false, true>(level, &rows, &indices, &anchor, &rest.mean, &cloud.now, &cloud.velocity, &mut sums);
        fit::<KIND, true>(level, &rest, &blend, &sums, &mut rotation, &mut goal);
        apply::<false, true>(
            level,
            &rows,
            &indices,
            &anchor,
            &goal,
            &[pull; 8],
            &[damp; 8],
            &cloud.now,
            &cloud.velocity,
            &mut changes,
        );
    }
    changes.iter().map(|c| Vec3::new(c[0][lane], c[1][lane], c[2][lane])).collect()
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Goals by the formulas, with the plastic rest shape `Sp q` put in literally.
fn plain_goals(cloud: &Cloud, kind: Kind, plastic: Mat3, beta: f64) -> Vec<DVec3> {
    let points = || (0..cloud.rest.len()).map(|k| (k, cloud.weight[k]));
    let rest_centre: DVec3 = points().map(|(k, w)| w * cloud.rest[k].as_dvec3()).sum();
    let centre: DVec3 = points().map(|(k, w)| w * cloud.now[k].as_dvec3()).sum();
    let q = |k: usize| plastic.as_dmat3() * (cloud.rest[k].as_dvec3() - rest_centre);
    let p = |k: usize| cloud.now[k].as_dvec3() - centre;
    let pq = points().fold(DMat3::ZERO, |sum, (k, w)| sum + outer(p(k), q(k)) * w);
    let qq = points().fold(DMat3::ZERO, |sum, (k, w)| sum + outer(q(k), q(k)) * w);
    let r = Mat3::from_quat(nearest_rotation(pq, Quat::IDENTITY)).as_dmat3();
    let a = pq * qq.inverse();
    let volume = a.determinant();
    let beta = beta * ((volume - 0.05) / 0.15).clamp(0.0, 1.0);
    let bent = if kind == QUADRATIC { plain_quadratic(cloud, &q, &p) } else { Box::new(|_| DVec3::ZERO) };
    points()
        .map(|(k, _)| {
            centre
                + match kind {
                    RIGID => r * q(k),
                    LINEAR => (a * (beta / volume.max(0.05).cbrt()) + r * (1.0 - beta)) * q(k),
                    _ => bent(k) * beta + r * q(k) * (1.0 - beta),
                }
        })
        .collect()
}

/// The best quadratic map by normal equations, with the mean of the products taken off.
fn plain_quadratic<'a>(
    cloud: &'a Cloud,
    q: &'a dyn Fn(usize) -> DVec3,
    p: &'a dyn Fn(usize) -> DVec3,
) -> Box<dyn Fn(usize) -> DVec3 + 'a> {
    let n = cloud.rest.len();
    let mut mean = [0.0; 6];
    (0..n).for_each(|k| (0..6).for_each(|i| mean[i] += cloud.weight[k] * products(q(k))[i]));
    let long = move |k: usize| -> [f64; 9] {
        let (q, s) = (q(k), products(q(k)));
        std::array::from_fn(|i| if i < 3 { q[i] } else { s[i - 3] - mean[i - 3] })
    };
    let mut qq = [[0.0; 9]; 9];
    let mut pq = [[0.0; 9]; 3];
    for k in 0..n {
        let l = long(k);
        for i in 0..9 {
            (0..9).for_each(|j| qq[i][j] += cloud.weight[k] * l[i] * l[j]);
            (0..3).for_each(|j| pq[j][i] += cloud.weight[k] * p(k)[j] * l[i]);
        }
    }
    let inverse = crate::symmetric::pseudo_inverse(qq, 1e-9).inverse;
    let map: [[f64; 9]; 3] =
        std::array::from_fn(|i| std::array::from_fn(|j| (0..9).map(|m| pq[i][m] * inverse[m][j]).sum()));
    Box::new(move |k| {
        let l = long(k);
        DVec3::from_array(std::array::from_fn(|i| (0..9).map(|j| map[i][j] * l[j]).sum()))
    })
}

fn compare_with_formulas<const KIND: Kind>(plastic: Mat3) {
    for seed in 0..60 {
        let cloud = random_cloud(seed, 14 + seed as usize % 40, 0.12);
        let goals = plain_goals(&cloud, KIND, plastic, 0.6);
        let changes = kernel_changes::<KIND>(Level::detect(), &cloud, seed as usize % 8, plastic, 1.0, 0.0);
        for (k, goal) in goals.iter().enumerate() {
            let wanted = *goal - cloud.now[k].as_dvec3();
            // Offsets of order 1 through sums of 50 terms and a 9 x 9 inverse of condition up to about 1e2.
            assert!((changes[k].as_dvec3() - wanted).length() < 3e-5, "seed {seed} point {k}: {} {wanted}", changes[k]);
        }
    }
}

const PRESSED: [f32; 9] = [1.25, 0.1, 0.0, 0.0, 0.8, -0.05, 0.02, 0.0, 1.0];

#[test]
fn goals_are_those_of_the_formulas() {
    compare_with_formulas::<RIGID>(Mat3::IDENTITY);
    compare_with_formulas::<LINEAR>(Mat3::IDENTITY);
    compare_with_formulas::<QUADRATIC>(Mat3::IDENTITY);
}

#[test]
fn goals_of_a_plastic_rest_shape_are_those_of_the_formulas_with_the_rest_shape_replaced() {
    let plastic = Mat3::from_cols_array(&PRESSED);
    let plastic = plastic * (1.0 / plastic.determinant().cbrt());
    compare_with_formulas::<RIGID>(plastic);
    compare_with_formulas::<LINEAR>(plastic);
    compare_with_formulas::<QUADRATIC>(plastic);
}

#[test]
fn every_instruction_set_and_every_lane_gives_the_same_bits() {
    for seed in 0..30 {
        let cloud = random_cloud(seed, 20, 0.4);
        let reference = kernel_changes::<QUADRATIC>(Level::Portable, &cloud, 0, Mat3::IDENTITY, 3.0, 0.2);
        for level in Level::available() {
            for lane in [0, 3, 7] {
                let changes = kernel_changes::<QUADRATIC>(level, &cloud, lane, Mat3::IDENTITY, 3.0, 0.2);
                assert_eq!(changes, reference, "{level:?} lane {lane} seed {seed}");
            }
        }
    }
}

fn momenta_kept<const KIND: Kind>(plastic: Mat3, wobble: f32) {
    for seed in 0..100 {
        let cloud = random_cloud(seed, 4 + seed as usize % 30, wobble);
        let changes = kernel_changes::<KIND>(Level::detect(), &cloud, 0, plastic, 1.0, 0.5);
        let points =
            || (0..cloud.rest.len()).map(|k| (cloud.weight[k], cloud.now[k].as_dvec3(), changes[k].as_dvec3()));
        let size: f64 = points().map(|(w, _, dv)| w * dv.length()).sum();
        let linear: DVec3 = points().map(|(w, _, dv)| w * dv).sum();
        let centre: DVec3 = points().map(|(w, x, _)| w * x).sum();
        let angular: DVec3 = points().map(|(w, x, dv)| w * (x - centre).cross(dv)).sum();
        // Changes of order `size` built from numbers of order 1 with f32's 6e-8 and some tens of terms.
        assert!(linear.length() < 3e-6 * (1.0 + size), "seed {seed}: linear {linear}");
        assert!(angular.length() < 6e-6 * (1.0 + size), "seed {seed}: angular {angular}");
    }
}

#[test]
fn a_cluster_keeps_linear_and_angular_momentum_in_every_mode_plastic_or_not() {
    let plastic = Mat3::from_cols_array(&PRESSED);
    for wobble in [0.01, 0.3, 2.0] {
        momenta_kept::<RIGID>(Mat3::IDENTITY, wobble);
        momenta_kept::<LINEAR>(Mat3::IDENTITY, wobble);
        momenta_kept::<QUADRATIC>(Mat3::IDENTITY, wobble);
        momenta_kept::<RIGID>(plastic, wobble);
        momenta_kept::<LINEAR>(plastic, wobble);
        momenta_kept::<QUADRATIC>(plastic, wobble);
    }
}

#[test]
fn rigid_motion_is_neither_pulled_nor_damped() {
    for seed in 0..50 {
        let mut cloud = random_cloud(seed, 20, 0.0);
        let omega = Vec3::new(1.0, -2.0, 0.5);
        cloud.velocity = cloud.now.iter().map(|&x| Vec3::new(3.0, 0.0, -1.0) + omega.cross(x)).collect();
        let changes = kernel_changes::<QUADRATIC>(Level::detect(), &cloud, 0, Mat3::IDENTITY, 1.0, 1.0);
        // Velocities of order 10 and positions of order 3, in f32.
        assert!(changes.iter().all(|dv| dv.length() < 3e-5), "seed {seed}: {changes:?}");
    }
}

#[test]
fn clouds_without_extent_give_finite_goals() {
    let line = |k: usize| Vec3::X * k as f32;
    let flat = |k: usize| Vec3::new((k % 4) as f32, (k / 4) as f32, 0.0);
    let corner = |k: usize| Vec3::new((k & 1) as f32, (k >> 1 & 1) as f32, (k >> 2 & 1) as f32);
    let shapes: [&dyn Fn(usize) -> Vec3; 4] = [&line, &flat, &corner, &|_| Vec3::ONE];
    for rest in shapes {
        for now in shapes {
            let cloud = Cloud {
                rest: (0..8).map(rest).collect(),
                weight: vec![0.125; 8],
                now: (0..8).map(now).collect(),
                velocity: vec![Vec3::X; 8],
            };
            for changes in [
                kernel_changes::<RIGID>(Level::detect(), &cloud, 1, Mat3::IDENTITY, 1.0, 0.5),
                kernel_changes::<LINEAR>(Level::detect(), &cloud, 1, Mat3::IDENTITY, 1.0, 0.5),
                kernel_changes::<QUADRATIC>(Level::detect(), &cloud, 1, Mat3::IDENTITY, 1.0, 0.5),
            ] {
                assert!(changes.iter().all(|dv| dv.is_finite() && dv.length() < 100.0), "{changes:?}");
            }
        }
    }
}
