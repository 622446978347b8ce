//! Writing files so that a crash, a full disk or a pulled plug leaves the old content or the new, never half.

use crate::error::FileError;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A writer that counts the bytes it passed on, for messages about full disks.
#[derive(Debug)]
pub(crate) struct Counted<W> {
    inner: W,
    bytes: u64,
}

impl<W: Write> Counted<W> {
    /// Counts from zero.
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, bytes: 0 }
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(buffer)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Writes a whole file, replacing what was there. The file is not complete until this returns.
pub(crate) fn write_file(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<File, FileError> {
    let file = File::create(path).map_err(|source| FileError::new("create", path, source))?;
    let mut writer = BufWriter::with_capacity(1 << 16, Counted::new(file));
    let filled = fill(&mut writer).and_then(|()| writer.flush());
    let (counted, _unwritten) = writer.into_parts();
    match filled {
        Ok(()) => Ok(counted.inner),
        Err(source) => Err(FileError::new("write", path, source).after_bytes(counted.bytes)),
    }
}

/// Replaces a file in one move: a temporary neighbour is written, forced to disk and renamed.
///
/// Until the rename the old file stays as it was; after a failure the temporary one is gone.
pub(crate) fn replace_file(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), FileError> {
    let temporary = temporary_beside(path);
    let replaced = write_file(&temporary, fill).and_then(|file| {
        file.sync_all().map_err(|source| FileError::new("write", path, source))?;
        fs::rename(&temporary, path).map_err(|source| FileError::new("replace", path, source))
    });
    if replaced.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    // The message should name the file a person knows, not the temporary one.
    replaced.map_err(|error| error.about(path))?;
    sync_folder_of(path);
    Ok(())
}

/// Where [`replace_file`] writes before it renames.
pub(crate) fn temporary_beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.partial"))
}

/// Forces a rename to disk. Not every system can, and the content is safe without it.
fn sync_folder_of(path: &Path) {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    if let Ok(folder) = File::open(parent) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_replacement_leaves_the_old_file_and_no_litter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint");
        fs::write(&path, b"old").unwrap();
        let error = replace_file(&path, |writer| {
            writer.write_all(&[7; 200_000])?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        })
        .unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let message = error.to_string();
        assert!(message.contains("checkpoint") && !message.contains("partial"), "{message}");
        assert!(message.contains("the disk is full") && message.contains("--resume"), "{message}");
    }

    #[test]
    fn a_replacement_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        fs::write(&path, b"old and longer than the new").unwrap();
        replace_file(&path, |writer| writer.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_device_is_named_with_the_bytes_it_took() {
        let error = write_file(Path::new("/dev/full"), |writer| writer.write_all(b"anything")).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("/dev/full") && message.contains("after 0 bytes"), "{message}");
        assert!(message.contains("the disk is full"), "{message}");
    }

    #[test]
    fn a_missing_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("no/such/report.json");
        let message = replace_file(&path, |_| Ok(())).unwrap_err().to_string();
        assert!(message.contains("report.json") && message.contains("create the folder"), "{message}");
    }
}
