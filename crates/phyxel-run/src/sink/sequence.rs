//! Kinds of export. Each has a folder of its own; most write numbered files, one per frame, from 0.

use crate::error::{FileError, RunError};
use crate::sink::Sink;
use crate::sink::bgeo::BgeoSequence;
use crate::sink::glb::{self, GlbSequence};
use crate::sink::obj::ObjSequence;
use crate::sink::ply::PlySequence;
use crate::sink::usd::{self, UsdScene};
use crate::sink::vtk::{self, VtkSequence};
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
    /// Everything as one animated USD scene.
    Usd,
    /// Skins and points as binary glTF.
    Glb,
    /// Particles and skins as VTK's poly data.
    Vtk,
    /// Particles as Houdini's classic geometry.
    Bgeo,
}

/// What exports need to know of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportContext {
    /// Frames per simulated second.
    pub frame_rate: f64,
    /// What the scene shows.
    pub title: String,
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
    pub const ALL: [Self; 6] = [Self::Ply, Self::Obj, Self::Usd, Self::Glb, Self::Vtk, Self::Bgeo];

    /// The word for it; also the name of its folder.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ply => "ply",
            Self::Obj => "obj",
            Self::Usd => "usd",
            Self::Glb => "glb",
            Self::Vtk => "vtk",
            Self::Bgeo => "bgeo",
        }
    }

    /// The ending of its files.
    fn ending(self) -> &'static str {
        match self {
            Self::Usd => "usdc",
            Self::Vtk => "vtp",
            Self::Ply | Self::Obj | Self::Glb | Self::Bgeo => self.name(),
        }
    }

    /// What its files are called before the number.
    fn prefixes(self) -> &'static [&'static str] {
        match self {
            Self::Ply => &["particles", "skin"],
            Self::Obj => &["frame"],
            Self::Usd => &[],
            Self::Glb => &[glb::PREFIX],
            Self::Vtk => &vtk::PREFIXES,
            Self::Bgeo => &["particles"],
        }
    }

    /// A sink that writes into its folder inside `folder`.
    pub fn sink(self, folder: &Path, context: &ExportContext) -> Box<dyn Sink> {
        let folder = folder.join(self.name());
        match self {
            Self::Ply => Box::new(PlySequence::new(folder)),
            Self::Obj => Box::new(ObjSequence::new(folder)),
            Self::Usd => Box::new(UsdScene::new(folder, context.clone())),
            Self::Glb => Box::new(GlbSequence::new(folder)),
            Self::Vtk => Box::new(VtkSequence::new(folder)),
            Self::Bgeo => Box::new(BgeoSequence::new(folder)),
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
        match self {
            Self::Usd => usd::remove_from(&own, first),
            Self::Glb => glb::remove_scene(&own),
            Self::Vtk => vtk::cut_lists(&own, first),
            Self::Ply | Self::Obj | Self::Bgeo => Ok(()),
        }
    }

    /// Number of the frame a file of this kind is about.
    fn frame_of(self, file: &str) -> Option<u32> {
        let stem = file.strip_suffix(self.ending())?.strip_suffix('.')?;
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
        assert_eq!(message, "there is no export named \"plyy\"; known: ply, obj, usd, glb, vtk, bgeo");
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
