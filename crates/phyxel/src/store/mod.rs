//! The particle store: one structure of arrays for all bodies, and the permutations that change it.

mod particles;
mod rearrange;

pub use particles::{Flags, Particle, Particles, Phase};
pub use rearrange::{Insertion, Rearrangement};
