//! Broad phase: bounding boxes of bodies, and sweep and prune along x.

pub(super) mod bounds;
pub(super) mod sweep_and_prune;
