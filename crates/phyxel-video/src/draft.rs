//! A file under a temporary name, which takes its place in one move or not at all.

use crate::error::FilmError;
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file that is being written beside its target. Dropped, it is gone and the target is as it was.
#[derive(Debug)]
pub(crate) struct Draft {
    target: PathBuf,
    temporary: PathBuf,
    /// `None` once it is closed.
    writer: Option<BufWriter<File>>,
}

impl Draft {
    /// Starts a file. What can never take its place is refused now, not after hours of work.
    pub(crate) fn create(target: &Path) -> Result<Self, FilmError> {
        let failed = |source| FilmError::file("create", target, source);
        let Some(name) = target.file_name() else {
            return Err(failed(io::Error::new(io::ErrorKind::IsADirectory, "it names no file")));
        };
        if target.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        let temporary = target.with_file_name(format!(".{}.partial", name.to_string_lossy()));
        let file = File::create(&temporary).map_err(failed)?;
        Ok(Self { target: target.to_path_buf(), temporary, writer: Some(BufWriter::with_capacity(1 << 18, file)) })
    }

    /// The file it is to become.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Appends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), FilmError> {
        self.with_writer(|writer| writer.write_all(bytes))
    }

    /// Writes bytes over those at `offset` and goes back to the end.
    pub(crate) fn overwrite(&mut self, offset: u64, bytes: &[u8]) -> Result<(), FilmError> {
        self.with_writer(|writer| {
            writer.seek(SeekFrom::Start(offset))?;
            writer.write_all(bytes)?;
            writer.seek(SeekFrom::End(0)).map(|_| ())
        })
    }

    /// Forces everything to disk and takes the target's place.
    pub(crate) fn keep(mut self) -> Result<(), FilmError> {
        self.with_writer(|writer| {
            writer.flush()?;
            writer.get_ref().sync_all()
        })?;
        // Closed before it is renamed: not every system renames open files.
        self.writer = None;
        fs::rename(&self.temporary, &self.target).map_err(|source| FilmError::file("replace", &self.target, source))
    }

    fn with_writer(&mut self, act: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), FilmError> {
        let done = match &mut self.writer {
            Some(writer) => act(writer),
            None => Err(io::ErrorKind::NotFound.into()),
        };
        done.map_err(|source| FilmError::file("write", &self.target, source))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(writer) = self.writer.take() {
            // Without a last flush: the bytes are not wanted.
            let _ = writer.into_parts();
        }
        // After `keep` there is nothing under this name.
        let _ = fs::remove_file(&self.temporary);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_takes_its_place_in_one_move() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("film.mp4");
        fs::write(&path, b"old").unwrap();
        let mut draft = Draft::create(&path).unwrap();
        draft.write(b"....new").unwrap();
        draft.overwrite(0, b"very").unwrap();
        draft.write(b"er").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        draft.keep().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"verynewer");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_dropped_draft_leaves_no_litter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("film.mp4");
        Draft::create(&path).unwrap().write(&[0; 500_000]).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_place_that_cannot_be_taken_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let message = Draft::create(folder.path()).unwrap_err().to_string();
        assert!(message.contains("choose another place"), "{message}");
        let message = Draft::create(&folder.path().join("no/film.mp4")).unwrap_err().to_string();
        assert!(message.contains("film.mp4") && message.contains("create the folder"), "{message}");
        assert!(Draft::create(Path::new("..")).is_err());
    }
}
