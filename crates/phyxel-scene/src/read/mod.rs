//! Reads scene files: everything that is wrong is found, nothing that is wrong gets through.
//!
//! May not know worlds: what is read is a [`Scene`](crate::Scene), checked but not built.

mod body;
mod continuum;
#[cfg(test)]
mod continuum_tests;
mod copies;
mod crystal;
#[cfg(test)]
mod crystal_tests;
mod cursor;
mod event;
mod expectation;
mod flow;
#[cfg(test)]
mod flow_tests;
mod heating;
#[cfg(test)]
mod heating_tests;
mod lattice;
#[cfg(test)]
mod lattice_tests;
mod material;
mod obstacle;
mod overrides;
mod quantity;
mod scene;
mod shape;
mod target;
#[cfg(test)]
mod tests;
mod tetra;
#[cfg(test)]
mod tetra_tests;
pub(crate) mod words;

pub(crate) use cursor::{Problems, Reader};
pub(crate) use material::read_material;

use crate::Scene;
use crate::error::{Problem, SceneErrors};
use cursor::Field;
use std::path::Path;

impl Scene {
    /// Reads the text of a scene file.
    ///
    /// `file` is the name shown in messages, its stem the name of the scene; files that the scene names are
    /// looked for below `folder`. All problems of the file are reported at once.
    pub fn read(text: &str, file: &str, folder: &Path) -> Result<Self, SceneErrors> {
        Self::read_with(text, file, folder, &[])
    }

    /// Reads the text of a scene file after changing values of it.
    ///
    /// An override is a path such as `bodies.goop.spacing`, `bodies.0.shape.size` or `gravity` with a TOML
    /// value, or a bare text for what is not TOML.
    pub fn read_with(
        text: &str,
        file: &str,
        folder: &Path,
        overrides: &[(String, String)],
    ) -> Result<Self, SceneErrors> {
        let fail = |problems: Vec<Problem>| SceneErrors { file: file.to_string(), problems };
        let mut table = crate::document::parse(text).map_err(fail)?;
        let problems = Problems::default();
        for (path, value) in overrides {
            if let Err(problem) = overrides::apply(&mut table, path, value) {
                problems.borrow_mut().push(problem);
            }
        }
        let name = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let scene = scene::read_scene(&table, name.unwrap_or_else(|| "scene".into()), folder, &problems);
        let mut problems = problems.take();
        // The order of the file; what has no line comes first.
        problems.sort_by_key(|problem| problem.line);
        match scene {
            Some(scene) if problems.is_empty() => Ok(scene),
            _ => Err(fail(problems)),
        }
    }
}

/// A name for a thing: letters, digits, `-` and `_`, so that it can stand in paths and file names.
fn read_name(field: &Field) -> Option<String> {
    let name = field.text()?;
    let fit = |letter: char| letter.is_alphanumeric() || letter == '-' || letter == '_';
    if name.is_empty() || !name.chars().all(fit) {
        field.object(format!("is {name:?}, but a name must be made of letters, digits, - and _"));
        return None;
    }
    if name == "world" {
        field.object("is \"world\", which events use for the world itself; choose another name");
        return None;
    }
    Some(name.to_string())
}
