//! Aggregation multigrid: the coarse correction of the pressure preconditioner.
//!
//! Conjugate gradients over particles spread pressure by one neighbourhood per iteration. Here the particles
//! of a search cell are one unknown, eight cells are one of the next level, and so on. On each level, cells
//! that share a face are coupled by `v V/H^2`, with the specific volume `v`, the volume `V` and the cell size
//! `H`. A V-cycle over these levels is a symmetric positive approximation of the inverse, of the same quality
//! for any number of particles (aggregation multigrid with coarse coefficients halved after Braess `[B95]`,
//! as steps between cells have twice the energy of slopes).

use crate::Real;
use crate::numerics::Csr;
use crate::parallel;

/// Cells per task.
const GRAIN: usize = 1024;
/// Damping factor of the Jacobi smoother.
const JACOBI_DAMPING: Real = 0.7;
/// Bits of a cell coordinate.
const KEY_BITS: u32 = 21;
/// Faces of a cell.
const FACES: usize = 6;

/// Contribution of a particle or cell to its coarse cell.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CellTerm {
    /// Coupling coefficient over the squared cell size.
    pub coefficient: Real,
    /// Dirichlet coefficient of the free surface and of compressibility.
    pub dirichlet: Real,
}

/// Hierarchy of levels, finest first.
pub(super) struct Multigrid {
    levels: Vec<GridLevel>,
}

/// One level. Its children are particles on the finest level, and cells of the finer level elsewhere.
struct GridLevel {
    /// Cell of each child.
    parents: Vec<u32>,
    /// Children of each cell.
    children: Csr<u32>,
    /// Cell beyond each face, or the cell itself.
    neighbours: Vec<[u32; FACES]>,
    /// Coupling across each face.
    coefficients: Vec<[Real; FACES]>,
    dirichlet: Vec<Real>,
    diagonal: Vec<Real>,
    rhs: Vec<Real>,
    solution: Vec<Real>,
    residual: Vec<Real>,
}

impl Multigrid {
    /// Creates the hierarchy from the first particle and the coordinates of each cell, in the order of z, y,
    /// x, and the number of particles.
    pub fn new(cells: &[(u32, [u32; 3])], particles: usize) -> Self {
        let key = |at: [u32; 3]| u64::from(at[0]) | u64::from(at[1]) << KEY_BITS | u64::from(at[2]) << (2 * KEY_BITS);
        let mut keys: Vec<u64> = cells.iter().map(|(_, at)| key(*at)).collect();
        let ends = cells.iter().skip(1).map(|(first, _)| *first).chain([particles as u32]);
        let children = Csr::from_rows(cells.iter().zip(ends).map(|((first, _), end)| *first..end));
        let mut levels = vec![GridLevel::new(children, &keys)];
        while keys.len() > 1 {
            let mask = key([(1 << (KEY_BITS - 1)) - 1; 3]);
            let mut order: Vec<(u64, u32)> = keys.iter().zip(0..).map(|(key, i)| (key >> 1 & mask, i)).collect();
            order.sort_unstable();
            let coarse_cells = || order.chunk_by(|a, b| a.0 == b.0);
            keys = coarse_cells().map(|cell| cell[0].0).collect();
            let children = Csr::from_rows(coarse_cells().map(|cell| cell.iter().map(|&(_, i)| i)));
            levels.push(GridLevel::new(children, &keys));
        }
        Self { levels }
    }

    /// Assembles all levels from the terms of particles.
    pub fn assemble(&mut self, term: impl Fn(usize) -> CellTerm + Sync) {
        self.levels[0].assemble_finest(term);
        for k in 1..self.levels.len() {
            let (fine, coarse) = self.levels.split_at_mut(k);
            coarse[0].assemble_coarse(&fine[k - 1]);
        }
    }

    /// Runs a V-cycle for a right-hand side by particle. [`correction`](Self::correction) returns its result.
    pub fn v_cycle(&mut self, rhs: impl Fn(usize) -> Real + Sync) {
        self.levels[0].restrict(rhs);
        let last = self.levels.len() - 1;
        for k in 0..last {
            let (fine, coarse) = self.levels.split_at_mut(k + 1);
            let (fine, coarse) = (&mut fine[k], &mut coarse[0]);
            fine.pre_smooth();
            fine.update_residual();
            coarse.restrict(|i| fine.residual[i]);
        }
        let coarsest = &mut self.levels[last];
        coarsest.pre_smooth();
        coarsest.smooth();
        for k in (0..last).rev() {
            let (fine, coarse) = self.levels.split_at_mut(k + 1);
            let (fine, coarse) = (&mut fine[k], &coarse[0]);
            // Prolongation is constant in a cell.
            parallel::for_each_chunk(&mut fine.solution, GRAIN, |first, x| {
                (first..).zip(x).for_each(|(i, x)| *x += coarse.solution[coarse.parents[i] as usize]);
            });
            fine.smooth();
        }
    }

    /// Correction of a particle by the last V-cycle.
    pub fn correction(&self, particle: usize) -> Real {
        let finest = &self.levels[0];
        finest.solution[finest.parents[particle] as usize]
    }
}

impl GridLevel {
    fn new(children: Csr<u32>, keys: &[u64]) -> Self {
        let count = keys.len();
        let mut parents = vec![0; children.entries().len()];
        for (cell, children) in children.rows(0..count).enumerate() {
            children.iter().for_each(|&i| parents[i as usize] = cell as u32);
        }
        let mut neighbours: Vec<[u32; FACES]> = (0..count as u32).map(|i| [i; FACES]).collect();
        for axis in 0..3 {
            // Keys increase, and so do those of the cells beyond.
            let (step, mut other) = (1 << (axis as u32 * KEY_BITS), 0);
            for (cell, key) in keys.iter().enumerate() {
                while other < count && keys[other] < key + step {
                    other += 1;
                }
                if other < count && keys[other] == key + step {
                    neighbours[cell][2 * axis] = other as u32;
                    neighbours[other][2 * axis + 1] = cell as u32;
                }
            }
        }
        let zeros = vec![0.0; count];
        Self {
            parents,
            children,
            neighbours,
            coefficients: vec![[0.0; FACES]; count],
            dirichlet: zeros.clone(),
            diagonal: zeros.clone(),
            rhs: zeros.clone(),
            solution: zeros.clone(),
            residual: zeros,
        }
    }

    /// Assembles the finest level: sums terms in cells and takes harmonic means across faces.
    fn assemble_finest(&mut self, term: impl Fn(usize) -> CellTerm + Sync) {
        let terms: Vec<CellTerm> = parallel::map(self.dirichlet.len(), GRAIN, |cell| {
            self.children.row(cell).iter().fold(CellTerm::default(), |sum, &i| {
                let term = term(i as usize);
                CellTerm { coefficient: sum.coefficient + term.coefficient, dirichlet: sum.dirichlet + term.dirichlet }
            })
        });
        self.coefficients = parallel::map(terms.len(), GRAIN, |cell| {
            self.neighbours[cell].map(|other| {
                let (a, b) = (terms[cell].coefficient, terms[other as usize].coefficient);
                if other as usize == cell || a * b == 0.0 { 0.0 } else { 2.0 * a * b / (a + b) }
            })
        });
        self.dirichlet = terms.iter().map(|term| term.dirichlet).collect();
        self.update_diagonal();
    }

    /// Assembles a coarse level from the finer one: `P^T A P` with halved coefficients `[B95]`.
    fn assemble_coarse(&mut self, fine: &GridLevel) {
        self.coefficients = parallel::map(self.dirichlet.len(), GRAIN, |cell| {
            let mut sums = [0.0; FACES];
            for &i in self.children.row(cell) {
                let faces = fine.neighbours[i as usize].iter().zip(&fine.coefficients[i as usize]);
                for (sum, (other, coefficient)) in sums.iter_mut().zip(faces) {
                    let is_outside = self.parents[*other as usize] as usize != cell;
                    *sum += if is_outside { 0.5 * coefficient } else { 0.0 };
                }
            }
            sums
        });
        self.dirichlet = parallel::map(self.dirichlet.len(), GRAIN, |cell| {
            self.children.row(cell).iter().map(|&i| fine.dirichlet[i as usize]).sum()
        });
        self.update_diagonal();
    }

    fn update_diagonal(&mut self) {
        self.diagonal = parallel::map(self.dirichlet.len(), GRAIN, |cell| {
            self.dirichlet[cell] + self.coefficients[cell].iter().sum::<Real>()
        });
    }

    /// Sets the right-hand side to sums over children.
    fn restrict(&mut self, fine: impl Fn(usize) -> Real + Sync) {
        let children = &self.children;
        parallel::for_each_chunk(&mut self.rhs, GRAIN, |first, sums| {
            for (cell, sum) in (first..).zip(sums) {
                *sum = children.row(cell).iter().map(|&i| fine(i as usize)).sum();
            }
        });
    }

    /// Smooths once, from a solution of 0.
    fn pre_smooth(&mut self) {
        let (rhs, diagonal) = (&self.rhs, &self.diagonal);
        parallel::for_each_chunk(&mut self.solution, GRAIN, |first, x| {
            for (cell, x) in (first..).zip(x) {
                *x = if diagonal[cell] > 0.0 { JACOBI_DAMPING * rhs[cell] / diagonal[cell] } else { 0.0 };
            }
        });
    }

    fn update_residual(&mut self) {
        let (rhs, diagonal, x) = (&self.rhs, &self.diagonal, &self.solution);
        let (neighbours, coefficients) = (&self.neighbours, &self.coefficients);
        parallel::for_each_chunk(&mut self.residual, GRAIN, |first, residuals| {
            for (cell, residual) in (first..).zip(residuals) {
                let mut r = rhs[cell] - diagonal[cell] * x[cell];
                for (other, coefficient) in neighbours[cell].iter().zip(&coefficients[cell]) {
                    r += coefficient * x[*other as usize];
                }
                *residual = r;
            }
        });
    }

    /// Smooths once: a damped Jacobi iteration.
    fn smooth(&mut self) {
        self.update_residual();
        let (residual, diagonal) = (&self.residual, &self.diagonal);
        parallel::for_each_chunk(&mut self.solution, GRAIN, |first, x| {
            for (cell, x) in (first..).zip(x) {
                if diagonal[cell] > 0.0 {
                    *x += JACOBI_DAMPING * residual[cell] / diagonal[cell];
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phyxel_laws::rng::CounterRng;

    /// A block of cells of two particles each, with a Dirichlet condition at its left end.
    fn block(size: [u32; 3]) -> (Multigrid, usize) {
        let mut cells = Vec::new();
        for z in 0..size[2] {
            for y in 0..size[1] {
                cells.extend((0..size[0]).map(|x| (0, [x + 2, y + 2, z + 2])));
            }
        }
        cells.iter_mut().zip((0..).step_by(2)).for_each(|(cell, first)| cell.0 = first);
        let particles = 2 * cells.len();
        let mut multigrid = Multigrid::new(&cells, particles);
        let is_left = |i: usize| cells[i / 2].1[0] == 2;
        multigrid.assemble(|i| CellTerm { coefficient: 0.5, dirichlet: if is_left(i) { 0.5 } else { 0.0 } });
        (multigrid, particles)
    }

    fn random_vector(count: usize, seed: u64) -> Vec<Real> {
        let rng = CounterRng::new(seed, 0);
        (0..count as u32).map(|i| 2.0 * rng.uniform(i, 0) - 1.0).collect()
    }

    fn apply(multigrid: &mut Multigrid, rhs: &[Real]) -> Vec<Real> {
        multigrid.v_cycle(|i| rhs[i]);
        (0..rhs.len()).map(|i| multigrid.correction(i)).collect()
    }

    fn dot(a: &[Real], b: &[Real]) -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    }

    #[test]
    fn v_cycles_are_symmetric_and_positive() {
        let (mut multigrid, particles) = block([13, 7, 5]);
        let (a, b) = (random_vector(particles, 1), random_vector(particles, 2));
        let (m_a, m_b) = (apply(&mut multigrid, &a), apply(&mut multigrid, &b));
        let size = (dot(&m_a, &a) * dot(&m_b, &b)).sqrt();
        // Sums of a thousand numbers with seven digits, through a few levels.
        assert!((dot(&m_a, &b) - dot(&m_b, &a)).abs() < 1e-4 * size);
        assert!(dot(&m_a, &a) > 0.0 && dot(&m_b, &b) > 0.0);
    }

    #[test]
    fn one_v_cycle_transports_a_load_at_the_end_along_a_rod() {
        // Along a rod fixed at the left with flux 1 from the right, the solution rises by 1 per cell.
        // Smoothing alone would need as many iterations as the square of its length.
        let (mut multigrid, particles) = block([64, 1, 1]);
        let rhs: Vec<Real> = (0..particles).map(|i| if i == particles - 1 { 1.0 } else { 0.0 }).collect();
        let solution = apply(&mut multigrid, &rhs);
        let exact: Vec<Real> = (0..particles).map(|i| (i / 2 + 1) as Real).collect();
        let ratio = dot(&solution, &exact) / dot(&exact, &exact);
        // Piecewise constants over two, four and more cells stand for slopes: accurate to a factor of two or
        // so, which is enough.
        assert!(ratio > 0.4 && ratio < 1.6, "{ratio}");
    }
}
