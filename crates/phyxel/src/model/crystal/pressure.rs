//! Pressure: one solution that keeps places from getting fuller than full.
//!
//! Wanted are pressures `p >= 0` with which, at the end of the step, no place is fuller than it may be, and none has pressure
//! that has room left. What pressures do to velocities and velocities to rates is symmetric (`phyxel_laws::sph`), so the
//! places under pressure are solved for by conjugate gradients; which ones these are is found in a few rounds.
//!
//! Two kinds of pressure would take many rounds. Those of whole regions: coarse cells guess them. And those that change from each
//! particle to the next and hardly push, as gradients are sums over neighbourhoods; no round gets anywhere with them. So a part
//! [`EVEN`] of the plain Laplacian is added to what a change of pressure in a step does (after Brezzi and Pitkäranta `[BP84]`): it
//! evens out such changes, and what it leaves of others the next step finds, as it is of changes only, not of pressure.

use super::coarse::{Coarse, Share};
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
/// Part of the plain Laplacian in what changes of pressure do. With less, rounds are many; with more, more is left to later steps.
const EVEN: Real = 0.05;
/// Gradient of an even pressure, over supports, from which on a place is at the rim of what is under pressure. Disorder makes some
/// too; half of it is missing at a surface, which makes three.
const RIM: Real = 0.75;
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
    /// Sums of squares of gradients, and of gradients over distances, 1/m2.
    pub stiff: &'a [[Real; 2]],
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
    /// Change of velocities, m/s, and sum of pressures around by gradients over distances, Pa/m2.
    change: Vec<[Real; 4]>,
    /// How much the plain Laplacian counts, m3 s/kg.
    even: Real,
    /// What it leaves of this step's changes to the next step, 1/s.
    left: Vec<Real>,
    /// Guesses at the pressure that is missing, Pa.
    guess: Vec<Real>,
    coarse: Option<Coarse>,
    /// How firmly places at the rim of what is under pressure hold it to none, 1/(Pa s).
    rim: Vec<Real>,
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
                self.leave(&mut work, 1.0);
                add(velocities, &work.change, 1.0);
            }
        }
        products
    }

    fn prepare(&self, pressures: &mut [Real]) -> Work {
        let count = self.points.len();
        let filled = self.filled;
        let slope = |i: usize| Vec3::new(filled[i][0], filled[i][1], filled[i][2]) + self.walls[i].slope;
        let slopes = parallel::map(count, GRAIN, slope);
        let least = STEEP_ENOUGH / (self.kernel.support * self.kernel.support);
        let diagonal = parallel::map(count, GRAIN, |i| {
            let steep = slopes[i].length_squared() + self.stiff[i][0];
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
        let lightest = |range: std::ops::Range<usize>| {
            self.lightness[range].iter().filter(|&&l| l > 0.0).fold(Real::INFINITY, |least, &l| least.min(l))
        };
        let least = parallel::map_ranges(count, GRAIN, lightest).into_iter().fold(Real::INFINITY, Real::min);
        let mut work = Work {
            loaded: self.points.to_vec(),
            slopes,
            diagonal,
            allowed,
            beyond: vec![0.0; count],
            direction: pressures.to_vec(),
            product: vec![0.0; count],
            change: vec![[0.0; 4]; count],
            even: if least.is_finite() { 2.0 * EVEN * self.dt * least } else { 0.0 },
            left: vec![0.0; count],
            guess: vec![0.0; count],
            coarse: None,
            rim: Vec::new(),
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

    /// Change of velocities in the step by pressures of `direction`, m/s; and what the plain Laplacian needs of it.
    fn push(&self, work: &mut Work) {
        let (level, crowd) = (Level::detect(), self.crowd(&work.loaded));
        let (direction, slopes) = (&work.direction, &work.slopes);
        parallel::for_each_chunk(&mut work.change, GRAIN, |first, change| {
            press(level, &crowd, first..first + change.len(), change);
            for (i, row) in (first..).zip(change) {
                let push = Vec3::new(row[0], row[1], row[2]) + slopes[i] * direction[i];
                *row = (push * (-self.dt * self.lightness[i])).extend(row[3]).to_array();
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
                *beyond -= work.allowed[i] + work.left[i] + self.softness[i] * pressures[i] / self.dt;
            }
        });
        work.beyond = beyond;
    }

    /// Whether what is left is little, as room and as pressure.
    fn is_done(&self, work: &Work, pressures: &[Real]) -> bool {
        let sums = parallel::map_ranges(work.beyond.len(), GRAIN, |range| {
            let mut sum = [0.0f64; 3];
            for i in range.filter(|&i| work.diagonal[i] > 0.0) {
                let beyond = work.beyond[i];
                let beyond = f64::from(if pressures[i] > 0.0 { beyond.abs() } else { beyond.max(0.0) });
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
        let mut coarse = work.coarse.take().unwrap_or_else(|| Coarse::new(&self.around.cells, count));
        self.spread(&mut coarse, work, &under);
        let wanted = 0.1 * self.size(work, &under);
        let mut before = 0.0;
        let mut products = 0;
        work.direction.fill(0.0);
        while products < MOST && self.size(work, &under) > wanted {
            let square = self.guess(&mut coarse, work, &under);
            if square <= 0.0 {
                break;
            }
            let keep = if before > 0.0 { (square / before) as Real } else { 0.0 };
            before = square;
            let guess = &work.guess;
            parallel::for_each_chunk(&mut work.direction, GRAIN, |first, direction| {
                direction
                    .iter_mut()
                    .zip(&guess[first..])
                    .for_each(|(direction, guess)| *direction = guess + keep * *direction);
            });
            self.load(work);
            self.push(work);
            let mut product = std::mem::take(&mut work.product);
            self.rates(&work.change, &mut product);
            let sums = parallel::map_chunks(&mut product, GRAIN, |first, product| {
                let mut sum = 0.0;
                for (i, product) in (first..).zip(product) {
                    let evened = work.even * self.unevenness(work, i);
                    *product = self.softness[i] * work.direction[i] / self.dt + evened - *product;
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
            self.leave(work, length);
            add(velocities, &work.change, length);
            add_scaled(pressures, &work.direction, length);
            add_scaled(&mut work.beyond, &work.product, -length);
        }
        work.coarse = Some(coarse);
        products
    }

    /// Minus the plain Laplacian of the direction that was pushed last, Pa/m2.
    fn unevenness(&self, work: &Work, i: usize) -> Real {
        self.stiff[i][1] * work.direction[i] - work.change[i][3]
    }

    /// Notes what is left to the next step of a change by so much of the direction that was pushed last.
    fn leave(&self, work: &mut Work, length: Real) {
        let mut left = std::mem::take(&mut work.left);
        parallel::for_each_chunk(&mut left, GRAIN, |first, left| {
            (first..).zip(left).for_each(|(i, left)| *left += length * work.even * self.unevenness(work, i));
        });
        work.left = left;
    }

    /// Tells coarse cells what the places under pressure are like.
    fn spread(&self, coarse: &mut Coarse, work: &mut Work, under: &[bool]) {
        // Steps of pressure at the rim of what is under it, and where nothing is beyond, hold it to none. Where the rim is changes
        // little while pressures are solved for.
        if work.rim.is_empty() {
            let own = work.direction.iter_mut().zip(under);
            own.for_each(|(direction, under)| *direction = if *under { 1.0 } else { 0.0 });
            self.load(work);
            self.push(work);
            let least = RIM / self.kernel.support;
            work.rim = parallel::map(under.len(), GRAIN, |i| {
                let eases = self.dt * self.lightness[i];
                let [x, y, z, _] = work.change[i];
                let steep = if eases > 0.0 { Vec3::new(x, y, z).length() / eases } else { 0.0 };
                if steep > least { eases * steep * steep } else { 0.0 }
            });
        }
        let (width, rim) = (self.around.width, &work.rim);
        coarse.set(|i| {
            if !under[i] {
                return Share::default();
            }
            let volume = self.points[i][3];
            let conducts = volume * self.dt * self.lightness[i] / (width * width);
            Share { conducts, holds: volume * (rim[i] + self.softness[i] / self.dt) }
        });
    }

    /// Guesses at what pressure is missing; what is left times that, by the weights of the solution.
    fn guess(&self, coarse: &mut Coarse, work: &mut Work, under: &[bool]) -> f64 {
        let (beyond, diagonal) = (&work.beyond, &work.diagonal);
        coarse.guess(|i| if under[i] { self.points[i][3] * beyond[i] } else { 0.0 });
        let sums = parallel::map_chunks(&mut work.guess, GRAIN, |first, guesses| {
            let mut sum = 0.0;
            for (i, guess) in (first..).zip(guesses) {
                *guess = if under[i] { beyond[i] / diagonal[i] + coarse.at(i) } else { 0.0 };
                sum += f64::from(self.points[i][3] * beyond[i]) * f64::from(*guess);
            }
            sum
        });
        sums.into_iter().sum()
    }

    /// Sum of the sizes of what is left.
    fn size(&self, work: &Work, under: &[bool]) -> f64 {
        let sums = parallel::map_ranges(under.len(), GRAIN, |range| {
            range.filter(|&i| under[i]).map(|i| f64::from(work.beyond[i].abs())).sum::<f64>()
        });
        sums.into_iter().sum()
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
