//! Solid particles: lattice forces and fracture.

mod constants;
mod fracture;
mod lattice_forces;

pub(super) use constants::SolidConstants;
pub(super) use fracture::BOND_RADIUS;
pub(super) use lattice_forces::{LatticeForces, transpose_lists};
