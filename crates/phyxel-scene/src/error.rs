//! What can go wrong between a scene file and a world.

use crate::sample::SampleError;
use crate::shape::ShapeError;
use crate::tetra::TetraError;
use phyxel::WorldError;
use std::fmt;
use std::path::PathBuf;
use thiserror::Error;

/// One thing that is wrong in a scene file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line of the file, counted from 1; `None` for what an override brought in.
    pub line: Option<usize>,
    /// Where it stands, for instance `bodies[0] "goop".spacing`; empty for the file as a whole.
    pub path: String,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// Everything that is wrong in a scene file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct SceneErrors {
    /// The file as the user named it.
    pub file: String,
    /// At least one, in the order of the file.
    pub problems: Vec<Problem>,
}

impl fmt::Display for SceneErrors {
    /// One line per problem: `file:line: path: message`.
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

/// A scene could not be loaded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// Neither a file nor a built-in scene.
    #[error("there is no file \"{asked}\" and no built-in scene of that name{}; built-in scenes: {}", nearest(.near), list(.known))]
    Missing {
        /// What was looked for.
        asked: String,
        /// The built-in scene whose name is nearest.
        near: Option<String>,
        /// All built-in scenes.
        known: Vec<String>,
    },
    /// A file that cannot be read.
    #[error("cannot read the scene file \"{}\": {source}; check that it is a text file and that you may read it", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file that says something wrong.
    #[error(transparent)]
    Wrong(#[from] SceneErrors),
}

/// A scene that reads well could not become a world.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// More particles than allowed.
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
    /// A body whose shape cannot be filled with particles.
    #[error("body \"{body}\": {source}")]
    Sampling {
        /// Its name.
        body: String,
        /// What is wrong.
        source: SampleError,
    },
    /// A body whose shape cannot be cut into tetrahedra.
    #[error("body \"{body}\": {source}")]
    Tetra {
        /// Its name.
        body: String,
        /// What is wrong.
        source: TetraError,
    },
    /// A body whose surface cannot be made.
    #[error("skin of body \"{body}\": {source}; change `skin.{key}`, or use skin = {{ kind = \"particles\" }}")]
    Skin {
        /// Its name.
        body: String,
        /// The key that says how fine it is.
        key: &'static str,
        /// What is wrong.
        source: ShapeError,
    },
    /// An obstacle or a drain without end in a form that has to be sampled on a grid.
    #[error(
        "{owner}: its shape has no end, which only a plain plane may have; cut it with an intersection or use a box"
    )]
    EndlessShape {
        /// What it is, with its name.
        owner: String,
    },
    /// An obstacle or a drain whose grid of distances would be too large.
    #[error(
        "{owner}: a cell of {cell} m makes a grid of {corners} corners, more than the {limit} allowed; make `cell` larger"
    )]
    GridTooFine {
        /// What it is, with its name.
        owner: String,
        /// Edge of a cell, m.
        cell: f32,
        /// Corners of the grid.
        corners: u64,
        /// Largest number allowed.
        limit: u64,
    },
    /// A region for copies that no position lies in.
    #[error(
        "body \"{body}\": no place was found in the region `copies.in` after {tries} tries; make the region larger or give it an end"
    )]
    NoPlace {
        /// Its name.
        body: String,
        /// Positions tried.
        tries: u32,
    },
    /// The world refused something.
    #[error(transparent)]
    World(#[from] WorldError),
}

fn nearest(near: &Option<String>) -> String {
    near.as_ref().map(|name| format!("; did you mean \"{name}\"?")).unwrap_or_default()
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_string() } else { names.join(", ") }
}

fn counts(bodies: &[(String, u64)]) -> String {
    const SHOWN: usize = 12;
    let mut parts: Vec<String> = bodies.iter().take(SHOWN).map(|(name, count)| format!("{name}: {count}")).collect();
    if bodies.len() > SHOWN {
        parts.push(format!("and {} more bodies", bodies.len() - SHOWN));
    }
    parts.join(", ")
}
