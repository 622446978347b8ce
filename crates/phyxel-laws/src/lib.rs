//! Constitutive laws, discretisations and numerical kernels of the engine, free of simulation state.
//!
//! Values or slices in, values out. Nothing here knows the world, loops over it, or touches files and
//! threads, and no kernel of a step allocates; what is built once per step, such as a factorisation or a
//! surface grid, may.
//!
//! - [`simd`], [`linalg`], [`rng`], [`neighbours`], [`kernel`]: vectors of eight lanes, small dense and
//!   skyline linear algebra, counter-based random numbers, radius search, smoothing kernels;
//! - [`geometry`], [`union_find`], [`time_integration`]: bounding boxes and closest points, disjoint sets,
//!   stability of explicit steps;
//! - [`material`], [`contact`]: elasticity and plasticity, contact and friction;
//! - [`shape_matching`], [`meshless`], [`lattice`], [`sph`], [`mass_spring`], [`fem`]: one module per
//!   discretisation;
//! - [`tet_topology`], [`tet_collision`], [`subdivision`]: meshes of tetrahedra, their contact search, and
//!   subdivision surfaces.

// Matrices are written with indices, as in the papers.
#![allow(clippy::needless_range_loop)]

pub mod contact;
pub mod fem;
pub mod geometry;
pub mod kernel;
pub mod lattice;
pub mod linalg;
pub mod mass_spring;
pub mod material;
pub mod meshless;
pub mod neighbours;
pub mod rng;
pub mod shape_matching;
pub mod simd;
pub mod sph;
pub mod subdivision;
pub mod tet_collision;
pub mod tet_topology;
pub mod time_integration;
pub mod union_find;

/// Scalar type of the engine.
pub type Real = f32;
