//! Numerical methods that know nothing of bodies or models.

mod inertia;
pub(crate) mod pcg;
mod union_find;

pub(crate) use inertia::{angular_velocity, scaled_inverse_inertia};
pub(crate) use union_find::UnionFind;
