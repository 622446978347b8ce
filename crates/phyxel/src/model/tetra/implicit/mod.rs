//! Implicit time integration: backward Euler with contact, solved by a semismooth Newton method.

mod contact;
mod island;
mod line_search;
mod linear;
mod newton;
mod rigid_fragments;
mod rigid_motion;
mod system;

pub(super) use self::island::{Island, build_islands};
pub(super) use self::linear::matrix::SystemMatrix;
