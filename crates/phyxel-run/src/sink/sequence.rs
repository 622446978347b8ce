//! Numbered files: one per frame, from 0, in a folder of their own.

use crate::error::{FileError, RunError};
use crate::sink::Sink;
use crate::sink::obj::ObjSequence;
use crate::sink::ply::PlySequence;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use thiserror::Error;

/// A kind of file that frames can be exported to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Export {
    /// Particles and skins as binary PLY.
    Ply,
    /// Skins and points as Wavefront OBJ.
    Obj,
}

/// A word that names no export.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no export named \"{word}\"; known: {known}", known = known_words())]
pub struct UnknownExport {
    /// The word.
    pub word: String,
}

impl Export {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Ply, Self::Obj];

    /// The word for it; also the name of its folder and the ending of its files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ply => "ply",
            Self::Obj => "obj",
        }
    }

    /// What its files are called before the number.
    fn prefixes(self) -> &'static [&'static str] {
        match self {
            Self::Ply => &["particles", "skin"],
            Self::Obj => &["frame"],
        }
    }

    /// A sink that writes into its folder inside `folder`.
    pub fn sink(self, folder: &Path) -> Box<dyn Sink> {
        let folder = folder.join(self.name());
        match self {
            Self::Ply => Box::new(PlySequence::new(folder)),
            Self::Obj => Box::new(ObjSequence::new(folder)),
        }
    }

    /// Makes its folder inside `folder`.
    pub(crate) fn make_folder(self, folder: &Path) -> Result<(), RunError> {
        let own = folder.join(self.name());
        fs::create_dir_all(&own).map_err(|source| RunError::Prepare(FileError::new("create", own, source)))
    }

    /// Removes its files of the frames from `first` on; other files stay.
    pub(crate) fn remove_from(self, folder: &Path, first: u32) -> Result<(), FileError> {
        let own = folder.join(self.name());
        let Ok(entries) = fs::read_dir(&own) else { return Ok(()) };
        for entry in entries.flatten() {
            let ours = self.frame_of(&entry.file_name().to_string_lossy());
            if ours.is_some_and(|frame| frame >= first) {
                let path = entry.path();
                fs::remove_file(&path).map_err(|source| FileError::new("remove", path, source))?;
            }
        }
        Ok(())
    }

    /// Number of the frame a file of this kind is about.
    fn frame_of(self, file: &str) -> Option<u32> {
        let stem = file.strip_suffix(self.name())?.strip_suffix('.')?;
        let number = self.prefixes().iter().find_map(|prefix| stem.strip_prefix(prefix)?.strip_prefix('_'))?;
        let digits = number.len() >= 5 && number.bytes().all(|byte| byte.is_ascii_digit());
        if digits { number.parse().ok() } else { None }
    }
}

impl fmt::Display for Export {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for Export {
    type Err = UnknownExport;

    fn from_str(word: &str) -> Result<Self, UnknownExport> {
        let matching = Self::ALL.into_iter().find(|export| export.name() == word.trim());
        matching.ok_or_else(|| UnknownExport { word: word.trim().to_string() })
    }
}

fn known_words() -> String {
    Export::ALL.map(Export::name).join(", ")
}

/// `folder/prefix_00042.ending`.
pub(crate) fn numbered(folder: &Path, prefix: &str, frame: u32, ending: &str) -> PathBuf {
    folder.join(format!("{prefix}_{frame:05}.{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_words_are_answered_with_the_known_ones() {
        assert_eq!("ply".parse(), Ok(Export::Ply));
        let message = "plyy".parse::<Export>().unwrap_err().to_string();
        assert_eq!(message, "there is no export named \"plyy\"; known: ply, obj");
    }

    #[test]
    fn only_own_files_from_a_frame_on_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let ply = folder.path().join("ply");
        fs::create_dir(&ply).unwrap();
        let names =
            ["particles_00001.ply", "particles_00002.ply", "skin_00003.ply", "skin_3.ply", "mine_00009.ply", "x"];
        for name in names {
            fs::write(ply.join(name), b"").unwrap();
        }
        Export::Ply.remove_from(folder.path(), 2).unwrap();
        let mut left: Vec<_> = fs::read_dir(&ply).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["mine_00009.ply", "particles_00001.ply", "skin_3.ply", "x"]);
    }
}
