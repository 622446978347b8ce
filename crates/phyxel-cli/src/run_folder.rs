//! Default folder of a run.

use phyxel_run::{OverwritePolicy, RunFolder};
use std::path::{Path, PathBuf};

/// Largest number of a default folder.
const MAX_NUMBER: u32 = 10_000;

/// Chooses among `runs/SCENE`, `runs/SCENE-2`, `runs/SCENE-3`, ..: the first free one, or for a resumed run the last
/// one that contains a run.
pub(crate) fn default_folder(runs: &Path, scene: &str, policy: OverwritePolicy) -> PathBuf {
    let numbered = |number: u32| match number {
        1 => runs.join(scene),
        _ => runs.join(format!("{scene}-{number}")),
    };
    let first = numbered(1);
    match policy {
        OverwritePolicy::Replace => first,
        OverwritePolicy::Refuse => {
            (1..MAX_NUMBER).map(numbered).find(|path| RunFolder::new(path).is_free()).unwrap_or(first)
        }
        OverwritePolicy::Resume => {
            let runs = (1..MAX_NUMBER).map(numbered).take_while(|path| path.exists());
            runs.filter(|path| RunFolder::new(path).contains_run()).last().unwrap_or(first)
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
        let chosen = |policy| default_folder(runs.path(), "pile", policy).file_name().unwrap().to_owned();
        assert_eq!(chosen(OverwritePolicy::Refuse), "pile");
        for name in ["pile", "pile-2"] {
            fs::create_dir(runs.path().join(name)).unwrap();
            fs::write(runs.path().join(name).join("run.json"), b"{}").unwrap();
        }
        assert_eq!(chosen(OverwritePolicy::Refuse), "pile-3");
        assert_eq!(chosen(OverwritePolicy::Resume), "pile-2");
        assert_eq!(chosen(OverwritePolicy::Replace), "pile");
    }
}
