//! phyxel
pub mod parallel;
/// The scalar of the engine.
pub type Real = f32;
