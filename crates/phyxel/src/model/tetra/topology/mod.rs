//! Changes of the mesh: fracture, welding, ties between bodies, and melting.

pub(super) mod fracture;
pub(super) mod melting;
mod stage;
mod tie_failure;
pub(super) mod ties;
pub(super) mod welding;
