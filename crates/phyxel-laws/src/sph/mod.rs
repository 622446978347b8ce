//! Incompressible SPH: volume fractions, their rates, pressure, viscosity, surface tension and walls.
//!
//! A particle `j` of volume `V_j` contributes `V_j W_ij` to the volume fraction `C_i = sum_j V_j W_ij`, which
//! is 1 where space is filled, whatever the densities (after Solenthaler and Pajarola `[SP08]`). Pressure
//! resists filling: from the energy `sum_i p_i V_i C_i` follows the force
//!
//! `f_i = -V_i sum_j V_j (p_i + p_j) grad W_ij`,
//!
//! which conserves momentum and angular momentum, and does the work `-sum_i p_i V_i dC_i/dt` per unit of time.

mod boundary;
mod kernel;
mod sums;
mod tension;
mod viscosity;

pub use boundary::{BoundaryFraction, BoundaryShear};
pub use kernel::Kernel;
pub use sums::{fraction_rates, pressure_gradients, volume_fractions};
pub use tension::{Cohesion, cohesion_forces};
pub use viscosity::{NeighbourMoments, invert_inertia, neighbour_moments, viscous_forces, vorticity_sums};

use crate::Real;
use crate::simd::WIDTH;

/// Eight neighbours of a particle. Free lanes hold the particle itself, at distance 0.
pub type NeighbourBlock = [u32; WIDTH];

/// Particles with their neighbour lists.
#[derive(Clone, Copy, Debug)]
pub struct NeighbourLists<'a> {
    /// Kernel of all particles.
    pub kernel: Kernel,
    /// Position (m) and volume (m3) of each.
    pub points: &'a [[Real; 4]],
    /// First block of each particle in `blocks`, and the end of the last.
    pub offsets: &'a [u32],
    /// Neighbours, eight at a time.
    pub blocks: &'a [NeighbourBlock],
}

impl<'a> NeighbourLists<'a> {
    /// Neighbours of a particle, eight at a time.
    #[inline(always)]
    pub fn blocks(&self, i: usize) -> &'a [NeighbourBlock] {
        &self.blocks[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::SequentialRng;
    use glam::Vec3;

    /// Points with complete neighbour lists.
    pub(super) struct TestCloud {
        pub points: Vec<[Real; 4]>,
        offsets: Vec<u32>,
        blocks: Vec<NeighbourBlock>,
    }

    impl TestCloud {
        /// Random points in the unit cube, with random volumes.
        pub fn random(count: usize, radius: Real) -> Self {
            let mut rng = SequentialRng::new(3);
            Self::new((0..count).map(|_| rng.uniform_vec3().extend(0.5 + rng.uniform()).to_array()).collect(), radius)
        }

        /// A closest packing around the origin, with this many sites to each side.
        pub fn packing(sites: i32, spacing: Real, radius: Real) -> Self {
            let (step, volume) = (spacing / 2.0f32.sqrt(), spacing.powi(3) / 2.0f32.sqrt());
            let mut points = Vec::new();
            for a in -sites..=sites {
                for b in -sites..=sites {
                    for c in (-sites..=sites).filter(|c| (a + b + c) % 2 == 0) {
                        points.push([a as Real * step, b as Real * step, c as Real * step, volume]);
                    }
                }
            }
            Self::new(points, radius)
        }

        pub fn new(points: Vec<[Real; 4]>, radius: Real) -> Self {
            let (mut offsets, mut blocks) = (vec![0], Vec::new());
            let count = points.len();
            for i in 0..count {
                let close = |j: &u32| {
                    *j as usize != i && position(&points, *j as usize).distance(position(&points, i)) < radius
                };
                let mut list: Vec<u32> = (0..count as u32).filter(close).collect();
                list.resize(list.len().next_multiple_of(WIDTH), i as u32);
                blocks.extend(list.chunks_exact(WIDTH).map(|j| -> NeighbourBlock { std::array::from_fn(|k| j[k]) }));
                offsets.push(blocks.len() as u32);
            }
            Self { points, offsets, blocks }
        }

        /// Index of the particle at the origin.
        pub fn central(&self) -> usize {
            (0..self.points.len())
                .min_by(|&a, &b| position(&self.points, a).length().total_cmp(&position(&self.points, b).length()))
                .unwrap_or(0)
        }

        pub fn lists(&self, kernel: Kernel) -> NeighbourLists<'_> {
            NeighbourLists { kernel, points: &self.points, offsets: &self.offsets, blocks: &self.blocks }
        }
    }

    pub(super) fn position(points: &[[Real; 4]], i: usize) -> Vec3 {
        Vec3::new(points[i][0], points[i][1], points[i][2])
    }
}
