//! Where the files of a run go when nobody says.

use phyxel_run::{Claim, RunFolder};
use std::path::{Path, PathBuf};

/// More runs of one scene than this need a folder by name.
const MOST: u32 = 10_000;

/// `runs/SCENE`, or `runs/SCENE-2`, `runs/SCENE-3`, .. : the first that is free, for a resumed run the last that
/// holds a run.
pub(crate) fn usual_folder(runs: &Path, scene: &str, claim: Claim) -> PathBuf {
    let numbered = |number: u32| match number {
        1 => runs.join(scene),
        _ => runs.join(format!("{scene}-{number}")),
    };
    let first = numbered(1);
    match claim {
        Claim::Replace => first,
        Claim::New => (1..MOST).map(numbered).find(|path| RunFolder::new(path).is_free()).unwrap_or(first),
        Claim::Resume => {
            let runs = (1..MOST).map(numbered).take_while(|path| path.exists());
            runs.filter(|path| RunFolder::new(path).holds_run()).last().unwrap_or(first)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_new_run_gets_the_first_free_folder_and_a_resumed_one_the_last_run() {
        let runs = tempfile::tempdir().unwrap();
        let place = |claim| usual_folder(runs.path(), "pile", claim).file_name().unwrap().to_owned();
        assert_eq!(place(Claim::New), "pile");
        for name in ["pile", "pile-2"] {
            fs::create_dir(runs.path().join(name)).unwrap();
            fs::write(runs.path().join(name).join("run.json"), b"{}").unwrap();
        }
        assert_eq!(place(Claim::New), "pile-3");
        assert_eq!(place(Claim::Resume), "pile-2");
        assert_eq!(place(Claim::Replace), "pile");
    }
}
