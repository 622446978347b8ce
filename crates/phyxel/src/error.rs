//! Errors, with the names and values that are needed to correct the input.

use crate::Real;
use thiserror::Error;

/// Rejected change of a world, which is unchanged.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum WorldError {
    /// Two items of one kind share a name.
    #[error("there are two {kind} named \"{name}\"; give each a name of its own")]
    DuplicateName {
        /// "bodies", "materials", "obstacles", "heatings", "emitters" or "drains".
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// Unknown name.
    #[error("there is no {kind} named \"{name}\"; known: {known}")]
    Unknown {
        /// "body", "material", "obstacle", "heating", "emitter" or "drain".
        kind: &'static str,
        /// Requested name.
        name: String,
        /// Existing names, separated by commas.
        known: String,
    },
    /// Value outside its admissible range.
    #[error("{owner}: {field} is {value}, but it must be {requirement}")]
    InvalidValue {
        /// Owner, for instance `body "cube"`.
        owner: String,
        /// Name of the setting.
        field: &'static str,
        /// Given value.
        value: String,
        /// Admissible values.
        requirement: &'static str,
    },
    /// Emitter whose mouth is narrower than a particle.
    #[error(
        "emitter \"{emitter}\": its mouth of {area:.3e} m2 is narrower than a particle of spacing {spacing} m; \
         make the mouth wider or the spacing smaller"
    )]
    #[allow(missing_docs)]
    NarrowMouth { emitter: String, area: f64, spacing: f32 },
    /// Emitter whose mouth overlaps an obstacle.
    #[error(
        "emitter \"{emitter}\": its mouth is {distance} m from obstacle \"{obstacle}\" (less than 0 is inside), \
         but must be {needed} m away or more; move it out, or make it narrower"
    )]
    #[allow(missing_docs)]
    BlockedMouth { emitter: String, obstacle: String, distance: f32, needed: f32 },
    /// Crystal or fluid that starts outside the bounds of the world.
    #[error(
        "body \"{body}\": {count} of its particles start outside the world's bounds and would be removed at once; \
         move it, or make the bounds wider"
    )]
    #[allow(missing_docs)]
    OutOfBounds { body: String, count: usize },
    /// Body without samples.
    #[error("body \"{body}\" has no particles; make its shape larger or its spacing smaller")]
    EmptyBody {
        /// Its name.
        body: String,
    },
    /// Crystal or fluid whose spacing differs from that of the others in the world.
    #[error(
        "body \"{body}\" has particles {spacing} m apart, but body \"{other}\" {needed} m; \
         crystals and fluids of a world share one spacing: use {needed}"
    )]
    #[allow(missing_docs)]
    SpacingMismatch { body: String, spacing: f32, other: String, needed: f32 },
    /// Body of phyxels with mostly degenerate neighbourhoods.
    #[error(
        "body \"{body}\": the neighbours of {degenerate} of {tried} phyxels do not span space (rank-deficient); \
         make the spacing smaller than {spacing} m, or the body thicker than two of them"
    )]
    TooCoarse {
        /// Its name.
        body: String,
        /// Number of phyxels with degenerate neighbourhoods.
        degenerate: usize,
        /// Number of tested phyxels.
        tried: usize,
        /// m.
        spacing: f32,
    },
    /// Setting that its target does not have.
    #[error("{target} has no setting \"{setting}\" that may change while running")]
    UnknownSetting {
        /// Item that was to be changed.
        target: String,
        /// Name of the setting.
        setting: &'static str,
    },
    /// More particles than a world supports.
    #[error("{count} particles are more than the {limit} that a world can contain; use a larger spacing")]
    TooManyParticles {
        /// Requested number of particles.
        count: u64,
        /// Maximum number.
        limit: u64,
    },
}

impl WorldError {
    /// Rejects `value` of a field unless it is `good`.
    pub(crate) fn require(
        good: bool,
        owner: impl FnOnce() -> String,
        field: &'static str,
        value: impl std::fmt::Debug,
        requirement: &'static str,
    ) -> Result<(), Self> {
        if good {
            Ok(())
        } else {
            Err(Self::InvalidValue { owner: owner(), field, value: format!("{value:?}"), requirement })
        }
    }
}

/// Failed step. The world is in the state before the step.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum StepError {
    /// Position or velocity that is not finite.
    #[error(
        "the {quantity} of body \"{body}\" (particle {particle}) became {value} at {time:.6} s; \
         take smaller steps, softer material or slower obstacles"
    )]
    NotFinite {
        /// Name of the body.
        body: String,
        /// "position" or "velocity".
        quantity: &'static str,
        /// Index of the particle within the body.
        particle: u32,
        /// The value.
        value: String,
        /// Time at the start of the step, s.
        time: f64,
    },
    /// A stable step would need more sub-steps than allowed.
    #[error(
        "at {time:.6} s a stable step is {stable:.3e} s, {needed} steps a frame, but {allowed} are allowed; \
         raise step.max_substeps (or step.substeps) in the scene, make the material softer or its damping or \
         viscosity less, or the spacing larger"
    )]
    TooStiff {
        /// Time at the start of the step, s.
        time: f64,
        /// Longest stable step, s.
        stable: f64,
        /// Number of stable steps in a frame.
        needed: u32,
        /// Maximum number of steps.
        allowed: u32,
    },
    /// Temperature that is not finite.
    #[error(
        "the temperature of body \"{body}\" (particle {particle}) became {value} at {time:.6} s; \
         give it less heat or a larger specific heat"
    )]
    TemperatureNotFinite {
        /// Name of the body.
        body: String,
        /// Index of the particle within the body.
        particle: u32,
        /// The temperature, in the scene's scale.
        value: String,
        /// Time at the start of the step, s.
        time: f64,
    },
    /// Stream that moves too far in a step.
    #[error(
        "at {time:.6} s a step of {dt} s is too long for the stream of emitter \"{emitter}\" at {speed} m/s; \
         take smaller steps, or make it slower"
    )]
    #[allow(missing_docs)]
    EmitterTooFast { emitter: String, speed: Real, dt: Real, time: f64 },
    /// Time step that is not positive and finite.
    #[error("a time step of {dt} s is not a positive number")]
    InvalidTimeStep {
        /// Requested step, s.
        dt: Real,
    },
    /// Failed command.
    #[error("at {time:.6} s: {source}")]
    Command {
        /// Time at which it was due, s.
        time: f64,
        /// Cause.
        source: WorldError,
    },
}

/// Rejected checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// Not a checkpoint.
    #[error("this is not a phyxel checkpoint; give the folder of a run made by phyxel, or start without --resume")]
    Foreign,
    /// Different format version.
    #[error(
        "the checkpoint has format {found}, this program reads format {known}; \
         run the version that wrote it, or start again without --resume"
    )]
    Version {
        /// Format of the file.
        found: u32,
        /// Format this program reads.
        known: u32,
    },
    /// Truncated or modified.
    #[error("the checkpoint is damaged ({what}); start again without --resume")]
    Damaged {
        /// Detected inconsistency.
        what: String,
    },
}
