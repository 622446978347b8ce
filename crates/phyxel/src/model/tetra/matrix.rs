//! The matrix of an implicit step.
//!
//! A round of the search for velocities multiplies it once, and it is too large for the caches that are near. So a block is kept once for the two rows
//! that it is in, without gaps, eight blocks side by side, and rows are done in chunks that add up what their edges do while it is at hand.

use super::net::Lists;
use super::pattern::Pattern;
use crate::Real;
use crate::model::gradients::TOLERANCE;
use crate::parallel;
use glam::{Mat3A, Vec3, Vec3A, Vec4};
use phyxel_laws::lanes::{Level, WIDTH};
use phyxel_laws::tetra::{CornerVectors, Edges, Modes, pull_ends};
use std::ops::Range;

/// Rows per task.
const GRAIN: usize = 512;
/// Rows of a chunk: what its edges and rows take fits into the nearest cache but for the blocks.
const ROWS: usize = 256;
/// Packs of elements per task.
const PACKS: usize = 64;
/// Rounding of what stiffness does to a node that moves beside others, in parts of what one of a dozen neighbours does to it: each is about a
/// tenth of all, and they add up with the root of their number.
const NOISE: f64 = 0.15;

/// A symmetric, positive matrix of blocks, one for each node and one for each two that share an element, in the order of a pattern.
#[derive(Clone, Debug)]
pub(super) struct Matrix {
    pub pattern: Pattern,
    /// Of the corners of elements, by mode and pack.
    vectors: Vec<CornerVectors>,
    /// Blocks beside the diagonal: those of edges between nodes, by the edges of the pattern.
    pub edges: Vec<Mat3A>,
    /// The same eight at a time.
    packs: Vec<Edges>,
    weave: Weave,
    pub diagonal: Vec<Mat3A>,
    /// Inertia by row, kg.
    masses: Vec<Real>,
    /// Whether masses are so small beside stiffness that its rounding may be seen.
    pub is_rough: bool,
}

impl Matrix {
    /// Nothing yet.
    pub fn new(pattern: Pattern) -> Self {
        let weave = Weave::new(&pattern);
        Self {
            vectors: Vec::new(),
            edges: vec![Mat3A::ZERO; pattern.edge_count()],
            packs: vec![[[[0.0; WIDTH]; 3]; 3]; weave.ends.len()],
            weave,
            diagonal: vec![Mat3A::ZERO; pattern.order.len()],
            masses: vec![0.0; pattern.order.len()],
            is_rough: false,
            pattern,
        }
    }

    /// Puts it together from vectors of the corners of so many packs of elements, which `find` finds by mode and pack, times `scale`, and from
    /// masses of nodes.
    pub fn fill(
        &mut self,
        (modes, count): (&Modes, usize),
        find: impl Fn([usize; 2], &mut CornerVectors) + Sync,
        scale: Real,
        mass_of: impl Fn(usize) -> Real + Sync,
    ) {
        let Self { pattern, vectors, edges, packs, weave, diagonal, masses, is_rough } = self;
        vectors.resize(modes.count() * count, [[[0.0; 4]; WIDTH]; 4]);
        parallel::for_each_chunk(vectors, PACKS, |first, vectors| {
            (first..).zip(vectors).for_each(|(k, vectors)| find([k / count, k % count], vectors));
        });
        let vectors = &*vectors;
        parallel::for_each_chunk(edges, GRAIN, |first, edges| {
            for (edge, block) in (first..).zip(edges) {
                let [mut x, mut y, mut z] = [Vec4::ZERO; 3];
                for mode in vectors.chunks(count.max(1)) {
                    let vectors = mode.as_flattened().as_flattened();
                    for both in pattern.parts(edge) {
                        let [a, b] = both.map(|place| Vec4::from_array(vectors[place as usize]));
                        (x, y, z) = (x + a * b.x, y + a * b.y, z + a * b.z);
                    }
                }
                let sum = Mat3A::from_cols(Vec3A::from_vec4(x), Vec3A::from_vec4(y), Vec3A::from_vec4(z));
                *block = modes.block(&sum) * scale;
            }
        });
        let edges = &*edges;
        parallel::for_each_chunk(packs, GRAIN / WIDTH, |first, packs| {
            for (pack, places) in packs.iter_mut().zip(&weave.edges[first..]) {
                for (lane, &edge) in places.iter().enumerate() {
                    let block = edges.get(edge as usize).map_or([[0.0; 3]; 3], Mat3A::to_cols_array_2d);
                    (0..3).for_each(|r| (0..3).for_each(|c| pack[r][c][lane] = block[c][r]));
                }
            }
        });
        masses.iter_mut().zip(&pattern.order).for_each(|(mass, &node)| *mass = mass_of(node as usize));
        // A move of all nodes together is felt by none.
        parallel::for_each_chunk(diagonal, GRAIN, |first, diagonal| {
            for (row, block) in (first..).zip(diagonal) {
                let mass = Mat3A::from_diagonal(Vec3::splat(masses[row]));
                *block = pattern.around(row).iter().fold(mass, |sum, &(edge, is_turned)| {
                    let edge = edges[edge as usize];
                    sum - if is_turned { edge.transpose() } else { edge }
                });
            }
        });
        let stiffness: f64 = diagonal.iter().map(|block| f64::from(block.x_axis.x)).sum();
        let mass: f64 = masses.iter().map(|mass| f64::from(*mass)).sum();
        *is_rough = NOISE * f64::from(Real::EPSILON) * stiffness > pattern.calm * TOLERANCE * mass;
    }

    /// What is to be done to multiply the matrix with moves of nodes, all by row: tasks fill sums, which `gather` adds up.
    ///
    /// Stiffness is multiplied with how nodes move beside each other, so that none is left by rounding for a body that moves as a whole.
    pub fn tasks<'a>(&'a self, moves: &'a [Vec3], sums: &'a mut [[f32; 4]]) -> impl Iterator<Item = Task<'a>> {
        let mut rest = sums;
        self.weave.chunks.iter().map(move |chunk| {
            let own;
            (own, rest) = std::mem::take(&mut rest).split_at_mut(chunk.rows.len());
            Task { matrix: self, chunk, moves, sums: own }
        })
    }

    /// Number of sums that tasks need room for.
    pub fn sums(&self) -> usize {
        self.weave.sums_of.numbers().len()
    }

    /// A row of the product, when tasks are done.
    pub fn gather(&self, row: usize, moves: &[Vec3], sums: &[[f32; 4]]) -> Vec3 {
        let own = moves[row].extend(0.0) * self.masses[row];
        let sums = self.weave.sums_of.of(row).iter().map(|&place| Vec4::from_array(sums[place as usize]));
        sums.fold(own, |all, sum| all + sum).truncate()
    }
}

/// Edges of which the later row is in a run of rows.
#[derive(Clone, Debug)]
struct Chunk {
    /// All rows that they have, rising.
    rows: Vec<u32>,
    packs: Range<usize>,
}

/// How edges are laid out.
#[derive(Clone, Debug)]
struct Weave {
    chunks: Vec<Chunk>,
    /// By pack, the edges in it; none beyond the last.
    edges: Vec<[u32; WIDTH]>,
    /// By pack, the later and the earlier rows of its edges, by their places in the chunk. A row that is its own neighbour is pushed by nothing.
    ends: Vec<[[u32; WIDTH]; 2]>,
    /// The sums of each row.
    sums_of: Lists,
}

impl Weave {
    fn new(pattern: &Pattern) -> Self {
        let count = pattern.order.len();
        let (mut chunks, mut edges, mut ends, mut owners) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for first in (0..count).step_by(ROWS) {
            let later = first..(first + ROWS).min(count);
            let own: Vec<[u32; 3]> = later
                .flat_map(|row| pattern.row(row).map(move |edge| [edge as u32, row as u32, pattern.columns[edge]]))
                .collect();
            let mut rows: Vec<u32> = own.iter().flat_map(|[_, row, column]| [*row, *column]).collect();
            rows.sort_unstable();
            rows.dedup();
            let place = |row: u32| rows.partition_point(|&own| own < row) as u32;
            let start = edges.len();
            // Edges of one row follow each other, and its sum would wait for each of them: side by side are those of other rows.
            let packs = own.len().div_ceil(WIDTH);
            for pack in 0..packs {
                let lane = |lane: usize, k: usize| own.get(packs * lane + pack).map(|edge| edge[k]);
                edges.push(std::array::from_fn(|k| lane(k, 0).unwrap_or(u32::MAX)));
                ends.push([1, 2].map(|end| std::array::from_fn(|k| lane(k, end).map_or(0, place))));
            }
            owners.extend_from_slice(&rows);
            chunks.push(Chunk { rows, packs: start..edges.len() });
        }
        let sums_of = Lists::new(count, || owners.iter().copied().zip(0..));
        Self { chunks, edges, ends, sums_of }
    }
}

/// A chunk of a product.
pub(super) struct Task<'a> {
    matrix: &'a Matrix,
    chunk: &'a Chunk,
    moves: &'a [Vec3],
    sums: &'a mut [[f32; 4]],
}

impl Task<'_> {
    pub fn run(self, level: Level) {
        let Self { matrix, chunk, moves, sums } = self;
        let own: Vec<[f32; 4]> = chunk.rows.iter().map(|&row| moves[row as usize].extend(0.0).to_array()).collect();
        sums.fill([0.0; 4]);
        let packs = chunk.packs.clone();
        pull_ends(level, &matrix.packs[packs.clone()], &matrix.weave.ends[packs], &own, sums);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Quat;
    use phyxel_laws::elastic::Hooke;
    use phyxel_laws::tetra::{Element, Group, Matter, Rest, corner_vectors, product};

    /// Numbers between -1 and 1 without an order.
    fn scattered(k: usize) -> Vec3 {
        Vec3::new(k as f32, k as f32 + 0.3, k as f32 + 0.7).map(|x| (12.9898 * x).sin())
    }

    fn crooked(k: usize) -> f32 {
        [0.5, -0.3, 0.2, 0.4, -0.1, 0.3][k]
    }

    #[test]
    fn the_matrix_times_moves_is_inertia_and_what_elements_resist_with() {
        // Eight elements in a chain of eleven nodes, each turned its own way.
        let nodes: Vec<Vec3> = (0..11).map(|k| Vec3::X * k as f32 + scattered(k) * 2.0).collect();
        let elements: Vec<[u32; 4]> = (0..8)
            .map(|k| {
                let at = |k: u32| nodes[k as usize];
                let volume = (at(k + 1) - at(k)).cross(at(k + 2) - at(k)).dot(at(k + 3) - at(k));
                if volume > 0.0 { [k, k + 1, k + 2, k + 3] } else { [k, k + 1, k + 3, k + 2] }
            })
            .collect();
        let shapes: Vec<Element> =
            elements.iter().filter_map(|element| Element::new(element.map(|node| nodes[node as usize]))).collect();
        assert_eq!(shapes.len(), WIDTH);
        let rest = Rest::new(&shapes);
        let corners = std::array::from_fn(|corner| std::array::from_fn(|lane| elements[lane][corner]));
        let turns: [Quat; WIDTH] = std::array::from_fn(|lane| Quat::from_scaled_axis(3.0 * scattered(40 + lane)));
        let turn = std::array::from_fn(|k| std::array::from_fn(|lane| turns[lane].to_array()[k]));
        let group = Group { corners: &corners, rest: &rest, state: None };
        let (scale, mass) = (0.7, |node: usize| 1.0 + 0.1 * node as f32);
        // A law that is the same in all directions, and one that is not.
        let crooked = std::array::from_fn(|i| std::array::from_fn(|j| crooked(i) * crooked(j) + f32::from(i == j)));
        for hooke in [Hooke::isotropic(1.0, 0.3), Hooke::Anisotropic(crooked)] {
            let matter = Matter { hooke, damping: 0.0 };
            let mut matrix = Matrix::new(Pattern::new(&nodes, &elements));
            let modes = Modes::new(&matter.hooke);
            let find = |[mode, _]: [usize; 2], out: &mut CornerVectors| {
                corner_vectors(Level::detect(), &group, &modes, mode, &turn, out);
            };
            matrix.fill((&modes, 1), find, scale, mass);
            let order = &matrix.pattern.order;
            let moves: Vec<Vec3> = (20..31).map(scattered).collect();
            let by_row: Vec<Vec3> = order.iter().map(|&node| moves[node as usize]).collect();
            let mut sums = vec![[0.0; 4]; matrix.sums()];
            matrix.tasks(&by_row, &mut sums).for_each(|task| task.run(Level::detect()));
            let multiplied: Vec<Vec3> = (0..11).map(|row| matrix.gather(row, &by_row, &sums)).collect();

            let rows: Vec<[f32; 4]> = moves.iter().map(|x| x.extend(0.0).to_array()).collect();
            let mut pulls = [[[0.0; 4]; WIDTH]; 4];
            product(Level::detect(), &group, &matter, &turn, &rows, &mut pulls);
            let mut expected: Vec<Vec3> = (0..11).map(|node| moves[node] * mass(node)).collect();
            for (corner, lane) in (0..4).flat_map(|corner| (0..WIDTH).map(move |lane| (corner, lane))) {
                expected[corners[corner][lane] as usize] += Vec3::from_slice(&pulls[corner][lane][..3]) * scale;
            }
            let largest = expected.iter().map(|x| x.length()).fold(0.0, f32::max);
            for (row, &node) in order.iter().enumerate() {
                // Sums of up to a hundred products of f32.
                let off = (multiplied[row] - expected[node as usize]).length();
                assert!(off < 1e-5 * largest, "{hooke:?}, node {node}: {off} of {largest}");
            }
        }
    }
}
