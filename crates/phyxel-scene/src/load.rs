//! Loading of scenes: a file, or a built-in scene by name.

use crate::Scene;
use crate::builtin;
use crate::error::LoadError;
use crate::read::wording::nearest;
use std::path::Path;

impl Scene {
    /// Loads a scene file or, where there is no such file, the built-in scene of that name.
    ///
    /// `overrides` are pairs of path and value as in [`Scene::read_with`].
    pub fn load(path_or_name: &str, overrides: &[(String, String)]) -> Result<Self, LoadError> {
        let path = Path::new(path_or_name);
        if path.is_file() {
            let unreadable = |source| LoadError::Unreadable { path: path.to_path_buf(), source };
            let text = std::fs::read_to_string(path).map_err(unreadable)?;
            let folder = path.parent().unwrap_or(Path::new(""));
            return Ok(Self::read_with(&text, path_or_name, folder, overrides)?);
        }
        match builtin::text(path_or_name) {
            Some(text) => Ok(Self::read_with(text, &format!("{path_or_name}.toml"), Path::new(""), overrides)?),
            None => Err(missing(path_or_name)),
        }
    }
}

fn missing(asked: &str) -> LoadError {
    let stem = Path::new(asked).file_stem().and_then(|stem| stem.to_str()).unwrap_or(asked);
    LoadError::Missing {
        asked: asked.to_string(),
        near: nearest(stem, builtin::names()).map(str::to_string),
        known: builtin::names().map(str::to_string).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_comes_before_a_built_in_scene_and_overrides_count() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own.toml");
        std::fs::write(&path, "version = 1\nduration = 2.0\n").unwrap();
        let set = [("duration".to_string(), "5".to_string())];
        let scene = Scene::load(path.to_str().unwrap(), &set).unwrap();
        assert_eq!((scene.name.as_str(), scene.duration), ("own", 5.0));
    }

    #[test]
    fn a_built_in_scene_loads_by_name() {
        let name = builtin::names().next().unwrap();
        assert_eq!(Scene::load(name, &[]).unwrap().name, name);
    }

    #[test]
    fn a_missing_scene_names_what_was_looked_for_and_the_nearest_one() {
        let name = builtin::names().next().unwrap();
        let error = Scene::load(&format!("scenes/{name}x.toml"), &[]).unwrap_err().to_string();
        let start = format!(
            "there is no file \"scenes/{name}x.toml\" and no built-in scene of that name; did you mean \"{name}\"?"
        );
        assert!(error.starts_with(&start), "{error}");
        assert!(error.contains("built-in scenes: "), "{error}");
    }

    #[test]
    fn a_file_that_is_no_text_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bytes.toml");
        std::fs::write(&path, [0xff, 0xfe, 0x00]).unwrap();
        let error = Scene::load(path.to_str().unwrap(), &[]).unwrap_err().to_string();
        assert!(error.contains("bytes.toml") && error.contains("check that it is a text file"), "{error}");
    }

    #[test]
    fn problems_of_a_file_come_with_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bad.toml");
        std::fs::write(&path, "version = 1\nduration = -1\n").unwrap();
        let error = Scene::load(path.to_str().unwrap(), &[]).unwrap_err().to_string();
        assert!(error.ends_with("bad.toml:2: duration: is -1, but must be positive (s)"), "{error}");
    }
}
