//! Pressure: one solution that keeps places from getting fuller than full.
//!
//! Wanted are pressures `p >= 0` with which, at the end of the step, no place is fuller than it may be, and none has pressure
//! that has room left. What pressures do to velocities and velocities to rates is symmetric (`phyxel_laws::sph`), so the
//! places under pressure are solved for by conjugate gradients; which ones these are is found in a few rounds.

use crate::Real;
use crate::grid::Surroundings;
use crate::parallel;
use glam::Vec3;
use phyxel_laws::lanes::Level;
use phyxel_laws::sph::{Crowd, Kernel, Wall, press, spread_rate};

/// Particles per task.
const GRAIN: usize = 512;
/// Rate at which what is too much is taken away, or the last bit of room, 1/s. All at once would throw particles apart that a
/// rough start put together, and let still fluids fall and stop over and over again.
const SETTLING: Real = 40.0;
/// Most of it that a step takes away.
const RELAXED: Real = 0.2;
/// Room up to which that is so, and from which on all of it may be filled in a step.
const LAST_ROOM: [Real; 2] = [0.02, 0.1];
/// Places whose fullness hardly depends on where particles are cannot be helped: squares of gradients below this, in supports.
const STEEP_ENOUGH: Real = 1e-2;
/// Most rounds of choosing the places under pressure.
const MOST_ROUNDS: u32 = 12;
/// Mean part of a place's room by which places may be overfilled at the end of the step.
const TOLERANCE: f64 = 1e-4;
/// Part of the pressure, with that of a layer's weight, that may be missing: in short steps a large part of it would move little.
const MISSING: f64 = 0.05;
/// Overfilling that cannot be told from rounding.
const ROUNDING: f64 = 1e-6;

/// Particles with what pressure needs to know of them, in the order of cells.
pub(super) struct Pressed<'a> {
    pub kernel: Kernel,
    pub around: &'a Surroundings,
    /// Place (m) and volume (m3).
    pub points: &'a [[Real; 4]],
    /// Sum of gradients, 1/m, and fullness of each place, without walls.
    pub filled: &'a [[Real; 4]],
    /// Sum of squares of gradients, 1/m2.
    pub squares: &'a [Real],
    /// Volume over mass, m3/kg; 0 does not move.
    pub lightness: &'a [Real],
    /// How much fuller places get by a pascal, 1/Pa; 0 for what cannot be pressed.
    pub softness: &'a [Real],
    pub walls: &'a [Wall],
    /// Gravity times the particle distance, m2/s2.
    pub layer: Real,
    /// s.
    pub dt: Real,
}

/// Columns that are worked on.
pub(super) struct Work {
    /// Places with volume times the pressure of a direction.
    loaded: Vec<[Real; 4]>,
    /// Sum of gradients with that of walls.
    slopes: Vec<Vec3>,
    diagonal: Vec<Real>,
    /// Rates allowed, 1/s.
    allowed: Vec<Real>,
    /// Rates beyond what is allowed, 1/s.
    beyond: Vec<Real>,
    direction: Vec<Real>,
    product: Vec<Real>,
    change: Vec<[Real; 4]>,
}

impl Pressed<'_> {
    fn crowd<'a>(&'a self, points: &'a [[Real; 4]]) -> Crowd<'a> {
        Crowd { kernel: self.kernel, points, start: &self.around.start, near: &self.around.near }
    }

    /// Changes velocities (m/s) by what pressures (Pa) of the last step would do in this one.
    ///
    /// Viscosity comes after it and before [`solve`](Self::solve): it sees velocities that are nearly those of the end of the step.
    pub fn begin(&self, pressures: &mut [Real], velocities: &mut [[Real; 4]]) -> Work {
        let mut work = self.prepare(pressures);
        self.push(&mut work);
        add(velocities, &work.change, 1.0);
        work
    }

    /// Finds pressures, from those that velocities began with. Returns the number of products it took.
    pub fn solve(&self, mut work: Work, pressures: &mut [Real], velocities: &mut [[Real; 4]]) -> u32 {
        let mut products = 0;
        for _ in 0..MOST_ROUNDS {
            self.compare(&mut work, pressures, velocities);
            if self.is_done(&work, pressures) {
                break;
            }
            products += self.descend(&mut work, pressures, velocities);
            // What pulls has let go.
            let pulls = pressures.iter().any(|&p| p < 0.0);
            if pulls {
                for (direction, p) in work.direction.iter_mut().zip(pressures.iter_mut()) {
                    *direction = (-*p).max(0.0);
                    *p = p.max(0.0);
                }
                self.load(&mut work);
                self.push(&mut work);
                add(velocities, &work.change, 1.0);
            }
        }
        products
    }

    fn prepare(&self, pressures: &mut [Real]) -> Work {
        let count = self.points.len();
        let (filled, squares) = (self.filled, self.squares);
        let slope = |i: usize| Vec3::new(filled[i][0], filled[i][1], filled[i][2]) + self.walls[i].slope;
        let slopes = parallel::map(count, GRAIN, slope);
        let least = STEEP_ENOUGH / (self.kernel.support * self.kernel.support);
        let diagonal = parallel::map(count, GRAIN, |i| {
            let steep = slopes[i].length_squared() + squares[i];
            if steep > least { self.dt * self.lightness[i] * steep + self.softness[i] / self.dt } else { 0.0 }
        });
        // What flies alone has none.
        parallel::for_each_chunk(pressures, GRAIN, |first, pressures| {
            (first..).zip(pressures).filter(|(i, _)| diagonal[*i] == 0.0).for_each(|(_, p)| *p = 0.0);
        });
        let allowed = parallel::map(count, GRAIN, |i| {
            let room = 1.0 - filled[i][3] - self.walls[i].filled;
            let part = if self.softness[i] > 0.0 { 1.0 } else { part_taken(room, self.dt) };
            part * room / self.dt + self.walls[i].carried
        });
        let mut work = Work {
            loaded: self.points.to_vec(),
            slopes,
            diagonal,
            allowed,
            beyond: vec![0.0; count],
            direction: pressures.to_vec(),
            product: vec![0.0; count],
            change: vec![[0.0; 4]; count],
        };
        self.load(&mut work);
        work
    }

    /// Puts the direction where the visit of neighbours looks for it.
    fn load(&self, work: &mut Work) {
        let direction = &work.direction;
        parallel::for_each_chunk(&mut work.loaded, GRAIN, |first, loaded| {
            for ((row, point), direction) in loaded.iter_mut().zip(&self.points[first..]).zip(&direction[first..]) {
                row[3] = point[3] * direction;
            }
        });
    }

    /// Change of velocities in the step by pressures of `direction`, m/s.
    fn push(&self, work: &mut Work) {
        let (level, crowd) = (Level::detect(), self.crowd(&work.loaded));
        let (direction, slopes) = (&work.direction, &work.slopes);
        parallel::for_each_chunk(&mut work.change, GRAIN, |first, change| {
            press(level, &crowd, first..first + change.len(), change);
            for (i, row) in (first..).zip(change) {
                let push = Vec3::new(row[0], row[1], row[2]) + slopes[i] * direction[i];
                *row = (push * (-self.dt * self.lightness[i])).extend(0.0).to_array();
            }
        });
    }

    /// Rates of filling by velocities, with what walls do, 1/s.
    fn rates(&self, velocities: &[[Real; 4]], rates: &mut [Real]) {
        let (level, crowd) = (Level::detect(), self.crowd(self.points));
        parallel::for_each_chunk(rates, GRAIN, |first, rates| {
            spread_rate(level, &crowd, first..first + rates.len(), velocities, rates);
            for (i, rate) in (first..).zip(rates) {
                let [x, y, z, _] = velocities[i];
                *rate += self.walls[i].slope.dot(Vec3::new(x, y, z));
            }
        });
    }

    /// How far rates are beyond what is allowed.
    fn compare(&self, work: &mut Work, pressures: &[Real], velocities: &[[Real; 4]]) {
        let mut beyond = std::mem::take(&mut work.beyond);
        self.rates(velocities, &mut beyond);
        parallel::for_each_chunk(&mut beyond, GRAIN, |first, beyond| {
            for (i, beyond) in (first..).zip(beyond) {
                *beyond -= work.allowed[i] + self.softness[i] * pressures[i] / self.dt;
            }
        });
        work.beyond = beyond;
    }

    /// Whether what is left is little, as room and as pressure.
    fn is_done(&self, work: &Work, pressures: &[Real]) -> bool {
        let sums = parallel::map_ranges(work.beyond.len(), GRAIN, |range| {
            let mut sum = [0.0f64; 3];
            for i in range.filter(|&i| work.diagonal[i] > 0.0) {
                let beyond = f64::from(work.beyond[i].max(0.0));
                let missing = beyond / f64::from(work.diagonal[i]);
                let weight = if self.lightness[i] > 0.0 { self.layer / self.lightness[i] } else { 0.0 };
                sum = [sum[0] + beyond, sum[1] + missing, sum[2] + f64::from(pressures[i] + weight)];
            }
            sum
        });
        let [beyond, missing, there] =
            sums.into_iter().fold([0.0; 3], |sum, part| [sum[0] + part[0], sum[1] + part[1], sum[2] + part[2]]);
        let overfilled = beyond * f64::from(self.dt) / work.beyond.len().max(1) as f64;
        overfilled < TOLERANCE && (missing < MISSING * there || overfilled < ROUNDING)
    }

    /// Conjugate gradients among the places under pressure or about to be. Returns the number of products.
    fn descend(&self, work: &mut Work, pressures: &mut [Real], velocities: &mut [[Real; 4]]) -> u32 {
        const MOST: u32 = 40;
        let count = pressures.len();
        let under: Vec<bool> =
            parallel::map(count, GRAIN, |i| work.diagonal[i] > 0.0 && (pressures[i] > 0.0 || work.beyond[i] > 0.0));
        let wanted = 0.1 * self.residual(work, &under).1;
        let mut before = 0.0;
        let mut products = 0;
        work.direction.fill(0.0);
        while products < MOST {
            let (square, size) = self.residual(work, &under);
            if size <= wanted || square <= 0.0 {
                break;
            }
            let keep = if before > 0.0 { (square / before) as Real } else { 0.0 };
            before = square;
            let (beyond, diagonal) = (&work.beyond, &work.diagonal);
            parallel::for_each_chunk(&mut work.direction, GRAIN, |first, direction| {
                for (i, direction) in (first..).zip(direction) {
                    let steep = if under[i] && diagonal[i] > 0.0 { beyond[i] / diagonal[i] } else { 0.0 };
                    *direction = steep + keep * *direction;
                }
            });
            self.load(work);
            self.push(work);
            let mut product = std::mem::take(&mut work.product);
            self.rates(&work.change, &mut product);
            let sums = parallel::map_chunks(&mut product, GRAIN, |first, product| {
                let mut sum = 0.0;
                for (i, product) in (first..).zip(product) {
                    *product = self.softness[i] * work.direction[i] / self.dt - *product;
                    sum += f64::from(self.points[i][3]) * f64::from(*product) * f64::from(work.direction[i]);
                }
                sum
            });
            work.product = product;
            products += 1;
            let curvature: f64 = sums.into_iter().sum();
            if curvature <= 0.0 {
                break;
            }
            let length = (square / curvature) as Real;
            add(velocities, &work.change, length);
            add_scaled(pressures, &work.direction, length);
            add_scaled(&mut work.beyond, &work.product, -length);
        }
        products
    }

    /// Square of what is left by the weights of the solution, and the sum of its sizes.
    fn residual(&self, work: &Work, under: &[bool]) -> (f64, f64) {
        let sums = parallel::map_ranges(under.len(), GRAIN, |range| {
            let mut sum = (0.0, 0.0);
            for i in range.filter(|&i| under[i] && work.diagonal[i] > 0.0) {
                let beyond = f64::from(work.beyond[i]);
                sum.0 += f64::from(self.points[i][3]) * beyond * beyond / f64::from(work.diagonal[i]);
                sum.1 += beyond.abs();
            }
            sum
        });
        sums.into_iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }
}

/// Part of some room that may be filled in a step, and of too little of it that is made.
fn part_taken(room: Real, dt: Real) -> Real {
    let ([last, enough], relaxed) = (LAST_ROOM, (SETTLING * dt).min(RELAXED));
    (relaxed + (1.0 - relaxed) * (room - last) / (enough - last)).clamp(relaxed, 1.0)
}

fn add(rows: &mut [[Real; 4]], more: &[[Real; 4]], times: Real) {
    parallel::for_each_chunk(rows, GRAIN, |first, rows| {
        for (row, more) in rows.iter_mut().zip(&more[first..]) {
            (0..3).for_each(|axis| row[axis] += times * more[axis]);
        }
    });
}

fn add_scaled(column: &mut [Real], more: &[Real], times: Real) {
    parallel::for_each_chunk(column, GRAIN, |first, column| {
        for (value, more) in column.iter_mut().zip(&more[first..]) {
            *value += times * more;
        }
    });
}
