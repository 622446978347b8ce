//! The frames of a run can be had again, and only as they were.

use phyxel_run::{ExportFormat, MemorySink, OverwritePolicy, Replay, ReplayOptions, Run, RunOptions};
use phyxel_scene::Scene;
use std::fs;
use std::path::{Path, PathBuf};

const SCENE: &str = "
version = 1
duration = 0.2
frame_rate = 30
[[bodies]]
name = 'cube'
model = 'shape'
material = 'jelly'
shape = { kind = 'box', size = [0.1, 0.1, 0.1] }
spacing = 0.05
place = { at = [0.0, 0.06, 0.0] }
skin = { kind = 'isosurface' }
[[obstacles]]
name = 'floor'
shape = { kind = 'plane' }
";

fn scene_file(place: &Path) -> PathBuf {
    let path = place.join("cube.toml");
    fs::write(&path, SCENE).unwrap();
    path
}

/// Runs the scene with one setting changed, and exports it.
fn run(place: &Path, exports: Vec<ExportFormat>) -> PathBuf {
    let (file, folder) = (scene_file(place), place.join("run"));
    let overrides = vec![("bodies.cube.velocity".to_string(), "[0.5, 0.0, 0.0]".to_string())];
    let scene = Scene::load(&file.to_string_lossy(), &overrides).unwrap();
    let options = RunOptions {
        folder: folder.clone(),
        overwrite: OverwritePolicy::Refuse,
        exports,
        overrides,
        source: Some(file),
        ..RunOptions::default()
    };
    Run::prepare(&scene, options).unwrap().execute(&mut ()).unwrap();
    folder
}

fn play(folder: &Path, options: &ReplayOptions) -> Vec<phyxel::Frame> {
    let sink = MemorySink::default();
    let replay = Replay::open(folder, None).unwrap();
    assert!(replay.play(vec![Box::new(sink.clone())], options, &mut ()).unwrap());
    sink.take()
}

#[test]
fn a_replay_shows_the_frames_of_the_run() {
    let place = tempfile::tempdir().unwrap();
    let folder = run(place.path(), vec![]);
    let frames = play(&folder, &ReplayOptions::default());
    assert_eq!(frames.iter().map(|frame| frame.index).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(frames[0].bodies[0].report.velocity[0], 0.5, "the changed setting counts");
    let part = ReplayOptions { first: 2, last: Some(3), ..ReplayOptions::default() };
    assert_eq!(play(&folder, &part).iter().map(|frame| frame.index).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn exports_made_later_are_those_made_during_the_run() {
    let place = tempfile::tempdir().unwrap();
    let kinds = vec![ExportFormat::Ply, ExportFormat::Obj];
    let folder = run(place.path(), kinds.clone());
    let read = || {
        ["ply/skin_00005.ply", "ply/particles_00000.ply", "obj/frame_00006.obj"]
            .map(|file| fs::read(folder.join(file)).unwrap())
    };
    let before = read();
    fs::write(folder.join("ply/particles_00099.ply"), b"of a longer run").unwrap();
    let replay = Replay::open(&folder, None).unwrap();
    let sinks = replay.export_sinks(&kinds).unwrap();
    replay.play(sinks, &ReplayOptions::default(), &mut ()).unwrap();
    assert!(before == read());
    assert!(!folder.join("ply/particles_00099.ply").exists());
}

#[test]
fn a_run_that_cannot_be_made_again_says_why() {
    let place = tempfile::tempdir().unwrap();
    let message = |folder: &Path| Replay::open(folder, None).err().unwrap().to_string();
    assert!(message(&place.path().join("nothing")).contains("there is no run in"));
    let folder = run(place.path(), vec![]);
    scene_file(place.path());
    let lines = fs::read_to_string(folder.join("frames.jsonl")).unwrap();
    fs::write(folder.join("frames.jsonl"), lines.replacen("\"frame\":2,", "\"frame\":2 ,", 1)).unwrap();
    let replay = Replay::open(&folder, None).unwrap();
    let error = replay.play(vec![], &ReplayOptions::default(), &mut ()).unwrap_err().to_string();
    assert!(error.contains("frame 2 comes out differently"), "{error}");
    fs::write(place.path().join("cube.toml"), SCENE.replace("0.06", "0.07")).unwrap();
    assert!(message(&folder).contains("has changed since"), "{}", message(&folder));
    fs::remove_file(place.path().join("cube.toml")).unwrap();
    assert!(message(&folder).contains("cube.toml"), "{}", message(&folder));
    fs::write(folder.join("frames.jsonl"), "").unwrap();
    scene_file(place.path());
    assert!(message(&folder).contains("holds no frame"), "{}", message(&folder));
}
