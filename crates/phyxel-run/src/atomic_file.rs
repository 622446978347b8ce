//! Atomic replacement of files: after a crash or a power failure, or on a full disk, a file has its old or its new
//! content.

use crate::error::FileError;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writer that counts bytes, for messages about full disks.
#[derive(Debug)]
pub(crate) struct CountingWriter<W> {
    inner: W,
    bytes: u64,
}

impl<W: Write> CountingWriter<W> {
    /// Wraps a writer.
    pub(crate) fn new(inner: W) -> Self {
        Self { inner, bytes: 0 }
    }
}

impl<W: Write> Write for CountingWriter<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(buffer)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Writes a file, replacing an existing one, not atomically.
pub(crate) fn write_file(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<File, FileError> {
    let file = File::create(path).map_err(|source| FileError::new("create", path, source))?;
    let mut writer = BufWriter::with_capacity(1 << 16, CountingWriter::new(file));
    let filled = fill(&mut writer).and_then(|()| writer.flush());
    let (counted, _unwritten) = writer.into_parts();
    match filled {
        Ok(()) => Ok(counted.inner),
        Err(source) => Err(FileError::new("write", path, source).after_bytes(counted.bytes)),
    }
}

/// Replaces a file atomically: writes a temporary file beside it, syncs and renames it.
///
/// The old file is unchanged until the rename. After a failure the temporary file is removed.
pub(crate) fn replace_file(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), FileError> {
    let temporary = temporary_path(path);
    let replaced = write_file(&temporary, fill).and_then(|file| {
        file.sync_all().map_err(|source| FileError::new("write", path, source))?;
        fs::rename(&temporary, path).map_err(|source| FileError::new("replace", path, source))
    });
    if replaced.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    // Messages name the final file, not the temporary one.
    replaced.map_err(|error| error.with_path(path))?;
    sync_parent(path);
    Ok(())
}

/// Path of the temporary file of [`replace_file`].
pub(crate) fn temporary_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.partial"))
}

/// Syncs the folder after a rename. Not every system supports this; the content is safe without it.
fn sync_parent(path: &Path) {
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
    fn a_failed_replacement_leaves_the_old_file_and_no_temporary_one() {
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
    fn an_error_on_a_full_device_has_the_bytes_written() {
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
