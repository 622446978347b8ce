//! Tetrahedra: elastic and plastic matter cut into elements that part and unite, after `[Gis07]`.
//!
//! An element keeps the gradients `g_k` of its corners in the shape at rest: the rows of `Dm^-1`, where the columns of `Dm` are
//! the edges from corner 0 to the corners 1, 2 and 3. Its deformation is `F = sum_k (x_k - x_0) g_k^T = R S`, with a rotation
//! `R` and a symmetric `S`; the strain is `e = S - I`, the stress in its own frame `s = lambda tr(e) I + 2 mu e`, or any law of
//! [`Hooke`](crate::elastic::Hooke), and corner `k` feels `-V P g_k` with `P = R s`.
//!
//! Corrections to the source:
//!
//! - `R` of a mirrored or flat element is the proper rotation nearest to `F`, as the decomposition with a corrected sign of
//!   `[ITF04]` has it, so it pushes back. Where that leaves a turn open, it is the one nearest to the last.
//! - With plastic strain, a law that is not isotropic, or damping, `s` and `S` do not have the same axes. The source's force
//!   then has a torque. Here it is the gradient of the energy of `S`, rotation and all: `P = R (s - [y])`, where `[y]` is the
//!   skew matrix with `(tr(S) - S) y = axis of s S`. It differs by stress times strain, and vanishes where axes agree.
//! - Damping acts on the true rate of `S`, so turning alone is not damped.
//! - The source's recursion never ends where every corner of a node is pulled too hard; see [`part`].
//!
//! Nothing here knows nodes by more than their numbers. Eight or sixteen elements are done at a time where a step needs it; what is made
//! anew only where the topology changes is done one by one, in f64 where digits need it.

pub mod collide;
mod dihedral;
mod element;
mod force;
mod heat;
mod net;
mod parting;
mod plastic;
mod stiffness;
mod subdivide;
#[cfg(test)]
mod tests;

pub use dihedral::{allows_uniting, aspect_ratio, dihedral_angles, mean_ratio, volume};
pub use element::{Element, Rayleigh, Rest};
pub use force::{Group, Matter, Note, Packs, State, energy, exert};
pub use heat::{capacity_share, conductances};
pub use net::{Census, Change, FACES, Net, Refusal, Surface, Tangle};
pub use parting::{Held, Strength, constraint_force, part, part_by_faces};
pub use plastic::yield_eight;
pub use stiffness::{Edges, Modes, corner_vectors, product, pull_ends, stretch_product};
pub use subdivide::{Fine, Flaw, Layers, Scheme, Sheet, Weights, refine};

use crate::lanes::WIDTH;

/// The nodes of eight elements, corner by corner.
pub type Corners = [[u32; WIDTH]; 4];

/// A vector for each corner of eight elements, corner by corner and then element by element; the fourth number is 0.
pub type CornerVectors = [[[f32; 4]; WIDTH]; 4];

/// The corners at the ends of the six edges of an element.
pub const EDGES: [(usize, usize); 6] = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
