//! Constitutive laws: linear elasticity ([`hooke`]) and plastic flow ([`plasticity`]).

pub mod hooke;
pub mod plasticity;
