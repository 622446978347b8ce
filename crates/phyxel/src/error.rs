//! What can go wrong, with the names and numbers a person needs to put it right.

use crate::Real;
use thiserror::Error;

/// A world refused a change. Nothing of the change was made.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum WorldError {
    /// Two things of one kind share a name.
    #[error("there are two {kind} named \"{name}\"; give each a name of its own")]
    DuplicateName {
        /// "bodies", "materials", "obstacles", "heatings", "emitters" or "drains".
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// A name that nothing has.
    #[error("there is no {kind} named \"{name}\"; known: {known}")]
    Unknown {
        /// "body", "material", "obstacle", "heating", "emitter" or "drain".
        kind: &'static str,
        /// The name asked for.
        name: String,
        /// Names there are, separated by commas.
        known: String,
    },
    /// A number that cannot be used.
    #[error("{owner}: {field} is {value}, but it must be {must}")]
    BadValue {
        /// What it belongs to, for instance `body "cube"`.
        owner: String,
        /// Which setting.
        field: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        must: &'static str,
    },
    /// An emitter whose mouth lets no particle through.
    #[error(
        "emitter \"{emitter}\": its mouth of {area:.3e} m2 is narrower than a particle of spacing {spacing} m; make the mouth wider or the spacing smaller"
    )]
    #[allow(missing_docs)]
    NarrowMouth { emitter: String, area: f64, spacing: f32 },
    /// An emitter in or at an obstacle.
    #[error(
        "emitter \"{emitter}\": its mouth is {distance} m from obstacle \"{obstacle}\" (less than 0 is inside), but must be {needed} m away or more; move it out, or make it narrower"
    )]
    #[allow(missing_docs)]
    BlockedMouth { emitter: String, obstacle: String, distance: f32, needed: f32 },
    /// A body of crystal or fluid that starts outside the world's bounds.
    #[error(
        "body \"{body}\": {count} of its particles start outside the world's bounds and would be removed at once; move it, or make the bounds wider"
    )]
    #[allow(missing_docs)]
    OutOfBounds { body: String, count: usize },
    /// A body without samples.
    #[error("body \"{body}\" has no particles; make its shape larger or its spacing smaller")]
    EmptyBody {
        /// Its name.
        body: String,
    },
    /// Crystals and fluids of one world have particles of one size.
    #[error(
        "body \"{body}\" has particles {spacing} m apart, but body \"{other}\" {needed} m; crystals and fluids of a world share one spacing: use {needed}"
    )]
    #[allow(missing_docs)]
    OtherSpacing { body: String, spacing: f32, other: String, needed: f32 },
    /// A body of phyxels most of which have too few neighbours.
    #[error(
        "body \"{body}\": the neighbours of {degenerate} of {tried} phyxels do not span space; make the spacing smaller than {spacing} m, or the body thicker than two of them"
    )]
    TooCoarse {
        /// Its name.
        body: String,
        /// How many.
        degenerate: usize,
        /// Of how many that were looked at.
        tried: usize,
        /// m.
        spacing: f32,
    },
    /// A setting that does not belong to its target.
    #[error("{target} has no setting \"{setting}\" that may change while running")]
    NoSuchSetting {
        /// What was to be changed.
        target: String,
        /// The setting.
        setting: &'static str,
    },
    /// More particles than indices can number.
    #[error("{count} particles are more than the {limit} a world can hold; use a larger spacing")]
    TooMany {
        /// Particles asked for.
        count: u64,
        /// Largest number.
        limit: u64,
    },
}

impl WorldError {
    /// Refuses `value` unless it is finite and `good`.
    pub(crate) fn require(
        good: bool,
        owner: impl FnOnce() -> String,
        field: &'static str,
        value: impl std::fmt::Debug,
        must: &'static str,
    ) -> Result<(), Self> {
        if good { Ok(()) } else { Err(Self::BadValue { owner: owner(), field, value: format!("{value:?}"), must }) }
    }
}

/// A step failed. The world is as it was before the step.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum StepError {
    /// A value stopped being a number.
    #[error(
        "the {quantity} of body \"{body}\" (particle {particle}) became {value} at {time:.6} s; \
         take smaller steps, softer material or slower obstacles"
    )]
    NotFinite {
        /// Name of the body.
        body: String,
        /// "position" or "velocity".
        quantity: &'static str,
        /// Number of the particle within the body.
        particle: u32,
        /// The value.
        value: String,
        /// Time at the start of the step, s.
        time: f64,
    },
    /// Steps short enough to be stable would be more than allowed.
    #[error(
        "at {time:.6} s a stable step is {stable:.3e} s, {needed} steps a frame, but {allowed} are allowed; raise step.max_substeps \
         (or step.substeps) in the scene, make the material softer or its damping or viscosity less, or the spacing larger"
    )]
    TooStiff {
        /// Time at the start of the step, s.
        time: f64,
        /// Longest stable step, s.
        stable: f64,
        /// Steps of that length in a frame.
        needed: u32,
        /// Steps allowed.
        allowed: u32,
    },
    /// A temperature stopped being a number.
    #[error(
        "the temperature of body \"{body}\" (particle {particle}) became {value} at {time:.6} s; \
         give it less heat or a larger specific heat"
    )]
    TooHot {
        /// Name of the body.
        body: String,
        /// Number of the particle within the body.
        particle: u32,
        /// The temperature, in the scene's scale.
        value: String,
        /// Time at the start of the step, s.
        time: f64,
    },
    /// A stream goes too far in a step.
    #[error(
        "at {time:.6} s a step of {dt} s is too long for the stream of emitter \"{emitter}\" at {speed} m/s; take smaller steps, or make it slower"
    )]
    #[allow(missing_docs)]
    TooFast { emitter: String, speed: Real, dt: Real, time: f64 },
    /// The step itself makes no sense.
    #[error("a time step of {dt} s is not a positive number")]
    BadStep {
        /// The step asked for, s.
        dt: Real,
    },
    /// A command could not be carried out.
    #[error("at {time:.6} s: {source}")]
    Command {
        /// Time at which it was to be applied, s.
        time: f64,
        /// What is wrong with it.
        source: WorldError,
    },
}

/// A checkpoint was refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// Not a checkpoint at all.
    #[error("this is not a phyxel checkpoint; give the folder of a run made by phyxel, or start without --resume")]
    Foreign,
    /// Another version of the format.
    #[error(
        "the checkpoint has format {found}, this program reads format {known}; run the version that wrote it, or start again without --resume"
    )]
    Version {
        /// Format of the file.
        found: u32,
        /// Format this program reads.
        known: u32,
    },
    /// Cut short or changed.
    #[error("the checkpoint is damaged ({what}); start again without --resume")]
    Damaged {
        /// What does not fit.
        what: String,
    },
}
