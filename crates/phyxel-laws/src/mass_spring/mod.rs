//! Mass-spring lattices `[TPF89]`: stiffnesses of isotropic lattices, and pair forces of the molecules they
//! melt into.

pub mod lattice;
pub mod molecular;
