//! The laws: pure physics of one stencil.
//!
//! Values or slices in, values out. Nothing here knows the world, loops over it, or touches files and threads,
//! and no kernel of a step allocates; what is made once for a step, such as a factor or a shell of faces, may.

// Matrices are written with indices, as in the papers.
#![allow(clippy::needless_range_loop)]

pub mod contact;
pub mod crystal;
pub mod elastic;
pub mod envelope;
pub mod kernel;
pub mod lanes;
pub mod matching;
pub mod molecular;
pub mod phyxels;
pub mod plasticity;
pub mod random;
pub mod rotation;
pub mod search;
pub mod sph;
pub mod spring;
pub mod stiffness;
pub mod symmetric;
pub mod tetra;

/// The scalar of the engine.
pub type Real = f32;
