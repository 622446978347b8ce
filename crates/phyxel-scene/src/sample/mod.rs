//! Sampling: particles in shapes, and surfels on surfaces.
//!
//! Knows shapes and distances; nothing of materials or bodies.

mod cells;
mod lattice;
mod poisson;
mod surfels;

pub(crate) use cells::fill_cells;
pub use phyxel_laws::rng::SequentialRng;
pub(crate) use surfels::scatter_surfels;

use crate::shape::{Shape, ShapeError};
use glam::Vec3;
use phyxel::Real;
use phyxel_laws::geometry::Aabb;

/// Arrangement of particles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sampler {
    /// Cubic lattice: one particle in each cell of the spacing.
    #[default]
    Lattice,
    /// Cubic closest packing: twelve neighbours, each one spacing away; 1.41 particles per cell.
    Ccp,
    /// Blue noise (Poisson-disk sampling): random, none closer than 0.7 spacings; about one particle per cell.
    Poisson,
}

impl Sampler {
    /// Particles per spacing cubed.
    pub fn density(self) -> f64 {
        match self {
            Self::Lattice | Self::Poisson => 1.0,
            Self::Ccp => std::f64::consts::SQRT_2,
        }
    }
}

/// Particles that sample a shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// Positions, in a spatially coherent order, m.
    pub positions: Vec<Vec3>,
    /// Volume of the shape, m3.
    pub volume: f64,
    /// Requested particle spacing, m.
    pub spacing: Real,
}

/// Reason why a shape cannot be sampled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SampleError {
    /// Invalid spacing.
    #[error("the spacing is {spacing} m; it must be a finite number greater than zero")]
    BadSpacing {
        /// Requested spacing, m.
        spacing: Real,
    },
    /// Invalid shape.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// Unbounded shape.
    #[error(
        "the shape has no end, so it would take particles without end; intersect it with something that has bounds, \
         such as a box"
    )]
    Unbounded,
    /// Too many particles.
    #[error(
        "a spacing of {spacing} m would take about {expected:.0} particles, more than the limit of {limit}; \
         raise the spacing to at least {enough:.3e} m or the limit with --max-particles"
    )]
    TooMany {
        /// Expected number of particles.
        expected: f64,
        /// Largest number allowed.
        limit: usize,
        /// Requested spacing, m.
        spacing: Real,
        /// A sufficient spacing, m.
        enough: Real,
    },
    /// Too many surfels.
    #[error(
        "surfels {spacing} m apart would be about {expected:.0}, more than the limit of {limit}; \
         raise `skin.spacing` to at least {enough:.3e} m or the limit with --max-particles"
    )]
    TooManySurfels {
        /// Expected number of surfels.
        expected: f64,
        /// Largest number allowed.
        limit: usize,
        /// Requested spacing, m.
        spacing: Real,
        /// A sufficient spacing, m.
        enough: Real,
    },
    /// Surface of degenerate triangles only.
    #[error(
        "the surface for the surfels of its skin has no area; check that its triangles are not all flat and its sizes \
         not all zero"
    )]
    NoArea,
    /// No particle.
    #[error(
        "no sample falls inside the shape at spacing {spacing} m; the largest spacing that works is about \
         {largest:.3e} m"
    )]
    Empty {
        /// Requested spacing, m.
        spacing: Real,
        /// A sufficient spacing, m.
        largest: Real,
    },
    /// Shape with an empty or negligible inside.
    #[error(
        "the shape has no inside that could hold a sample; check its sizes, and that parts to be intersected overlap"
    )]
    NoInside,
}

/// Expected number of particles of a shape; infinite when it is unbounded.
pub fn estimate(shape: &Shape, sampler: Sampler, spacing: Real) -> f64 {
    sampler.density() * shape.volume() / f64::from(spacing).powi(3)
}

/// Samples a shape by particles `spacing` metres apart, at most `limit` of them.
///
/// The number is estimated before anything is allocated. The result depends on the arguments only; `seed`
/// affects [`Sampler::Poisson`] alone.
pub fn sample(shape: &Shape, sampler: Sampler, spacing: Real, seed: u64, limit: usize) -> Result<Samples, SampleError> {
    if !(spacing.is_finite() && spacing > 0.0) {
        return Err(SampleError::BadSpacing { spacing });
    }
    shape.check()?;
    let bounds = shape.bounds().ok_or(SampleError::Unbounded)?;
    let volume = shape.volume();
    check_count(sampler.density() * expected_cells(&bounds, volume, spacing), spacing, limit)?;
    let positions = place_samples(shape, sampler, spacing, seed, volume)?;
    check_count(positions.len() as f64, spacing, limit)?;
    if positions.is_empty() {
        return Err(empty_error(shape, sampler, spacing, seed, volume));
    }
    Ok(Samples { positions, volume, spacing })
}

/// Expected number of cells of edge `spacing` for a shape of this volume and bounds. A shape thinner than a spacing
/// along some axis still takes one layer, even if its bounds have no thickness at all.
fn expected_cells(bounds: &Aabb, volume: f64, spacing: Real) -> f64 {
    let sizes = bounds.extent().to_array().map(f64::from);
    let box_volume: f64 = sizes.iter().product();
    let fraction = if box_volume > 0.0 { volume / box_volume } else { 1.0 };
    fraction * sizes.map(|size| (size / f64::from(spacing)).max(1.0)).iter().product::<f64>()
}

fn check_count(expected: f64, spacing: Real, limit: usize) -> Result<(), SampleError> {
    if expected <= limit as f64 {
        return Ok(());
    }
    let factor = libm::cbrt(expected / limit.max(1) as f64) as Real;
    // One percent for the rounding of counts and of the message.
    Err(SampleError::TooMany { expected, limit, spacing, enough: 1.01 * spacing * factor })
}

fn place_samples(
    shape: &Shape,
    sampler: Sampler,
    spacing: Real,
    seed: u64,
    volume: f64,
) -> Result<Vec<Vec3>, SampleError> {
    let bounds = shape.bounds().ok_or(SampleError::Unbounded)?;
    let points = match sampler {
        Sampler::Lattice => lattice::cubic(shape, &bounds, spacing),
        Sampler::Ccp => lattice::closest_packing(shape, &bounds, spacing),
        Sampler::Poisson => poisson::scatter(shape, &bounds, spacing, seed, volume),
    };
    // Rows too long to count, or too many surface cells for so small a volume: the shape is almost empty.
    points.ok_or(SampleError::NoInside)
}

/// Searches for a spacing that works, a fifth smaller at each step.
fn empty_error(shape: &Shape, sampler: Sampler, spacing: Real, seed: u64, volume: f64) -> SampleError {
    let size = shape.bounds().map_or(Vec3::ZERO, |bounds| bounds.extent()).as_dvec3();
    // Lattices are quick to try, and find an inside about as well as darts.
    let trial = if sampler == Sampler::Poisson { Sampler::Lattice } else { sampler };
    let mut largest = spacing;
    for _ in 0..60 {
        largest *= 0.8;
        let cells = volume / f64::from(largest).powi(3);
        let around = (size / f64::from(largest)).ceil().max(glam::DVec3::ONE).element_product();
        // With thousands of particles to expect, some would have been found; a shape that is empty in so many
        // cells is not worth the search.
        if cells > 1e4 || around > 1e5 {
            break;
        }
        if place_samples(shape, trial, largest, seed, volume).is_ok_and(|points| !points.is_empty()) {
            return SampleError::Empty { spacing, largest };
        }
    }
    SampleError::NoInside
}

#[cfg(test)]
mod tests;
