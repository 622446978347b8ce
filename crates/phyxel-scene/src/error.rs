//! Errors of reading and building scenes.

use crate::sample::SampleError;
use crate::shape::ShapeError;
use crate::tetra::TetraError;
use phyxel::WorldError;
use std::fmt;
use std::path::PathBuf;
use thiserror::Error;

/// Mistake in a scene file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line of the file, from 1; `None` for an override.
    pub line: Option<usize>,
    /// Path of the value, for instance `bodies[0] "goop".spacing`; empty for the file as a whole.
    pub path: String,
    /// Message with the remedy.
    pub message: String,
}

/// All mistakes of a scene file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct SceneErrors {
    /// File as the user named it.
    pub file: String,
    /// Problems in the order of the file, at least one.
    pub problems: Vec<Problem>,
}

impl fmt::Display for SceneErrors {
    /// Writes one line per problem: `file:line: path: message`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, problem) in self.problems.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            f.write_str(&self.file)?;
            if let Some(line) = problem.line {
                write!(f, ":{line}")?;
            }
            if !problem.path.is_empty() {
                write!(f, ": {}", problem.path)?;
            }
            write!(f, ": {}", problem.message)?;
        }
        Ok(())
    }
}

/// Error of loading a scene.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// Neither a file nor a built-in scene.
    #[error("there is no file \"{asked}\" and no built-in scene of that name{}; built-in scenes: \
        {}", nearest(.near), .known.join(", "))]
    Missing {
        /// Requested path or name.
        asked: String,
        /// Built-in scene with the most similar name.
        near: Option<String>,
        /// All built-in scenes.
        known: Vec<String>,
    },
    /// Unreadable file.
    #[error("cannot read the scene file \"{}\": {source}; check that it is a text file and that you may read \
        it", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// Invalid file.
    #[error(transparent)]
    Invalid(#[from] SceneErrors),
}

/// Error of building a world from a valid scene.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Too many particles.
    #[error(
        "the scene needs about {total} particles, more than the {limit} allowed ({}); \
         make `spacing` larger or allow more particles", counts(.bodies)
    )]
    TooManyParticles {
        /// Particles of all bodies.
        total: u64,
        /// Largest number allowed.
        limit: u64,
        /// Name, copies included in the count, and particles of each body of the file.
        bodies: Vec<(String, u64)>,
    },
    /// Body whose shape cannot be sampled.
    #[error("body \"{body}\": {source}")]
    Sampling {
        /// Its name.
        body: String,
        /// Cause.
        source: SampleError,
    },
    /// Body whose shape cannot be meshed.
    #[error("body \"{body}\": {source}")]
    Tetra {
        /// Its name.
        body: String,
        /// Cause.
        source: TetraError,
    },
    /// Body whose surface cannot be extracted.
    #[error("skin of body \"{body}\": {source}; change `skin.{key}`, or use skin = {{ kind = \"particles\" }}")]
    Skin {
        /// Its name.
        body: String,
        /// Key of the resolution.
        key: &'static str,
        /// Cause.
        source: ShapeError,
    },
    /// Unbounded obstacle or drain that would need a distance grid.
    #[error(
        "{owner}: its shape has no end, which only a plain plane may have; cut it with an intersection or use a box"
    )]
    EndlessShape {
        /// Kind and name of the owner.
        owner: String,
    },
    /// Obstacle or drain with too large a distance grid.
    #[error(
        "{owner}: a cell of {cell} m makes a grid of {corners} corners, more than the {limit} allowed; make `cell` \
         larger"
    )]
    GridTooFine {
        /// Kind and name of the owner.
        owner: String,
        /// Edge of a cell, m.
        cell: f32,
        /// Corners of the grid.
        corners: u64,
        /// Largest number allowed.
        limit: u64,
    },
    /// Region for copies in which no position was found.
    #[error(
        "body \"{body}\": no position was found in the region `copies.in` after {tries} tries; make the region larger \
            or \
         give it an end"
    )]
    NoPosition {
        /// Its name.
        body: String,
        /// Number of attempts.
        tries: u32,
    },
    /// Error of the engine.
    #[error(transparent)]
    World(#[from] WorldError),
}

fn nearest(near: &Option<String>) -> String {
    near.as_ref().map(|name| format!("; did you mean \"{name}\"?")).unwrap_or_default()
}

fn counts(bodies: &[(String, u64)]) -> String {
    const SHOWN: usize = 12;
    let mut items: Vec<String> = bodies.iter().take(SHOWN).map(|(name, count)| format!("{name}: {count}")).collect();
    if bodies.len() > SHOWN {
        items.push(format!("and {} more bodies", bodies.len() - SHOWN));
    }
    items.join(", ")
}
