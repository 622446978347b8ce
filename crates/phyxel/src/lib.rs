//! Phyxel: an engine for matter that has a temperature.
//!
//! A [`World`] holds bodies, obstacles and materials. [`World::advance_frame`] moves it by one frame,
//! [`World::frame`] shows it, [`command::Command`]s change it, [`checkpoint`] keeps it. The crate opens no
//! files, prints nothing and starts threads in one module only ([`parallel`]).

mod apply;
pub mod body;
pub mod checkpoint;
mod collider;
pub mod command;
mod contact;
pub mod drain;
pub mod emitter;
pub mod error;
mod exchange;
mod fall;
pub mod frame;
mod grid;
mod heat;
pub mod heating;
pub mod material;
pub mod model;
pub mod obstacle;
pub mod parallel;
pub mod particles;
mod report;
mod scratch;
pub mod skin;
pub mod step;
mod surface;
mod topology;
mod validate;
pub mod world;

pub use error::{CheckpointError, StepError, WorldError};
pub use frame::Frame;
pub use step::{FrameReport, StageTimes};
pub use world::{Settings, World};

/// What the running machine can do, for measuring.
pub mod machine {
    pub use phyxel_laws::lanes::{Level, WIDTH, multiply_and_add};
}

/// The scalar of the engine. Sums that need more are made in `f64`.
pub type Real = f32;
