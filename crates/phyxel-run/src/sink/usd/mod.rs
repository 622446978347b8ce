//! Frames as one animated USD scene: a binary crate file, written while the frames come.
//!
//! Values of a frame are appended to `scene.usdc` as it comes, and only where they stand is remembered. The tables that
//! make sense of them are appended at the end. `scene.index` has a line per frame that says the same, so that a resumed
//! run can cut both files after its checkpoint and go on to the same bytes.
//!
//! The format has no description but its first program; what is written is version 0.8.0, which all readers know.

mod gather;
mod index;
mod layer;
mod materials;
mod names;
mod pack;
mod stage;
mod tables;
mod track;
mod value;

use crate::error::{FileError, SinkError};
use crate::sink::Sink;
use crate::sink::sequence::ExportContext;
use gather::gather;
use index::IndexFile;
use phyxel::Frame;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use track::{FrameEntry, Place, Property, Tracks};
use value::{Value, ValueFile};

/// Writes `scene.usdc`.
#[derive(Debug)]
pub struct UsdScene {
    folder: PathBuf,
    context: ExportContext,
    open: Option<OpenScene>,
}

impl UsdScene {
    /// Files go into `folder`, which must be there.
    pub fn new(folder: impl Into<PathBuf>, context: ExportContext) -> Self {
        Self { folder: folder.into(), context, open: None }
    }
}

impl Sink for UsdScene {
    fn frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        if self.open.is_none() {
            self.open = Some(OpenScene::before(&self.folder, frame.index)?);
        }
        if let Some(open) = &mut self.open {
            open.add(frame)?;
        }
        Ok(())
    }

    fn secure(&mut self) -> Result<(), SinkError> {
        if let Some(open) = &mut self.open {
            open.values.force()?;
            open.index.force()?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        // Without a new frame, the tables of the old ones are still missing: they were cut off for going on.
        if self.open.is_none() && index_of(&self.folder).exists() {
            self.open = Some(OpenScene::before(&self.folder, u32::MAX)?);
        }
        self.secure()?;
        if let Some(open) = &mut self.open {
            stage::write_stage(&mut open.values, &open.tracks, &self.context)?;
        }
        Ok(())
    }
}

/// Removes what is of the frames from `first` on.
pub(crate) fn remove_from(folder: &Path, first: u32) -> Result<(), FileError> {
    let files = [scene_of(folder), index_of(folder)];
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

fn scene_of(folder: &Path) -> PathBuf {
    folder.join("scene.usdc")
}

fn index_of(folder: &Path) -> PathBuf {
    folder.join("scene.index")
}

/// The files of a scene, ready for the next frame.
#[derive(Debug)]
struct OpenScene {
    values: ValueFile,
    index: IndexFile,
    tracks: Tracks,
    /// Prims of the frame before.
    there: Vec<u32>,
}

impl OpenScene {
    /// Goes on after the last frame before `first`; begins a scene if there is none.
    fn before(folder: &Path, first: u32) -> Result<Self, FileError> {
        let scene = scene_of(folder);
        let length = fs::metadata(&scene).map_or(0, |metadata| metadata.len());
        let (index, kept) = IndexFile::open(&index_of(folder), |entry| entry.frame < first && entry.end <= length)?;
        let values = ValueFile::open(&scene, kept.end)?;
        let tracks = kept.tracks;
        let last = (tracks.frames.len() as u32).wrapping_sub(1);
        let there = (0..tracks.tracks.len() as u32).filter(|&i| tracks.tracks[i as usize].is_there(last)).collect();
        Ok(Self { values, index, tracks, there })
    }

    fn add(&mut self, frame: &Frame) -> Result<(), FileError> {
        let mut entry = FrameEntry { frame: frame.index, ..FrameEntry::default() };
        let mut there = Vec::new();
        let (tracks, values) = (&self.tracks, &mut self.values);
        gather(frame, &mut |prim, give| {
            let known = tracks.find(prim.place, prim.form, &prim.name);
            let number = known.unwrap_or((tracks.tracks.len() + entry.prims.len()) as u32);
            there.push(number);
            give(&mut |property, value| put(tracks, values, &mut entry, (number, prim.place), property, &value))?;
            if known.is_none() {
                entry.prims.push(prim);
            }
            Ok(())
        })?;
        entry.came = there.iter().copied().filter(|number| !self.there.contains(number)).collect();
        entry.went = self.there.iter().copied().filter(|number| !there.contains(number)).collect();
        entry.end = self.values.at();
        self.index.add(&entry)?;
        self.tracks.add(&entry);
        self.there = there;
        Ok(())
    }
}

/// Writes a value if it is not the one before.
fn put(
    tracks: &Tracks,
    file: &mut ValueFile,
    entry: &mut FrameEntry,
    (number, place): (u32, Place),
    property: Property,
    value: &Value,
) -> Result<(), FileError> {
    let before = tracks.tracks.get(number as usize).and_then(|track| track.latest(property));
    // Obstacles move, but keep their form.
    if place == Place::Obstacle && property != Property::Transform && before.is_some() {
        return Ok(());
    }
    let (rep, hash) = file.put(value, before)?;
    if before != Some((rep, hash)) {
        entry.values.push((number, property, rep, hash));
    }
    Ok(())
}
