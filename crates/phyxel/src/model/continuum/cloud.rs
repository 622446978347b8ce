//! Reference configuration: neighbours, weights and moment matrices of the moving least squares.

use crate::Real;
use crate::neighbours::{QuerySphere, RadiusSearch, close_pairs_within};
use crate::numerics::Csr;
use crate::parallel;
use glam::{DMat3, Mat3, Vec3};
use phyxel_laws::linalg::eigen::pseudo_inverse;
use phyxel_laws::meshless::{NeighbourRow, NullProjector, PhyxelGroup, PhyxelState, Reference};
use phyxel_laws::simd::{F32x8, WIDTH};
use std::ops::Range;

/// Nearest phyxels whose mean distance sets the support of a phyxel.
const SIZE_NEIGHBOURS: usize = 10;
/// Nearest phyxels whose mean distance sets the volume of a phyxel; even a corner has as many of them.
const VOLUME_NEIGHBOURS: usize = 3;
/// Phyxels per task.
const GRAIN: usize = 256;
/// Eigenvalues of a moment matrix below this fraction of the largest count as zero: neighbours are a tenth
/// as far along such a direction, too near to measure a deformation.
const RANK_TOLERANCE: f64 = 0.01;
/// Phyxels tested at most for a rank-deficient neighbourhood.
const MAX_PROBED: usize = 2048;
/// Iterations of the weight correction.
const WEIGHT_ITERATIONS: usize = 8;
/// A phyxel is at the surface if its first moment is at least this fraction of the mean distance of its
/// neighbours.
const SURFACE_ASYMMETRY: Real = 0.2;
/// Moment matrices with a determinant below this fraction of the cube of their trace are nearly singular.
const FLAT_DETERMINANT: f64 = 1e-6;
/// Largest relative change of a weight in an iteration.
const MAX_WEIGHT_CHANGE: Real = 0.3;

/// Mean distance of the ten nearest phyxels, m; of all others where there are fewer.
pub(super) fn mean_distances(points: &[Vec3], spacing: Real) -> Vec<Real> {
    mean_nearest_distances(points, spacing, SIZE_NEIGHBOURS)
}

fn mean_nearest_distances(points: &[Vec3], spacing: Real, nearest: usize) -> Vec<Real> {
    let count = nearest.min(points.len().saturating_sub(1));
    let mut found: Vec<Option<Real>> = vec![None; points.len()];
    // A lattice has more than twenty neighbours within two spacings; where there are fewer, the radius doubles.
    let mut radius = 2.0 * spacing;
    let mut unresolved: Vec<u32> = (0..points.len() as u32).collect();
    while !unresolved.is_empty() {
        let search = RadiusSearch::new(points, radius);
        let measured = parallel::map(unresolved.len(), GRAIN, |k| {
            mean_of_nearest(&search, points, unresolved[k] as usize, count, radius)
        });
        unresolved.iter().zip(&measured).for_each(|(&i, &mean)| found[i as usize] = mean);
        unresolved.retain(|&i| found[i as usize].is_none());
        radius *= 2.0;
    }
    found.into_iter().map(|mean| mean.unwrap_or(spacing)).collect()
}

fn mean_of_nearest(search: &RadiusSearch, points: &[Vec3], i: usize, count: usize, radius: Real) -> Option<Real> {
    let mut squares: Vec<Real> = Vec::new();
    search.visit(points[i], |other, square| {
        if other as usize != i && square <= radius * radius {
            squares.push(square);
        }
    });
    if count == 0 {
        return Some(radius);
    }
    (squares.len() >= count).then(|| {
        squares.select_nth_unstable_by(count - 1, Real::total_cmp);
        squares[..count].sort_unstable_by(Real::total_cmp);
        squares[..count].iter().map(|square| square.sqrt()).sum::<Real>() / count as Real
    })
}

/// Volumes of phyxels (m3) that add up to `volume`, in proportion to the cubes of their mean distances.
pub(crate) fn phyxel_volumes(points: &[Vec3], spacing: Real, volume: f64) -> Vec<f64> {
    let cubes: Vec<f64> =
        mean_nearest_distances(points, spacing, VOLUME_NEIGHBOURS).into_iter().map(|r| f64::from(r).powi(3)).collect();
    let sum: f64 = cubes.iter().sum();
    cubes.into_iter().map(|cube| volume * cube / sum).collect()
}

/// Counts rank-deficient phyxels in a sample spread over the body. Returns their number and the size of the
/// sample.
pub(crate) fn count_degenerate(points: &[Vec3], spacing: Real, support: Real) -> (usize, usize) {
    let supports: Vec<Real> = mean_distances(points, spacing).into_iter().map(|r| support * r).collect();
    let reach = supports.iter().copied().fold(0.0, Real::max);
    let search = RadiusSearch::new(points, reach);
    let step = points.len().div_ceil(MAX_PROBED).max(1);
    let probed = points.len().div_ceil(step);
    let found = parallel::map(probed, GRAIN, |k| {
        let i = k * step;
        let mut a = [[0.0; 3]; 3];
        search.visit(points[i], |j, square| {
            let weight = f64::from(kernel_weight(square, 0.5 * (supports[i] + supports[j as usize])));
            let offset = (points[j as usize] - points[i]).as_dvec3();
            (0..3).for_each(|r| (0..3).for_each(|c| a[r][c] += weight * offset[r] * offset[c]));
        });
        pseudo_inverse::<3>(a, RANK_TOLERANCE).rank < 3
    });
    (found.into_iter().filter(|&bad| bad).count(), probed)
}

/// Kernel weight of a neighbour at a squared distance, dimensionless: `[MKN04]` eq. 9 without its factor,
/// which cancels.
fn kernel_weight(square: Real, support: Real) -> Real {
    let remainder = 1.0 - square / (support * support);
    if remainder > 0.0 { remainder * remainder * remainder } else { 0.0 }
}

/// Weights of all neighbours, corrected for first-order consistency of the force.
///
/// A uniform stress must exert no force on an interior phyxel: the area vectors
/// `a_ij = w_ij (V_i A_i^-1 + V_j A_j^-1) X_ij` must sum to zero, as those of a closed surface do. In an
/// irregular cloud they do not, phyxels move under uniform stress, and the body is too soft. The correction
/// `w_ij (1 + (l_i - l_j) X_ij)` changes the sum by about `2 V_i (l_i - mean l_j)`, so a few iterations of
/// `l_i = -sum/2 V_i` make it small. At the surface the sum is the area of the surface; there only its
/// tangential component counts.
fn corrected_weights(points: &[Vec3], supports: &[Real], volumes: &[Real], lists: &NeighbourLists) -> Vec<Real> {
    let support = |i: usize, j: u32| 0.5 * (supports[i] + supports[j as usize]);
    let mut weights =
        lists.map_pairs(|i, j, _| kernel_weight(points[i].distance_squared(points[j as usize]), support(i, j)));
    let normals = parallel::map(points.len(), GRAIN, |i| {
        let (mut first_moment, mut all) = (Vec3::ZERO, 0.0);
        for (j, weight) in lists.weighted(i, &weights) {
            let offset = points[j as usize] - points[i];
            (first_moment, all) = (first_moment + weight * offset, all + weight * offset.length());
        }
        if first_moment.length() > SURFACE_ASYMMETRY * all { first_moment.normalize_or_zero() } else { Vec3::ZERO }
    });
    for _ in 0..WEIGHT_ITERATIONS {
        let area_maps = parallel::map(points.len(), GRAIN, |i| {
            let mut a = DMat3::ZERO;
            for (j, weight) in lists.weighted(i, &weights) {
                let offset = (points[j as usize] - points[i]).as_dvec3();
                let weighted_offset = f64::from(weight) * offset;
                a += DMat3::from_cols(
                    offset * weighted_offset.x,
                    offset * weighted_offset.y,
                    offset * weighted_offset.z,
                );
            }
            let trace_cubed = (a.x_axis.x + a.y_axis.y + a.z_axis.z).powi(3);
            let spans = a.determinant() > FLAT_DETERMINANT * trace_cubed;
            if spans { (a.inverse() * f64::from(volumes[i])).as_mat3() } else { Mat3::ZERO }
        });
        let corrections = parallel::map(points.len(), GRAIN, |i| {
            let mut sum = Vec3::ZERO;
            for (j, weight) in lists.weighted(i, &weights) {
                sum += (area_maps[i] + area_maps[j as usize]) * ((points[j as usize] - points[i]) * weight);
            }
            (sum - normals[i] * normals[i].dot(sum)) * (-0.5 / volumes[i])
        });
        weights = lists.map_pairs(|i, j, index| {
            let change = (corrections[i] - corrections[j as usize]).dot(points[j as usize] - points[i]);
            weights[index] * (1.0 + change.clamp(-MAX_WEIGHT_CHANGE, MAX_WEIGHT_CHANGE))
        });
    }
    weights
}

/// Phyxels with their neighbours in the reference configuration, in packs of eight.
#[derive(Clone, Debug, Default)]
pub(super) struct Cloud {
    count: usize,
    /// Reference data by pack.
    pub references: Vec<Reference>,
    /// Neighbours by pack, eight per row.
    rows: Csr<NeighbourRow>,
    /// Null spaces of rank-deficient phyxels, by pack.
    null_projectors: Vec<(u32, NullProjector)>,
    /// Number of phyxels whose neighbours do not span space (rank-deficient).
    pub degenerate: u32,
    /// Bandwidth: largest difference between the indices of neighbours.
    pub bandwidth: usize,
}

impl Cloud {
    /// Cloud of phyxels at points, with supports (m) and volumes (m3).
    pub fn new(points: &[Vec3], supports: &[Real], volumes: &[Real]) -> Self {
        let sphere = |i: usize| QuerySphere { position: points[i], radius: 0.5 * supports[i], index: i as u32 };
        let spheres: Vec<QuerySphere> = (0..points.len()).map(sphere).collect();
        let pairs = close_pairs_within(&spheres, 0.0, |_, _| true);
        let lists = NeighbourLists::new(points.len(), &pairs);
        let weights = corrected_weights(points, supports, volumes, &lists);
        let packs = points.len().div_ceil(WIDTH);
        let built = parallel::map(packs, GRAIN / WIDTH, |pack| build_pack(pack, points, volumes, &lists, &weights));
        let rows = Csr::from_rows(built.iter().map(|built| built.rows.iter().copied()));
        let mut cloud = Self { count: points.len(), rows, ..Self::default() };
        for (pack, built) in built.into_iter().enumerate() {
            cloud.references.push(built.reference);
            cloud.null_projectors.extend(built.null_projector.map(|projector| (pack as u32, projector)));
            cloud.degenerate += built.degenerate;
        }
        cloud.bandwidth = pairs.iter().map(|&(a, b)| a.abs_diff(b) as usize).max().unwrap_or(0);
        cloud
    }

    /// Number of phyxels.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Number of phyxels with padding of the last pack.
    pub fn padded(&self) -> usize {
        self.references.len() * WIDTH
    }

    /// Phyxels of a pack, with their state if `states` has one.
    pub fn group<'a>(&'a self, pack: usize, states: &'a [PhyxelState]) -> PhyxelGroup<'a> {
        PhyxelGroup {
            first: pack * WIDTH,
            rows: self.rows.row(pack),
            reference: &self.references[pack],
            null_projector: self.null_projector(pack),
            state: states.get(pack),
        }
    }

    fn null_projector(&self, pack: usize) -> Option<&NullProjector> {
        let index = self.null_projectors.binary_search_by_key(&(pack as u32), |&(pack, _)| pack).ok()?;
        Some(&self.null_projectors[index].1)
    }

    /// Neighbours of a phyxel: index, weight, and offset in the reference configuration (m).
    pub fn neighbours(&self, i: usize) -> impl Iterator<Item = (u32, Real, Vec3)> + '_ {
        let lane = i % WIDTH;
        self.rows.row(i / WIDTH).iter().filter(move |row| row.weight[lane] > 0.0).map(move |row| {
            let offset = Vec3::from_array(row.weighted_offset.map(|axis| axis[lane]));
            (row.index[lane], row.weight[lane], offset / row.weight[lane])
        })
    }

    /// Number of neighbours of all phyxels: each pair counts twice.
    pub fn pair_count(&self) -> u64 {
        (0..self.count).map(|i| self.neighbours(i).count() as u64).sum()
    }

    /// Number of neighbours in all rows, padding included.
    pub fn padded_pair_count(&self) -> u64 {
        (self.rows.entries().len() * WIDTH) as u64
    }

    /// Phyxels of a pack.
    pub fn members(&self, pack: usize) -> Range<usize> {
        pack * WIDTH..self.count.min((pack + 1) * WIDTH)
    }
}

/// Neighbours of each phyxel in ascending order.
struct NeighbourLists(Csr<u32>);

impl NeighbourLists {
    fn new(count: usize, pairs: &[(u32, u32)]) -> Self {
        let mut neighbours = Csr::new(count, || pairs.iter().flat_map(|&(a, b)| [(a, b), (b, a)]));
        neighbours.rows_mut().into_iter().for_each(<[u32]>::sort_unstable);
        Self(neighbours)
    }

    /// Computes a value for each neighbour of each phyxel, from both and the index of the entry.
    fn map_pairs(&self, value: impl Fn(usize, u32, usize) -> Real + Sync) -> Vec<Real> {
        let values = parallel::map_ranges(self.0.row_count(), GRAIN, |phyxels| {
            let of = |i: usize| self.0.range(i).map(move |index| (i, self.0.entries()[index], index));
            phyxels.flat_map(of).map(|(i, j, index)| value(i, j, index)).collect::<Vec<Real>>()
        });
        values.concat()
    }

    /// Neighbours with their weights.
    fn weighted<'a>(&'a self, i: usize, weights: &'a [Real]) -> impl Iterator<Item = (u32, Real)> + 'a {
        self.neighbours_of(i).iter().copied().zip(weights[self.0.range(i)].iter().copied())
    }

    fn neighbours_of(&self, i: usize) -> &[u32] {
        self.0.row(i)
    }
}

/// Reference data of one pack.
struct ReferencePack {
    reference: Reference,
    rows: Vec<NeighbourRow>,
    null_projector: Option<NullProjector>,
    degenerate: u32,
}

fn build_pack(
    pack: usize,
    points: &[Vec3],
    volumes: &[Real],
    lists: &NeighbourLists,
    weights: &[Real],
) -> ReferencePack {
    let indices = std::array::from_fn(|lane| (pack * WIDTH + lane) as u32);
    let padding = NeighbourRow { index: indices, weight: [0.0; WIDTH], weighted_offset: [[0.0; WIDTH]; 3] };
    let members = pack * WIDTH..points.len().min((pack + 1) * WIDTH);
    let max_count = members.clone().map(|i| lists.neighbours_of(i).len()).max().unwrap_or(0);
    let mut rows = vec![padding; max_count];
    let zero = [0.0; WIDTH];
    let mut reference =
        Reference { inverse_moments: [zero; 6], first_moment: [zero; 3], volume: zero, volume_over_trace: zero };
    let (mut null_projector, mut degenerate): (Option<NullProjector>, u32) = (None, 0);
    for i in members {
        let lane = i % WIDTH;
        let mut a = [[0.0; 3]; 3];
        let mut first_moment = glam::DVec3::ZERO;
        for (row, (j, weight)) in rows.iter_mut().zip(lists.weighted(i, weights)) {
            let offset = points[j as usize] - points[i];
            row.index[lane] = j;
            row.weight[lane] = weight;
            (0..3).for_each(|axis| row.weighted_offset[axis][lane] = weight * offset[axis]);
            // Rounded as in the sums over neighbours.
            let weighted_offset = Vec3::from_array(row.weighted_offset.map(|axis| axis[lane])).as_dvec3();
            first_moment += weighted_offset;
            let offset = offset.as_dvec3();
            (0..3).for_each(|r| (0..3).for_each(|c| a[r][c] += weighted_offset[r] * offset[c]));
        }
        // Products of rounded numbers are symmetric up to round-off.
        let symmetric = std::array::from_fn(|r| std::array::from_fn(|c| 0.5 * (a[r][c] + a[c][r])));
        let found = pseudo_inverse::<3>(symmetric, RANK_TOLERANCE);
        let trace = a[0][0] + a[1][1] + a[2][2];
        store_voigt(&mut reference.inverse_moments, lane, &found.inverse);
        (0..3).for_each(|axis| reference.first_moment[axis][lane] = first_moment[axis] as Real);
        reference.volume[lane] = volumes[i];
        reference.volume_over_trace[lane] = if trace > 0.0 { (f64::from(volumes[i]) / trace) as Real } else { 0.0 };
        if found.rank < 3 {
            degenerate += 1;
            store_voigt(null_projector.get_or_insert([zero; 6]), lane, &found.null_projector);
        }
    }
    ReferencePack { reference, rows, null_projector, degenerate }
}

fn store_voigt(to: &mut [F32x8; 6], lane: usize, matrix: &[[f64; 3]; 3]) {
    for (k, (r, c)) in phyxel_laws::material::hooke::VOIGT.into_iter().enumerate() {
        to[k][lane] = matrix[r][c] as Real;
    }
}
