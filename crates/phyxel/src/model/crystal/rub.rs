//! Viscosity: one linear problem, solved in a single step where it is weak and by conjugate gradients where it is strong.

use super::GRAIN;
use crate::Real;
use crate::grid::Surroundings;
use crate::parallel;
use glam::{Mat3, Vec3};
use phyxel_laws::lanes::Level;
use phyxel_laws::sph::{Brace, Crowd, Kernel, Rim, brace, loosen, rub, swirl};

/// Part of what is left at the start that may be left at the end.
const TOLERANCE: f64 = 1e-4;
/// Most products of a step.
const MOST_PRODUCTS: u32 = 200;

/// Particles with what rubbing needs to know of them, in the order of cells.
pub(super) struct Rubbed<'a> {
    pub kernel: Kernel,
    pub around: &'a Surroundings,
    /// Place (m) and volume (m3).
    pub points: &'a [[Real; 4]],
    /// kg; 0 does not move.
    pub masses: &'a [Real],
    pub rims: &'a [Rim],
    /// How firmly walls hold a particle over [`Rim::hold`]: viscosity times volume, Pa s m3.
    pub sticky: &'a [Real],
    /// s.
    pub dt: Real,
}

/// Columns that are worked on.
struct Work {
    loose: Vec<[[Real; 3]; 3]>,
    turns: Vec<[Real; 4]>,
    forces: Vec<[Real; 4]>,
}

impl Rubbed<'_> {
    fn crowd(&self) -> Crowd<'_> {
        Crowd { kernel: self.kernel, points: self.points, start: &self.around.start, near: &self.around.near }
    }

    /// Changes velocities (m/s, with viscosities as [`brace`] takes them) by what rubbing does in the step: as it is at its
    /// start if `weak`, as it is at its end if not. Returns the number of products.
    pub fn apply(&self, velocities: &mut [[Real; 4]], weak: bool) -> u32 {
        let count = velocities.len();
        let mut braces: Vec<Brace> = vec![[0.0; 10]; count];
        let (level, crowd, now) = (Level::detect(), self.crowd(), &*velocities);
        parallel::for_each_chunk(&mut braces, GRAIN, |first, braces| {
            brace(level, &crowd, first..first + braces.len(), now, braces);
        });
        let loose: Vec<[[Real; 3]; 3]> = parallel::map(count, GRAIN, |i| loosen(&braces[i]));
        let turns = parallel::map(count, GRAIN, |i| {
            let [.., x, y, z] = braces[i];
            turn(&loose[i], Vec3::new(x, y, z))
        });
        let mut work = Work { loose, turns, forces: vec![[0.0; 4]; count] };
        self.push(velocities, &mut work);
        let drag = |i: usize| (self.rims[i].hold, self.rims[i].carried, self.sticky[i]);
        // What walls that move carry along.
        parallel::for_each_chunk(&mut work.forces, GRAIN, |first, forces| {
            for (i, force) in (first..).zip(forces) {
                let (_, carried, sticky) = drag(i);
                (0..3).for_each(|axis| force[axis] += sticky * carried[axis]);
            }
        });
        let steady = |i: usize| self.masses[i] + self.dt * (1.5 * braces[i][0] + self.sticky[i] * self.rims[i].hold);
        let diagonal = parallel::map(count, GRAIN, |i| if self.masses[i] > 0.0 { steady(i) } else { 0.0 });
        if weak {
            parallel::for_each_chunk(velocities, GRAIN, |first, rows| {
                for (i, row) in (first..).zip(rows).filter(|(i, _)| self.masses[*i] > 0.0) {
                    (0..3).for_each(|axis| row[axis] += self.dt * work.forces[i][axis] / self.masses[i]);
                }
            });
            return 1;
        }
        self.descend(velocities, &mut work, &diagonal)
    }

    /// How neighbourhoods turn.
    fn turn(&self, rows: &[[Real; 4]], work: &mut Work) {
        let (level, crowd) = (Level::detect(), self.crowd());
        let loose = &work.loose;
        parallel::for_each_chunk(&mut work.turns, GRAIN, |first, turns| {
            swirl(level, &crowd, first..first + turns.len(), rows, turns);
            for (row, loose) in turns.iter_mut().zip(&loose[first..]) {
                *row = turn(loose, Vec3::new(row[0], row[1], row[2]));
            }
        });
    }

    /// Force of rubbing on all, with neighbourhoods that turn as found, and of walls that stand still, N.
    fn push(&self, rows: &[[Real; 4]], work: &mut Work) {
        let (level, crowd) = (Level::detect(), self.crowd());
        let Work { turns, forces, .. } = work;
        let turns = &*turns;
        parallel::for_each_chunk(forces, GRAIN, |first, forces| {
            rub(level, &crowd, first..first + forces.len(), rows, turns, forces);
            for (i, force) in (first..).zip(forces) {
                let hold = self.sticky[i] * self.rims[i].hold;
                (0..3).for_each(|axis| force[axis] -= hold * rows[i][axis]);
            }
        });
    }

    /// Conjugate gradients for `m (v - v0) = dt F(v)`, with the forces at the start in `work`.
    fn descend(&self, velocities: &mut [[Real; 4]], work: &mut Work, diagonal: &[Real]) -> u32 {
        let mut left: Vec<[Real; 4]> = parallel::map(velocities.len(), GRAIN, |i| {
            let [x, y, z, _] = work.forces[i];
            if diagonal[i] > 0.0 { [self.dt * x, self.dt * y, self.dt * z, 0.0] } else { [0.0; 4] }
        });
        // The fourth numbers stay: viscosities.
        let mut direction: Vec<[Real; 4]> = velocities.iter().map(|row| [0.0, 0.0, 0.0, row[3]]).collect();
        let first = square(&left, diagonal);
        let (mut now, mut before, mut products) = (first, 0.0, 0);
        while now > TOLERANCE * TOLERANCE * first && products < MOST_PRODUCTS {
            let keep = if before > 0.0 { (now / before) as Real } else { 0.0 };
            parallel::for_each_chunk(&mut direction, GRAIN, |first, rows| {
                for (i, row) in (first..).zip(rows).filter(|(i, _)| diagonal[*i] > 0.0) {
                    (0..3).for_each(|axis| row[axis] = left[i][axis] / diagonal[i] + keep * row[axis]);
                }
            });
            self.turn(&direction, work);
            self.push(&direction, work);
            let forces = &work.forces;
            let product = |i: usize, axis: usize| self.masses[i] * direction[i][axis] - self.dt * forces[i][axis];
            let sums = parallel::map_ranges(left.len(), GRAIN, |range| {
                let rows = range.filter(|&i| diagonal[i] > 0.0);
                rows.flat_map(|i| (0..3).map(move |axis| (i, axis)))
                    .map(|(i, axis)| f64::from(direction[i][axis]) * f64::from(product(i, axis)))
                    .sum::<f64>()
            });
            let curvature: f64 = sums.into_iter().sum();
            products += 1;
            if curvature <= 0.0 {
                break;
            }
            let length = (now / curvature) as Real;
            parallel::for_each_chunk(velocities, GRAIN, |first, rows| {
                for (row, way) in rows.iter_mut().zip(&direction[first..]) {
                    (0..3).for_each(|axis| row[axis] += length * way[axis]);
                }
            });
            parallel::for_each_chunk(&mut left, GRAIN, |first, rows| {
                for (i, row) in (first..).zip(rows).filter(|(i, _)| diagonal[*i] > 0.0) {
                    (0..3).for_each(|axis| row[axis] -= length * product(i, axis));
                }
            });
            before = now;
            now = square(&left, diagonal);
        }
        products
    }
}

/// Turn of a neighbourhood with a swirl, rad/s.
fn turn(loose: &[[Real; 3]; 3], swirl: Vec3) -> [Real; 4] {
    (Mat3::from_cols_array_2d(loose) * swirl).extend(0.0).to_array()
}

/// Square of what is left, by the weights of the diagonal.
fn square(left: &[[Real; 4]], diagonal: &[Real]) -> f64 {
    let sums = parallel::map_ranges(left.len(), GRAIN, |range| {
        let rows = range.filter(|&i| diagonal[i] > 0.0);
        rows.map(|i| {
            let [x, y, z, _] = left[i].map(f64::from);
            (x * x + y * y + z * z) / f64::from(diagonal[i])
        })
        .sum::<f64>()
    });
    sums.into_iter().sum()
}
