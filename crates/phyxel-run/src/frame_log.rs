//! Frame log `frames.jsonl`: a line of JSON per frame. It contains nothing that differs between two runs of a scene.

use crate::error::{FileError, ResumeError, RunError, SinkError};
use crate::sink::Sink;
use phyxel::Frame;
use phyxel::frame::{BodyReport, Totals};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Entry of the frame log: time, totals and body reports of a frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrameLine {
    /// Number of the frame; 0 is the initial state.
    pub frame: u32,
    /// Simulated time, s.
    pub time: f64,
    /// Steps since the start.
    pub steps: u64,
    /// Totals of the world.
    pub totals: Totals,
    /// Bodies, in the order in which they were added.
    pub bodies: Vec<BodyReport>,
}

impl From<&Frame> for FrameLine {
    fn from(frame: &Frame) -> Self {
        Self {
            frame: frame.index,
            time: frame.time,
            steps: frame.steps,
            totals: frame.totals.clone(),
            bodies: frame.bodies.iter().map(|body| body.report.clone()).collect(),
        }
    }
}

impl FrameLine {
    /// Encodes the line, including its end.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // Serialisation of these types cannot fail; an empty line would be detected on resume.
        let mut bytes = serde_json::to_vec(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }
}

/// Writer whose content can be synced to disk.
pub trait SyncWrite: Write + Send {
    /// Flushes and syncs to disk.
    fn sync(&mut self) -> io::Result<()>;
}

impl SyncWrite for BufWriter<File> {
    fn sync(&mut self) -> io::Result<()> {
        self.flush()?;
        self.get_ref().sync_data()
    }
}

/// Sink that writes the frame log.
#[derive(Debug)]
pub struct FrameLog<W = BufWriter<File>> {
    path: PathBuf,
    writer: W,
    bytes: u64,
}

impl FrameLog {
    /// Opens a file and truncates it to `keep` bytes; new lines are appended.
    pub fn open(path: impl Into<PathBuf>, keep: u64) -> Result<Self, FileError> {
        let path = path.into();
        let opened = OpenOptions::new().create(true).write(true).truncate(false).open(&path);
        let mut file = opened.map_err(|source| FileError::new("create", &path, source))?;
        let cut = file.set_len(keep).and_then(|()| file.seek(SeekFrom::End(0)));
        cut.map_err(|source| FileError::new("cut", &path, source))?;
        Ok(Self { path, writer: BufWriter::new(file), bytes: keep })
    }
}

impl<W: SyncWrite> FrameLog<W> {
    /// Writes to any writer; `path` is for messages.
    pub fn to_writer(path: impl Into<PathBuf>, writer: W) -> Self {
        Self { path: path.into(), writer, bytes: 0 }
    }

    fn failed(&self, source: io::Error) -> SinkError {
        FileError::new("write", &self.path, source).after_bytes(self.bytes).into()
    }
}

impl<W: SyncWrite> Sink for FrameLog<W> {
    fn write_frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        let line = FrameLine::from(frame).to_bytes();
        self.writer.write_all(&line).and_then(|()| self.writer.flush()).map_err(|source| self.failed(source))?;
        self.bytes += line.len() as u64;
        Ok(())
    }

    fn sync(&mut self) -> Result<(), SinkError> {
        self.writer.sync().map_err(|source| self.failed(source))
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        self.sync()
    }
}

/// Reads the lines up to frame `last`, passes each to `visit`, and returns their length in bytes.
///
/// Ignores what follows, also an incomplete line. Writes nothing.
pub(crate) fn read_lines_until(path: &Path, last: u32, mut visit: impl FnMut(&[u8], &Value)) -> Result<u64, RunError> {
    let unreadable = |source| RunError::Prepare(FileError::new("read", path, source));
    let mut reader = BufReader::new(File::open(path).map_err(unreadable)?);
    let (mut bytes, mut line) = (0, Vec::new());
    for frame in 0..=last {
        line.clear();
        let length = reader.read_until(b'\n', &mut line).map_err(unreadable)?;
        let wrong =
            |reason| ResumeError::Frames { path: path.to_path_buf(), needed: last, line: u64::from(frame) + 1, reason };
        if line.last() != Some(&b'\n') {
            return Err(wrong(if length == 0 { "missing" } else { "incomplete" }).into());
        }
        let value: Value = serde_json::from_slice(&line).map_err(|_| wrong("not JSON"))?;
        if value["frame"].as_u64() != Some(u64::from(frame)) {
            return Err(wrong("of another frame").into());
        }
        visit(&line, &value);
        bytes += length as u64;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_frames::two_bodies;
    use std::fs;

    fn write_frames(path: &Path, keep: u64, frames: std::ops::Range<u32>) {
        let mut lines = FrameLog::open(path, keep).unwrap();
        for index in frames {
            lines.write_frame(&Frame { index, time: f64::from(index) / 30.0, ..two_bodies() }).unwrap();
        }
        lines.finish().unwrap();
    }

    #[test]
    fn a_line_has_the_keys_of_the_report() {
        let value: Value = serde_json::from_slice(&FrameLine::from(&two_bodies()).to_bytes()).unwrap();
        assert_eq!(value["frame"], 0);
        assert_eq!(value["totals"]["energy"]["kinetic"], 0.0);
        assert_eq!(value["bodies"][0]["name"], "soft cube");
        assert_eq!(value["bodies"][0]["bounds"][1][0], 0.5);
        assert_eq!(value["bodies"][0]["skin"]["closed"], false);
    }

    #[test]
    fn a_resumed_file_is_the_same_as_one_written_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let (whole, interrupted) = (folder.path().join("whole"), folder.path().join("interrupted"));
        write_frames(&whole, 0, 0..9);
        write_frames(&interrupted, 0, 0..6);
        let torn = [fs::read(&interrupted).unwrap(), b"{\"frame\":6,\"ti".to_vec()].concat();
        fs::write(&interrupted, torn).unwrap();
        let mut visited = 0;
        let bytes = read_lines_until(&interrupted, 3, |_, _| visited += 1).unwrap();
        write_frames(&interrupted, bytes, 4..9);
        assert_eq!(fs::read(&whole).unwrap(), fs::read(&interrupted).unwrap());
        assert_eq!(visited, 4);
    }

    #[test]
    fn missing_frames_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("frames.jsonl");
        write_frames(&path, 0, 0..3);
        let message = read_lines_until(&path, 5, |_, _| {}).unwrap_err().to_string();
        assert!(message.contains("line 4 is missing"), "{message}");
        write_frames(&path, 0, 2..4);
        let message = read_lines_until(&path, 1, |_, _| {}).unwrap_err().to_string();
        assert!(message.contains("line 1 is of another frame"), "{message}");
    }

    struct FullDisk {
        capacity: usize,
    }

    impl Write for FullDisk {
        fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
            if self.capacity == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let written = buffer.len().min(self.capacity);
            self.capacity -= written;
            Ok(written)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl SyncWrite for FullDisk {
        fn sync(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn an_error_on_a_full_disk_has_the_bytes_that_are_safe() {
        let length = FrameLine::from(&two_bodies()).to_bytes().len();
        let mut lines = FrameLog::to_writer("run/frames.jsonl", FullDisk { capacity: length + 10 });
        lines.write_frame(&two_bodies()).unwrap();
        let message = lines.write_frame(&two_bodies()).unwrap_err().to_string();
        assert!(message.contains("frames.jsonl") && message.contains(&format!("after {length} bytes")), "{message}");
        assert!(message.contains("the disk is full") && message.contains("--resume"), "{message}");
    }
}
