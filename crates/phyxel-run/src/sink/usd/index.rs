//! The file beside a scene that says where its values stand: a line per frame.

use super::track::{FrameEntry, Tracks};
use crate::error::FileError;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// What the lines of an index say.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub tracks: Tracks,
    /// Bytes of the scene up to the last value.
    pub end: u64,
}

/// The index, ready for the next line.
#[derive(Debug)]
pub(super) struct IndexFile {
    path: PathBuf,
    writer: BufWriter<File>,
}

impl IndexFile {
    /// Reads the first lines as long as they make sense and `keep` likes them, and cuts off the others.
    pub fn open(path: &Path, keep: impl Fn(&FrameEntry) -> bool) -> Result<(Self, Kept), FileError> {
        let opened = OpenOptions::new().create(true).read(true).write(true).truncate(false).open(path);
        let mut file = opened.map_err(|source| FileError::new("create", path, source))?;
        let (kept, bytes) = read(&file, keep).map_err(|source| FileError::new("read", path, source))?;
        let cut = file.set_len(bytes).and_then(|()| file.seek(SeekFrom::Start(bytes)));
        cut.map_err(|source| FileError::new("cut", path, source))?;
        Ok((Self { path: path.to_path_buf(), writer: BufWriter::new(file) }, kept))
    }

    /// Adds a line.
    pub fn add(&mut self, entry: &FrameEntry) -> Result<(), FileError> {
        let mut line = serde_json::to_vec(entry).map_err(|error| self.failed(error.into()))?;
        line.push(b'\n');
        self.writer.write_all(&line).map_err(|source| self.failed(source))
    }

    /// Forces the lines to disk.
    pub fn force(&mut self) -> Result<(), FileError> {
        let forced = self.writer.flush().and_then(|()| self.writer.get_ref().sync_data());
        forced.map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> FileError {
        FileError::new("write", &self.path, source)
    }
}

/// What is kept, and the bytes of its lines.
fn read(file: &File, keep: impl Fn(&FrameEntry) -> bool) -> io::Result<(Kept, u64)> {
    let mut reader = BufReader::new(file);
    let (mut kept, mut bytes, mut line) = (Kept::default(), 0, Vec::new());
    loop {
        line.clear();
        let length = reader.read_until(b'\n', &mut line)? as u64;
        let whole = line.last() == Some(&b'\n');
        match serde_json::from_slice::<FrameEntry>(&line) {
            Ok(entry) if whole && kept.tracks.can_add(&entry) && keep(&entry) => {
                kept.tracks.add(&entry);
                kept.end = entry.end;
                bytes += length;
            }
            _ => return Ok((kept, bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn entry(frame: u32) -> FrameEntry {
        FrameEntry { frame, end: 88, ..FrameEntry::default() }
    }

    #[test]
    fn lines_that_are_torn_or_not_wanted_are_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scene.index");
        let (mut index, none) = IndexFile::open(&path, |_| true).unwrap();
        assert!(none.tracks.frames.is_empty());
        (0..4).for_each(|frame| index.add(&entry(frame)).unwrap());
        index.force().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() - 3]).unwrap();
        let (_, kept) = IndexFile::open(&path, |_| true).unwrap();
        assert_eq!((kept.tracks.frames.as_slice(), kept.end), ([0, 1, 2].as_slice(), 88));
        let (_, kept) = IndexFile::open(&path, |entry| entry.frame < 2).unwrap();
        assert_eq!(kept.tracks.frames, [0, 1]);
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 2);
    }
}
