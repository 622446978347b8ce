//! The boundary of a body and the skins made from it.

pub(super) mod boundary;
pub(super) mod skin;
mod subdivided;
