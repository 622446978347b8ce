//! Built-in scenes: every file of the repository's `scenes` folder.

/// Built-in scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// Name: that of its file without extension.
    pub name: &'static str,
    /// Text of the file.
    pub text: &'static str,
}

const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/scenes.rs"));

/// All built-in scenes, by name.
pub fn all() -> impl Iterator<Item = Builtin> + Clone {
    FILES.iter().map(|(name, text)| Builtin { name, text })
}

/// Names of all built-in scenes, sorted.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    FILES.iter().map(|(name, _)| *name)
}

/// Text of the file of a built-in scene.
pub fn text(name: &str) -> Option<&'static str> {
    FILES.iter().find(|(other, _)| *other == name).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BuildOptions, Scene};
    use std::path::Path;

    #[test]
    fn every_built_in_scene_reads_and_becomes_a_world() {
        assert!(names().count() > 0);
        for scene in all() {
            let file = format!("{}.toml", scene.name);
            let read = Scene::read(scene.text, &file, Path::new(".")).unwrap_or_else(|errors| panic!("{errors}"));
            let built = read.build(&BuildOptions::default()).unwrap_or_else(|error| panic!("{file}: {error}"));
            assert_eq!(built.warnings, [] as [String; 0], "{file}");
            assert_eq!(read.name, scene.name);
        }
    }

    #[test]
    fn every_built_in_scene_has_a_title_and_expectations() {
        for scene in all() {
            let read = Scene::read(scene.text, "x.toml", Path::new(".")).unwrap_or_else(|errors| panic!("{errors}"));
            assert_ne!(read.title, "x", "{} has no title", scene.name);
            assert!(!read.expectations.is_empty(), "{} expects nothing", scene.name);
        }
    }

    #[test]
    fn unknown_scenes_have_no_text() {
        assert_eq!(text("no such scene"), None);
    }
}
