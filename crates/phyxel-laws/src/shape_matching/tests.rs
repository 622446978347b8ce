//! The kernels against the formulas of `[MHTG05]` in double precision.

use super::rest::{RestShape, quadratic_monomials};
use super::*;
use crate::linalg::rotation::nearest_rotation;
use crate::simd::SimdLevel;
use glam::{DMat3, DVec3, Mat3, Quat, Vec3};

/// Cluster of points at rest and now.
#[derive(Clone)]
struct TestCluster {
    rest: Vec<Vec3>,
    weight: Vec<f64>,
    now: Vec<Vec3>,
    velocity: Vec<Vec3>,
}

struct TestRng(u64);

impl TestRng {
    fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }
    fn vector(&mut self, size: f32) -> Vec3 {
        Vec3::new(self.unit() - 0.5, self.unit() - 0.5, self.unit() - 0.5) * 2.0 * size
    }
}

fn random_cluster(seed: u64, count: usize, noise: f32) -> TestCluster {
    let mut random = TestRng(seed * 7919 + 13);
    let rest: Vec<Vec3> = (0..count).map(|_| random.vector(0.5)).collect();
    let raw: Vec<f64> = (0..count).map(|_| 0.2 + f64::from(random.unit())).collect();
    let total: f64 = raw.iter().sum();
    let rotation = Quat::from_scaled_axis(random.vector(1.5));
    let shift = random.vector(3.0);
    let now = rest.iter().map(|&x| rotation * x + shift + random.vector(noise)).collect();
    let velocity = rest.iter().map(|_| random.vector(1.0)).collect();
    TestCluster { rest, weight: raw.iter().map(|w| w / total).collect(), now, velocity }
}

/// Velocity corrections of a cluster in one lane, by the kernels.
fn kernel_corrections<const MODE: Mode>(
    level: SimdLevel,
    cluster: &TestCluster,
    lane: usize,
    plastic: Mat3,
    velocity_gain: f32,
    damping: f32,
) -> Vec<Vec3> {
    let shape = RestShape::from_points(cluster.rest.iter().copied().zip(cluster.weight.iter().copied()));
    let mut rest = RestBatch::default();
    rest.set(lane, &shape);
    let rows: Vec<PointRow> = (0..cluster.rest.len())
        .map(|k| {
            let mut row = PointRow::default();
            let q = shape.offset(cluster.rest[k]);
            (0..3).for_each(|i| row.q[i][lane] = q[i]);
            row.weight[lane] = cluster.weight[k] as f32;
            row
        })
        .collect();
    let mut params = GoalParams { beta: [0.6; 8], target_volume: [1.0; 8], ..GoalParams::default() };
    (0..3).for_each(|i| (0..3).for_each(|j| params.plastic[i][j] = [plastic.col(j)[i]; 8]));
    let mut rotation = [[0.0; 8], [0.0; 8], [0.0; 8], [1.0; 8]];
    let (mut sums, mut goal) = (ClusterSums::default(), GoalMap::default());
    let mut corrections = vec![[[0.0; 8]; 3]; rows.len()];
    let index = |k: usize| std::array::from_fn(|other| if other == lane { k as u32 } else { 0 });
    let indices: Vec<PointIndices> = (0..rows.len()).map(index).collect();
    let anchor = [0; 8];
    let (x, v, mean) = (&cluster.now, &cluster.velocity, &rest.mean_monomials);
    match MODE {
        QUADRATIC => accumulate::<true, true>(level, &rows, &indices, &anchor, mean, x, v, &mut sums),
        _ => accumulate::<false, true>(level, &rows, &indices, &anchor, mean, x, v, &mut sums),
    }
    fit::<MODE, true>(level, &rest, &params, &sums, &mut rotation, &mut goal);
    let (gain, damping, out) = (&[velocity_gain; 8], &[damping; 8], &mut corrections);
    match MODE {
        QUADRATIC => correct_velocities::<true, true>(level, &rows, &indices, &anchor, &goal, gain, damping, x, v, out),
        _ => correct_velocities::<false, true>(level, &rows, &indices, &anchor, &goal, gain, damping, x, v, out),
    }
    corrections.iter().map(|c| Vec3::new(c[0][lane], c[1][lane], c[2][lane])).collect()
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Goals by the formulas, with the plastic rest shape `Sp q` inserted literally.
fn reference_goals(cluster: &TestCluster, mode: Mode, plastic: Mat3, beta: f64) -> Vec<DVec3> {
    let points = || (0..cluster.rest.len()).map(|k| (k, cluster.weight[k]));
    let rest_centre: DVec3 = points().map(|(k, w)| w * cluster.rest[k].as_dvec3()).sum();
    let centre: DVec3 = points().map(|(k, w)| w * cluster.now[k].as_dvec3()).sum();
    let q = |k: usize| plastic.as_dmat3() * (cluster.rest[k].as_dvec3() - rest_centre);
    let p = |k: usize| cluster.now[k].as_dvec3() - centre;
    let pq = points().fold(DMat3::ZERO, |sum, (k, w)| sum + outer(p(k), q(k)) * w);
    let qq = points().fold(DMat3::ZERO, |sum, (k, w)| sum + outer(q(k), q(k)) * w);
    let r = Mat3::from_quat(nearest_rotation(pq, Quat::IDENTITY)).as_dmat3();
    let a = pq * qq.inverse();
    let volume = a.determinant();
    let beta = beta * ((volume - 0.05) / 0.15).clamp(0.0, 1.0);
    let quadratic = if mode == QUADRATIC { reference_quadratic(cluster, &q, &p) } else { Box::new(|_| DVec3::ZERO) };
    points()
        .map(|(k, _)| {
            centre
                + match mode {
                    RIGID => r * q(k),
                    LINEAR => (a * (beta / volume.max(0.05).cbrt()) + r * (1.0 - beta)) * q(k),
                    _ => quadratic(k) * beta + r * q(k) * (1.0 - beta),
                }
        })
        .collect()
}

/// Best quadratic map by the normal equations, with the mean of the monomials subtracted.
fn reference_quadratic<'a>(
    cluster: &'a TestCluster,
    q: &'a dyn Fn(usize) -> DVec3,
    p: &'a dyn Fn(usize) -> DVec3,
) -> Box<dyn Fn(usize) -> DVec3 + 'a> {
    let n = cluster.rest.len();
    let mut mean = [0.0; 6];
    (0..n).for_each(|k| (0..6).for_each(|i| mean[i] += cluster.weight[k] * quadratic_monomials(q(k))[i]));
    let extended = move |k: usize| -> [f64; 9] {
        let (q, s) = (q(k), quadratic_monomials(q(k)));
        std::array::from_fn(|i| if i < 3 { q[i] } else { s[i - 3] - mean[i - 3] })
    };
    let mut qq = [[0.0; 9]; 9];
    let mut pq = [[0.0; 9]; 3];
    for k in 0..n {
        let l = extended(k);
        for i in 0..9 {
            (0..9).for_each(|j| qq[i][j] += cluster.weight[k] * l[i] * l[j]);
            (0..3).for_each(|j| pq[j][i] += cluster.weight[k] * p(k)[j] * l[i]);
        }
    }
    let inverse = crate::linalg::eigen::pseudo_inverse(qq, 1e-9).inverse;
    let map: [[f64; 9]; 3] =
        std::array::from_fn(|i| std::array::from_fn(|j| (0..9).map(|m| pq[i][m] * inverse[m][j]).sum()));
    Box::new(move |k| {
        let l = extended(k);
        DVec3::from_array(std::array::from_fn(|i| (0..9).map(|j| map[i][j] * l[j]).sum()))
    })
}

fn compare_with_formulas<const MODE: Mode>(plastic: Mat3) {
    for seed in 0..60 {
        let cluster = random_cluster(seed, 14 + seed as usize % 40, 0.12);
        let goals = reference_goals(&cluster, MODE, plastic, 0.6);
        let corrections =
            kernel_corrections::<MODE>(SimdLevel::detect(), &cluster, seed as usize % 8, plastic, 1.0, 0.0);
        for (k, goal) in goals.iter().enumerate() {
            let expected = *goal - cluster.now[k].as_dvec3();
            // Offsets of order 1 through sums of 50 terms and a 9 x 9 inverse of condition up to about 1e2.
            assert!(
                (corrections[k].as_dvec3() - expected).length() < 3e-5,
                "seed {seed} point {k}: {} {expected}",
                corrections[k]
            );
        }
    }
}

const PLASTIC: [f32; 9] = [1.25, 0.1, 0.0, 0.0, 0.8, -0.05, 0.02, 0.0, 1.0];

#[test]
fn goals_are_those_of_the_formulas() {
    compare_with_formulas::<RIGID>(Mat3::IDENTITY);
    compare_with_formulas::<LINEAR>(Mat3::IDENTITY);
    compare_with_formulas::<QUADRATIC>(Mat3::IDENTITY);
}

#[test]
fn goals_of_a_plastic_rest_shape_are_those_of_the_formulas_with_the_rest_shape_replaced() {
    let plastic = Mat3::from_cols_array(&PLASTIC);
    let plastic = plastic * (1.0 / plastic.determinant().cbrt());
    compare_with_formulas::<RIGID>(plastic);
    compare_with_formulas::<LINEAR>(plastic);
    compare_with_formulas::<QUADRATIC>(plastic);
}

#[test]
fn every_instruction_set_and_every_lane_gives_the_same_bits() {
    for seed in 0..30 {
        let cluster = random_cluster(seed, 20, 0.4);
        let reference = kernel_corrections::<QUADRATIC>(SimdLevel::Portable, &cluster, 0, Mat3::IDENTITY, 3.0, 0.2);
        for level in SimdLevel::available() {
            for lane in [0, 3, 7] {
                let corrections = kernel_corrections::<QUADRATIC>(level, &cluster, lane, Mat3::IDENTITY, 3.0, 0.2);
                assert_eq!(corrections, reference, "{level:?} lane {lane} seed {seed}");
            }
        }
    }
}

fn assert_momenta_conserved<const MODE: Mode>(plastic: Mat3, noise: f32) {
    for seed in 0..100 {
        let cluster = random_cluster(seed, 4 + seed as usize % 30, noise);
        let corrections = kernel_corrections::<MODE>(SimdLevel::detect(), &cluster, 0, plastic, 1.0, 0.5);
        let points = || {
            (0..cluster.rest.len()).map(|k| (cluster.weight[k], cluster.now[k].as_dvec3(), corrections[k].as_dvec3()))
        };
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
fn a_cluster_conserves_linear_and_angular_momentum_in_every_mode_plastic_or_not() {
    let plastic = Mat3::from_cols_array(&PLASTIC);
    for noise in [0.01, 0.3, 2.0] {
        assert_momenta_conserved::<RIGID>(Mat3::IDENTITY, noise);
        assert_momenta_conserved::<LINEAR>(Mat3::IDENTITY, noise);
        assert_momenta_conserved::<QUADRATIC>(Mat3::IDENTITY, noise);
        assert_momenta_conserved::<RIGID>(plastic, noise);
        assert_momenta_conserved::<LINEAR>(plastic, noise);
        assert_momenta_conserved::<QUADRATIC>(plastic, noise);
    }
}

#[test]
fn rigid_motion_is_neither_corrected_nor_damped() {
    for seed in 0..50 {
        let mut cluster = random_cluster(seed, 20, 0.0);
        let omega = Vec3::new(1.0, -2.0, 0.5);
        cluster.velocity = cluster.now.iter().map(|&x| Vec3::new(3.0, 0.0, -1.0) + omega.cross(x)).collect();
        let corrections = kernel_corrections::<QUADRATIC>(SimdLevel::detect(), &cluster, 0, Mat3::IDENTITY, 1.0, 1.0);
        // Velocities of order 10 and positions of order 3, in f32.
        assert!(corrections.iter().all(|dv| dv.length() < 3e-5), "seed {seed}: {corrections:?}");
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
            let cluster = TestCluster {
                rest: (0..8).map(rest).collect(),
                weight: vec![0.125; 8],
                now: (0..8).map(now).collect(),
                velocity: vec![Vec3::X; 8],
            };
            for corrections in [
                kernel_corrections::<RIGID>(SimdLevel::detect(), &cluster, 1, Mat3::IDENTITY, 1.0, 0.5),
                kernel_corrections::<LINEAR>(SimdLevel::detect(), &cluster, 1, Mat3::IDENTITY, 1.0, 0.5),
                kernel_corrections::<QUADRATIC>(SimdLevel::detect(), &cluster, 1, Mat3::IDENTITY, 1.0, 0.5),
            ] {
                assert!(corrections.iter().all(|dv| dv.is_finite() && dv.length() < 100.0), "{corrections:?}");
            }
        }
    }
}
