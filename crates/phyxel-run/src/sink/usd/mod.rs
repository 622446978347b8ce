//! Export as one animated USD scene: a binary crate file, written frame by frame.
//!
//! The values of a frame are appended to `scene.usdc`; only their offsets are kept in memory. The tables that refer to
//! them are appended at the end. `scene.index` has the offsets too, in a line per frame, so that a resumed run can
//! truncate both files after its checkpoint and continue to the same bytes.
//!
//! The format is specified by its reference implementation only (OpenUSD). Written is version 0.8.0, which all readers
//! support.

mod compression;
mod crate_file;
mod index;
mod layer;
mod materials;
mod names;
mod prims;
mod stage;
mod tables;
mod track;

use crate::error::{FileError, SinkError};
use crate::sink::Sink;
use crate::sink::export::ExportContext;
use crate_file::{CrateFile, Value};
use index::IndexFile;
use phyxel::Frame;
use prims::visit_prims;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use track::{FrameEntry, PrimOwner, Property, Tracks};

/// Writes `scene.usdc`.
#[derive(Debug)]
pub struct UsdScene {
    folder: PathBuf,
    context: ExportContext,
    open: Option<OpenScene>,
}

impl UsdScene {
    /// Writes into `folder`, which must exist.
    pub fn new(folder: impl Into<PathBuf>, context: ExportContext) -> Self {
        Self { folder: folder.into(), context, open: None }
    }
}

impl Sink for UsdScene {
    fn write_frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        if self.open.is_none() {
            self.open = Some(OpenScene::before(&self.folder, frame.index)?);
        }
        if let Some(open) = &mut self.open {
            open.add(frame)?;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), SinkError> {
        if let Some(open) = &mut self.open {
            open.values.sync()?;
            open.index.sync()?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        // Without a new frame, the tables of the old ones are still missing: they were removed on resume.
        if self.open.is_none() && index_path(&self.folder).exists() {
            self.open = Some(OpenScene::before(&self.folder, u32::MAX)?);
        }
        self.sync()?;
        if let Some(open) = &mut self.open {
            stage::write_stage(&mut open.values, &open.tracks, &self.context)?;
        }
        Ok(())
    }
}

/// Removes the values of frame `first` and later ones.
pub(crate) fn remove_frames_from(folder: &Path, first: u32) -> Result<(), FileError> {
    let files = [scene_path(folder), index_path(folder)];
    if first > 0 && files.iter().all(|file| file.exists()) {
        return OpenScene::before(folder, first).map(|_| ());
    }
    for file in files {
        match fs::remove_file(&file) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(FileError::new("remove", file, source));
            }
            _ => {}
        }
    }
    Ok(())
}

fn scene_path(folder: &Path) -> PathBuf {
    folder.join("scene.usdc")
}

fn index_path(folder: &Path) -> PathBuf {
    folder.join("scene.index")
}

/// Files of a scene, open for the next frame.
#[derive(Debug)]
struct OpenScene {
    values: CrateFile,
    index: IndexFile,
    tracks: Tracks,
    /// Prims of the previous frame.
    present: Vec<u32>,
}

impl OpenScene {
    /// Opens a scene after its last frame before `first`; creates it if missing.
    fn before(folder: &Path, first: u32) -> Result<Self, FileError> {
        let scene = scene_path(folder);
        let length = fs::metadata(&scene).map_or(0, |metadata| metadata.len());
        let (index, content) =
            IndexFile::open(&index_path(folder), |entry| entry.frame < first && entry.end <= length)?;
        let values = CrateFile::open(&scene, content.end)?;
        let tracks = content.tracks;
        let last = (tracks.frames.len() as u32).wrapping_sub(1);
        let present = (0..tracks.tracks.len() as u32).filter(|&i| tracks.tracks[i as usize].is_present(last)).collect();
        Ok(Self { values, index, tracks, present })
    }

    fn add(&mut self, frame: &Frame) -> Result<(), FileError> {
        let mut entry = FrameEntry { frame: frame.index, ..FrameEntry::default() };
        let mut present = Vec::new();
        let (tracks, values) = (&self.tracks, &mut self.values);
        visit_prims(frame, &mut |prim, write_values| {
            let existing = tracks.find(prim.owner, prim.prim_type, &prim.name);
            let index = existing.unwrap_or((tracks.tracks.len() + entry.prims.len()) as u32);
            present.push(index);
            write_values(&mut |property, value| {
                write_value(tracks, values, &mut entry, (index, prim.owner), property, &value)
            })?;
            if existing.is_none() {
                entry.prims.push(prim);
            }
            Ok(())
        })?;
        entry.appeared = present.iter().copied().filter(|index| !self.present.contains(index)).collect();
        entry.disappeared = self.present.iter().copied().filter(|index| !present.contains(index)).collect();
        entry.end = self.values.length();
        self.index.add(&entry)?;
        self.tracks.add(&entry);
        self.present = present;
        Ok(())
    }
}

/// Writes a value unless it equals the previous one.
fn write_value(
    tracks: &Tracks,
    file: &mut CrateFile,
    entry: &mut FrameEntry,
    (index, owner): (u32, PrimOwner),
    property: Property,
    value: &Value,
) -> Result<(), FileError> {
    let previous = tracks.tracks.get(index as usize).and_then(|track| track.latest(property));
    // Obstacles move rigidly.
    if owner == PrimOwner::Obstacle && property != Property::Transform && previous.is_some() {
        return Ok(());
    }
    let (rep, hash) = file.write_value(value, previous)?;
    if previous != Some((rep, hash)) {
        entry.values.push((index, property, rep, hash));
    }
    Ok(())
}
