//! The reference shape: who is near whom, and the least squares of each phyxel.

use crate::Real;
use crate::grid::{Dot, Neighbourhood, close_pairs_within};
use crate::parallel;
use glam::{DMat3, Mat3, Vec3};
use phyxel_laws::lanes::{Eight, WIDTH};
use phyxel_laws::phyxels::{Group, Missing, Row, State, Still};
use phyxel_laws::symmetric::pseudo_inverse;
use std::ops::Range;

/// Nearest phyxels whose mean distance is the measure of a phyxel.
const NEAREST: usize = 10;
/// Fewer, of which even a corner has as many as the inside: their mean distance tells the volume.
const CLOSEST: usize = 3;
/// Phyxels per task.
const GRAIN: usize = 256;
/// Directions in which squares of distances of neighbours are less than this part of those in the widest are unknown: what
/// happens along them could only be guessed from a tenth of the distance.
const CUT_OFF: f64 = 0.01;
/// Phyxels that are looked at to tell whether a body is sampled too coarsely.
const MOST_TRIED: usize = 2048;
/// Rounds in which weights are evened out.
const ROUNDS: usize = 8;
/// A phyxel is at the surface if its neighbours are to one side: by this part of the mean distance, or more.
const AT_SURFACE: Real = 0.2;
/// Neighbours whose determinant is below this part of the cube of their trace are nearly in a plane.
const FLAT: f64 = 1e-6;
/// Largest change of a weight in a round.
const MOST_CHANGE: Real = 0.3;

/// Mean distance of the nearest ten, m; of all others where there are fewer.
pub(super) fn mean_distances(points: &[Vec3], spacing: Real) -> Vec<Real> {
    distances(points, spacing, NEAREST)
}

fn distances(points: &[Vec3], spacing: Real, nearest: usize) -> Vec<Real> {
    let wanted = nearest.min(points.len().saturating_sub(1));
    let mut found: Vec<Option<Real>> = vec![None; points.len()];
    // Twenty and more neighbours of a lattice are within two spacings; where there are fewer, look farther.
    let mut reach = 2.0 * spacing;
    let mut open: Vec<u32> = (0..points.len() as u32).collect();
    while !open.is_empty() {
        let near = Neighbourhood::new(points, reach);
        let measured = parallel::map(open.len(), GRAIN, |k| measure(&near, points, open[k] as usize, wanted, reach));
        open.iter().zip(&measured).for_each(|(&i, &mean)| found[i as usize] = mean);
        open.retain(|&i| found[i as usize].is_none());
        reach *= 2.0;
    }
    found.into_iter().map(|mean| mean.unwrap_or(spacing)).collect()
}

fn measure(near: &Neighbourhood, points: &[Vec3], i: usize, wanted: usize, reach: Real) -> Option<Real> {
    let mut squares: Vec<Real> = Vec::new();
    near.visit(points[i], |other, square| {
        if other as usize != i && square <= reach * reach {
            squares.push(square);
        }
    });
    if wanted == 0 {
        return Some(reach);
    }
    (squares.len() >= wanted).then(|| {
        squares.select_nth_unstable_by(wanted - 1, Real::total_cmp);
        squares[..wanted].sort_unstable_by(Real::total_cmp);
        squares[..wanted].iter().map(|square| square.sqrt()).sum::<Real>() / wanted as Real
    })
}

/// Volumes of phyxels that add up to a volume, m3: as the cubes of their mean distances.
pub(crate) fn volumes(points: &[Vec3], spacing: Real, volume: f64) -> Vec<f64> {
    let cubes: Vec<f64> = distances(points, spacing, CLOSEST).into_iter().map(|r| f64::from(r).powi(3)).collect();
    let sum: f64 = cubes.iter().sum();
    cubes.into_iter().map(|cube| volume * cube / sum).collect()
}

/// How many of some phyxels, spread over the body, have neighbours that do not span space, and how many were looked at.
pub(crate) fn count_degenerate(points: &[Vec3], spacing: Real, support: Real) -> (usize, usize) {
    let supports: Vec<Real> = mean_distances(points, spacing).into_iter().map(|r| support * r).collect();
    let reach = supports.iter().copied().fold(0.0, Real::max);
    let near = Neighbourhood::new(points, reach);
    let step = points.len().div_ceil(MOST_TRIED).max(1);
    let tried = points.len().div_ceil(step);
    let found = parallel::map(tried, GRAIN, |k| {
        let i = k * step;
        let mut a = [[0.0; 3]; 3];
        near.visit(points[i], |j, square| {
            let weight = f64::from(weight(square, 0.5 * (supports[i] + supports[j as usize])));
            let way = (points[j as usize] - points[i]).as_dvec3();
            (0..3).for_each(|r| (0..3).for_each(|c| a[r][c] += weight * way[r] * way[c]));
        });
        pseudo_inverse::<3>(a, CUT_OFF).rank < 3
    });
    (found.into_iter().filter(|&bad| bad).count(), tried)
}

/// Weight of a neighbour at a squared distance, with a support, without unit: `[MKN04]` eq. 9 but for its factor,
/// which cancels.
fn weight(square: Real, support: Real) -> Real {
    let left = 1.0 - square / (support * support);
    if left > 0.0 { left * left * left } else { 0.0 }
}

/// Weights of all neighbours, evened out.
///
/// A stress that is the same everywhere must push no phyxel inside: the areas `a_ij = w_ij (V_i A_i^-1 + V_j A_j^-1) X_ij`
/// through which neighbours push must add up to nothing, as those of a closed surface do. In an irregular cloud they do not,
/// phyxels give way where nothing should move, and the body is too soft. Weights that are a little different mend that:
/// `w_ij (1 + (l_i - l_j) X_ij)` changes the sum by about `2 V_i (l_i - mean l_j)`, so some rounds of `l_i = -sum/2 V_i`
/// make it small. At the surface the sum is the area that is outside; there only the part along the surface counts.
fn weigh(points: &[Vec3], supports: &[Real], volumes: &[Real], lists: &Lists) -> Vec<Real> {
    let reach = |i: usize, j: u32| 0.5 * (supports[i] + supports[j as usize]);
    let mut weights = lists.map(|i, j, _| weight(points[i].distance_squared(points[j as usize]), reach(i, j)));
    let outward = parallel::map(points.len(), GRAIN, |i| {
        let (mut lean, mut all) = (Vec3::ZERO, 0.0);
        for (j, weight) in lists.weighted(i, &weights) {
            let way = points[j as usize] - points[i];
            (lean, all) = (lean + weight * way, all + weight * way.length());
        }
        if lean.length() > AT_SURFACE * all { lean.normalize_or_zero() } else { Vec3::ZERO }
    });
    for _ in 0..ROUNDS {
        let spreads = parallel::map(points.len(), GRAIN, |i| {
            let mut a = DMat3::ZERO;
            for (j, weight) in lists.weighted(i, &weights) {
                let way = (points[j as usize] - points[i]).as_dvec3();
                let scaled = f64::from(weight) * way;
                a += DMat3::from_cols(way * scaled.x, way * scaled.y, way * scaled.z);
            }
            let size = (a.x_axis.x + a.y_axis.y + a.z_axis.z).powi(3);
            let spans = a.determinant() > FLAT * size;
            if spans { (a.inverse() * f64::from(volumes[i])).as_mat3() } else { Mat3::ZERO }
        });
        let levels = parallel::map(points.len(), GRAIN, |i| {
            let mut sum = Vec3::ZERO;
            for (j, weight) in lists.weighted(i, &weights) {
                sum += (spreads[i] + spreads[j as usize]) * ((points[j as usize] - points[i]) * weight);
            }
            (sum - outward[i] * outward[i].dot(sum)) * (-0.5 / volumes[i])
        });
        weights = lists.map(|i, j, place| {
            let more = (levels[i] - levels[j as usize]).dot(points[j as usize] - points[i]);
            weights[place] * (1.0 + more.clamp(-MOST_CHANGE, MOST_CHANGE))
        });
    }
    weights
}

/// Phyxels with their neighbours in a reference shape, eight at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct Cloud {
    count: usize,
    pub packs: Vec<Still>,
    rows: Vec<Row>,
    /// First row of each pack.
    start: Vec<u32>,
    /// What neighbours of phyxels in some packs do not span, by pack.
    missing: Vec<(u32, Missing)>,
    /// Phyxels whose neighbours do not span space.
    pub degenerate: u32,
    /// Farthest that the number of a neighbour is from that of a phyxel.
    pub width: usize,
}

impl Cloud {
    /// Phyxels at points, with supports (m) and volumes (m3).
    pub fn new(points: &[Vec3], supports: &[Real], volumes: &[Real]) -> Self {
        let dot = |i: usize| Dot { position: points[i], radius: 0.5 * supports[i], particle: i as u32 };
        let dots: Vec<Dot> = (0..points.len()).map(dot).collect();
        let pairs = close_pairs_within(&dots, 0.0, |_, _| true);
        let lists = Lists::new(points.len(), &pairs);
        let weights = weigh(points, supports, volumes, &lists);
        let packs = points.len().div_ceil(WIDTH);
        let mut start = vec![0u32];
        for pack in 0..packs {
            let members = pack * WIDTH..points.len().min((pack + 1) * WIDTH);
            let most = members.map(|i| lists.of(i).len()).max().unwrap_or(0);
            start.push(start[pack] + most as u32);
        }
        let made = parallel::map(packs, GRAIN / WIDTH, |pack| make_pack(pack, points, volumes, &lists, &weights));
        let mut cloud = Self { count: points.len(), start, ..Self::default() };
        cloud.rows.reserve(cloud.start[packs] as usize);
        for (pack, made) in made.into_iter().enumerate() {
            cloud.packs.push(made.still);
            cloud.rows.extend(made.rows);
            cloud.missing.extend(made.missing.map(|missing| (pack as u32, missing)));
            cloud.degenerate += made.degenerate;
        }
        cloud.width = pairs.iter().map(|&(a, b)| a.abs_diff(b) as usize).max().unwrap_or(0);
        cloud
    }

    /// Number of phyxels.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Number of phyxels with those that fill up the last eight.
    pub fn padded(&self) -> usize {
        self.packs.len() * WIDTH
    }

    /// Eight phyxels, with what is their own in `states`.
    pub fn group<'a>(&'a self, pack: usize, states: &'a [State]) -> Group<'a> {
        Group {
            first: pack * WIDTH,
            rows: self.rows(pack),
            still: &self.packs[pack],
            missing: self.missing(pack),
            state: states.get(pack),
        }
    }

    fn rows(&self, pack: usize) -> &[Row] {
        &self.rows[self.start[pack] as usize..self.start[pack + 1] as usize]
    }

    fn missing(&self, pack: usize) -> Option<&Missing> {
        let place = self.missing.binary_search_by_key(&(pack as u32), |&(pack, _)| pack).ok()?;
        Some(&self.missing[place].1)
    }

    /// Neighbours of a phyxel: number, weight, and the way to it in the reference shape, m.
    pub fn neighbours(&self, i: usize) -> impl Iterator<Item = (u32, Real, Vec3)> + '_ {
        let lane = i % WIDTH;
        self.rows(i / WIDTH).iter().filter(move |row| row.weight[lane] > 0.0).map(move |row| {
            let way = Vec3::from_array(row.way.map(|axis| axis[lane]));
            (row.index[lane], row.weight[lane], way / row.weight[lane])
        })
    }

    /// Pairs of neighbours.
    pub fn pair_count(&self) -> u64 {
        (0..self.count).map(|i| self.neighbours(i).count() as u64).sum()
    }

    /// Places for neighbours in all rows, also those that only fill up.
    pub fn lane_count(&self) -> u64 {
        (self.rows.len() * WIDTH) as u64
    }

    /// Phyxels of a pack.
    pub fn members(&self, pack: usize) -> Range<usize> {
        pack * WIDTH..self.count.min((pack + 1) * WIDTH)
    }
}

/// Neighbours of each phyxel, rising.
struct Lists {
    start: Vec<u32>,
    near: Vec<u32>,
}

impl Lists {
    fn new(count: usize, pairs: &[(u32, u32)]) -> Self {
        let mut start = vec![0u32; count + 1];
        pairs.iter().flat_map(|&(a, b)| [a, b]).for_each(|i| start[i as usize + 1] += 1);
        (0..count).for_each(|i| start[i + 1] += start[i]);
        let mut next = start.clone();
        let mut near = vec![0; 2 * pairs.len()];
        for &(a, b) in pairs {
            for (from, to) in [(a, b), (b, a)] {
                near[next[from as usize] as usize] = to;
                next[from as usize] += 1;
            }
        }
        for i in 0..count {
            near[start[i] as usize..start[i + 1] as usize].sort_unstable();
        }
        Self { start, near }
    }

    fn range(&self, i: usize) -> Range<usize> {
        self.start[i] as usize..self.start[i + 1] as usize
    }

    /// A value for each neighbour of each phyxel, from the two and the place of the pair.
    fn map(&self, value: impl Fn(usize, u32, usize) -> Real + Sync) -> Vec<Real> {
        let parts = parallel::map_ranges(self.start.len() - 1, GRAIN, |phyxels| {
            let of = |i: usize| self.range(i).map(move |place| (i, self.near[place], place));
            phyxels.flat_map(of).map(|(i, j, place)| value(i, j, place)).collect::<Vec<Real>>()
        });
        parts.concat()
    }

    /// Neighbours with their weights.
    fn weighted<'a>(&'a self, i: usize, weights: &'a [Real]) -> impl Iterator<Item = (u32, Real)> + 'a {
        self.of(i).iter().copied().zip(weights[self.range(i)].iter().copied())
    }

    fn of(&self, i: usize) -> &[u32] {
        &self.near[self.range(i)]
    }
}

/// Eight phyxels as they are made.
struct Pack {
    still: Still,
    rows: Vec<Row>,
    missing: Option<Missing>,
    degenerate: u32,
}

fn make_pack(pack: usize, points: &[Vec3], volumes: &[Real], lists: &Lists, weights: &[Real]) -> Pack {
    let own = std::array::from_fn(|lane| (pack * WIDTH + lane) as u32);
    let nothing = Row { index: own, weight: [0.0; WIDTH], way: [[0.0; WIDTH]; 3] };
    let members = pack * WIDTH..points.len().min((pack + 1) * WIDTH);
    let most = members.clone().map(|i| lists.of(i).len()).max().unwrap_or(0);
    let mut rows = vec![nothing; most];
    let zero = [0.0; WIDTH];
    let mut still = Still { inverse: [zero; 6], lean: [zero; 3], volume: zero, ratio: zero };
    let (mut missing, mut degenerate): (Option<Missing>, u32) = (None, 0);
    for i in members {
        let lane = i % WIDTH;
        let mut a = [[0.0; 3]; 3];
        let mut lean = glam::DVec3::ZERO;
        for (row, (j, weight)) in rows.iter_mut().zip(lists.weighted(i, weights)) {
            let way = points[j as usize] - points[i];
            row.index[lane] = j;
            row.weight[lane] = weight;
            (0..3).for_each(|axis| row.way[axis][lane] = weight * way[axis]);
            // With the numbers that the sums over neighbours will have.
            let scaled = Vec3::from_array(row.way.map(|axis| axis[lane])).as_dvec3();
            lean += scaled;
            let way = way.as_dvec3();
            (0..3).for_each(|r| (0..3).for_each(|c| a[r][c] += scaled[r] * way[c]));
        }
        // Products of rounded numbers are symmetric but for their last digits.
        let even = std::array::from_fn(|r| std::array::from_fn(|c| 0.5 * (a[r][c] + a[c][r])));
        let found = pseudo_inverse::<3>(even, CUT_OFF);
        let trace = a[0][0] + a[1][1] + a[2][2];
        put(&mut still.inverse, lane, &found.inverse);
        (0..3).for_each(|axis| still.lean[axis][lane] = lean[axis] as Real);
        still.volume[lane] = volumes[i];
        still.ratio[lane] = if trace > 0.0 { (f64::from(volumes[i]) / trace) as Real } else { 0.0 };
        if found.rank < 3 {
            degenerate += 1;
            put(missing.get_or_insert([zero; 6]), lane, &found.missing);
        }
    }
    Pack { still, rows, missing, degenerate }
}

fn put(to: &mut [Eight; 6], lane: usize, matrix: &[[f64; 3]; 3]) {
    for (k, (r, c)) in phyxel_laws::elastic::VOIGT.into_iter().enumerate() {
        to[k][lane] = matrix[r][c] as Real;
    }
}
