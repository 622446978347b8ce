//! Index of a scene: a file with a line per frame, which has the representations of its values.

use super::track::{FrameEntry, Tracks};
use crate::error::FileError;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Content of an index.
#[derive(Debug, Default)]
pub(super) struct IndexContent {
    pub tracks: Tracks,
    /// Length of the scene up to the last value, bytes.
    pub end: u64,
}

/// Index file, open for appending.
#[derive(Debug)]
pub(super) struct IndexFile {
    path: PathBuf,
    writer: BufWriter<File>,
}

impl IndexFile {
    /// Reads the leading lines that are valid and accepted by `accept`, and truncates the file after them.
    pub fn open(path: &Path, accept: impl Fn(&FrameEntry) -> bool) -> Result<(Self, IndexContent), FileError> {
        let opened = OpenOptions::new().create(true).read(true).write(true).truncate(false).open(path);
        let mut file = opened.map_err(|source| FileError::new("create", path, source))?;
        let (content, bytes) = read(&file, accept).map_err(|source| FileError::new("read", path, source))?;
        let truncated = file.set_len(bytes).and_then(|()| file.seek(SeekFrom::Start(bytes)));
        truncated.map_err(|source| FileError::new("cut", path, source))?;
        Ok((Self { path: path.to_path_buf(), writer: BufWriter::new(file) }, content))
    }

    /// Appends a line.
    pub fn add(&mut self, entry: &FrameEntry) -> Result<(), FileError> {
        let mut line = serde_json::to_vec(entry).map_err(|error| self.failed(error.into()))?;
        line.push(b'\n');
        self.writer.write_all(&line).map_err(|source| self.failed(source))
    }

    /// Flushes and syncs to disk.
    pub fn sync(&mut self) -> Result<(), FileError> {
        let synced = self.writer.flush().and_then(|()| self.writer.get_ref().sync_data());
        synced.map_err(|source| self.failed(source))
    }

    fn failed(&self, source: io::Error) -> FileError {
        FileError::new("write", &self.path, source)
    }
}

/// Reads accepted lines; returns their content and length in bytes.
fn read(file: &File, accept: impl Fn(&FrameEntry) -> bool) -> io::Result<(IndexContent, u64)> {
    let mut reader = BufReader::new(file);
    let (mut content, mut bytes, mut line) = (IndexContent::default(), 0, Vec::new());
    loop {
        line.clear();
        let length = reader.read_until(b'\n', &mut line)? as u64;
        let is_complete = line.last() == Some(&b'\n');
        match serde_json::from_slice::<FrameEntry>(&line) {
            Ok(entry) if is_complete && content.tracks.can_follow(&entry) && accept(&entry) => {
                content.tracks.add(&entry);
                content.end = entry.end;
                bytes += length;
            }
            _ => return Ok((content, bytes)),
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
    fn incomplete_and_rejected_lines_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scene.index");
        let (mut index, none) = IndexFile::open(&path, |_| true).unwrap();
        assert!(none.tracks.frames.is_empty());
        (0..4).for_each(|frame| index.add(&entry(frame)).unwrap());
        index.sync().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() - 3]).unwrap();
        let (_, content) = IndexFile::open(&path, |_| true).unwrap();
        assert_eq!((content.tracks.frames.as_slice(), content.end), ([0, 1, 2].as_slice(), 88));
        let (_, content) = IndexFile::open(&path, |entry| entry.frame < 2).unwrap();
        assert_eq!(content.tracks.frames, [0, 1]);
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 2);
    }
}
