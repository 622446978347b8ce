//! Runs in folders: their files, resuming, and refused requests.

mod support;

use phyxel::Frame;
use phyxel_run::{
    CheckpointInterval, Ending, ExportFormat, Outcome, OverwritePolicy, Run, RunError, RunOptions, Sink, SinkError,
};
use phyxel_scene::Scene;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use support::{CUBE, Stopper};

/// Folder of one test, with a scene.
struct Fixture {
    directory: tempfile::TempDir,
    scene: Scene,
}

impl Fixture {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let scene = load(directory.path(), "fall", CUBE);
        Self { directory, scene }
    }

    fn options(&self, name: &str) -> RunOptions {
        RunOptions { folder: self.path(name), threads: Some(1), ..RunOptions::default() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn run(&self, options: RunOptions) -> Result<Outcome, RunError> {
        Run::prepare(&self.scene, options)?.execute(&mut ())
    }

    /// Runs into a folder and interrupts after a frame.
    fn run_and_interrupt(&self, mut options: RunOptions, after: u32) -> Outcome {
        let stop = Arc::new(AtomicBool::new(false));
        options.stop = Arc::clone(&stop);
        let outcome =
            Run::prepare(&self.scene, options).unwrap().execute(&mut Stopper { after: Some(after), stop }).unwrap();
        assert_eq!(outcome.ending, Ending::Interrupted);
        outcome
    }

    fn resume(&self, name: &str) -> Result<Outcome, RunError> {
        self.run(RunOptions { overwrite: OverwritePolicy::Resume, ..self.options(name) })
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }
}

fn load(folder: &Path, name: &str, text: &str) -> Scene {
    let path = folder.join(format!("{name}.toml"));
    fs::write(&path, text).unwrap();
    Scene::load(path.to_str().unwrap(), &[]).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_run_leaves_a_report_a_line_per_frame_and_a_checkpoint() {
    let fixture = Fixture::new();
    let extra = fixture.path("extra.json");
    let outcome = fixture.run(RunOptions { extra_report: Some(extra.clone()), ..fixture.options("run") }).unwrap();
    assert_eq!(outcome.ending, Ending::Done);
    let report: Value = serde_json::from_slice(&fixture.read("run/report.json")).unwrap();
    for key in ["phyxel", "scene", "threads", "frames", "steps", "simulated_seconds", "wall_seconds", "state_hash"] {
        assert!(!report[key].is_null(), "{key}");
    }
    assert_eq!((report["scene"].as_str(), report["frames"].as_u64()), (Some("fall"), Some(15)));
    assert_eq!(report["status"], "done");
    assert_eq!(report["bodies"][0]["name"], "cube");
    assert_eq!(report["expectations"][0]["passed"], true, "{}", report["expectations"][0]);
    assert_eq!(fixture.read("run/report.json"), fs::read(extra).unwrap());
    assert_eq!(String::from_utf8(fixture.read("run/frames.jsonl")).unwrap().lines().count(), 16);
    assert!(fixture.path("run/checkpoint").is_file());
    let hidden = fs::read_dir(fixture.path("run")).unwrap().flatten();
    assert!(hidden.map(|entry| entry.file_name()).all(|name| !name.to_string_lossy().starts_with('.')));
}

#[test]
fn a_resumed_run_equals_an_uninterrupted_one() {
    let fixture = Fixture::new();
    let exports = || vec![ExportFormat::Ply, ExportFormat::Obj];
    let whole = fixture.run(RunOptions { exports: exports(), ..fixture.options("whole") }).unwrap();
    let stopped = fixture.run_and_interrupt(RunOptions { exports: exports(), ..fixture.options("resumed") }, 6);
    assert_eq!(stopped.report.frames, 6);
    let resumed = fixture.resume("resumed").unwrap();
    assert_eq!(whole.report.state_hash, resumed.report.state_hash);
    assert_eq!(whole.report.expectations, resumed.report.expectations);
    let files =
        ["frames.jsonl", "checkpoint", "ply/particles_00003.ply", "ply/particles_00015.ply", "obj/frame_00015.obj"];
    for file in files {
        assert!(fixture.read(&format!("whole/{file}")) == fixture.read(&format!("resumed/{file}")), "{file} differs");
    }
}

#[test]
fn a_killed_run_resumes_from_its_checkpoint() {
    let fixture = Fixture::new();
    let exports = vec![ExportFormat::Ply];
    fixture.run(fixture.options("whole")).unwrap();
    fixture.run_and_interrupt(RunOptions { exports, ..fixture.options("killed") }, 6);
    // State after a kill: frames 7 and half of 8 are written.
    let lines = String::from_utf8(fixture.read("whole/frames.jsonl")).unwrap();
    let ends: Vec<usize> = lines.match_indices('\n').map(|(at, _)| at).collect();
    fs::write(fixture.path("killed/frames.jsonl"), &lines[..ends[7] + 40]).unwrap();
    fs::write(fixture.path("killed/ply/particles_00099.ply"), b"of a longer run").unwrap();
    fixture.resume("killed").unwrap();
    assert!(fixture.read("whole/frames.jsonl") == fixture.read("killed/frames.jsonl"));
    assert!(!fixture.path("killed/ply/particles_00099.ply").exists());
}

#[test]
fn a_finished_run_is_unchanged_and_a_longer_one_resumes_it() {
    let fixture = Fixture::new();
    fixture.run(RunOptions { frames: Some(8), ..fixture.options("run") }).unwrap();
    let before = (fixture.read("run/report.json"), fixture.read("run/checkpoint"));
    let frames =
        |count| RunOptions { frames: Some(count), overwrite: OverwritePolicy::Resume, ..fixture.options("run") };
    let outcome = fixture.run(frames(8)).unwrap();
    assert_eq!((outcome.ending, outcome.report.frames), (Ending::AlreadyDone, 8));
    assert!(before == (fixture.read("run/report.json"), fixture.read("run/checkpoint")));
    let longer = fixture.run(frames(20)).unwrap();
    let whole = fixture.run(RunOptions { frames: Some(20), ..fixture.options("whole") }).unwrap();
    assert_eq!(longer.report.state_hash, whole.report.state_hash);
    assert!(fixture.read("run/frames.jsonl") == fixture.read("whole/frames.jsonl"));
}

#[test]
fn only_the_duration_may_change_on_resume() {
    let mut fixture = Fixture::new();
    fixture.run_and_interrupt(fixture.options("run"), 6);
    fixture.scene = load(fixture.directory.path(), "fall", &CUBE.replace("duration = 0.5", "duration = 0.6"));
    assert_eq!(fixture.resume("run").unwrap().report.frames, 18);
    fixture.scene = load(fixture.directory.path(), "fall", &CUBE.replace("spacing = 0.1", "spacing = 0.15"));
    let message = fixture.resume("run").unwrap_err().to_string();
    assert!(message.contains("contains a run of \"fall\" (seed 7"), "{message}");
    assert!(message.contains("changed since"), "{message}");
}

#[test]
fn another_seed_is_refused_on_resume() {
    let fixture = Fixture::new();
    fixture.run_and_interrupt(fixture.options("run"), 6);
    let mut options = RunOptions { overwrite: OverwritePolicy::Resume, ..fixture.options("run") };
    options.build.seed = Some(8);
    let error = fixture.run(options).unwrap_err();
    assert!(error.is_refusal() && error.to_string().contains("seed 8"), "{error}");
}

#[test]
fn damaged_and_foreign_checkpoints_are_refused() {
    let fixture = Fixture::new();
    fixture.run_and_interrupt(fixture.options("run"), 6);
    let good = fixture.read("run/checkpoint");
    let mut flipped = good.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    for bad in [&flipped[..], &good[..middle], b"not a checkpoint", b""] {
        fs::write(fixture.path("run/checkpoint"), bad).unwrap();
        let error = fixture.resume("run").unwrap_err();
        assert!(error.is_refusal() && error.to_string().contains("run/checkpoint"), "{error}");
    }
    fs::remove_file(fixture.path("run/checkpoint")).unwrap();
    assert!(fixture.resume("run").unwrap_err().to_string().contains("has no checkpoint"));
    assert_eq!(fixture.read("run/frames.jsonl").iter().filter(|byte| **byte == b'\n').count(), 7);
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let mut fixture = Fixture::new();
    fixture.run_and_interrupt(fixture.options("run"), 6);
    fixture.scene = load(fixture.directory.path(), "other", &CUBE.replace("[0.0, 0.5, 0.0]", "[0.0, 0.6, 0.0]"));
    fixture.run_and_interrupt(fixture.options("other"), 6);
    fs::copy(fixture.path("other/checkpoint"), fixture.path("run/checkpoint")).unwrap();
    fixture.scene = load(fixture.directory.path(), "fall", CUBE);
    let error = fixture.resume("run").unwrap_err();
    assert!(error.to_string().contains("is not the checkpoint of this run"), "{error}");
}

/// Sink whose disk is full from a frame on.
struct FullDiskFrom(u32);

impl Sink for FullDiskFrom {
    fn write_frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        if frame.index < self.0 {
            return Ok(());
        }
        Err(SinkError::Other("the disk is full".into()))
    }
}

#[test]
fn a_run_whose_sink_fails_resumes_from_the_last_checkpoint() {
    let fixture = Fixture::new();
    let options = RunOptions {
        sinks: vec![Box::new(FullDiskFrom(9))],
        checkpoints: CheckpointInterval { frames: Some(4), seconds: None },
        ..fixture.options("run")
    };
    let error = fixture.run(options).unwrap_err();
    assert!(!error.is_refusal() && error.to_string().contains("the disk is full"), "{error}");
    let report: Value = serde_json::from_slice(&fixture.read("run/report.json")).unwrap();
    assert_eq!((&report["status"], &report["error"]), (&"failed".into(), &"the disk is full".into()));
    let resumed = fixture.resume("run").unwrap();
    let whole = fixture.run(fixture.options("whole")).unwrap();
    assert_eq!(resumed.report.state_hash, whole.report.state_hash);
    assert!(fixture.read("run/frames.jsonl") == fixture.read("whole/frames.jsonl"));
}

#[test]
fn a_failed_simulation_keeps_everything_up_to_the_last_valid_frame() {
    let mut fixture = Fixture::new();
    // Two velocity changes whose sum overflows.
    let push = "\n[[events]]\nat = 0.2\ntarget = \"cube\"\ndo = \"push\"\nvelocity = [3.0e38, 3.0e38, 0.0]\n";
    fixture.scene = load(fixture.directory.path(), "overflow", &format!("{CUBE}{push}{push}"));
    let outcome = fixture.run(fixture.options("run")).unwrap();
    let Ending::Failed(error) = &outcome.ending else { panic!("{:?}", outcome.ending) };
    assert!(error.to_string().contains("cube"), "{error}");
    let report: Value = serde_json::from_slice(&fixture.read("run/report.json")).unwrap();
    assert_eq!(report["status"], "failed");
    assert_eq!(report["error"], error.to_string());
    let lines = String::from_utf8(fixture.read("run/frames.jsonl")).unwrap();
    assert_eq!(lines.lines().count() as u64, report["frames"].as_u64().unwrap() + 1);
    // A resumed run fails again, in the same step.
    let again = fixture.resume("run").unwrap();
    assert_eq!(again.ending, outcome.ending);
    assert_eq!(again.report.state_hash, outcome.report.state_hash);
}

#[test]
fn exports_added_on_resume_start_late_with_a_warning() {
    let fixture = Fixture::new();
    fixture.run_and_interrupt(fixture.options("run"), 6);
    let options =
        RunOptions { overwrite: OverwritePolicy::Resume, exports: vec![ExportFormat::Obj], ..fixture.options("run") };
    let outcome = fixture.run(options).unwrap();
    assert!(outcome.report.warnings.iter().any(|warning| warning.contains("obj files begin at frame 7")));
    assert!(!fixture.path("run/obj/frame_00006.obj").exists() && fixture.path("run/obj/frame_00007.obj").exists());
}

#[test]
fn a_folder_is_overwritten_only_on_request() {
    let fixture = Fixture::new();
    fixture.run(RunOptions { frames: Some(2), ..fixture.options("run") }).unwrap();
    let again = |overwrite| fixture.run(RunOptions { frames: Some(1), overwrite, ..fixture.options("run") });
    let error = again(OverwritePolicy::Refuse).unwrap_err();
    assert!(error.is_refusal() && error.to_string().contains("already contains a run of \"fall\""), "{error}");
    assert_eq!(again(OverwritePolicy::Replace).unwrap().report.frames, 1);
    assert!(fixture.resume("nowhere").unwrap_err().to_string().contains("no run to resume"));
    assert!(!fixture.path("nowhere").exists());
}
