//! Corotational linear tetrahedra, elastic and plastic, that fracture and weld at nodes, after `[Gis07]`.
//!
//! An element keeps the gradients `g_k` of the shape functions of its corners in the reference
//! configuration: the rows of `Dm^-1`, where the columns of `Dm` are the edges from corner 0 to corners 1,
//! 2 and 3. The deformation gradient is `F = sum_k (x_k - x_0) g_k^T = R S`, with a rotation `R` and a
//! symmetric stretch `S`; the strain is `e = S - I`, the corotated stress `s = lambda tr(e) I + 2 mu e`, or
//! that of any [`Hooke`](crate::material::hooke::Hooke) law, and the force on corner `k` is `-V P g_k` with
//! the first Piola-Kirchhoff stress `P = R s`.
//!
//! Corrections to the source:
//!
//! - `R` of an inverted or flat element is the proper rotation nearest to `F`, as in the decomposition with
//!   a corrected sign of `[ITF04]`, so the element pushes back. Where that is not unique, it is the one
//!   nearest to the last.
//! - With plastic strain, an anisotropic law, or damping, `s` and `S` are not coaxial, and the source's
//!   force has a torque. Here it is the gradient of the energy of `S`, with the variation of the rotation:
//!   `P = R (s - [y])`, where `[y]` is the skew matrix of the solution of `(tr(S) I - S) y = 2 axial(s S)`.
//!   The difference is of order stress times strain, and vanishes where the axes agree.
//! - Damping acts on the true rate of `S`, so rigid rotation is not damped.
//! - The source's recursion does not end where every corner of a node is overloaded; see [`split_corners`].
//!
//! Nothing here knows more of nodes than their numbers. What a step needs is computed for eight or sixteen
//! elements at a time; what is rebuilt only where the topology changes is computed one by one, in f64 where
//! digits need it.

mod element;
mod force;
mod heat;
mod plastic;
mod quality;
mod splitting;
mod stiffness;
#[cfg(test)]
pub(crate) mod tests;

pub use element::{Element, RayleighDamping, ReferencePack};
pub use force::{ForceBatch, PackView, ResponsePack, StatePack, ViscoelasticLaw, elastic_energy, internal_forces};
pub use heat::{edge_conductances, lumped_capacity};
pub use plastic::plastic_flow;
pub(crate) use quality::signed_volume_f64;
pub use quality::{allows_weld, aspect_ratio, dihedral_angles, mean_ratio, signed_volume};
pub use splitting::{CornerLoad, Strength, constraint_force, split_by_faces, split_corners};
pub use stiffness::{
    EdgeBlocks, ElasticityFactors, add_edge_products, corner_factors, stiffness_product, stretch_stiffness_product,
};

use crate::simd::WIDTH;

/// Node numbers of eight elements, corner by corner.
pub type PackCorners = [[u32; WIDTH]; 4];

/// Vectors at the corners of eight elements, corner by corner and then element by element; the fourth
/// number is 0.
pub type CornerVectors = [[[f32; 4]; WIDTH]; 4];

/// Corners at the ends of the six edges of an element.
pub const EDGES: [(usize, usize); 6] = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
