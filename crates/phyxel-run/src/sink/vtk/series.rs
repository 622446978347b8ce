//! ParaView data collection (`.pvd`): numbered VTK files and their times.

use crate::atomic_file::replace_file;
use crate::error::FileError;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Collection of numbered files with their times.
#[derive(Debug)]
pub(super) struct Series {
    path: PathBuf,
    prefix: &'static str,
    /// Number, and time as written.
    frames: Vec<(u32, String)>,
    is_changed: bool,
}

impl Series {
    /// Reads the entries before frame `first` of the collection of files with a prefix, if it exists.
    pub fn open(folder: &Path, prefix: &'static str, first: u32) -> Self {
        let path = folder.join(format!("{prefix}.pvd"));
        let text = fs::read_to_string(&path).unwrap_or_default();
        let entries: Vec<_> = text.lines().filter_map(|line| parse_line(line, prefix)).collect();
        let count = entries.len();
        let frames: Vec<_> = entries.into_iter().filter(|(frame, _)| *frame < first).collect();
        Self { is_changed: frames.len() != count, path, prefix, frames }
    }

    /// Adds a frame.
    pub fn add(&mut self, frame: u32, time: f64) {
        self.frames.push((frame, time.to_string()));
        self.is_changed = true;
    }

    /// Writes the collection if it has changed; one without frames is removed.
    pub fn write(&mut self) -> Result<(), FileError> {
        if !self.is_changed {
            return Ok(());
        }
        if self.frames.is_empty() {
            fs::remove_file(&self.path).map_err(|source| FileError::new("remove", &self.path, source))?;
        } else {
            replace_file(&self.path, |writer| self.write_entries(writer))?;
        }
        self.is_changed = false;
        Ok(())
    }

    fn write_entries(&self, writer: &mut dyn Write) -> io::Result<()> {
        writer.write_all(b"<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\"")?;
        writer.write_all(b" byte_order=\"LittleEndian\">\n<Collection>\n")?;
        for (frame, time) in &self.frames {
            let prefix = self.prefix;
            writeln!(writer, "<DataSet timestep=\"{time}\" part=\"0\" file=\"{prefix}_{frame:05}.vtp\"/>")?;
        }
        writer.write_all(b"</Collection>\n</VTKFile>\n")
    }
}

fn parse_line(line: &str, prefix: &str) -> Option<(u32, String)> {
    let value = |key: &str| line.split_once(key)?.1.split('"').next();
    let number = value("file=\"")?.strip_prefix(prefix)?.strip_prefix('_')?.strip_suffix(".vtp")?;
    Some((number.parse().ok()?, value("timestep=\"")?.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncated_collection_continues_to_the_same_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("skin.pvd");
        let mut whole = Series::open(folder.path(), "skin", 0);
        (0..5).for_each(|frame| whole.add(frame, f64::from(frame) / 30.0));
        whole.write().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        Series::open(folder.path(), "skin", 3).write().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap().matches("DataSet").count(), 3);
        let mut again = Series::open(folder.path(), "skin", 3);
        (3..5).for_each(|frame| again.add(frame, f64::from(frame) / 30.0));
        again.write().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        Series::open(folder.path(), "skin", 0).write().unwrap();
        assert!(!path.exists());
    }
}
