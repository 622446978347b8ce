//! Runs in folders: what they leave behind, how they go on, and what they refuse.

use phyxel::Frame;
use phyxel_run::{
    CheckpointInterval, Ending, ExportFormat, Outcome, OverwritePolicy, Progress, ProgressObserver, Run, RunError,
    RunOptions, Sink, SinkError,
};
use phyxel_scene::Scene;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const SCENE: &str = r#"
version = 1
title = "A falling cube"
duration = 0.5
frame_rate = 30
seed = 7

[[bodies]]
name = "cube"
model = "shape"
material = "rubber"
shape = { kind = "box", size = [0.3, 0.3, 0.3] }
spacing = 0.1
place = { at = [0.0, 0.5, 0.0] }

[[obstacles]]
name = "floor"
shape = { kind = "plane", normal = [0.0, 1.0, 0.0] }

[[expect]]
what = "bodies.cube.centre.1"
below = 0.49
"#;

/// A folder for one test, with a scene in it.
struct Bench {
    place: tempfile::TempDir,
    scene: Scene,
}

impl Bench {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let scene = load(place.path(), "fall", SCENE);
        Self { place, scene }
    }

    fn options(&self, name: &str) -> RunOptions {
        RunOptions { folder: self.path(name), threads: Some(1), ..RunOptions::default() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn run(&self, options: RunOptions) -> Result<Outcome, RunError> {
        Run::prepare(&self.scene, options)?.execute(&mut ())
    }

    /// Runs into a folder and stops after a frame.
    fn run_and_stop(&self, mut options: RunOptions, after: u32) -> Outcome {
        let stop = Arc::new(AtomicBool::new(false));
        options.stop = Arc::clone(&stop);
        let outcome = Run::prepare(&self.scene, options).unwrap().execute(&mut Stopper { after, stop }).unwrap();
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

struct Stopper {
    after: u32,
    stop: Arc<AtomicBool>,
}

impl ProgressObserver for Stopper {
    fn update(&mut self, advance: &Progress) {
        self.stop.store(advance.frame >= self.after, Ordering::Relaxed);
    }
}

fn load(folder: &Path, name: &str, text: &str) -> Scene {
    let path = folder.join(format!("{name}.toml"));
    fs::write(&path, text).unwrap();
    Scene::load(path.to_str().unwrap(), &[]).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_run_leaves_a_report_a_line_per_frame_and_a_checkpoint() {
    let bench = Bench::new();
    let further = bench.path("further.json");
    let outcome = bench.run(RunOptions { extra_report: Some(further.clone()), ..bench.options("run") }).unwrap();
    assert_eq!(outcome.ending, Ending::Done);
    let report: Value = serde_json::from_slice(&bench.read("run/report.json")).unwrap();
    for key in ["phyxel", "scene", "threads", "frames", "steps", "simulated_seconds", "wall_seconds", "state_hash"] {
        assert!(!report[key].is_null(), "{key}");
    }
    assert_eq!((report["scene"].as_str(), report["frames"].as_u64()), (Some("fall"), Some(15)));
    assert_eq!(report["status"], "done");
    assert_eq!(report["bodies"][0]["name"], "cube");
    assert_eq!(report["expectations"][0]["passed"], true, "{}", report["expectations"][0]);
    assert_eq!(bench.read("run/report.json"), fs::read(further).unwrap());
    assert_eq!(String::from_utf8(bench.read("run/frames.jsonl")).unwrap().lines().count(), 16);
    assert!(bench.path("run/checkpoint").is_file());
    let hidden = fs::read_dir(bench.path("run")).unwrap().flatten();
    assert!(hidden.map(|entry| entry.file_name()).all(|name| !name.to_string_lossy().starts_with('.')));
}

#[test]
fn a_stopped_and_resumed_run_is_the_same_as_one_in_one_go() {
    let bench = Bench::new();
    let exports = || vec![ExportFormat::Ply, ExportFormat::Obj];
    let whole = bench.run(RunOptions { exports: exports(), ..bench.options("whole") }).unwrap();
    let stopped = bench.run_and_stop(RunOptions { exports: exports(), ..bench.options("parted") }, 6);
    assert_eq!(stopped.report.frames, 6);
    let resumed = bench.resume("parted").unwrap();
    assert_eq!(whole.report.state_hash, resumed.report.state_hash);
    assert_eq!(whole.report.expectations, resumed.report.expectations);
    let files =
        ["frames.jsonl", "checkpoint", "ply/particles_00003.ply", "ply/particles_00015.ply", "obj/frame_00015.obj"];
    for file in files {
        assert!(bench.read(&format!("whole/{file}")) == bench.read(&format!("parted/{file}")), "{file} differs");
    }
}

#[test]
fn a_killed_run_goes_on_from_its_checkpoint_without_a_trace() {
    let bench = Bench::new();
    let exports = vec![ExportFormat::Ply];
    bench.run(bench.options("whole")).unwrap();
    bench.run_and_stop(RunOptions { exports, ..bench.options("killed") }, 6);
    // As if frames 7 and half of 8 had been written before the end.
    let lines = String::from_utf8(bench.read("whole/frames.jsonl")).unwrap();
    let ends: Vec<usize> = lines.match_indices('\n').map(|(at, _)| at).collect();
    fs::write(bench.path("killed/frames.jsonl"), &lines[..ends[7] + 40]).unwrap();
    fs::write(bench.path("killed/ply/particles_00099.ply"), b"of a longer run").unwrap();
    bench.resume("killed").unwrap();
    assert!(bench.read("whole/frames.jsonl") == bench.read("killed/frames.jsonl"));
    assert!(!bench.path("killed/ply/particles_00099.ply").exists());
}

#[test]
fn a_finished_run_is_left_alone_and_a_longer_one_goes_on() {
    let bench = Bench::new();
    bench.run(RunOptions { frames: Some(8), ..bench.options("run") }).unwrap();
    let before = (bench.read("run/report.json"), bench.read("run/checkpoint"));
    let frames = |count| RunOptions { frames: Some(count), overwrite: OverwritePolicy::Resume, ..bench.options("run") };
    let outcome = bench.run(frames(8)).unwrap();
    assert_eq!((outcome.ending, outcome.report.frames), (Ending::AlreadyDone, 8));
    assert!(before == (bench.read("run/report.json"), bench.read("run/checkpoint")));
    let longer = bench.run(frames(20)).unwrap();
    let whole = bench.run(RunOptions { frames: Some(20), ..bench.options("whole") }).unwrap();
    assert_eq!(longer.report.state_hash, whole.report.state_hash);
    assert!(bench.read("run/frames.jsonl") == bench.read("whole/frames.jsonl"));
}

#[test]
fn the_duration_may_change_between_two_sessions_but_nothing_else() {
    let mut bench = Bench::new();
    bench.run_and_stop(bench.options("run"), 6);
    bench.scene = load(bench.place.path(), "fall", &SCENE.replace("duration = 0.5", "duration = 0.6"));
    assert_eq!(bench.resume("run").unwrap().report.frames, 18);
    bench.scene = load(bench.place.path(), "fall", &SCENE.replace("spacing = 0.1", "spacing = 0.15"));
    let message = bench.resume("run").unwrap_err().to_string();
    assert!(message.contains("holds a run of \"fall\" (seed 7"), "{message}");
    assert!(message.contains("changed since"), "{message}");
}

#[test]
fn another_seed_is_another_run() {
    let bench = Bench::new();
    bench.run_and_stop(bench.options("run"), 6);
    let mut options = RunOptions { overwrite: OverwritePolicy::Resume, ..bench.options("run") };
    options.build.seed = Some(8);
    let error = bench.run(options).unwrap_err();
    assert!(error.is_refusal() && error.to_string().contains("seed 8"), "{error}");
}

#[test]
fn damaged_and_foreign_checkpoints_are_refused() {
    let bench = Bench::new();
    bench.run_and_stop(bench.options("run"), 6);
    let good = bench.read("run/checkpoint");
    let mut flipped = good.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    for bad in [&flipped[..], &good[..middle], b"a letter from home", b""] {
        fs::write(bench.path("run/checkpoint"), bad).unwrap();
        let error = bench.resume("run").unwrap_err();
        assert!(error.is_refusal() && error.to_string().contains("run/checkpoint"), "{error}");
    }
    fs::remove_file(bench.path("run/checkpoint")).unwrap();
    assert!(bench.resume("run").unwrap_err().to_string().contains("has no checkpoint"));
    assert_eq!(bench.read("run/frames.jsonl").iter().filter(|byte| **byte == b'\n').count(), 7);
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let mut bench = Bench::new();
    bench.run_and_stop(bench.options("run"), 6);
    bench.scene = load(bench.place.path(), "other", &SCENE.replace("[0.0, 0.5, 0.0]", "[0.0, 0.6, 0.0]"));
    bench.run_and_stop(bench.options("other"), 6);
    fs::copy(bench.path("other/checkpoint"), bench.path("run/checkpoint")).unwrap();
    bench.scene = load(bench.place.path(), "fall", SCENE);
    let error = bench.resume("run").unwrap_err();
    assert!(error.to_string().contains("is not the checkpoint of this run"), "{error}");
}

/// A sink on a disk that fills up at a frame.
struct FullAt(u32);

impl Sink for FullAt {
    fn write_frame(&mut self, frame: &Frame) -> Result<(), SinkError> {
        if frame.index < self.0 {
            return Ok(());
        }
        Err(SinkError::Other("the disk is full".into()))
    }
}

#[test]
fn a_run_whose_sink_fails_can_go_on_from_the_last_checkpoint() {
    let bench = Bench::new();
    let options = RunOptions {
        sinks: vec![Box::new(FullAt(9))],
        checkpoints: CheckpointInterval { frames: Some(4), seconds: None },
        ..bench.options("run")
    };
    let error = bench.run(options).unwrap_err();
    assert!(!error.is_refusal() && error.to_string().contains("the disk is full"), "{error}");
    let report: Value = serde_json::from_slice(&bench.read("run/report.json")).unwrap();
    assert_eq!((&report["status"], &report["error"]), (&"failed".into(), &"the disk is full".into()));
    let resumed = bench.resume("run").unwrap();
    let whole = bench.run(bench.options("whole")).unwrap();
    assert_eq!(resumed.report.state_hash, whole.report.state_hash);
    assert!(bench.read("run/frames.jsonl") == bench.read("whole/frames.jsonl"));
}

#[test]
fn a_failed_simulation_keeps_everything_up_to_the_last_good_frame() {
    let mut bench = Bench::new();
    // Two pushes that together are faster than a number can say.
    let push = "\n[[events]]\nat = 0.2\ntarget = \"cube\"\ndo = \"push\"\nvelocity = [3.0e38, 3.0e38, 0.0]\n";
    bench.scene = load(bench.place.path(), "burst", &format!("{SCENE}{push}{push}"));
    let outcome = bench.run(bench.options("run")).unwrap();
    let Ending::Failed(error) = &outcome.ending else { panic!("{:?}", outcome.ending) };
    assert!(error.to_string().contains("cube"), "{error}");
    let report: Value = serde_json::from_slice(&bench.read("run/report.json")).unwrap();
    assert_eq!(report["status"], "failed");
    assert_eq!(report["error"], error.to_string());
    let lines = String::from_utf8(bench.read("run/frames.jsonl")).unwrap();
    assert_eq!(lines.lines().count() as u64, report["frames"].as_u64().unwrap() + 1);
    // What failed once fails again, from the same place.
    let again = bench.resume("run").unwrap();
    assert_eq!(again.ending, outcome.ending);
    assert_eq!(again.report.state_hash, outcome.report.state_hash);
}

#[test]
fn exports_asked_for_later_begin_later_and_say_so() {
    let bench = Bench::new();
    bench.run_and_stop(bench.options("run"), 6);
    let options =
        RunOptions { overwrite: OverwritePolicy::Resume, exports: vec![ExportFormat::Obj], ..bench.options("run") };
    let outcome = bench.run(options).unwrap();
    assert!(outcome.report.warnings.iter().any(|warning| warning.contains("obj files begin at frame 7")));
    assert!(!bench.path("run/obj/frame_00006.obj").exists() && bench.path("run/obj/frame_00007.obj").exists());
}

#[test]
fn a_folder_is_taken_only_by_those_who_may() {
    let bench = Bench::new();
    bench.run(RunOptions { frames: Some(2), ..bench.options("run") }).unwrap();
    let again = |claim| bench.run(RunOptions { frames: Some(1), overwrite: claim, ..bench.options("run") });
    let error = again(OverwritePolicy::Refuse).unwrap_err();
    assert!(error.is_refusal() && error.to_string().contains("already holds a run of \"fall\""), "{error}");
    assert_eq!(again(OverwritePolicy::Replace).unwrap().report.frames, 1);
    assert!(bench.resume("nowhere").unwrap_err().to_string().contains("no run to resume"));
    assert!(!bench.path("nowhere").exists());
}
