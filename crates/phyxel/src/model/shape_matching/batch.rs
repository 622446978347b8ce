//! One batch: eight clusters in the lanes of a vector, or one large cluster in all lanes.

use crate::parallel;
use glam::{Mat3, Quat, Vec3};
use phyxel_laws::shape_matching::{
    ClusterSums, GoalMap, GoalParams, LINEAR, Mode, PointIndices, PointRow, QUADRATIC, RIGID, RestBatch, accumulate,
    correct_velocities, fit,
};
use phyxel_laws::simd::{F32x8, SimdLevel, WIDTH};
use std::ops::Range;
use xxhash_rust::xxh3::Xxh3Default;

/// Rows of a large cluster that make one task.
const TASK_ROWS: usize = 128;

/// Rest shapes of a batch. Copies of a body share them, so that they stay in the cache.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RestTemplate {
    pub rest: RestBatch,
    pub rows: Vec<PointRow>,
}

impl RestTemplate {
    /// Digest for the search of equal templates.
    pub fn digest(&self) -> u64 {
        let mut digest = Xxh3Default::new();
        let mut add = |values: &F32x8| values.iter().for_each(|value| digest.update(&value.to_bits().to_le_bytes()));
        self.rest.inverse_moments9.iter().for_each(&mut add);
        self.rows.iter().for_each(|row| row.q.iter().chain([&row.weight]).for_each(&mut add));
        digest.digest()
    }
}

/// Eight clusters of one mode, or one large cluster.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    /// Rows of indices.
    pub rows: Range<usize>,
    /// Index of the template.
    pub template: u32,
    /// Cluster of each lane; the first one again in unused lanes.
    pub clusters: [u32; WIDTH],
    /// Index of the gains of each lane.
    pub gains: [u32; WIDTH],
    /// Number of used lanes.
    pub used: usize,
    pub mode: Mode,
    /// True if all lanes are one large cluster.
    pub large: bool,
    pub anchor: PointIndices,
    pub goal_params: GoalParams,
    pub rotation: [F32x8; 4],
    pub affine: [[F32x8; 3]; 3],
    pub velocity_gain: F32x8,
    pub damping: F32x8,
}

impl Batch {
    /// Sets rotation and plastic deformation of a lane.
    pub fn set_state(&mut self, lane: usize, rotation: Quat, plastic: Mat3) {
        let rotation = rotation.to_array();
        (0..4).for_each(|i| self.rotation[i][lane] = rotation[i]);
        (0..3).for_each(|i| (0..3).for_each(|j| self.goal_params.plastic[i][j][lane] = plastic.col(j)[i]));
    }

    /// Matches the clusters in their mode and writes their velocity corrections, m/s.
    pub fn match_by_mode(
        &mut self,
        damped: bool,
        template: &RestTemplate,
        indices: &[PointIndices],
        x: &[Vec3],
        v: &[Vec3],
        out: &mut [[F32x8; 3]],
    ) {
        let level = SimdLevel::detect();
        match (self.mode, damped) {
            (RIGID, false) => self.match_clusters::<RIGID, false, false>(level, template, indices, x, v, out),
            (RIGID, true) => self.match_clusters::<RIGID, false, true>(level, template, indices, x, v, out),
            (LINEAR, false) => self.match_clusters::<LINEAR, false, false>(level, template, indices, x, v, out),
            (LINEAR, true) => self.match_clusters::<LINEAR, false, true>(level, template, indices, x, v, out),
            (_, false) => self.match_clusters::<QUADRATIC, true, false>(level, template, indices, x, v, out),
            (_, true) => self.match_clusters::<QUADRATIC, true, true>(level, template, indices, x, v, out),
        }
    }

    fn match_clusters<const MODE: Mode, const SECOND_ORDER: bool, const DAMPED: bool>(
        &mut self,
        level: SimdLevel,
        template: &RestTemplate,
        indices: &[PointIndices],
        x: &[Vec3],
        v: &[Vec3],
        corrections: &mut [[F32x8; 3]],
    ) {
        let RestTemplate { rest, rows } = template;
        let (anchor, mean) = (&self.anchor, &rest.mean_monomials);
        let mut sums = ClusterSums::default();
        if self.large {
            let partial = parallel::map_ranges(rows.len(), TASK_ROWS, |range| {
                let mut sums = ClusterSums::default();
                let (rows, indices) = (&rows[range.clone()], &indices[range]);
                accumulate::<SECOND_ORDER, DAMPED>(level, rows, indices, anchor, mean, x, v, &mut sums);
                sums
            });
            sums = ClusterSums::reduce(&partial);
        } else {
            accumulate::<SECOND_ORDER, DAMPED>(level, rows, indices, anchor, mean, x, v, &mut sums);
        }
        let mut goal = GoalMap::default();
        fit::<MODE, DAMPED>(level, rest, &self.goal_params, &sums, &mut self.rotation, &mut goal);
        self.affine = goal.affine;
        let grain = if self.large { TASK_ROWS } else { rows.len() };
        parallel::for_each_chunk(corrections, grain, |first, corrections| {
            let range = first..first + corrections.len();
            let (rows, indices) = (&rows[range.clone()], &indices[range]);
            correct_velocities::<SECOND_ORDER, DAMPED>(
                level,
                rows,
                indices,
                &self.anchor,
                &goal,
                &self.velocity_gain,
                &self.damping,
                x,
                v,
                corrections,
            );
        });
    }
}

/// Misfit of a cluster: its distance from the rest shape.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Misfit {
    /// Weighted mean squared distance from the rotated rest shape, m2.
    pub rigid: f64,
    /// Weighted mean squared distance from the fitted shape, m2.
    pub fitted: f64,
    /// Rotation of the cluster.
    pub rotation: Quat,
    /// Best affine map.
    pub affine: Mat3,
}

/// Weighted sums of squared corrections by lane.
pub(super) fn weighted_squares(rows: &[PointRow], corrections: &[[F32x8; 3]]) -> [f64; WIDTH] {
    let mut sums = [0.0; WIDTH];
    for (row, correction) in rows.iter().zip(corrections) {
        for lane in 0..WIDTH {
            let d = Vec3::new(correction[0][lane], correction[1][lane], correction[2][lane]);
            sums[lane] += f64::from(row.weight[lane]) * d.as_dvec3().length_squared();
        }
    }
    sums
}
