//! Numerical methods that know nothing of bodies or models.

mod csr;
mod inertia;
pub(crate) mod pcg;

pub(crate) use csr::Csr;
pub(crate) use inertia::{angular_velocity, scaled_inverse_inertia};
pub(crate) use phyxel_laws::geometry::Aabb;
pub(crate) use phyxel_laws::union_find::UnionFind;
