//! Spring graph of a body: adjacency lists of the springs, stored for both ends (compressed rows).

use super::settings::Cell;
use crate::Real;
use crate::numerics::Csr;
use crate::parallel;
use glam::Vec3;
use phyxel_laws::mass_spring::lattice::CellSprings;
use serde::{Deserialize, Serialize};

/// Spring as seen from one of its ends. The other end stores the same with the ends exchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct HalfSpring {
    /// Index of the other particle within the body.
    pub other: u32,
    /// Rest length before thermal expansion, m.
    pub rest_length: Real,
    /// Stiffness over Young's modulus, m.
    pub stiffness: Real,
}

/// Thermal conduction along a spring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SpringConduction {
    /// Conduction shape factor: cross-section over the initial length, m. Plastic stretch does not change it.
    pub shape_factor: Real,
    /// Direction at rest, which selects the conductivity.
    pub axis: SpringAxis,
}

/// Direction of a spring in the rest shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SpringAxis {
    #[default]
    X,
    Y,
    Z,
    /// Diagonal of a face.
    Diagonal,
    /// Formed by freezing, without a direction.
    Frozen,
}

/// Spring between two particles, the smaller index first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spring {
    pub pair: [u32; 2],
    pub half: HalfSpring,
    pub conduction: SpringConduction,
}

/// Springs of a body in compressed rows, each stored for both of its particles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SpringGraph {
    /// First entry of each particle.
    start: Vec<u32>,
    /// Used entries of each particle; the remaining ones belong to removed springs.
    count: Vec<u32>,
    halves: Vec<HalfSpring>,
    conductions: Vec<SpringConduction>,
}

/// Particles per task.
const GRAIN: usize = 2048;

/// Consecutive particles with their springs.
struct RowBlock<'a> {
    /// Index of the first particle.
    first: usize,
    start: &'a [u32],
    count: &'a mut [u32],
    halves: &'a mut [HalfSpring],
    conductions: &'a mut [SpringConduction],
}

impl SpringGraph {
    /// Assembles the springs of equal cells: each cell adds a quarter of its edges and a half of its diagonals.
    pub fn from_cells(cells: &[Cell], springs: &CellSprings, weights: [Real; 3], rest: &[Vec3]) -> Self {
        let mut contributions = Vec::with_capacity(24 * cells.len());
        cells.iter().for_each(|cell| springs_of_cell(cell, springs, weights, rest, &mut contributions));
        contributions.sort_by_key(|spring| spring.pair);
        let assembled = contributions.chunk_by(|a, b| a.pair == b.pair).map(|group| Spring {
            half: HalfSpring { stiffness: group.iter().map(|spring| spring.half.stiffness).sum(), ..group[0].half },
            conduction: SpringConduction {
                shape_factor: group.iter().map(|spring| spring.conduction.shape_factor).sum(),
                ..group[0].conduction
            },
            ..group[0]
        });
        Self::from_springs(rest.len(), &assembled.collect::<Vec<_>>())
    }

    /// Graph of the given springs.
    pub fn from_springs(particle_count: usize, springs: &[Spring]) -> Self {
        let both_ways = |&Spring { pair: [a, b], half, conduction }: &Spring| {
            [(a, b), (b, a)].map(|(from, other)| (from, (HalfSpring { other, ..half }, conduction)))
        };
        let (start, entries) = Csr::new(particle_count, || springs.iter().flat_map(both_ways)).into_parts();
        let count = start.windows(2).map(|ends| ends[1] - ends[0]).collect();
        let (halves, conductions) = entries.into_iter().unzip();
        Self { start, count, halves, conductions }
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.count.len()
    }

    /// Returns true if there are no springs.
    pub fn is_empty(&self) -> bool {
        self.count.iter().all(|&n| n == 0)
    }

    /// Springs of a particle.
    pub fn of(&self, i: usize) -> &[HalfSpring] {
        let start = self.start[i] as usize;
        &self.halves[start..start + self.count[i] as usize]
    }

    /// Iterates over all springs, each once.
    pub fn springs(&self) -> impl Iterator<Item = Spring> + '_ {
        (0..self.len()).flat_map(move |i| {
            let start = self.start[i] as usize;
            let row = start..start + self.count[i] as usize;
            row.filter(move |&k| self.halves[k].other as usize > i).map(move |k| {
                let half = self.halves[k];
                Spring { pair: [i as u32, half.other], half, conduction: self.conductions[k] }
            })
        })
    }

    /// Keeps the springs for which `keep(i, spring)` is true; returns the number of removed springs. `keep`
    /// must agree for both ends.
    pub fn retain(&mut self, keep: impl Fn(usize, &HalfSpring) -> bool + Sync) -> u64 {
        let before: u64 = self.count.iter().map(|&n| u64::from(n)).sum();
        let rows = self.row_blocks();
        parallel::for_each_item(rows, |RowBlock { first, start, count, halves, conductions }| {
            for (row, count) in count.iter_mut().enumerate() {
                let begin = (start[row] - start[0]) as usize;
                let mut end = begin;
                for k in begin..begin + *count as usize {
                    if keep(first + row, &halves[k]) {
                        (halves[end], conductions[end]) = (halves[k], conductions[k]);
                        end += 1;
                    }
                }
                *count = (end - begin) as u32;
            }
        });
        let after: u64 = self.count.iter().map(|&n| u64::from(n)).sum();
        (before - after) / 2
    }

    /// Sets the rest length of every spring to `rest_length(i, spring, axis)`, which must agree for both ends.
    pub fn update_rest_lengths(&mut self, rest_length: impl Fn(usize, &HalfSpring, SpringAxis) -> Real + Sync) {
        let rows = self.row_blocks();
        parallel::for_each_item(rows, |RowBlock { first, start, count, halves, conductions }| {
            for (row, count) in count.iter().enumerate() {
                let begin = (start[row] - start[0]) as usize;
                for k in begin..begin + *count as usize {
                    halves[k].rest_length = rest_length(first + row, &halves[k], conductions[k].axis);
                }
            }
        });
    }

    /// Splits the rows into blocks that can be changed in parallel.
    fn row_blocks(&mut self) -> Vec<RowBlock<'_>> {
        let (mut halves, mut conductions) = (&mut self.halves[..], &mut self.conductions[..]);
        let mut rows = Vec::with_capacity(self.count.len().div_ceil(GRAIN));
        for (block, count) in self.count.chunks_mut(GRAIN).enumerate() {
            let first = block * GRAIN;
            let start = &self.start[first..=first + count.len()];
            let length = (start[count.len()] - start[0]) as usize;
            let (block_halves, remaining_halves) = halves.split_at_mut(length);
            let (block_conductions, remaining_conductions) = conductions.split_at_mut(length);
            rows.push(RowBlock { first, start, count, halves: block_halves, conductions: block_conductions });
            (halves, conductions) = (remaining_halves, remaining_conductions);
        }
        rows
    }

    /// Adds springs between pairs that have none yet.
    pub fn add(&mut self, new: &[Spring]) {
        if !new.is_empty() {
            let all: Vec<Spring> = self.springs().chain(new.iter().copied()).collect();
            *self = Self::from_springs(self.len(), &all);
        }
    }
}

/// Adds the contributions of a cell to the springs between its corners.
fn springs_of_cell(
    cell: &Cell,
    springs: &CellSprings,
    weights: [Real; 3],
    rest: &[Vec3],
    contributions: &mut Vec<Spring>,
) {
    let at = |corner: usize| rest[cell[corner] as usize];
    let size: [Real; 3] = std::array::from_fn(|axis| at(0).distance(at(1 << axis)));
    let mut add_spring = |a: usize, b: usize, stiffness: Real, area: Real, axis_name: SpringAxis| {
        let pair = [cell[a].min(cell[b]), cell[a].max(cell[b])];
        let half = HalfSpring { other: 0, rest_length: at(a).distance(at(b)), stiffness };
        contributions.push(Spring {
            pair,
            half,
            conduction: SpringConduction { shape_factor: area / half.rest_length, axis: axis_name },
        });
    };
    for (axis, axis_name) in [SpringAxis::X, SpringAxis::Y, SpringAxis::Z].into_iter().enumerate() {
        let (p, q) = ((axis + 1) % 3, (axis + 2) % 3);
        let face = size[p] * size[q];
        let edge = 0.25 * weights[axis] * springs.edges[axis];
        for side in [0, 1 << p, 1 << q, 1 << p | 1 << q] {
            add_spring(side, side | 1 << axis, edge, 0.25 * face, axis_name);
        }
        let diagonal = 0.5 * (weights[p] * weights[q]).sqrt() * springs.diagonals[axis];
        for side in [0, 1 << axis] {
            // Cross-section as of an edge normal to it: half of what the two cells at the face have.
            let area = 0.5 * face;
            add_spring(side, side | 1 << p | 1 << q, diagonal, area, SpringAxis::Diagonal);
            add_spring(side | 1 << p, side | 1 << q, diagonal, area, SpringAxis::Diagonal);
        }
    }
}
