//! Parsing and validation of scene files, with all problems of a file at once.
//!
//! May not know worlds: the result is a [`Scene`](crate::Scene), validated but not built.

mod body;
mod copies;
mod cursor;
mod event;
mod expectation;
mod flow;
mod heating;
mod material;
mod model;
mod obstacle;
mod overrides;
mod quantity;
mod scene;
mod shape;
mod skin;
mod target;
#[cfg(test)]
mod tests;
pub(crate) mod wording;

pub(crate) use cursor::{Problems, TableReader};
pub(crate) use material::read_material;

use crate::Scene;
use crate::error::{Problem, SceneErrors};
use cursor::Field;
use std::path::Path;

impl Scene {
    /// Reads the text of a scene file.
    ///
    /// `file` is the name in messages, its stem the name of the scene; relative paths in the scene are resolved
    /// against `folder`. All problems of the file are reported at once.
    pub fn read(text: &str, file: &str, folder: &Path) -> Result<Self, SceneErrors> {
        Self::read_with(text, file, folder, &[])
    }

    /// Reads the text of a scene file with overrides of values.
    ///
    /// An override is a path such as `bodies.goop.spacing`, `bodies.0.shape.size` or `gravity` with a TOML value; a
    /// value that is not TOML is a string.
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
        // In the order of the file; problems without a line come first.
        problems.sort_by_key(|problem| problem.line);
        match scene {
            Some(scene) if problems.is_empty() => Ok(scene),
            _ => Err(fail(problems)),
        }
    }
}

/// Reads a name of letters, digits, `-` and `_`, which is valid in paths and file names.
fn read_name(field: &Field) -> Option<String> {
    let name = field.text()?;
    let fit = |letter: char| letter.is_alphanumeric() || letter == '-' || letter == '_';
    if name.is_empty() || !name.chars().all(fit) {
        field.reject(format!("is {name:?}, but a name must be made of letters, digits, - and _"));
        return None;
    }
    if name == "world" {
        field.reject("is \"world\", which events use for the world itself; choose another name");
        return None;
    }
    Some(name.to_string())
}
