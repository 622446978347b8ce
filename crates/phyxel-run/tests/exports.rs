//! Exports of whole runs: a run that was interrupted or killed and then resumed leaves the same files, byte for byte.

mod support;

use phyxel_run::{CheckpointInterval, ExportFormat, OverwritePolicy, Run, RunOptions};
use phyxel_scene::Scene;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use support::Stopper;

/// A skin whose triangles change, one with constant triangles, a body without a skin, and one that is removed.
const BODIES: &str = include_str!("../examples/export_sample/bodies.toml");
/// Bodies with constant triangles.
const SOLIDS: &str = include_str!("../examples/export_sample/solids.toml");

/// A soft body that lands, flows and has a skin of surfels. The last expectation fails: surfels enclose no volume.
const SURFELS: &str = "version = 1
duration = 0.4
[materials.soft]
young_modulus = 2.0e4
damping = 0.3
plasticity = { yield = 0.05, creep = 20.0, max = 10.0 }
[[bodies]]
name = 'soft'
model = 'continuum'
material = 'soft'
shape = { kind = 'sphere', radius = 0.2 }
spacing = 0.08
place = { at = [0.0, 0.25, 0.0] }
velocity = [0.0, -1.0, 0.0]
continuum = { flowing = true }
skin = { kind = 'surfels' }
[[obstacles]]
name = 'floor'
shape = { kind = 'plane' }
[[expect]]
always = true
what = 'bodies.soft.skin.kind'
equal = 'surfels'
[[expect]]
always = true
what = 'bodies.soft.skin.vertices'
above = 200
[[expect]]
what = 'bodies.soft.skin.volume'
above = 0.0
";

/// A fluid with an isosurface, emitted and drained completely, and one without a skin.
const POURED: &str = "version = 1
duration = 0.5
bounds = { min = [-1, -1, -1], max = [1, 1, 1] }
[[bodies]]
name = 'water'
model = 'fluid'
material = 'water'
spacing = 0.04
skin = { kind = 'isosurface' }
[[bodies]]
name = 'dust'
model = 'fluid'
material = 'water'
spacing = 0.04
[[emitters]]
name = 'tap'
body = 'water'
mouth = { kind = 'disc', radius = 0.08 }
at = [0.0, 0.5, 0.0]
speed = 1.0
until = 0.2
[[emitters]]
name = 'blower'
body = 'dust'
mouth = { kind = 'rectangle', size = [0.08, 0.08] }
at = [0.5, 0.5, 0.0]
direction = [0.0, 1.0, 0.0]
speed = 1.0
from = 0.1
[[drains]]
name = 'hole'
region = { kind = 'box', size = [0.6, 2.0, 0.6] }
active = false
[[events]]
at = 0.3
target = 'hole'
set = { active = true }
";

/// Runs a scene into a folder, up to a frame if one is given.
fn run(text: &str, folder: &Path, overwrite: OverwritePolicy, stop_after: Option<u32>) {
    let scene = Scene::read(text, "sample", Path::new(".")).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let options = RunOptions {
        folder: folder.to_path_buf(),
        overwrite,
        exports: ExportFormat::ALL.to_vec(),
        threads: Some(1),
        checkpoints: CheckpointInterval { frames: Some(4), seconds: None },
        stop: Arc::clone(&stop),
        ..RunOptions::default()
    };
    let mut progress = Stopper { after: stop_after, stop };
    Run::prepare(&scene, options).unwrap().execute(&mut progress).unwrap();
}

/// All exported files of a run, with their content.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let folders = ExportFormat::ALL.map(|export| folder.join(export.name()));
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
    entries.map(|path| (path.strip_prefix(folder).unwrap().to_path_buf(), fs::read(&path).unwrap())).collect()
}

fn assert_same_files(whole: &Path, resumed: &Path) {
    let (whole, resumed) = (files(whole), files(resumed));
    assert_eq!(whole.keys().collect::<Vec<_>>(), resumed.keys().collect::<Vec<_>>());
    for (path, bytes) in &whole {
        assert!(resumed[path] == *bytes, "{} differs", path.display());
    }
}

#[test]
fn a_resumed_run_leaves_the_same_files() {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in [("bodies", BODIES), ("solids", SOLIDS), ("surfels", SURFELS), ("poured", POURED)] {
        let [whole, resumed] = ["whole", "resumed"].map(|kind| directory.path().join(format!("{name}-{kind}")));
        run(text, &whole, OverwritePolicy::Refuse, None);
        run(text, &resumed, OverwritePolicy::Refuse, Some(3));
        run(text, &resumed, OverwritePolicy::Resume, Some(7));
        run(text, &resumed, OverwritePolicy::Resume, None);
        assert_same_files(&whole, &resumed);
    }
}

#[test]
fn a_run_that_is_resumed_and_interrupted_at_once_leaves_complete_files() {
    let directory = tempfile::tempdir().unwrap();
    let [once, twice] = ["once", "twice"].map(|kind| directory.path().join(kind));
    run(SOLIDS, &once, OverwritePolicy::Refuse, Some(3));
    run(SOLIDS, &twice, OverwritePolicy::Refuse, Some(3));
    let scene = Scene::read(SOLIDS, "sample", Path::new(".")).unwrap();
    let stop = Arc::new(AtomicBool::new(true));
    let options =
        RunOptions { folder: twice.clone(), overwrite: OverwritePolicy::Resume, stop, ..RunOptions::default() };
    Run::prepare(&scene, options).unwrap().execute(&mut ()).unwrap();
    assert_same_files(&once, &twice);
}

#[test]
fn a_killed_run_resumes_from_its_checkpoint_to_the_same_files() {
    let directory = tempfile::tempdir().unwrap();
    let [whole, killed, later] = ["whole", "killed", "later"].map(|kind| directory.path().join(kind));
    run(BODIES, &whole, OverwritePolicy::Refuse, None);
    // State after a kill in frame 7: files up to that frame, but a checkpoint of frame 4.
    run(BODIES, &killed, OverwritePolicy::Refuse, Some(4));
    run(BODIES, &later, OverwritePolicy::Refuse, Some(7));
    for (path, bytes) in files(&later) {
        fs::write(killed.join(path), bytes).unwrap();
    }
    let scene = killed.join("usd/scene.usdc");
    let scene_bytes = fs::read(&scene).unwrap();
    fs::write(&scene, &scene_bytes[..scene_bytes.len() - 1000]).unwrap();
    run(BODIES, &killed, OverwritePolicy::Resume, None);
    assert_same_files(&whole, &killed);
}

#[test]
fn only_bodies_with_constant_triangles_make_an_animation() {
    let directory = tempfile::tempdir().unwrap();
    for (name, text, is_animated) in
        [("bodies", BODIES, false), ("solids", SOLIDS, true), ("surfels", SURFELS, true), ("poured", POURED, false)]
    {
        let folder = directory.path().join(name);
        run(text, &folder, OverwritePolicy::Refuse, None);
        assert_eq!(folder.join("glb/scene.glb").exists(), is_animated, "{name}");
    }
}

#[test]
fn surfels_are_counted_and_have_no_volume() {
    let directory = tempfile::tempdir().unwrap();
    run(SURFELS, directory.path(), OverwritePolicy::Refuse, None);
    let report: serde_json::Value =
        serde_json::from_slice(&fs::read(directory.path().join("report.json")).unwrap()).unwrap();
    let skin = &report["bodies"][0]["skin"];
    assert!(skin["kind"] == "surfels" && skin["triangles"] == 0, "{skin}");
    assert!(["closed", "pieces", "genus", "volume"].iter().all(|key| skin[key].is_null()), "{skin}");
    let passed: Vec<_> =
        report["expectations"].as_array().unwrap().iter().map(|expectation| &expectation["passed"]).collect();
    assert_eq!(passed, [true, true, false]);
}

#[test]
fn bodies_without_particles_are_reported_and_not_exported() {
    let directory = tempfile::tempdir().unwrap();
    run(POURED, directory.path(), OverwritePolicy::Refuse, None);
    let lines = fs::read_to_string(directory.path().join("frames.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = |frame: usize, body: usize| lines[frame]["bodies"][body]["particles"]["fluid"].as_u64().unwrap();
    assert_eq!((count(0, 0), count(0, 1)), (0, 0));
    assert!(lines[0]["bodies"][0]["centre"][1].is_null() && lines[0]["bodies"][0]["temperature"]["mean"].is_null());
    assert!(count(6, 0) > 0 && count(6, 1) > 0, "{} {}", count(6, 0), count(6, 1));
    assert!(lines[6]["bodies"][0]["skin"]["volume"].as_f64().unwrap() > 0.0);
    let last = lines.len() - 1;
    assert_eq!(count(last, 0), 0);
    assert_eq!(lines[last]["totals"]["removed"]["by"]["hole"]["particles"], count(9, 0));
    for (name, frame, points) in [("obj/frame_00000.obj", 0, false), ("obj/frame_00006.obj", 6, true)] {
        let text = fs::read_to_string(directory.path().join(name)).unwrap();
        assert_eq!(text.lines().any(|line| line.starts_with("v ")), points, "frame {frame}");
    }
    let skins = ["ply/skin_00000.ply", "ply/skin_00006.ply"].map(|name| directory.path().join(name).exists());
    assert_eq!(skins, [false, true]);
}

#[test]
fn a_new_run_in_the_same_folder_removes_the_files_of_the_old_one() {
    let directory = tempfile::tempdir().unwrap();
    let [fresh, replaced] = ["fresh", "replaced"].map(|kind| directory.path().join(kind));
    run(SOLIDS, &replaced, OverwritePolicy::Refuse, None);
    run(BODIES, &replaced, OverwritePolicy::Replace, Some(2));
    run(BODIES, &fresh, OverwritePolicy::Refuse, Some(2));
    assert_same_files(&fresh, &replaced);
}
