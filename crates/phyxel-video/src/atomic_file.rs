//! Atomic replacement of files: written under a temporary name, then renamed.

use crate::error::VideoError;
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// File that is written beside its target and replaces it on commit. Dropped before, it is removed and the target is
/// unchanged.
#[derive(Debug)]
pub(crate) struct AtomicFile {
    target: PathBuf,
    temporary: PathBuf,
    /// `None` once the file is closed.
    writer: Option<BufWriter<File>>,
}

impl AtomicFile {
    /// Creates the temporary file. A target that can never be replaced is refused now, not after hours of work.
    pub(crate) fn create(target: &Path) -> Result<Self, VideoError> {
        let failed = |source| VideoError::file("create", target, source);
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

    /// Path of the target.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Appends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), VideoError> {
        self.with_writer(|writer| writer.write_all(bytes))
    }

    /// Overwrites bytes at `offset` and seeks back to the end.
    pub(crate) fn overwrite(&mut self, offset: u64, bytes: &[u8]) -> Result<(), VideoError> {
        self.with_writer(|writer| {
            writer.seek(SeekFrom::Start(offset))?;
            writer.write_all(bytes)?;
            writer.seek(SeekFrom::End(0)).map(|_| ())
        })
    }

    /// Flushes the file to disk and renames it to its target.
    pub(crate) fn commit(mut self) -> Result<(), VideoError> {
        self.with_writer(|writer| {
            writer.flush()?;
            writer.get_ref().sync_all()
        })?;
        // Closed before the rename: not every system renames open files.
        self.writer = None;
        fs::rename(&self.temporary, &self.target).map_err(|source| VideoError::file("replace", &self.target, source))
    }

    fn with_writer(&mut self, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> Result<(), VideoError> {
        let result = match &mut self.writer {
            Some(writer) => write(writer),
            None => Err(io::ErrorKind::NotFound.into()),
        };
        result.map_err(|source| VideoError::file("write", &self.target, source))
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some(writer) = self.writer.take() {
            // Without a last flush: the bytes are discarded.
            let _ = writer.into_parts();
        }
        // After `commit` there is no file of this name.
        let _ = fs::remove_file(&self.temporary);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commit_replaces_the_target() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("film.mp4");
        fs::write(&path, b"old").unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.write(b"....new").unwrap();
        file.overwrite(0, b"very").unwrap();
        file.write(b"er").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"verynewer");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_dropped_before_commit_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("film.mp4");
        AtomicFile::create(&path).unwrap().write(&[0; 500_000]).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_target_that_cannot_be_replaced_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let message = AtomicFile::create(folder.path()).unwrap_err().to_string();
        assert!(message.contains("choose another place"), "{message}");
        let message = AtomicFile::create(&folder.path().join("no/film.mp4")).unwrap_err().to_string();
        assert!(message.contains("film.mp4") && message.contains("create the folder"), "{message}");
        assert!(AtomicFile::create(Path::new("..")).is_err());
    }
}
