//! Scene files, and the construction of worlds from them.
//!
//! [`Scene::load`] reads a file or a built-in scene and reports all mistakes at once; [`Scene::build`] makes a
//! [`phyxel::World`] of it. In between, a [`Scene`] is plain values that may be inspected and changed. This crate
//! simulates nothing and writes no files.

mod build;
pub mod builtin;
mod document;
mod error;
mod hash_grid;
pub mod import;
mod load;
pub mod mesh;
pub mod presets;
mod read;
pub mod sample;
mod scene;
pub mod shape;
pub mod tetra;

pub use build::{BuildOptions, Built};
pub use error::{BuildError, LoadError, Problem, SceneErrors};
pub use scene::{
    Action, BodyDescription, Camera, ClusterPlan, Copies, Deformation, Event, Expectation, ExpectedTime, ExpectedValue,
    HeatingDescription, ModelDescription, ObstacleDescription, PoseKeyframe, Scene, SkinDescription, StepDescription,
    Subject, VERSION,
};
