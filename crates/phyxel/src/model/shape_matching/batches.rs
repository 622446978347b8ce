//! Batches of clusters for the kernels: eight clusters in the lanes of a vector, one point of each per row.

use super::Cluster;
use super::batch::{Batch, Misfit, RestTemplate, weighted_squares};
use super::params::ClusterParams;
use crate::numerics::Csr;
use crate::parallel;
use crate::store::Particles;
use glam::{Mat3, Quat, Vec3};
use phyxel_laws::shape_matching::rest::RestShape;
use phyxel_laws::shape_matching::{GoalParams, LINEAR, Mode, PointIndices, PointRow, QUADRATIC, RIGID, RestBatch};
use phyxel_laws::simd::{F32x8, WIDTH};
use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;

/// Clusters above this size are processed by all lanes and threads together.
const LARGE_CLUSTER: usize = 1024;
/// Particles of the bodies that one task processes from the first sum to the last velocity, so that its
/// data stay in the cache. A larger body is shared by all threads.
const BLOCK_PARTICLES: usize = 4096;
/// Particles per task within a large body.
const GRAIN: usize = 4096;
/// Weight of a fixed particle over its mass: the fit follows fixed particles.
pub(super) const FIXED_WEIGHT: f64 = 32.0;

thread_local! {
    /// Velocity corrections, a workspace kept by each thread. Taken out while in use: a thread that waits
    /// for others may begin another task.
    static CORRECTIONS: Cell<Vec<[F32x8; 3]>> = const { Cell::new(Vec::new()) };
}

/// Bodies that one task processes together.
#[derive(Clone, Debug)]
struct BatchBlock {
    batches: Range<usize>,
    rows: Range<usize>,
    particles: Range<usize>,
}

/// Task: a block with the data it may change.
struct BlockTask<'a> {
    block: &'a BatchBlock,
    batches: &'a mut [Batch],
    velocities: &'a mut [Vec3],
}

/// All clusters of a model in batches.
#[derive(Clone, Debug, Default)]
pub(super) struct ClusterBatches {
    blocks: Vec<BatchBlock>,
    batches: Vec<Batch>,
    templates: Vec<RestTemplate>,
    /// Particles of every row.
    indices: Vec<PointIndices>,
    /// Rest shape of each cluster.
    pub shapes: Vec<RestShape>,
    /// Weights of the members of each cluster, adding up to 1.
    pub weights: Vec<Vec<f32>>,
    /// Weight of each cluster, kg.
    pub totals: Vec<f64>,
    /// Row and lane (`8 row + lane`) of each membership of a particle.
    slots: Csr<u32>,
}

/// Gains of a cluster in a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepGains {
    /// `alpha/dt`, 1/s.
    pub velocity_gain: f32,
    /// Fraction of the non-rigid motion that is removed.
    pub damping: f32,
}

impl ClusterBatches {
    /// Builds batches of clusters in the order of their bodies; `ranges` are the particles of each body.
    pub fn new(clusters: &[Cluster], params: &[ClusterParams], ranges: &[Range<usize>], particles: &Particles) -> Self {
        let mut memberships = vec![0u32; particles.len()];
        clusters.iter().flat_map(|c| &c.members).for_each(|&i| memberships[i as usize] += 1);
        let weight = |i: u32| {
            let factor = if particles.is_fixed(i as usize) { FIXED_WEIGHT } else { 1.0 };
            factor * f64::from(particles.mass[i as usize]) / f64::from(memberships[i as usize])
        };
        let totals: Vec<f64> = clusters.iter().map(|c| c.members.iter().map(|&i| weight(i)).sum()).collect();
        let weights: Vec<Vec<f32>> = clusters
            .iter()
            .zip(&totals)
            .map(|(cluster, total)| cluster.members.iter().map(|&i| (weight(i) / total) as f32).collect())
            .collect();
        let shapes = parallel::map(clusters.len(), 8, |c| {
            let members = clusters[c].members.iter().map(|&i| particles.rest[i as usize]);
            RestShape::from_points(members.zip(weights[c].iter().map(|&w| f64::from(w))))
        });
        let mut batches = Self { shapes, weights, totals, ..Self::default() };
        let mut template_index = HashMap::new();
        let mut first = 0;
        while first < clusters.len() {
            let Range { start, mut end } = ranges[clusters[first].body as usize].clone();
            // The particles of a block are contiguous: those between two bodies belong to other models.
            let mut fits_block = |cluster: &&Cluster| {
                let range = &ranges[cluster.body as usize];
                let fits = range.end == end || (range.start == end && range.end - start <= BLOCK_PARTICLES);
                end = if fits { range.end } else { end };
                fits
            };
            let count = clusters[first..].iter().take_while(|cluster| fits_block(cluster)).count();
            batches.add_block(first..first + count, start..end, clusters, params, particles, &mut template_index);
            first += count;
        }
        batches.slots = batches.index_slots(memberships);
        batches
    }

    fn add_block(
        &mut self,
        range_of_clusters: Range<usize>,
        range: Range<usize>,
        clusters: &[Cluster],
        params: &[ClusterParams],
        particles: &Particles,
        template_index: &mut TemplateIndex,
    ) {
        let (first_batch, first_row) = (self.batches.len(), self.indices.len());
        for mode in [RIGID, LINEAR, QUADRATIC] {
            let has_mode = |c: &usize| params[clusters[*c].body as usize].mode == mode;
            let of_mode = range_of_clusters.clone().filter(has_mode).map(|c| c as u32);
            let size = |c: &u32| clusters[*c as usize].members.len();
            let (mut small, large): (Vec<u32>, Vec<u32>) = of_mode.partition(|c| size(c) <= LARGE_CLUSTER);
            // Clusters of similar size side by side leave few lanes idle.
            small.sort_by_key(|c| std::cmp::Reverse(size(c)));
            for lanes in small.chunks(WIDTH) {
                self.add_batch(lanes, mode, false, clusters, params, particles, template_index);
            }
            for cluster in large {
                self.add_batch(&[cluster], mode, true, clusters, params, particles, template_index);
            }
        }
        let (batches, rows) = (first_batch..self.batches.len(), first_row..self.indices.len());
        self.blocks.push(BatchBlock { batches, rows, particles: range });
    }

    #[allow(clippy::too_many_arguments)]
    fn add_batch(
        &mut self,
        lanes: &[u32],
        mode: Mode,
        large: bool,
        clusters: &[Cluster],
        params: &[ClusterParams],
        particles: &Particles,
        template_index: &mut TemplateIndex,
    ) {
        let first_row = self.indices.len();
        let mut rest = RestBatch::default();
        let mut batch = Batch {
            rows: first_row..first_row,
            template: 0,
            gains: [0; WIDTH],
            clusters: std::array::from_fn(|lane| *lanes.get(lane).unwrap_or(&lanes[0])),
            used: lanes.len(),
            mode,
            large,
            anchor: [0; WIDTH],
            goal_params: GoalParams::default(),
            rotation: [[0.0; WIDTH]; 4],
            affine: [[[0.0; WIDTH]; 3]; 3],
            velocity_gain: [0.0; WIDTH],
            damping: [0.0; WIDTH],
        };
        for lane in 0..WIDTH {
            let index = batch.clusters[lane] as usize;
            let (cluster, shape) = (&clusters[index], &self.shapes[index]);
            let params = &params[cluster.body as usize];
            rest.set(lane, shape);
            batch.gains[lane] = cluster.body;
            batch.anchor[lane] = central_member(cluster, shape, particles);
            batch.goal_params.beta[lane] = params.beta;
            batch.goal_params.target_volume[lane] = if params.keep_volume { 1.0 } else { 0.0 };
            batch.set_state(lane, cluster.rotation, cluster.plastic);
        }
        let rows = self.add_rows(lanes, large, batch.anchor, clusters, particles);
        batch.rows = first_row..first_row + rows.len();
        batch.template = self.find_template(RestTemplate { rest, rows }, template_index);
        self.batches.push(batch);
    }

    /// Appends the indices of a batch, padded by its anchor, and returns its rows of rest offsets and weights.
    fn add_rows(
        &mut self,
        lanes: &[u32],
        large: bool,
        anchor: PointIndices,
        clusters: &[Cluster],
        particles: &Particles,
    ) -> Vec<PointRow> {
        let first_row = self.indices.len();
        let length = if large {
            clusters[lanes[0] as usize].members.len().div_ceil(WIDTH)
        } else {
            lanes.iter().map(|&c| clusters[c as usize].members.len()).max().unwrap_or(0)
        };
        let mut rows = vec![PointRow::default(); length];
        self.indices.resize(first_row + length, anchor);
        for (lane, &index) in lanes.iter().enumerate() {
            let (cluster, shape) = (&clusters[index as usize], &self.shapes[index as usize]);
            for (k, &particle) in cluster.members.iter().enumerate() {
                let (row, lane) = if large { (k / WIDTH, k % WIDTH) } else { (k, lane) };
                self.indices[first_row + row][lane] = particle;
                let row = &mut rows[row];
                let q = shape.offset(particles.rest[particle as usize]);
                (0..3).for_each(|axis| row.q[axis][lane] = q[axis]);
                row.weight[lane] = self.weights[index as usize][k];
            }
        }
        rows
    }

    /// Index of a template, which is added if it is new.
    fn find_template(&mut self, template: RestTemplate, template_index: &mut TemplateIndex) -> u32 {
        let candidates = template_index.entry(template.digest()).or_default();
        if let Some(&index) = candidates.iter().find(|&&index| self.templates[index as usize] == template) {
            return index;
        }
        let index = self.templates.len() as u32;
        self.templates.push(template);
        candidates.push(index);
        index
    }

    /// Lists the slots of every particle, in the order of the rows.
    fn index_slots(&self, memberships: Vec<u32>) -> Csr<u32> {
        let rows =
            self.batches.iter().flat_map(|batch| batch.rows.clone().zip(&self.templates[batch.template as usize].rows));
        let slots = rows.flat_map(|(index, row)| {
            let lanes = (0..WIDTH).filter(|&lane| row.weight[lane] > 0.0);
            lanes.map(move |lane| (self.indices[index][lane], (index * WIDTH + lane) as u32))
        });
        Csr::with_lengths(memberships, slots)
    }

    /// Matches every cluster and writes the velocity `update(particle, correction)` of every particle,
    /// where `correction` is the mean of those of its clusters, m/s. Positions are `x`, velocities before
    /// the step `v`.
    pub fn advance(
        &mut self,
        gains: &[StepGains],
        x: &[Vec3],
        v: &[Vec3],
        velocity: &mut [Vec3],
        update: impl Fn(usize, Vec3) -> Vec3 + Sync,
    ) {
        let mut tasks = Vec::with_capacity(self.blocks.len());
        let (mut batches, mut velocities) = (&mut self.batches[..], velocity);
        let mut skipped = 0;
        for block in &self.blocks {
            let own_batches = batches.split_off_mut(..block.batches.len()).unwrap_or_default();
            let _gap = velocities.split_off_mut(..block.particles.start - skipped);
            let written = velocities.split_off_mut(..block.particles.len()).unwrap_or_default();
            skipped = block.particles.end;
            tasks.push(BlockTask { block, batches: own_batches, velocities: written });
        }
        let (templates, indices, slots) = (&self.templates, &self.indices, &self.slots);
        parallel::for_each_item(tasks, |task| {
            let is_small = task.block.particles.len() <= BLOCK_PARTICLES;
            let mut corrections = CORRECTIONS.take();
            corrections.resize(task.block.rows.len(), [[0.0; WIDTH]; 3]);
            match_batches(task.batches, templates, indices, &mut corrections, is_small, gains, x, v);
            let first_row = task.block.rows.start;
            let grain = if is_small { BLOCK_PARTICLES } else { GRAIN };
            parallel::for_each_chunk(task.velocities, grain, |first, velocities| {
                for (offset, velocity) in velocities.iter_mut().enumerate() {
                    let particle = task.block.particles.start + first + offset;
                    *velocity = update(particle, mean_correction(&corrections, first_row, slots.row(particle)));
                }
            });
            CORRECTIONS.set(corrections);
        });
    }

    /// Calls `visit(cluster, rotation, affine)` with the results of the last matching.
    pub fn for_each_fit(&self, mut visit: impl FnMut(u32, Quat, Mat3)) {
        for batch in &self.batches {
            for lane in 0..batch.used {
                let rotation = Quat::from_array(std::array::from_fn(|i| batch.rotation[i][lane]));
                let affine = Mat3::from_cols_array(&std::array::from_fn(|k| batch.affine[k % 3][k / 3][lane]));
                visit(batch.clusters[lane], rotation, affine);
            }
        }
    }

    /// Sets the plastic deformation and the thermal stretch of each cluster.
    pub fn set_rest_deformations(&mut self, rest: impl Fn(u32) -> (Mat3, f32)) {
        for batch in &mut self.batches {
            for lane in 0..WIDTH {
                let rotation = Quat::from_array(std::array::from_fn(|i| batch.rotation[i][lane]));
                let (plastic, stretch) = rest(batch.clusters[lane]);
                batch.set_state(lane, rotation, plastic * stretch);
                if batch.goal_params.target_volume[lane] != 0.0 {
                    batch.goal_params.target_volume[lane] = stretch * stretch * stretch;
                }
            }
        }
    }

    /// Sets the index of the gains of each cluster.
    pub fn set_gain_indices(&mut self, gain_indices: &[u32]) {
        for batch in &mut self.batches {
            batch.gains = batch.clusters.map(|cluster| gain_indices[cluster as usize]);
        }
    }

    /// Misfits of all clusters at the present positions.
    pub fn measure_misfits(&self, particles: &Particles) -> Vec<Misfit> {
        let mut misfits = vec![Misfit::default(); self.shapes.len()];
        let (x, v) = (&particles.position, &particles.velocity);
        let found = parallel::map(self.batches.len(), 4, |index| {
            let mut batch = self.batches[index].clone();
            let (template, indices) = (&self.templates[batch.template as usize], &self.indices[batch.rows.clone()]);
            batch.velocity_gain = [1.0; WIDTH];
            let mut misfit = [0.0, 1.0].map(|beta| {
                batch.goal_params.beta = [beta; WIDTH];
                let mut corrections = vec![[[0.0; WIDTH]; 3]; template.rows.len()];
                batch.match_by_mode(false, template, indices, x, v, &mut corrections);
                weighted_squares(&template.rows, &corrections)
            });
            if batch.large {
                misfit = misfit.map(|lanes| [lanes.iter().sum(); WIDTH]);
            }
            (misfit, batch)
        });
        for (misfit, batch) in found {
            for lane in 0..batch.used {
                misfits[batch.clusters[lane] as usize] = Misfit {
                    rigid: misfit[0][lane],
                    fitted: misfit[1][lane],
                    rotation: Quat::from_array(std::array::from_fn(|i| batch.rotation[i][lane])),
                    affine: Mat3::from_cols_array(&std::array::from_fn(|k| batch.affine[k % 3][k / 3][lane])),
                };
            }
        }
        misfits
    }
}

/// Matches batches whose corrections are contiguous.
#[allow(clippy::too_many_arguments)]
fn match_batches(
    batches: &mut [Batch],
    templates: &[RestTemplate],
    indices: &[PointIndices],
    mut corrections: &mut [[F32x8; 3]],
    serial: bool,
    gains: &[StepGains],
    x: &[Vec3],
    v: &[Vec3],
) {
    let run = |(batch, corrections): (&mut Batch, &mut [[F32x8; 3]])| {
        for lane in 0..WIDTH {
            let gain = &gains[batch.gains[lane] as usize];
            (batch.velocity_gain[lane], batch.damping[lane]) = (gain.velocity_gain, gain.damping);
        }
        let (template, own) = (&templates[batch.template as usize], &indices[batch.rows.clone()]);
        batch.match_by_mode(batch.damping != [0.0; WIDTH], template, own, x, v, corrections);
    };
    let batches_with_corrections = batches.iter_mut().map(|batch| {
        let count = batch.rows.len();
        (batch, corrections.split_off_mut(..count).unwrap_or_default())
    });
    if serial {
        batches_with_corrections.for_each(run)
    } else {
        parallel::for_each_item(batches_with_corrections.collect(), run)
    }
}

/// Mean of the corrections of a particle by its clusters, m/s; zero for a particle of no cluster.
#[inline]
fn mean_correction(corrections: &[[F32x8; 3]], first_row: usize, slots: &[u32]) -> Vec3 {
    let mut sum = Vec3::ZERO;
    for &slot in slots {
        let (correction, lane) = (&corrections[slot as usize / WIDTH - first_row], slot as usize % WIDTH);
        sum += Vec3::new(correction[0][lane], correction[1][lane], correction[2][lane]);
    }
    sum * (1.0 / slots.len().max(1) as f32)
}

/// Member nearest to the centre at rest.
fn central_member(cluster: &Cluster, shape: &RestShape, particles: &Particles) -> u32 {
    let distance = |i: u32| particles.rest[i as usize].distance_squared(shape.centre);
    cluster.members.iter().copied().min_by(|&a, &b| distance(a).total_cmp(&distance(b))).unwrap_or(0)
}

/// Indices of templates by digest.
type TemplateIndex = HashMap<u64, Vec<u32>>;
