//! Replays reproduce the frames of a run, or fail.

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
model = 'shape_matching'
material = 'jelly'
shape = { kind = 'box', size = [0.1, 0.1, 0.1] }
spacing = 0.05
place = { at = [0.0, 0.06, 0.0] }
skin = { kind = 'isosurface' }
[[obstacles]]
name = 'floor'
shape = { kind = 'plane' }
";

fn scene_file(directory: &Path) -> PathBuf {
    let path = directory.join("cube.toml");
    fs::write(&path, SCENE).unwrap();
    path
}

/// Runs the scene with one setting changed, and exports it.
fn run(directory: &Path, exports: Vec<ExportFormat>) -> PathBuf {
    let (file, folder) = (scene_file(directory), directory.join("run"));
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
fn a_replay_reproduces_the_frames_of_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let folder = run(directory.path(), vec![]);
    let frames = play(&folder, &ReplayOptions::default());
    assert_eq!(frames.iter().map(|frame| frame.index).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(frames[0].bodies[0].report.velocity[0], 0.5, "overrides are applied");
    let range = ReplayOptions { first: 2, last: Some(3), ..ReplayOptions::default() };
    assert_eq!(play(&folder, &range).iter().map(|frame| frame.index).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn exports_of_a_replay_equal_those_of_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let formats = vec![ExportFormat::Ply, ExportFormat::Obj];
    let folder = run(directory.path(), formats.clone());
    let read = || {
        ["ply/skin_00005.ply", "ply/particles_00000.ply", "obj/frame_00006.obj"]
            .map(|file| fs::read(folder.join(file)).unwrap())
    };
    let before = read();
    fs::write(folder.join("ply/particles_00099.ply"), b"of a longer run").unwrap();
    let replay = Replay::open(&folder, None).unwrap();
    let sinks = replay.export_sinks(&formats).unwrap();
    replay.play(sinks, &ReplayOptions::default(), &mut ()).unwrap();
    assert!(before == read());
    assert!(!folder.join("ply/particles_00099.ply").exists());
}

#[test]
fn a_replay_that_fails_names_the_reason() {
    let directory = tempfile::tempdir().unwrap();
    let message = |folder: &Path| Replay::open(folder, None).err().unwrap().to_string();
    assert!(message(&directory.path().join("nothing")).contains("there is no run in"));
    let folder = run(directory.path(), vec![]);
    scene_file(directory.path());
    let lines = fs::read_to_string(folder.join("frames.jsonl")).unwrap();
    fs::write(folder.join("frames.jsonl"), lines.replacen("\"frame\":2,", "\"frame\":2 ,", 1)).unwrap();
    let replay = Replay::open(&folder, None).unwrap();
    let error = replay.play(vec![], &ReplayOptions::default(), &mut ()).unwrap_err().to_string();
    assert!(error.contains("frame 2 differs from its line"), "{error}");
    fs::write(directory.path().join("cube.toml"), SCENE.replace("0.06", "0.07")).unwrap();
    assert!(message(&folder).contains("has changed since"), "{}", message(&folder));
    fs::remove_file(directory.path().join("cube.toml")).unwrap();
    assert!(message(&folder).contains("cube.toml"), "{}", message(&folder));
    fs::write(folder.join("frames.jsonl"), "").unwrap();
    scene_file(directory.path());
    assert!(message(&folder).contains("contains no frame"), "{}", message(&folder));
}
