//! The folder of a run: which files are ours, and whether a folder can take a run.

use crate::durable::temporary_beside;
use crate::error::{FileError, FolderError, ResumeError, RunError};
use crate::record::RunRecord;
use crate::sink::pictures;
use crate::sink::sequence::Export;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What may happen to a folder that holds a run already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Claim {
    /// Nothing: the run is refused.
    #[default]
    New,
    /// The run that is there goes on.
    Resume,
    /// The files of the run that is there are replaced; other files stay.
    Replace,
}

/// The folder of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

/// What is in a folder.
enum Content {
    Nothing,
    Run(Result<RunRecord, ResumeError>),
    Other { example: String },
}

impl RunFolder {
    /// A folder that may or may not be there.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the run is of.
    pub fn record(&self) -> PathBuf {
        self.path.join("run.json")
    }

    /// The report.
    pub fn report(&self) -> PathBuf {
        self.path.join("report.json")
    }

    /// One line per frame.
    pub fn frames(&self) -> PathBuf {
        self.path.join("frames.jsonl")
    }

    /// The latest checkpoint.
    pub fn checkpoint(&self) -> PathBuf {
        self.path.join("checkpoint")
    }

    /// Whether a new run may start here without asking: there is nothing.
    pub fn is_free(&self) -> bool {
        matches!(self.content(), Ok(Content::Nothing))
    }

    /// Whether it holds a run.
    pub fn holds_run(&self) -> bool {
        matches!(self.content(), Ok(Content::Run(_)))
    }

    /// Whether a run with this claim may have the folder; for a resumed one, what it is of. Writes nothing.
    pub(crate) fn inspect(&self, claim: Claim) -> Result<Option<RunRecord>, RunError> {
        let folder = || self.path.clone();
        match (self.content()?, claim) {
            (Content::Run(record), Claim::Resume) => Ok(Some(record?)),
            (_, Claim::Resume) => Err(ResumeError::NoRun { folder: folder() }.into()),
            (Content::Nothing, _) | (Content::Run(_), Claim::Replace) => Ok(None),
            (Content::Run(record), Claim::New) => {
                let scene = record.map_or("a scene it does not tell".to_string(), |record| record.scene);
                Err(FolderError::Taken { folder: folder(), scene }.into())
            }
            (Content::Other { example }, _) => Err(FolderError::NotARun { folder: folder(), example }.into()),
        }
    }

    /// Makes the folder ready for the first frame: files of an earlier run go, `run.json` comes.
    pub(crate) fn prepare_new(&self, record: &RunRecord) -> Result<(), RunError> {
        let failed = |action, path: &Path| {
            let path = path.to_path_buf();
            move |source| RunError::Prepare(FileError::new(action, path, source))
        };
        fs::create_dir_all(&self.path).map_err(failed("create", &self.path))?;
        for file in [self.checkpoint(), self.report(), self.frames(), self.path.join(pictures::FILM)] {
            remove_if_there(&temporary_beside(&file)).map_err(failed("remove", &file))?;
            remove_if_there(&file).map_err(failed("remove", &file))?;
        }
        for export in Export::ALL {
            export.remove_from(&self.path, 0).map_err(RunError::Prepare)?;
        }
        pictures::remove_from(&self.path, 0).map_err(RunError::Prepare)?;
        record.write(&self.record()).map_err(RunError::Prepare)?;
        record.exports.iter().try_for_each(|export| export.make_folder(&self.path))
    }

    fn content(&self) -> Result<Content, RunError> {
        let unreadable = |source| RunError::Prepare(FileError::new("read", self.path.clone(), source));
        match fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Content::Nothing),
            Err(error) => return Err(unreadable(error)),
            Ok(found) if !found.is_dir() => {
                return Err(FolderError::NotAFolder { folder: self.path.clone() }.into());
            }
            Ok(_) => {}
        }
        if self.record().exists() {
            return Ok(Content::Run(RunRecord::read(&self.record())));
        }
        let partial = temporary_beside(&self.record());
        for entry in fs::read_dir(&self.path).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            if entry.path() != partial {
                return Ok(Content::Other { example: entry.file_name().to_string_lossy().into_owned() });
            }
        }
        Ok(Content::Nothing)
    }
}

/// Refuses a place for the further report that cannot be written.
pub(crate) fn check_report_place(path: &Path) -> Result<(), FolderError> {
    let refuse = |reason| Err(FolderError::ReportPlace { path: path.to_path_buf(), reason });
    if path.is_dir() {
        return refuse("it is a folder");
    }
    match path.parent() {
        _ if path.file_name().is_none() => refuse("it names no file"),
        Some(parent) if !parent.as_os_str().is_empty() && !parent.is_dir() => refuse("its folder does not exist"),
        _ => Ok(()),
    }
}

fn remove_if_there(path: &Path) -> io::Result<()> {
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
            exports: vec![Export::Obj],
            source: None,
        }
    }

    #[test]
    fn a_missing_or_empty_folder_is_free_for_a_new_run() {
        let folder = tempfile::tempdir().unwrap();
        assert!(RunFolder::new(folder.path()).inspect(Claim::New).unwrap().is_none());
        assert!(RunFolder::new(folder.path().join("a/b")).inspect(Claim::New).unwrap().is_none());
        assert!(RunFolder::new(folder.path()).inspect(Claim::Resume).is_err());
    }

    #[test]
    fn a_folder_with_other_things_is_never_taken() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("thesis.tex"), b"").unwrap();
        for claim in [Claim::New, Claim::Replace] {
            let message = RunFolder::new(folder.path()).inspect(claim).unwrap_err().to_string();
            assert!(message.contains("thesis.tex"), "{message}");
        }
    }

    #[test]
    fn a_run_is_replaced_only_when_asked_and_foreign_files_stay() {
        let place = tempfile::tempdir().unwrap();
        let folder = RunFolder::new(place.path().join("run"));
        folder.prepare_new(&record()).unwrap();
        for (name, ours) in [("report.json", true), ("notes.txt", false), ("obj/frame_00000.obj", true)] {
            fs::write(folder.path().join(name), b"").unwrap();
            assert!(folder.path().join(name).exists(), "{ours}");
        }
        assert!(folder.inspect(Claim::New).unwrap_err().to_string().contains("--resume"));
        assert!(folder.inspect(Claim::Replace).unwrap().is_none());
        folder.prepare_new(&record()).unwrap();
        assert!(!folder.report().exists() && !folder.path().join("obj/frame_00000.obj").exists());
        assert!(folder.path().join("notes.txt").exists());
    }

    #[test]
    fn a_place_below_a_file_is_refused() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("file"), b"").unwrap();
        assert!(RunFolder::new(place.path().join("file")).inspect(Claim::New).is_err());
        let below = RunFolder::new(place.path().join("file/run"));
        assert!(below.inspect(Claim::New).and_then(|_| below.prepare_new(&record())).is_err());
    }

    #[test]
    fn the_further_report_needs_a_folder_that_is_there() {
        let place = tempfile::tempdir().unwrap();
        assert!(check_report_place(&place.path().join("report.json")).is_ok());
        assert!(check_report_place(&place.path().join("no/report.json")).is_err());
        assert!(check_report_place(place.path()).is_err());
    }
}
