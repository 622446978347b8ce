//! Filling shapes with particles, and covering surfaces with surfels.
//!
//! Knows shapes and distances; nothing of materials or bodies.

mod cells;
mod lattice;
mod poisson;
mod random;
mod spread;

pub(crate) use cells::fill_cells;
pub use random::Random;
pub(crate) use spread::spread;

use crate::shape::{Bounds, Shape, ShapeError};
use glam::Vec3;
use phyxel::Real;

/// How particles are arranged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sampler {
    /// Cubic lattice: one particle in each cell of the spacing.
    #[default]
    Lattice,
    /// Cubic closest packing: twelve neighbours, each one spacing away; 1.41 particles per cell.
    Ccp,
    /// Blue noise: at random, none closer than 0.7 spacings; about one particle per cell.
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

/// Particles that fill a shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    /// Positions, neighbours in space mostly near each other in the list, m.
    pub positions: Vec<Vec3>,
    /// Volume of the shape, m3.
    pub volume: f64,
    /// Distance of particles asked for, m.
    pub spacing: Real,
}

/// Why a shape cannot be filled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SampleError {
    /// The spacing is not a length.
    #[error("the spacing is {spacing} m; it must be a finite number greater than zero")]
    BadSpacing {
        /// The spacing asked for, m.
        spacing: Real,
    },
    /// A shape with numbers that make no sense.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The shape has no end.
    #[error(
        "the shape has no end, so it would take particles without end; intersect it with something that has bounds, such as a box"
    )]
    Unbounded,
    /// More particles than allowed.
    #[error(
        "a spacing of {spacing} m would take about {expected:.0} particles, more than the limit of {limit}; \
         raise the spacing to at least {enough:.3e} m or the limit with --max-particles"
    )]
    TooMany {
        /// Number of particles that it would take.
        expected: f64,
        /// Largest number allowed.
        limit: usize,
        /// The spacing asked for, m.
        spacing: Real,
        /// A spacing that would do, m.
        enough: Real,
    },
    /// More surfels than allowed.
    #[error(
        "surfels {spacing} m apart would be about {expected:.0}, more than the limit of {limit}; \
         raise `skin.spacing` to at least {enough:.3e} m or the limit with --max-particles"
    )]
    TooManySurfels {
        /// Number of surfels that it would take.
        expected: f64,
        /// Largest number allowed.
        limit: usize,
        /// The spacing asked for, m.
        spacing: Real,
        /// A spacing that would do, m.
        enough: Real,
    },
    /// A surface of triangles that are nothing but lines and points.
    #[error(
        "the surface for the surfels of its skin has no area; check that its triangles are not all flat and its sizes not all zero"
    )]
    NoArea,
    /// No particle at all.
    #[error(
        "no sample falls inside the shape at spacing {spacing} m; the largest spacing that works is about {largest:.3e} m"
    )]
    Empty {
        /// The spacing asked for, m.
        spacing: Real,
        /// A spacing that would do, m.
        largest: Real,
    },
    /// A shape with nothing in it, or next to nothing.
    #[error(
        "the shape has no inside that could hold a sample; check its sizes, and that parts to be intersected overlap"
    )]
    NoInside,
}

/// The number of particles that a shape is expected to take; infinite when it has no end.
pub fn estimate(shape: &Shape, sampler: Sampler, spacing: Real) -> f64 {
    sampler.density() * shape.volume() / f64::from(spacing).powi(3)
}

/// Fills a shape with particles `spacing` metres apart, `limit` of them at most.
///
/// The number is estimated before anything is allocated. The result depends on the arguments only; `seed`
/// matters to [`Sampler::Poisson`] alone.
pub fn sample(shape: &Shape, sampler: Sampler, spacing: Real, seed: u64, limit: usize) -> Result<Samples, SampleError> {
    if !(spacing.is_finite() && spacing > 0.0) {
        return Err(SampleError::BadSpacing { spacing });
    }
    shape.check()?;
    let bounds = shape.bounds().ok_or(SampleError::Unbounded)?;
    let volume = shape.volume();
    check_count(sampler.density() * occupied_cells(&bounds, volume, spacing), spacing, limit)?;
    let positions = arrange(shape, sampler, spacing, seed, volume)?;
    check_count(positions.len() as f64, spacing, limit)?;
    if positions.is_empty() {
        return Err(explain_empty(shape, sampler, spacing, seed, volume));
    }
    Ok(Samples { positions, volume, spacing })
}

/// Cells of the spacing that a shape of this volume in these bounds takes. Where it is thinner than a spacing along some axis it takes a
/// layer all the same, even if it is so thin that its bounds have no thickness left.
fn occupied_cells(bounds: &Bounds, volume: f64, spacing: Real) -> f64 {
    let sizes = bounds.size().to_array().map(f64::from);
    let around: f64 = sizes.iter().product();
    let part = if around > 0.0 { volume / around } else { 1.0 };
    part * sizes.map(|size| (size / f64::from(spacing)).max(1.0)).iter().product::<f64>()
}

fn check_count(expected: f64, spacing: Real, limit: usize) -> Result<(), SampleError> {
    if expected <= limit as f64 {
        return Ok(());
    }
    let factor = libm::cbrt(expected / limit.max(1) as f64) as Real;
    // One percent for the rounding of counts and of the message.
    Err(SampleError::TooMany { expected, limit, spacing, enough: 1.01 * spacing * factor })
}

fn arrange(shape: &Shape, sampler: Sampler, spacing: Real, seed: u64, volume: f64) -> Result<Vec<Vec3>, SampleError> {
    let bounds = shape.bounds().ok_or(SampleError::Unbounded)?;
    let points = match sampler {
        Sampler::Lattice => lattice::cubic(shape, &bounds, spacing),
        Sampler::Ccp => lattice::closest_packing(shape, &bounds, spacing),
        Sampler::Poisson => poisson::scatter(shape, &bounds, spacing, seed, volume),
    };
    // Rows too long to count, or too many cells at the surface, though the volume is small: the shape is all but empty.
    points.ok_or(SampleError::NoInside)
}

/// Looks for a spacing that works, a fifth smaller at each try.
fn explain_empty(shape: &Shape, sampler: Sampler, spacing: Real, seed: u64, volume: f64) -> SampleError {
    let size = shape.bounds().map_or(Vec3::ZERO, |bounds| bounds.size()).as_dvec3();
    // Regular rows are quick to try, and find an inside about as well as darts.
    let quick = if sampler == Sampler::Poisson { Sampler::Lattice } else { sampler };
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
        if arrange(shape, quick, largest, seed, volume).is_ok_and(|points| !points.is_empty()) {
            return SampleError::Empty { spacing, largest };
        }
    }
    SampleError::NoInside
}

#[cfg(test)]
mod tests;
