//! Springs between the particles of a body, by particle.

use super::settings::Cell;
use crate::Real;
use crate::parallel;
use glam::Vec3;
use phyxel_laws::spring::CellSprings;
use serde::{Deserialize, Serialize};

/// One side of a spring: what a particle knows of it. The other particle has the same with the roles exchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bond {
    /// The other particle, as its number within the body.
    pub other: u32,
    /// Length without force, before thermal expansion, m.
    pub rest: Real,
    /// Stiffness over Young's modulus, m.
    pub stiffness: Real,
}

/// How a spring conducts heat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Path {
    /// Area through which heat flows over the length as it was made, m. A stretch for good leaves it.
    pub width: Real,
    /// In which direction, at rest.
    pub way: Way,
}

/// Direction of a spring in the body at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Way {
    #[default]
    X,
    Y,
    Z,
    /// Across a face.
    Diagonal,
    /// Any: made by freezing.
    Frozen,
}

/// A spring between two particles, the smaller number first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spring {
    pub pair: [u32; 2],
    pub bond: Bond,
    pub path: Path,
}

/// All springs of a body. Each is there twice, once for each of its particles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bonds {
    /// First entry of each particle.
    start: Vec<u32>,
    /// Entries in use of each particle; those behind are left over from springs that are gone.
    count: Vec<u32>,
    bonds: Vec<Bond>,
    paths: Vec<Path>,
}

/// Particles per task.
const GRAIN: usize = 2048;

/// Particles that follow each other, with their springs.
struct Rows<'a> {
    /// Number of the first particle.
    first: usize,
    start: &'a [u32],
    count: &'a mut [u32],
    bonds: &'a mut [Bond],
    paths: &'a mut [Path],
}

impl Bonds {
    /// The springs of cells of one size: edges count a quarter and diagonals a half for each cell they belong to.
    pub fn of_cells(cells: &[Cell], springs: &CellSprings, weights: [Real; 3], rest: &[Vec3]) -> Self {
        let mut parts = Vec::with_capacity(24 * cells.len());
        cells.iter().for_each(|cell| springs_of_cell(cell, springs, weights, rest, &mut parts));
        parts.sort_by_key(|part| part.pair);
        let shared = parts.chunk_by(|a, b| a.pair == b.pair).map(|parts| Spring {
            bond: Bond { stiffness: parts.iter().map(|part| part.bond.stiffness).sum(), ..parts[0].bond },
            path: Path { width: parts.iter().map(|part| part.path.width).sum(), ..parts[0].path },
            ..parts[0]
        });
        Self::of_springs(rest.len(), &shared.collect::<Vec<_>>())
    }

    /// These springs between so many particles.
    pub fn of_springs(particles: usize, springs: &[Spring]) -> Self {
        let mut count = vec![0u32; particles];
        springs.iter().flat_map(|spring| spring.pair).for_each(|i| count[i as usize] += 1);
        let mut start = vec![0u32; particles + 1];
        (0..particles).for_each(|i| start[i + 1] = start[i] + count[i]);
        let total = start[particles] as usize;
        let (mut bonds, mut paths) = (vec![Bond::default(); total], vec![Path::default(); total]);
        let mut next = start.clone();
        for &Spring { pair: [a, b], bond, path } in springs {
            for (from, other) in [(a, b), (b, a)] {
                let place = next[from as usize] as usize;
                bonds[place] = Bond { other, ..bond };
                paths[place] = path;
                next[from as usize] += 1;
            }
        }
        Self { start, count, bonds, paths }
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.count.len()
    }

    /// Whether there are no springs.
    pub fn is_empty(&self) -> bool {
        self.count.iter().all(|&n| n == 0)
    }

    /// Springs of a particle.
    pub fn of(&self, i: usize) -> &[Bond] {
        let start = self.start[i] as usize;
        &self.bonds[start..start + self.count[i] as usize]
    }

    /// All springs, each once.
    pub fn springs(&self) -> impl Iterator<Item = Spring> + '_ {
        (0..self.len()).flat_map(move |i| {
            let start = self.start[i] as usize;
            let row = start..start + self.count[i] as usize;
            row.filter(move |&k| self.bonds[k].other as usize > i).map(move |k| {
                let bond = self.bonds[k];
                Spring { pair: [i as u32, bond.other], bond, path: self.paths[k] }
            })
        })
    }

    /// Keeps those springs for which `keep(i, bond)` is true, which must be so for both sides or for none; number of
    /// springs that went.
    pub fn retain(&mut self, keep: impl Fn(usize, &Bond) -> bool + Sync) -> u64 {
        let before: u64 = self.count.iter().map(|&n| u64::from(n)).sum();
        let rows = self.rows();
        parallel::for_each_item(rows, |Rows { first, start, count, bonds, paths }| {
            for (row, count) in count.iter_mut().enumerate() {
                let begin = (start[row] - start[0]) as usize;
                let mut kept = begin;
                for k in begin..begin + *count as usize {
                    if keep(first + row, &bonds[k]) {
                        (bonds[kept], paths[kept]) = (bonds[k], paths[k]);
                        kept += 1;
                    }
                }
                *count = (kept - begin) as u32;
            }
        });
        let after: u64 = self.count.iter().map(|&n| u64::from(n)).sum();
        (before - after) / 2
    }

    /// Changes the length without force of every spring; `change(i, bond, way)` must be the same from both sides.
    pub fn change_rest(&mut self, change: impl Fn(usize, &Bond, Way) -> Real + Sync) {
        let rows = self.rows();
        parallel::for_each_item(rows, |Rows { first, start, count, bonds, paths }| {
            for (row, count) in count.iter().enumerate() {
                let begin = (start[row] - start[0]) as usize;
                for k in begin..begin + *count as usize {
                    bonds[k].rest = change(first + row, &bonds[k], paths[k].way);
                }
            }
        });
    }

    /// Particles with their springs, in parts that can be changed at the same time.
    fn rows(&mut self) -> Vec<Rows<'_>> {
        let (mut bonds, mut paths) = (&mut self.bonds[..], &mut self.paths[..]);
        let mut rows = Vec::with_capacity(self.count.len().div_ceil(GRAIN));
        for (part, count) in self.count.chunks_mut(GRAIN).enumerate() {
            let first = part * GRAIN;
            let start = &self.start[first..=first + count.len()];
            let length = (start[count.len()] - start[0]) as usize;
            let (mine, after) = bonds.split_at_mut(length);
            let (my_paths, paths_after) = paths.split_at_mut(length);
            rows.push(Rows { first, start, count, bonds: mine, paths: my_paths });
            (bonds, paths) = (after, paths_after);
        }
        rows
    }

    /// Adds springs between pairs that have none yet.
    pub fn add(&mut self, new: &[Spring]) {
        if !new.is_empty() {
            let all: Vec<Spring> = self.springs().chain(new.iter().copied()).collect();
            *self = Self::of_springs(self.len(), &all);
        }
    }
}

/// What a cell adds to the springs between its corners.
fn springs_of_cell(cell: &Cell, springs: &CellSprings, weights: [Real; 3], rest: &[Vec3], parts: &mut Vec<Spring>) {
    let at = |corner: usize| rest[cell[corner] as usize];
    let size: [Real; 3] = std::array::from_fn(|axis| at(0).distance(at(1 << axis)));
    let mut add = |a: usize, b: usize, stiffness: Real, area: Real, way: Way| {
        let pair = [cell[a].min(cell[b]), cell[a].max(cell[b])];
        let bond = Bond { other: 0, rest: at(a).distance(at(b)), stiffness };
        parts.push(Spring { pair, bond, path: Path { width: area / bond.rest, way } });
    };
    for (axis, way) in [Way::X, Way::Y, Way::Z].into_iter().enumerate() {
        let (p, q) = ((axis + 1) % 3, (axis + 2) % 3);
        let face = size[p] * size[q];
        let edge = 0.25 * weights[axis] * springs.edges[axis];
        for side in [0, 1 << p, 1 << q, 1 << p | 1 << q] {
            add(side, side | 1 << axis, edge, 0.25 * face, way);
        }
        let diagonal = 0.5 * (weights[p] * weights[q]).sqrt() * springs.diagonals[axis];
        for side in [0, 1 << axis] {
            // It conducts through as much as an edge across it: half of what the two cells at the face have.
            let through = 0.5 * face;
            add(side, side | 1 << p | 1 << q, diagonal, through, Way::Diagonal);
            add(side | 1 << p, side | 1 << q, diagonal, through, Way::Diagonal);
        }
    }
}
