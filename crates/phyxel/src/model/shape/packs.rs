//! Clusters laid out for the kernels: eight side by side, point by point.

use super::Cluster;
use super::tuning::Tuning;
use crate::parallel;
use crate::particles::Particles;
use glam::{Mat3, Quat, Vec3};
use phyxel_laws::lanes::{Eight, Level, WIDTH};
use phyxel_laws::matching::rest::RestShape;
use phyxel_laws::matching::{
    Blend, Goal, Indices, Kind, LINEAR, QUADRATIC, RIGID, Rest, Row, Sums, accumulate, apply, fit,
};
use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;
use xxhash_rust::xxh3::Xxh3Default;

/// Clusters above this size are worked on by all lanes and threads together.
const LARGE: usize = 1024;
/// Rows of a large cluster that make one task.
const TASK_ROWS: usize = 128;
/// Particles of the bodies that one task looks after from the first sum to the last velocity, so that what it works
/// on stays in the cache. A larger body is shared by all threads.
const BLOCK: usize = 4096;
/// Particles per task within a large body.
const GRAIN: usize = 4096;
/// Weight of a held particle over its mass: a body hangs from what is held.
pub(super) const HELD_WEIGHT: f64 = 32.0;

thread_local! {
    /// What clusters want, kept by a thread from task to task. Taken out while in use: a thread that waits for others
    /// may begin another task.
    static CHANGES: Cell<Vec<[Eight; 3]>> = const { Cell::new(Vec::new()) };
}

/// Rest shapes that run together. Copies of a body share them, so that they stay in the cache.
#[derive(Clone, Debug, PartialEq)]
struct Form {
    rest: Rest,
    rows: Vec<Row>,
}

/// Clusters of one kind that run together.
#[derive(Clone, Debug)]
struct Pack {
    rows: Range<usize>,
    /// Which form.
    form: u32,
    /// Cluster of each lane; the first one again in lanes that are not used.
    clusters: [u32; WIDTH],
    /// Number of the pace of each lane.
    paces: [u32; WIDTH],
    used: usize,
    kind: Kind,
    /// Whether all lanes are one large cluster.
    large: bool,
    anchor: Indices,
    blend: Blend,
    rotation: [Eight; 4],
    affine: [[Eight; 3]; 3],
    pull: Eight,
    damp: Eight,
}

/// Bodies that are worked on together.
#[derive(Clone, Debug)]
struct Block {
    packs: Range<usize>,
    rows: Range<usize>,
    particles: Range<usize>,
}

/// A block with what it may change.
struct Task<'a> {
    block: &'a Block,
    packs: &'a mut [Pack],
    velocities: &'a mut [Vec3],
}

/// All clusters of a model, ready for the kernels.
#[derive(Clone, Debug, Default)]
pub(super) struct Packs {
    blocks: Vec<Block>,
    packs: Vec<Pack>,
    forms: Vec<Form>,
    /// Particles of every row.
    indices: Vec<Indices>,
    /// Rest shape of each cluster.
    pub shapes: Vec<RestShape>,
    /// Weights of the members of each cluster, adding up to 1.
    pub weights: Vec<Vec<f32>>,
    /// Weight of each cluster, kg.
    pub totals: Vec<f64>,
    /// First entry of each particle in `slots`.
    slot_start: Vec<u32>,
    /// Row and lane (`8 row + lane`) of each membership of a particle.
    slots: Vec<u32>,
}

/// Numbers per step of one cluster.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// `alpha/dt`, 1/s.
    pub pull: f32,
    /// Part of the non-rigid motion taken away.
    pub damp: f32,
}

impl Packs {
    /// Lays out clusters, which are in the order of their bodies; `ranges` are the particles of each body.
    pub fn new(clusters: &[Cluster], tuning: &[Tuning], ranges: &[Range<usize>], particles: &Particles) -> Self {
        let mut memberships = vec![0u32; particles.len()];
        clusters.iter().flat_map(|c| &c.members).for_each(|&i| memberships[i as usize] += 1);
        let weigh = |i: u32| {
            let held = if particles.is_held(i as usize) { HELD_WEIGHT } else { 1.0 };
            held * f64::from(particles.mass[i as usize]) / f64::from(memberships[i as usize])
        };
        let totals: Vec<f64> = clusters.iter().map(|c| c.members.iter().map(|&i| weigh(i)).sum()).collect();
        let weights: Vec<Vec<f32>> = clusters
            .iter()
            .zip(&totals)
            .map(|(cluster, total)| cluster.members.iter().map(|&i| (weigh(i) / total) as f32).collect())
            .collect();
        let shapes = parallel::map(clusters.len(), 8, |c| {
            let members = clusters[c].members.iter().map(|&i| particles.rest[i as usize]);
            RestShape::measure(members.zip(weights[c].iter().map(|&w| f64::from(w))))
        });
        let mut packs = Self { shapes, weights, totals, ..Self::default() };
        let mut known = HashMap::new();
        let mut first = 0;
        while first < clusters.len() {
            let start = ranges[clusters[first].body as usize].start;
            let fits = |c: &Cluster| c.body == clusters[first].body || ranges[c.body as usize].end - start <= BLOCK;
            let count = clusters[first..].iter().take_while(|cluster| fits(cluster)).count();
            let end = ranges[clusters[first + count - 1].body as usize].end;
            packs.add_block(first..first + count, start..end, clusters, tuning, particles, &mut known);
            first += count;
        }
        packs.index_slots(particles.len(), &memberships);
        packs
    }

    fn add_block(
        &mut self,
        numbers: Range<usize>,
        range: Range<usize>,
        clusters: &[Cluster],
        tuning: &[Tuning],
        particles: &Particles,
        known: &mut KnownForms,
    ) {
        let (first_pack, first_row) = (self.packs.len(), self.indices.len());
        for kind in [RIGID, LINEAR, QUADRATIC] {
            let same_kind = |c: &usize| tuning[clusters[*c].body as usize].kind == kind;
            let of_kind = numbers.clone().filter(same_kind).map(|c| c as u32);
            let size = |c: &u32| clusters[*c as usize].members.len();
            let (mut small, large): (Vec<u32>, Vec<u32>) = of_kind.partition(|c| size(c) <= LARGE);
            // Clusters of similar size side by side leave few lanes idle.
            small.sort_by_key(|c| std::cmp::Reverse(size(c)));
            for lanes in small.chunks(WIDTH) {
                self.add_pack(lanes, kind, false, clusters, tuning, particles, known);
            }
            for cluster in large {
                self.add_pack(&[cluster], kind, true, clusters, tuning, particles, known);
            }
        }
        let (packs, rows) = (first_pack..self.packs.len(), first_row..self.indices.len());
        self.blocks.push(Block { packs, rows, particles: range });
    }

    #[allow(clippy::too_many_arguments)]
    fn add_pack(
        &mut self,
        lanes: &[u32],
        kind: Kind,
        large: bool,
        clusters: &[Cluster],
        tuning: &[Tuning],
        particles: &Particles,
        known: &mut KnownForms,
    ) {
        let first_row = self.indices.len();
        let mut rest = Rest::default();
        let mut pack = Pack {
            rows: first_row..first_row,
            form: 0,
            paces: [0; WIDTH],
            clusters: std::array::from_fn(|lane| *lanes.get(lane).unwrap_or(&lanes[0])),
            used: lanes.len(),
            kind,
            large,
            anchor: [0; WIDTH],
            blend: Blend::default(),
            rotation: [[0.0; WIDTH]; 4],
            affine: [[[0.0; WIDTH]; 3]; 3],
            pull: [0.0; WIDTH],
            damp: [0.0; WIDTH],
        };
        for lane in 0..WIDTH {
            let number = pack.clusters[lane] as usize;
            let (cluster, shape) = (&clusters[number], &self.shapes[number]);
            let tuning = &tuning[cluster.body as usize];
            rest.set(lane, shape);
            pack.paces[lane] = cluster.body;
            pack.anchor[lane] = middle_member(cluster, shape, particles);
            pack.blend.beta[lane] = tuning.beta;
            pack.blend.keep_volume[lane] = if tuning.keep_volume { 1.0 } else { 0.0 };
            pack.set_state(lane, cluster.rotation, cluster.plastic);
        }
        let length = if large {
            clusters[lanes[0] as usize].members.len().div_ceil(WIDTH)
        } else {
            lanes.iter().map(|&c| clusters[c as usize].members.len()).max().unwrap_or(0)
        };
        let mut rows = vec![Row::default(); length];
        self.indices.resize(first_row + length, pack.anchor);
        pack.rows = first_row..first_row + length;
        for (lane, &number) in lanes.iter().enumerate() {
            let (cluster, shape) = (&clusters[number as usize], &self.shapes[number as usize]);
            for (k, &particle) in cluster.members.iter().enumerate() {
                let (row, lane) = if large { (k / WIDTH, k % WIDTH) } else { (k, lane) };
                self.indices[first_row + row][lane] = particle;
                let row = &mut rows[row];
                let q = shape.offset(particles.rest[particle as usize]);
                (0..3).for_each(|axis| row.q[axis][lane] = q[axis]);
                row.weight[lane] = self.weights[number as usize][k];
            }
        }
        pack.form = self.find_form(Form { rest, rows }, known);
        self.packs.push(pack);
    }

    /// The number of a form, which is added if it is new.
    fn find_form(&mut self, form: Form, known: &mut KnownForms) -> u32 {
        let same = known.entry(form.digest()).or_default();
        if let Some(&number) = same.iter().find(|&&number| self.forms[number as usize] == form) {
            return number;
        }
        let number = self.forms.len() as u32;
        self.forms.push(form);
        same.push(number);
        number
    }

    /// Lists the places of every particle, in the order of the rows.
    fn index_slots(&mut self, particles: usize, memberships: &[u32]) {
        self.slot_start = Vec::with_capacity(particles + 1);
        let mut next = 0;
        for &count in memberships {
            self.slot_start.push(next);
            next += count;
        }
        self.slot_start.push(next);
        self.slots = vec![0; next as usize];
        let mut fill = self.slot_start.clone();
        for pack in &self.packs {
            let rows = self.forms[pack.form as usize].rows.iter();
            for (number, row) in pack.rows.clone().zip(rows) {
                for lane in (0..WIDTH).filter(|&lane| row.weight[lane] > 0.0) {
                    let place = &mut fill[self.indices[number][lane] as usize];
                    self.slots[*place as usize] = (number * WIDTH + lane) as u32;
                    *place += 1;
                }
            }
        }
    }

    /// Matches every cluster and writes the velocity `moved(particle, change)` of every particle, where `change` is
    /// the mean of what its clusters want, m/s. Positions are `x`, velocities before the step `v`.
    pub fn advance(
        &mut self,
        paces: &[Pace],
        x: &[Vec3],
        v: &[Vec3],
        velocity: &mut [Vec3],
        moved: impl Fn(usize, Vec3) -> Vec3 + Sync,
    ) {
        let mut tasks = Vec::with_capacity(self.blocks.len());
        let (mut packs, mut velocities) = (&mut self.packs[..], velocity);
        let mut skipped = 0;
        for block in &self.blocks {
            let mine = packs.split_off_mut(..block.packs.len()).unwrap_or_default();
            let _others = velocities.split_off_mut(..block.particles.start - skipped);
            let written = velocities.split_off_mut(..block.particles.len()).unwrap_or_default();
            skipped = block.particles.end;
            tasks.push(Task { block, packs: mine, velocities: written });
        }
        let (forms, indices, slot_start, slots) = (&self.forms, &self.indices, &self.slot_start, &self.slots);
        parallel::for_each_item(tasks, |task| {
            let is_small = task.block.particles.len() <= BLOCK;
            let mut changes = CHANGES.take();
            changes.resize(task.block.rows.len(), [[0.0; WIDTH]; 3]);
            match_packs(task.packs, forms, indices, &mut changes, is_small, paces, x, v);
            let first_row = task.block.rows.start;
            let grain = if is_small { BLOCK } else { GRAIN };
            parallel::for_each_chunk(task.velocities, grain, |first, velocities| {
                for (offset, velocity) in velocities.iter_mut().enumerate() {
                    let particle = task.block.particles.start + first + offset;
                    let own = &slots[slot_start[particle] as usize..slot_start[particle + 1] as usize];
                    *velocity = moved(particle, mean_change(&changes, first_row, own));
                }
            });
            CHANGES.set(changes);
        });
    }

    /// Calls `work(cluster, rotation, affine)` with what the last matching found.
    pub fn read(&self, mut work: impl FnMut(u32, Quat, Mat3)) {
        for pack in &self.packs {
            for lane in 0..pack.used {
                let rotation = Quat::from_array(std::array::from_fn(|i| pack.rotation[i][lane]));
                let affine = Mat3::from_cols_array(&std::array::from_fn(|k| pack.affine[k % 3][k / 3][lane]));
                work(pack.clusters[lane], rotation, affine);
            }
        }
    }

    /// Takes over the plastic states of clusters, and by how much each is longer than at rest.
    pub fn set_rest(&mut self, rest: impl Fn(u32) -> (Mat3, f32)) {
        for pack in &mut self.packs {
            for lane in 0..WIDTH {
                let rotation = Quat::from_array(std::array::from_fn(|i| pack.rotation[i][lane]));
                let (plastic, growth) = rest(pack.clusters[lane]);
                pack.set_state(lane, rotation, plastic * growth);
                if pack.blend.keep_volume[lane] != 0.0 {
                    pack.blend.keep_volume[lane] = growth * growth * growth;
                }
            }
        }
    }

    /// Takes over which pace each cluster has.
    pub fn set_paces(&mut self, paces: &[u32]) {
        for pack in &mut self.packs {
            pack.paces = pack.clusters.map(|cluster| paces[cluster as usize]);
        }
    }

    /// Squared distances of the points from fitted and from turned rest shape, weighted, and the strain `A`, by
    /// cluster.
    pub fn measure(&self, particles: &Particles) -> Vec<Misfit> {
        let mut misfits = vec![Misfit::default(); self.shapes.len()];
        let (x, v) = (&particles.position, &particles.velocity);
        let found = parallel::map(self.packs.len(), 4, |number| {
            let mut pack = self.packs[number].clone();
            let (form, indices) = (&self.forms[pack.form as usize], &self.indices[pack.rows.clone()]);
            pack.pull = [1.0; WIDTH];
            let mut misfit = [0.0, 1.0].map(|beta| {
                pack.blend.beta = [beta; WIDTH];
                let mut changes = vec![[[0.0; WIDTH]; 3]; form.rows.len()];
                match pack.kind {
                    RIGID => pack.run::<RIGID, false, false>(Level::detect(), form, indices, x, v, &mut changes),
                    LINEAR => pack.run::<LINEAR, false, false>(Level::detect(), form, indices, x, v, &mut changes),
                    _ => pack.run::<QUADRATIC, true, false>(Level::detect(), form, indices, x, v, &mut changes),
                }
                squares(&form.rows, &changes)
            });
            if pack.large {
                misfit = misfit.map(|lanes| [lanes.iter().sum(); WIDTH]);
            }
            (misfit, pack)
        });
        for (misfit, pack) in found {
            for lane in 0..pack.used {
                misfits[pack.clusters[lane] as usize] = Misfit {
                    rigid: misfit[0][lane],
                    fitted: misfit[1][lane],
                    rotation: Quat::from_array(std::array::from_fn(|i| pack.rotation[i][lane])),
                    affine: Mat3::from_cols_array(&std::array::from_fn(|k| pack.affine[k % 3][k / 3][lane])),
                };
            }
        }
        misfits
    }
}

/// Matches packs whose changes lie one after the other.
#[allow(clippy::too_many_arguments)]
fn match_packs(
    packs: &mut [Pack],
    forms: &[Form],
    indices: &[Indices],
    mut changes: &mut [[Eight; 3]],
    one_by_one: bool,
    paces: &[Pace],
    x: &[Vec3],
    v: &[Vec3],
) {
    let level = Level::detect();
    let run = |(pack, changes): (&mut Pack, &mut [[Eight; 3]])| {
        for lane in 0..WIDTH {
            let pace = &paces[pack.paces[lane] as usize];
            (pack.pull[lane], pack.damp[lane]) = (pace.pull, pace.damp);
        }
        let (form, own) = (&forms[pack.form as usize], &indices[pack.rows.clone()]);
        match (pack.kind, pack.damp != [0.0; WIDTH]) {
            (RIGID, false) => pack.run::<RIGID, false, false>(level, form, own, x, v, changes),
            (RIGID, true) => pack.run::<RIGID, false, true>(level, form, own, x, v, changes),
            (LINEAR, false) => pack.run::<LINEAR, false, false>(level, form, own, x, v, changes),
            (LINEAR, true) => pack.run::<LINEAR, false, true>(level, form, own, x, v, changes),
            (_, false) => pack.run::<QUADRATIC, true, false>(level, form, own, x, v, changes),
            (_, true) => pack.run::<QUADRATIC, true, true>(level, form, own, x, v, changes),
        }
    };
    let parted = packs.iter_mut().map(|pack| {
        let count = pack.rows.len();
        (pack, changes.split_off_mut(..count).unwrap_or_default())
    });
    if one_by_one { parted.for_each(run) } else { parallel::for_each_item(parted.collect(), run) }
}

/// Mean of what the clusters of a particle want, m/s; nothing for a particle of no cluster.
#[inline]
fn mean_change(changes: &[[Eight; 3]], first_row: usize, slots: &[u32]) -> Vec3 {
    let mut sum = Vec3::ZERO;
    for &slot in slots {
        let (change, lane) = (&changes[slot as usize / WIDTH - first_row], slot as usize % WIDTH);
        sum += Vec3::new(change[0][lane], change[1][lane], change[2][lane]);
    }
    sum * (1.0 / slots.len().max(1) as f32)
}

/// How far a cluster is from its rest shape.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Misfit {
    /// Weighted mean square distance from the turned rest shape, m2.
    pub rigid: f64,
    /// The same from the fitted shape.
    pub fitted: f64,
    /// Rotation of the cluster.
    pub rotation: Quat,
    /// Best affine map.
    pub affine: Mat3,
}

fn squares(rows: &[Row], changes: &[[Eight; 3]]) -> [f64; WIDTH] {
    let mut sums = [0.0; WIDTH];
    for (row, change) in rows.iter().zip(changes) {
        for lane in 0..WIDTH {
            let d = Vec3::new(change[0][lane], change[1][lane], change[2][lane]);
            sums[lane] += f64::from(row.weight[lane]) * d.as_dvec3().length_squared();
        }
    }
    sums
}

/// The member nearest to the centre at rest.
fn middle_member(cluster: &Cluster, shape: &RestShape, particles: &Particles) -> u32 {
    let away = |i: u32| particles.rest[i as usize].distance_squared(shape.centre);
    cluster.members.iter().copied().min_by(|&a, &b| away(a).total_cmp(&away(b))).unwrap_or(0)
}

/// Numbers of forms by digest.
type KnownForms = HashMap<u64, Vec<u32>>;

impl Form {
    fn digest(&self) -> u64 {
        let mut digest = Xxh3Default::new();
        let mut add = |values: &Eight| values.iter().for_each(|value| digest.update(&value.to_bits().to_le_bytes()));
        self.rest.inverse9.iter().for_each(&mut add);
        self.rows.iter().for_each(|row| row.q.iter().chain([&row.weight]).for_each(&mut add));
        digest.digest()
    }
}

impl Pack {
    fn set_state(&mut self, lane: usize, rotation: Quat, plastic: Mat3) {
        let rotation = rotation.to_array();
        (0..4).for_each(|i| self.rotation[i][lane] = rotation[i]);
        (0..3).for_each(|i| (0..3).for_each(|j| self.blend.plastic[i][j][lane] = plastic.col(j)[i]));
    }

    fn run<const KIND: Kind, const BENT: bool, const DAMPED: bool>(
        &mut self,
        level: Level,
        form: &Form,
        indices: &[Indices],
        x: &[Vec3],
        v: &[Vec3],
        changes: &mut [[Eight; 3]],
    ) {
        let Form { rest, rows } = form;
        let mut sums = Sums::default();
        if self.large {
            let parts = parallel::map_ranges(rows.len(), TASK_ROWS, |range| {
                let mut part = Sums::default();
                let (rows, indices) = (&rows[range.clone()], &indices[range]);
                accumulate::<BENT, DAMPED>(level, rows, indices, &self.anchor, &rest.mean, x, v, &mut part);
                part
            });
            sums = Sums::gathered(&parts);
        } else {
            accumulate::<BENT, DAMPED>(level, rows, indices, &self.anchor, &rest.mean, x, v, &mut sums);
        }
        let mut goal = Goal::default();
        fit::<KIND, DAMPED>(level, rest, &self.blend, &sums, &mut self.rotation, &mut goal);
        self.affine = goal.affine;
        let grain = if self.large { TASK_ROWS } else { rows.len() };
        parallel::for_each_chunk(changes, grain, |first, changes| {
            let part = first..first + changes.len();
            let (rows, indices) = (&rows[part.clone()], &indices[part]);
            apply::<BENT, DAMPED>(level, rows, indices, &self.anchor, &goal, &self.pull, &self.damp, x, v, changes);
        });
    }
}
