//! Folder of a run: its files, and the check that a run may be written into it.

use crate::atomic_file::temporary_path;
use crate::error::{FileError, FolderError, ResumeError, RunError};
use crate::record::RunRecord;
use crate::sink::export::ExportFormat;
use crate::sink::pictures;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Policy for a folder that already contains a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OverwritePolicy {
    /// Refuse to run.
    #[default]
    Refuse,
    /// Resume the existing run.
    Resume,
    /// Replace the files of the existing run; other files stay.
    Replace,
}

/// Folder of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

/// Content of a folder.
enum FolderContent {
    Empty,
    Run(Result<RunRecord, ResumeError>),
    Other { example: String },
}

impl RunFolder {
    /// Folder at a path, which need not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Path of the run record, `run.json`.
    pub fn record(&self) -> PathBuf {
        self.path.join("run.json")
    }

    /// Path of the report.
    pub fn report(&self) -> PathBuf {
        self.path.join("report.json")
    }

    /// Path of the frame log.
    pub fn frames(&self) -> PathBuf {
        self.path.join("frames.jsonl")
    }

    /// Path of the latest checkpoint.
    pub fn checkpoint(&self) -> PathBuf {
        self.path.join("checkpoint")
    }

    /// Returns true if a new run may start here: the folder is missing or empty.
    pub fn is_free(&self) -> bool {
        matches!(self.content(), Ok(FolderContent::Empty))
    }

    /// Returns true if it contains a run.
    pub fn contains_run(&self) -> bool {
        matches!(self.content(), Ok(FolderContent::Run(_)))
    }

    /// Checks that the policy permits a run in this folder. Returns the record of a run to resume. Writes nothing.
    pub(crate) fn inspect(&self, policy: OverwritePolicy) -> Result<Option<RunRecord>, RunError> {
        let folder = || self.path.clone();
        match (self.content()?, policy) {
            (FolderContent::Run(record), OverwritePolicy::Resume) => Ok(Some(record?)),
            (_, OverwritePolicy::Resume) => Err(ResumeError::NoRun { folder: folder() }.into()),
            (FolderContent::Empty, _) | (FolderContent::Run(_), OverwritePolicy::Replace) => Ok(None),
            (FolderContent::Run(record), OverwritePolicy::Refuse) => {
                let scene = record.map_or("an unknown scene".to_string(), |record| record.scene);
                Err(FolderError::ContainsRun { folder: folder(), scene }.into())
            }
            (FolderContent::Other { example }, _) => Err(FolderError::NotARun { folder: folder(), example }.into()),
        }
    }

    /// Prepares the folder for the first frame: removes the files of an earlier run and writes `run.json`.
    pub(crate) fn prepare_new(&self, record: &RunRecord) -> Result<(), RunError> {
        let failed = |action, path: &Path| {
            let path = path.to_path_buf();
            move |source| RunError::Prepare(FileError::new(action, path, source))
        };
        fs::create_dir_all(&self.path).map_err(failed("create", &self.path))?;
        for file in [self.checkpoint(), self.report(), self.frames(), self.path.join(pictures::VIDEO_FILE)] {
            remove_if_exists(&temporary_path(&file)).map_err(failed("remove", &file))?;
            remove_if_exists(&file).map_err(failed("remove", &file))?;
        }
        for export in ExportFormat::ALL {
            export.remove_frames_from(&self.path, 0).map_err(RunError::Prepare)?;
        }
        pictures::remove_pictures_from(&self.path, 0).map_err(RunError::Prepare)?;
        record.write(&self.record()).map_err(RunError::Prepare)?;
        record.exports.iter().try_for_each(|export| export.create_folder(&self.path))
    }

    fn content(&self) -> Result<FolderContent, RunError> {
        let unreadable = |source| RunError::Prepare(FileError::new("read", self.path.clone(), source));
        match fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(FolderContent::Empty),
            Err(error) => return Err(unreadable(error)),
            Ok(metadata) if !metadata.is_dir() => {
                return Err(FolderError::NotAFolder { folder: self.path.clone() }.into());
            }
            Ok(_) => {}
        }
        if self.record().exists() {
            return Ok(FolderContent::Run(RunRecord::read(&self.record())));
        }
        let partial = temporary_path(&self.record());
        for entry in fs::read_dir(&self.path).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            if entry.path() != partial {
                return Ok(FolderContent::Other { example: entry.file_name().to_string_lossy().into_owned() });
            }
        }
        Ok(FolderContent::Empty)
    }
}

/// Checks that the extra report can be written to `path`.
pub(crate) fn check_report_path(path: &Path) -> Result<(), FolderError> {
    let refuse = |reason| Err(FolderError::ReportPath { path: path.to_path_buf(), reason });
    if path.is_dir() {
        return refuse("it is a folder");
    }
    match path.parent() {
        _ if path.file_name().is_none() => refuse("it names no file"),
        Some(parent) if !parent.as_os_str().is_empty() && !parent.is_dir() => refuse("its folder does not exist"),
        _ => Ok(()),
    }
}

fn remove_if_exists(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> RunRecord {
        RunRecord {
            format: 1,
            phyxel: "0.1.0".into(),
            scene: "pile".into(),
            seed: 0,
            overrides: vec![],
            world: "ab".into(),
            exports: vec![ExportFormat::Obj],
            source: None,
        }
    }

    #[test]
    fn a_missing_or_empty_folder_is_free_for_a_new_run() {
        let folder = tempfile::tempdir().unwrap();
        assert!(RunFolder::new(folder.path()).inspect(OverwritePolicy::Refuse).unwrap().is_none());
        assert!(RunFolder::new(folder.path().join("a/b")).inspect(OverwritePolicy::Refuse).unwrap().is_none());
        assert!(RunFolder::new(folder.path()).inspect(OverwritePolicy::Resume).is_err());
    }

    #[test]
    fn a_folder_with_foreign_files_is_never_used() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("thesis.tex"), b"").unwrap();
        for policy in [OverwritePolicy::Refuse, OverwritePolicy::Replace] {
            let message = RunFolder::new(folder.path()).inspect(policy).unwrap_err().to_string();
            assert!(message.contains("thesis.tex"), "{message}");
        }
    }

    #[test]
    fn a_run_is_replaced_only_when_asked_and_foreign_files_stay() {
        let directory = tempfile::tempdir().unwrap();
        let folder = RunFolder::new(directory.path().join("run"));
        folder.prepare_new(&record()).unwrap();
        for (name, is_own) in [("report.json", true), ("notes.txt", false), ("obj/frame_00000.obj", true)] {
            fs::write(folder.path().join(name), b"").unwrap();
            assert!(folder.path().join(name).exists(), "{is_own}");
        }
        assert!(folder.inspect(OverwritePolicy::Refuse).unwrap_err().to_string().contains("--resume"));
        assert!(folder.inspect(OverwritePolicy::Replace).unwrap().is_none());
        folder.prepare_new(&record()).unwrap();
        assert!(!folder.report().exists() && !folder.path().join("obj/frame_00000.obj").exists());
        assert!(folder.path().join("notes.txt").exists());
    }

    #[test]
    fn a_path_below_a_file_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("file"), b"").unwrap();
        assert!(RunFolder::new(directory.path().join("file")).inspect(OverwritePolicy::Refuse).is_err());
        let below = RunFolder::new(directory.path().join("file/run"));
        assert!(below.inspect(OverwritePolicy::Refuse).and_then(|_| below.prepare_new(&record())).is_err());
    }

    #[test]
    fn the_extra_report_needs_an_existing_folder() {
        let directory = tempfile::tempdir().unwrap();
        assert!(check_report_path(&directory.path().join("report.json")).is_ok());
        assert!(check_report_path(&directory.path().join("no/report.json")).is_err());
        assert!(check_report_path(directory.path()).is_err());
    }
}
