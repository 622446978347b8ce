//! Contact response: Jacobi iterations on impulses, with friction, adhesion and frictional heat.

pub(super) mod friction_heat;
pub(super) mod jacobi;
pub(super) mod obstacles;
pub(super) mod params;
