//! Incompressible SPH: surface tension, viscosity, and the pressure of fluids and solids.

mod multigrid;
mod pressure;
mod step;
mod viscosity;

pub(super) use step::{VolumeFractions, compute_fractions};
