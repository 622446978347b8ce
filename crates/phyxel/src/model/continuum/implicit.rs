//! Backward Euler: velocities at the end of a step, by conjugate gradients.
//!
//! `(M - dt^2 K + dt D) v' = M v + dt f`, with the stiffness `K` and the damping `D` at the start of the step. No matrix
//! is put together: its products are differences of forces. So that it is positive, `K` leaves out what stress does to
//! turns where any of it is compression, and the second derivative of the volume.

use super::field::{Field, GRAIN, spread};
use crate::Real;
use crate::model::gradients::{Equations, Groups, TOLERANCE};
use crate::parallel;
use glam::{Mat3, Vec3};
use phyxel_laws::elastic::Hooke;
use phyxel_laws::lanes::{Eight, WIDTH};
use phyxel_laws::phyxels::{Deformation, measure, stress_of};

/// Compression up to this part of the stress counts as none.
const NO_COMPRESSION: Real = 0.02;

/// What a phyxel resists a move alone with, N/m, and what damping brakes it with, N s/m.
pub(super) type Block = (Mat3, Real);

/// Where the system is linearised.
pub(super) struct Linear {
    shapes: Vec<Deformation>,
    stress: Vec<[Eight; 6]>,
    damped: bool,
    moves: Vec<[f32; 4]>,
    /// Inverses of the blocks on the diagonal.
    blocks: Vec<Mat3>,
}

/// What a step starts from.
pub(super) struct Start<'a> {
    pub velocities: &'a [Vec3],
    /// At the start of the step, without damping, N.
    pub forces: &'a [Vec3],
    pub masses: &'a [Real],
    pub gravity: Vec3,
    pub dt: Real,
}

impl Field {
    /// Velocities at the end of a step from where [`place`](Self::place) has put the phyxels, and the rounds it took;
    /// those that are held stay as they are.
    pub fn solve(&mut self, start: &Start, guide: &[Block], held: impl Fn(usize) -> bool + Sync) -> (Vec<Vec3>, u32) {
        let mut linear = self.linearise(start, guide, &held);
        let blocks = std::mem::take(&mut linear.blocks);
        let (count, fall) = (self.cloud.len(), start.gravity * start.dt);
        let mut solution: Vec<Vec3> =
            (0..count).map(|i| if held(i) { start.velocities[i] } else { start.velocities[i] + fall }).collect();
        let right = |i: usize| start.masses[i] * (start.velocities[i] + fall) + start.forces[i] * start.dt;
        let right: Vec<Vec3> = (0..count).map(right).collect();
        let free = |i: usize, x: Vec3| if held(i) { Vec3::ZERO } else { x };
        let mut left = vec![Vec3::ZERO; count];
        self.multiply(&mut linear, start, &solution, &mut left);
        left.iter_mut().enumerate().for_each(|(i, left)| *left = free(i, right[i] - *left));
        let multiply = |x: &[Vec3], product: &mut [Vec3]| {
            self.multiply(&mut linear, start, x, product);
            product.iter_mut().enumerate().for_each(|(i, x)| *x = free(i, *x));
        };
        // Blocks of phyxels that are held are nothing.
        let guide = |left: &[Vec3], better: &mut [Vec3]| {
            parallel::for_each_chunk(better, GRAIN * WIDTH, |first, better| {
                (first..).zip(better).for_each(|(i, better)| *better = blocks[i] * left[i]);
            });
        };
        let (groups, before, least) = (Groups::ONE, Vec::new(), Vec::new());
        let equations = Equations { multiply, guide, groups, before, least, tolerance: TOLERANCE };
        let rounds = equations.solve(left, &mut solution).rounds;
        (solution, rounds)
    }

    fn linearise(&self, start: &Start, guide: &[Block], held: &(impl Fn(usize) -> bool + Sync)) -> Linear {
        let made = parallel::map(self.cloud.packs.len(), GRAIN, |pack| {
            let mut shape: Deformation = [[[0.0; WIDTH]; 3]; 3];
            measure(self.level, &self.cloud.group(pack, &[]), &self.points, &mut shape);
            (shape, without_compression(stress_of(&self.matter.hooke, &self.elastic[pack])))
        });
        let (shapes, stress): (Vec<_>, Vec<_>) = made.into_iter().unzip();
        let blocks = parallel::map(self.cloud.len(), GRAIN * WIDTH, |i| {
            if held(i) {
                return Mat3::ZERO;
            }
            let (shape, (block, brake)) = (shape_of(&shapes, i), guide[i]);
            let block = shape * block * shape.transpose() * (start.dt * start.dt);
            (Mat3::from_diagonal(Vec3::splat(start.masses[i] + start.dt * brake)) + block).inverse()
        });
        let moves = vec![[0.0; 4]; self.cloud.padded()];
        Linear { shapes, stress, damped: self.is_damped(), moves, blocks }
    }

    /// `(M - dt^2 K + dt D) v`.
    fn multiply(&mut self, linear: &mut Linear, start: &Start, velocities: &[Vec3], product: &mut [Vec3]) {
        spread(&mut linear.moves, velocities, start.dt);
        self.change(&|pack| (&linear.shapes[pack], &linear.stress[pack]), &linear.moves);
        if linear.damped {
            self.velocities.resize(self.cloud.padded(), [0.0; 4]);
            spread(&mut self.velocities, velocities, 1.0);
        }
        product.fill(Vec3::ZERO);
        self.pull(0..self.cloud.padded(), linear.damped, true, product);
        parallel::for_each_chunk(product, GRAIN * WIDTH, |first, product| {
            for (k, x) in product.iter_mut().enumerate() {
                *x = start.masses[first + k] * velocities[first + k] - start.dt * *x;
            }
        });
    }

    /// Blocks of minus the stiffness on the diagonal in the reference shape, N/m, and how damping brakes each phyxel, N s/m.
    pub fn find_blocks(&self) -> Vec<Block> {
        let (lambda, mu) = match self.matter.hooke {
            Hooke::Isotropic { lambda, mu } => (lambda, mu),
            // A rough guess will do: it only guides the search.
            Hooke::Anisotropic(_) => (0.0, 0.5 * self.matter.hooke.push_modulus() as Real),
        };
        let bulk = self.matter.bulk;
        let of = |i: usize, reach: Vec3| {
            let still = &self.cloud.packs[i / WIDTH];
            let inverse = symmetric(&still.inverse, i % WIDTH);
            let b = inverse * reach;
            let along = Mat3::from_cols(b * b.x, b * b.y, b * b.z) * (lambda + mu + bulk);
            (along + Mat3::from_diagonal(Vec3::splat(mu * b.length_squared()))) * still.volume[i % WIDTH]
        };
        let ratio = |i: usize| self.cloud.packs[i / WIDTH].ratio[i % WIDTH];
        parallel::map(self.cloud.len(), GRAIN * WIDTH, |i| {
            let still = &self.cloud.packs[i / WIDTH];
            let lean = Vec3::from_array(still.lean.map(|axis| axis[i % WIDTH]));
            let (mut block, mut brake) = (of(i, lean), 0.0);
            for (j, weight, way) in self.cloud.neighbours(i) {
                let ratios = ratio(i) + ratio(j as usize);
                let hold = self.matter.hourglass * ratios * weight;
                block += of(j as usize, way * weight) + Mat3::from_diagonal(Vec3::splat(hold));
                // A third of the pairs go along each axis.
                brake += 2.0 * self.matter.damping * ratios * weight;
            }
            (block, brake)
        })
    }
}

fn symmetric(values: &[Eight; 6], lane: usize) -> Mat3 {
    let [xx, yy, zz, yz, xz, xy] = values.map(|value| value[lane]);
    Mat3::from_cols(Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz))
}

fn shape_of(shapes: &[Deformation], i: usize) -> Mat3 {
    let column = |c: usize| Vec3::from_array(shapes[i / WIDTH].map(|row| row[c][i % WIDTH]));
    Mat3::from_cols(column(0), column(1), column(2))
}

/// The stress of those phyxels that are nowhere pressed, nothing for others.
fn without_compression(mut stress: [Eight; 6]) -> [Eight; 6] {
    for lane in 0..WIDTH {
        let s = symmetric(&stress, lane);
        let size = s.x_axis.x.abs() + s.y_axis.y.abs() + s.z_axis.z.abs();
        let lifted = s + Mat3::from_diagonal(Vec3::splat(NO_COMPRESSION * size));
        let minor = lifted.x_axis.x * lifted.y_axis.y - lifted.x_axis.y * lifted.y_axis.x;
        if !(lifted.x_axis.x >= 0.0 && minor >= 0.0 && lifted.determinant() >= 0.0) {
            stress.iter_mut().for_each(|part| part[lane] = 0.0);
        }
    }
    stress
}
