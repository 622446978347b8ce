//! Export formats. Each has its own folder; most write one numbered file per frame, from 0.

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

/// File format of exported frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExportFormat {
    /// Particles and skins as binary PLY.
    Ply,
    /// Skins and points as Wavefront OBJ.
    Obj,
    /// Skins, points and obstacles as one animated USD scene.
    Usd,
    /// Skins and points as binary glTF.
    Glb,
    /// Particles and skins as VTK's poly data.
    Vtk,
    /// Particles as classic Houdini geometry.
    Bgeo,
}

/// Properties of a run that exports need.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportContext {
    /// Frames per simulated second.
    pub frame_rate: f64,
    /// Title of the scene.
    pub title: String,
}

/// Unknown name of an export format.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no export format named \"{name}\"; known: {known}", known = known_names())]
pub struct UnknownFormat {
    /// The name.
    pub name: String,
}

impl ExportFormat {
    /// All formats.
    pub const ALL: [Self; 6] = [Self::Ply, Self::Obj, Self::Usd, Self::Glb, Self::Vtk, Self::Bgeo];

    /// Name of the format and of its folder.
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

    /// File name extension.
    fn extension(self) -> &'static str {
        match self {
            Self::Usd => "usdc",
            Self::Vtk => "vtp",
            Self::Ply | Self::Obj | Self::Glb | Self::Bgeo => self.name(),
        }
    }

    /// Prefixes of its numbered files.
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

    /// Creates a sink that writes into the folder of the format inside `folder`.
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

    /// Creates the folder of the format inside `folder`.
    pub(crate) fn create_folder(self, folder: &Path) -> Result<(), RunError> {
        let subfolder = folder.join(self.name());
        fs::create_dir_all(&subfolder).map_err(|source| RunError::Prepare(FileError::new("create", subfolder, source)))
    }

    /// Removes the data of frame `first` and later ones; foreign files stay.
    pub(crate) fn remove_frames_from(self, folder: &Path, first: u32) -> Result<(), FileError> {
        let subfolder = folder.join(self.name());
        let Ok(entries) = fs::read_dir(&subfolder) else { return Ok(()) };
        for entry in entries.flatten() {
            let number = self.frame_number(&entry.file_name().to_string_lossy());
            if number.is_some_and(|frame| frame >= first) {
                let path = entry.path();
                fs::remove_file(&path).map_err(|source| FileError::new("remove", path, source))?;
            }
        }
        match self {
            Self::Usd => usd::remove_frames_from(&subfolder, first),
            Self::Glb => glb::remove_animation(&subfolder),
            Self::Vtk => vtk::truncate_collections(&subfolder, first),
            Self::Ply | Self::Obj | Self::Bgeo => Ok(()),
        }
    }

    /// Parses the frame number of a file of this format.
    fn frame_number(self, file: &str) -> Option<u32> {
        let stem = file.strip_suffix(self.extension())?.strip_suffix('.')?;
        let number = self.prefixes().iter().find_map(|prefix| stem.strip_prefix(prefix)?.strip_prefix('_'))?;
        let digits = number.len() >= 5 && number.bytes().all(|byte| byte.is_ascii_digit());
        if digits { number.parse().ok() } else { None }
    }
}

impl fmt::Display for ExportFormat {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl FromStr for ExportFormat {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        let matching = Self::ALL.into_iter().find(|export| export.name() == name.trim());
        matching.ok_or_else(|| UnknownFormat { name: name.trim().to_string() })
    }
}

fn known_names() -> String {
    ExportFormat::ALL.map(ExportFormat::name).join(", ")
}

/// Path `folder/prefix_00042.extension`.
pub(crate) fn numbered_path(folder: &Path, prefix: &str, frame: u32, extension: &str) -> PathBuf {
    folder.join(format!("{prefix}_{frame:05}.{extension}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_format_is_refused_with_the_known_ones() {
        assert_eq!("ply".parse(), Ok(ExportFormat::Ply));
        let message = "plyy".parse::<ExportFormat>().unwrap_err().to_string();
        assert_eq!(message, "there is no export format named \"plyy\"; known: ply, obj, usd, glb, vtk, bgeo");
    }

    #[test]
    fn only_exported_files_from_a_frame_on_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let ply = folder.path().join("ply");
        fs::create_dir(&ply).unwrap();
        let names =
            ["particles_00001.ply", "particles_00002.ply", "skin_00003.ply", "skin_3.ply", "mine_00009.ply", "x"];
        for name in names {
            fs::write(ply.join(name), b"").unwrap();
        }
        ExportFormat::Ply.remove_frames_from(folder.path(), 2).unwrap();
        let mut remaining: Vec<_> = fs::read_dir(&ply).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        remaining.sort();
        assert_eq!(remaining, ["mine_00009.ply", "particles_00001.ply", "skin_3.ply", "x"]);
    }
}
