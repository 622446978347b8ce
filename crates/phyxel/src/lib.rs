//! Phyxel: a physics engine for deformable, melting matter.
//!
//! A [`World`] contains bodies, obstacles and materials. [`World::advance_frame`] advances it by one frame,
//! [`World::frame`] returns its state for output, [`commands::Command`]s change it, [`checkpoint`] saves it. The
//! crate opens no files, prints nothing and uses threads in one module only ([`parallel`]).

pub mod body;
pub mod checkpoint;
pub mod commands;
mod contact;
pub mod emission;
pub mod error;
pub mod frame;
mod geometry;
mod heat;
pub mod heating;
pub mod material;
pub mod model;
mod neighbours;
mod numerics;
pub mod obstacle;
pub mod parallel;
mod scratch;
pub mod skin;
pub mod step;
pub mod store;
mod validate;
pub mod world;

pub use error::{CheckpointError, StepError, WorldError};
pub use frame::Frame;
pub use step::{FrameReport, StageTimes};
pub use world::{Settings, World};

/// SIMD capabilities of the running machine, for benchmarks.
pub mod machine {
    pub use phyxel_laws::simd::{SimdLevel, WIDTH, multiply_and_add};
}

/// Scalar type of the engine. Sums that need more precision use `f64`.
pub type Real = f32;
