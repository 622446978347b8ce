//! Contact, friction and ties in the implicit solve.

pub(super) mod active_set;
pub(super) mod constraint;
pub(super) mod friction;
pub(super) mod obstacles;
pub(super) mod operator;
pub(super) mod tie_projection;
