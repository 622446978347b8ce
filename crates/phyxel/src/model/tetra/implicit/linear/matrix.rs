//! System matrix of a body in an implicit step: symmetric, block-sparse, with products over a SIMD schedule
//! of edges.
//!
//! Every conjugate-gradient iteration multiplies by the matrix once, and it exceeds the near caches. So
//! each off-diagonal block is stored once for its two rows, densely packed, eight blocks side by side, and
//! rows are processed in chunks that accumulate the products of their edges in cache.

use super::pattern::Pattern;
use crate::Real;
use crate::numerics::Csr;
use crate::numerics::pcg::TOLERANCE;
use crate::parallel;
use glam::{Mat3A, Vec3, Vec3A, Vec4};
use phyxel_laws::fem::{CornerVectors, EdgeBlocks, ElasticityFactors, add_edge_products};
use phyxel_laws::simd::{SimdLevel, WIDTH};
use std::ops::Range;

/// Rows per task.
const GRAIN: usize = 512;
/// Rows of a chunk: apart from the blocks, the data of its edges and rows fits the nearest cache.
const CHUNK_ROWS: usize = 256;
/// Element packs per task.
const PACK_GRAIN: usize = 64;
/// Rounding error of the elastic force of a node that moves relative to others, in units of the
/// contribution of one of a dozen neighbours: each is about a tenth of the whole, and errors add up with
/// the root of their number.
const ROUNDING: f64 = 0.15;

/// Symmetric positive definite block-sparse matrix `m M + s K`: a 3 x 3 block per node and per edge, in the
/// order of a sparsity pattern.
#[derive(Clone, Debug)]
pub(in crate::model::tetra) struct SystemMatrix {
    pub pattern: Pattern,
    /// Factors of the element stiffness at their corners, by mode and pack.
    corner_vectors: Vec<CornerVectors>,
    /// Off-diagonal blocks by edge of the pattern.
    pub off_diagonal: Vec<Mat3A>,
    /// The same, eight at a time.
    packed: Vec<EdgeBlocks>,
    schedule: EdgeSchedule,
    pub diagonal: Vec<Mat3A>,
    /// By row, `m` included, kg.
    masses: Vec<Real>,
    /// True if inertia is below the rounding error of stiffness: the matrix is too ill-conditioned for
    /// single precision.
    pub inertia_is_lost: bool,
}

impl SystemMatrix {
    /// Creates a zero matrix.
    pub fn new(pattern: Pattern) -> Self {
        let schedule = EdgeSchedule::new(&pattern);
        Self {
            corner_vectors: Vec::new(),
            off_diagonal: vec![Mat3A::ZERO; pattern.edge_count()],
            packed: vec![[[[0.0; WIDTH]; 3]; 3]; schedule.end_slots.len()],
            schedule,
            diagonal: vec![Mat3A::ZERO; pattern.order.len()],
            masses: vec![0.0; pattern.order.len()],
            inertia_is_lost: false,
            pattern,
        }
    }

    /// Assembles the matrix from the factored stiffness of the elements, times `scale`, and the masses of
    /// nodes, kg. `corner_vectors` computes the factors of a mode and a pack, of which there are
    /// `pack_count`.
    pub fn assemble(
        &mut self,
        (factors, pack_count): (&ElasticityFactors, usize),
        corner_vectors: impl Fn([usize; 2], &mut CornerVectors) + Sync,
        scale: Real,
        mass_of: impl Fn(usize) -> Real + Sync,
    ) {
        self.corner_vectors.resize(factors.count() * pack_count, [[[0.0; 4]; WIDTH]; 4]);
        parallel::for_each_chunk(&mut self.corner_vectors, PACK_GRAIN, |first, vectors| {
            (first..).zip(vectors).for_each(|(k, out)| corner_vectors([k / pack_count, k % pack_count], out));
        });
        self.assemble_off_diagonal(factors, pack_count, scale);
        self.pack_off_diagonal();
        self.masses.iter_mut().zip(&self.pattern.order).for_each(|(mass, &node)| *mass = mass_of(node as usize));
        self.assemble_diagonal();
        let stiffness: f64 = self.diagonal.iter().map(|block| f64::from(block.x_axis.x)).sum();
        let mass: f64 = self.masses.iter().map(|mass| f64::from(*mass)).sum();
        let rounding = ROUNDING * f64::from(Real::EPSILON) * stiffness;
        self.inertia_is_lost = rounding > self.pattern.rotation_rounding_ratio * TOLERANCE * mass;
    }

    fn assemble_off_diagonal(&mut self, factors: &ElasticityFactors, pack_count: usize, scale: Real) {
        let Self { pattern, corner_vectors, off_diagonal, .. } = self;
        parallel::for_each_chunk(off_diagonal, GRAIN, |first, blocks| {
            for (edge, block) in (first..).zip(blocks) {
                let [mut x, mut y, mut z] = [Vec4::ZERO; 3];
                for mode in corner_vectors.chunks(pack_count.max(1)) {
                    let vectors = mode.as_flattened().as_flattened();
                    for pair in pattern.corner_pairs.row(edge) {
                        let [a, b] = pair.map(|corner| Vec4::from_array(vectors[corner as usize]));
                        (x, y, z) = (x + a * b.x, y + a * b.y, z + a * b.z);
                    }
                }
                let sum = Mat3A::from_cols(Vec3A::from_vec4(x), Vec3A::from_vec4(y), Vec3A::from_vec4(z));
                *block = factors.block(&sum) * scale;
            }
        });
    }

    fn pack_off_diagonal(&mut self) {
        let Self { off_diagonal, packed, schedule, .. } = self;
        parallel::for_each_chunk(packed, GRAIN / WIDTH, |first, packs| {
            for (pack, edges) in packs.iter_mut().zip(&schedule.edges[first..]) {
                for (lane, &edge) in edges.iter().enumerate() {
                    let block = off_diagonal.get(edge as usize).map_or([[0.0; 3]; 3], Mat3A::to_cols_array_2d);
                    (0..3).for_each(|r| (0..3).for_each(|c| pack[r][c][lane] = block[c][r]));
                }
            }
        });
    }

    /// Assembles the diagonal blocks: mass minus the off-diagonal blocks of the row, as translations are
    /// stress-free.
    fn assemble_diagonal(&mut self) {
        let Self { pattern, off_diagonal, diagonal, masses, .. } = self;
        parallel::for_each_chunk(diagonal, GRAIN, |first, diagonal| {
            for (row, block) in (first..).zip(diagonal) {
                let mass = Mat3A::from_diagonal(Vec3::splat(masses[row]));
                *block = pattern.incident_edges.row(row).iter().fold(mass, |sum, &(edge, is_transposed)| {
                    let edge = off_diagonal[edge as usize];
                    sum - if is_transposed { edge.transpose() } else { edge }
                });
            }
        });
    }

    /// Splits the product with `x`, by row, into tasks that fill partial sums, which
    /// [`gather_row`](Self::gather_row) adds up.
    ///
    /// Stiffness acts on differences of `x` along edges, so that a translation of the body leaves no
    /// rounding errors.
    pub fn product_tasks<'a>(
        &'a self,
        x: &'a [Vec3],
        partial_sums: &'a mut [[f32; 4]],
    ) -> impl Iterator<Item = ProductTask<'a>> {
        let mut rest = partial_sums;
        self.schedule.chunks.iter().map(move |chunk| {
            let partial_sums;
            (partial_sums, rest) = std::mem::take(&mut rest).split_at_mut(chunk.rows.len());
            ProductTask { matrix: self, chunk, x, partial_sums }
        })
    }

    /// Number of partial sums of a product.
    pub fn partial_sum_count(&self) -> usize {
        self.schedule.partial_sums_of.entries().len()
    }

    /// Row of the product, once all tasks are done.
    pub fn gather_row(&self, row: usize, x: &[Vec3], partial_sums: &[[f32; 4]]) -> Vec3 {
        let inertia = x[row].extend(0.0) * self.masses[row];
        let sums = self.schedule.partial_sums_of.row(row).iter().map(|&k| Vec4::from_array(partial_sums[k as usize]));
        sums.fold(inertia, |total, sum| total + sum).truncate()
    }
}

/// Edges whose later row is in a range of rows.
#[derive(Clone, Debug)]
struct RowChunk {
    /// Rows of both ends of these edges, ascending.
    rows: Vec<u32>,
    packs: Range<usize>,
}

/// SIMD schedule of the edges in a product.
#[derive(Clone, Debug)]
struct EdgeSchedule {
    chunks: Vec<RowChunk>,
    /// By pack, its edges; `u32::MAX` in unused lanes.
    edges: Vec<[u32; WIDTH]>,
    /// By pack, the later and the earlier rows of its edges, by index in the chunk. Unused lanes have equal
    /// rows, between which there is no difference.
    end_slots: Vec<[[u32; WIDTH]; 2]>,
    /// Partial sums of each row.
    partial_sums_of: Csr<u32>,
}

impl EdgeSchedule {
    fn new(pattern: &Pattern) -> Self {
        let count = pattern.order.len();
        let (mut chunks, mut edges, mut end_slots, mut rows_of_sums) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for first in (0..count).step_by(CHUNK_ROWS) {
            let later_rows = first..(first + CHUNK_ROWS).min(count);
            let edges_of = |row| {
                let edges = pattern.columns.range(row).zip(pattern.columns.row(row));
                edges.map(move |(edge, &column)| [edge as u32, row as u32, column])
            };
            let chunk_edges: Vec<[u32; 3]> = later_rows.flat_map(edges_of).collect();
            let mut rows: Vec<u32> = chunk_edges.iter().flat_map(|[_, row, column]| [*row, *column]).collect();
            rows.sort_unstable();
            rows.dedup();
            let slot = |row: u32| rows.partition_point(|&other| other < row) as u32;
            let start = edges.len();
            // Consecutive edges share a row, whose sum would wait for each of them: lanes take edges of
            // other rows.
            let packs = chunk_edges.len().div_ceil(WIDTH);
            for pack in 0..packs {
                let lane = |lane: usize, k: usize| chunk_edges.get(packs * lane + pack).map(|edge| edge[k]);
                edges.push(std::array::from_fn(|k| lane(k, 0).unwrap_or(u32::MAX)));
                end_slots.push([1, 2].map(|end| std::array::from_fn(|k| lane(k, end).map_or(0, slot))));
            }
            rows_of_sums.extend_from_slice(&rows);
            chunks.push(RowChunk { rows, packs: start..edges.len() });
        }
        let partial_sums_of = Csr::new(count, || rows_of_sums.iter().copied().zip(0..));
        Self { chunks, edges, end_slots, partial_sums_of }
    }
}

/// Product of the edges of a chunk.
pub(in crate::model::tetra) struct ProductTask<'a> {
    matrix: &'a SystemMatrix,
    chunk: &'a RowChunk,
    x: &'a [Vec3],
    partial_sums: &'a mut [[f32; 4]],
}

impl ProductTask<'_> {
    /// Fills the partial sums of the chunk.
    pub fn run(self, level: SimdLevel) {
        let Self { matrix, chunk, x, partial_sums } = self;
        let local: Vec<[f32; 4]> = chunk.rows.iter().map(|&row| x[row as usize].extend(0.0).to_array()).collect();
        partial_sums.fill([0.0; 4]);
        let packs = chunk.packs.clone();
        let end_slots = &matrix.schedule.end_slots[packs.clone()];
        add_edge_products(level, &matrix.packed[packs], end_slots, &local, partial_sums);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Quat;
    use phyxel_laws::fem::{Element, PackView, ReferencePack, ViscoelasticLaw, corner_factors, stiffness_product};
    use phyxel_laws::material::hooke::Hooke;

    /// Pseudo-random numbers in [-1, 1].
    fn pseudo_random(k: usize) -> Vec3 {
        Vec3::new(k as f32, k as f32 + 0.3, k as f32 + 0.7).map(|x| (12.9898 * x).sin())
    }

    fn anisotropy(k: usize) -> f32 {
        [0.5, -0.3, 0.2, 0.4, -0.1, 0.3][k]
    }

    #[test]
    fn the_matrix_product_is_inertia_plus_the_product_of_each_element() {
        // Eight elements in a chain of eleven nodes, each with a rotation of its own.
        let nodes: Vec<Vec3> = (0..11).map(|k| Vec3::X * k as f32 + pseudo_random(k) * 2.0).collect();
        let elements: Vec<[u32; 4]> = (0..8)
            .map(|k| {
                let at = |k: u32| nodes[k as usize];
                let volume = (at(k + 1) - at(k)).cross(at(k + 2) - at(k)).dot(at(k + 3) - at(k));
                if volume > 0.0 { [k, k + 1, k + 2, k + 3] } else { [k, k + 1, k + 3, k + 2] }
            })
            .collect();
        let references: Vec<Element> =
            elements.iter().filter_map(|element| Element::new(element.map(|node| nodes[node as usize]))).collect();
        assert_eq!(references.len(), WIDTH);
        let reference = ReferencePack::new(&references);
        let corners = std::array::from_fn(|corner| std::array::from_fn(|lane| elements[lane][corner]));
        let quaternions: [Quat; WIDTH] =
            std::array::from_fn(|lane| Quat::from_scaled_axis(3.0 * pseudo_random(40 + lane)));
        let rotation = std::array::from_fn(|k| std::array::from_fn(|lane| quaternions[lane].to_array()[k]));
        let pack = PackView { corners: &corners, reference: &reference, state: None };
        let (scale, mass) = (0.7, |node: usize| 1.0 + 0.1 * node as f32);
        // An isotropic law and an anisotropic one.
        let rows = std::array::from_fn(|i| std::array::from_fn(|j| anisotropy(i) * anisotropy(j) + f32::from(i == j)));
        for hooke in [Hooke::isotropic(1.0, 0.3), Hooke::Anisotropic(rows)] {
            let law = ViscoelasticLaw { hooke, damping_time: 0.0 };
            let mut matrix = SystemMatrix::new(Pattern::new(&nodes, &elements));
            let factors = ElasticityFactors::new(&law.hooke);
            let corner_vectors = |[mode, _]: [usize; 2], out: &mut CornerVectors| {
                corner_factors(SimdLevel::detect(), &pack, &factors, mode, &rotation, out);
            };
            matrix.assemble((&factors, 1), corner_vectors, scale, mass);
            let order = &matrix.pattern.order;
            let x: Vec<Vec3> = (20..31).map(pseudo_random).collect();
            let by_row: Vec<Vec3> = order.iter().map(|&node| x[node as usize]).collect();
            let mut partial_sums = vec![[0.0; 4]; matrix.partial_sum_count()];
            matrix.product_tasks(&by_row, &mut partial_sums).for_each(|task| task.run(SimdLevel::detect()));
            let product: Vec<Vec3> = (0..11).map(|row| matrix.gather_row(row, &by_row, &partial_sums)).collect();

            let padded: Vec<[f32; 4]> = x.iter().map(|x| x.extend(0.0).to_array()).collect();
            let mut forces = [[[0.0; 4]; WIDTH]; 4];
            stiffness_product(SimdLevel::detect(), &pack, &law, &rotation, &padded, &mut forces);
            let mut expected: Vec<Vec3> = (0..11).map(|node| x[node] * mass(node)).collect();
            for (corner, lane) in (0..4).flat_map(|corner| (0..WIDTH).map(move |lane| (corner, lane))) {
                expected[corners[corner][lane] as usize] += Vec3::from_slice(&forces[corner][lane][..3]) * scale;
            }
            let largest = expected.iter().map(|x| x.length()).fold(0.0, f32::max);
            for (row, &node) in order.iter().enumerate() {
                // Sums of up to a hundred products of f32.
                let error = (product[row] - expected[node as usize]).length();
                assert!(error < 1e-5 * largest, "{hooke:?}, node {node}: {error} of {largest}");
            }
        }
    }
}
