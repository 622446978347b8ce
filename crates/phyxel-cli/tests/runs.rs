//! Runs of the program: output, files and exit codes.

mod support;

use std::process::Stdio;
use support::{CUBE, CallResult, TestFolder, a_builtin_scene, names};

#[test]
fn a_run_prints_its_folder_and_results() {
    let folder = TestFolder::with_scene(CUBE);
    let result = folder.call("run scene.toml -o out --export ply,obj --report copy.json");
    result.expect(0, &[]);
    for text in ["A falling cube", "done", "out", "15", "1 met"] {
        assert!(result.out.contains(text), "no {text:?} in {result:?}");
    }
    assert!(result.out.contains(folder.json("out/report.json")["state_hash"].as_str().unwrap()));
    assert_eq!(names(&folder.path("out")), ["checkpoint", "frames.jsonl", "obj", "ply", "report.json", "run.json"]);
    assert!(folder.path("out/ply/particles_00015.ply").is_file() && folder.path("out/obj/frame_00000.obj").is_file());
    assert!(folder.read("copy.json") == folder.read("out/report.json"));
}

#[test]
fn quiet_runs_print_nothing_and_json_runs_print_the_report() {
    let folder = TestFolder::with_scene(CUBE);
    let quiet = folder.call("run scene.toml -o quiet --quiet --frames 2");
    assert_eq!((quiet.code, quiet.out.as_str(), quiet.err.as_str()), (Some(0), "", ""));
    let json = folder.call("run scene.toml -o json --json --frames 2 --threads 1");
    let report: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((json.code, json.err.as_str()), (Some(0), ""));
    assert_eq!((&report["frames"], &report["threads"], &report["folder"]), (&2.into(), &1.into(), &"json".into()));
}

#[test]
fn expectations_change_the_exit_code_only_on_request() {
    let folder = TestFolder::with_scene(&CUBE.replace("below = 0.49", "above = 0.49"));
    let result = folder.call("run scene.toml -o plain");
    result.expect(0, &[]);
    assert!(result.out.contains("but expected above 0.49"), "{result:?}");
    folder.call("run scene.toml -o strict --expect").expect(1, &[]);
    assert_eq!(folder.json("strict/report.json")["expectations"][0]["passed"], false);
}

#[test]
fn overrides_and_seed_are_applied_to_the_scene() {
    let folder = TestFolder::with_scene(CUBE);
    folder.call("run scene.toml -o out --set duration=0.1 --set bodies.cube.temperature=4 --seed 9").expect(0, &[]);
    let report = folder.json("out/report.json");
    assert_eq!((&report["frames"], &report["seed"]), (&3.into(), &9.into()));
    assert_eq!(report["bodies"][0]["temperature"]["mean"], 4.0);
}

#[test]
fn an_existing_run_is_kept_unless_overwriting_is_requested() {
    let folder = TestFolder::with_scene(CUBE);
    folder.call("run scene.toml -o out --frames 3").expect(0, &[]);
    let before = folder.read("out/report.json");
    folder
        .call("run scene.toml -o out")
        .expect(2, &["out", "already contains a run of \"scene\"", "--resume", "--force"]);
    let again = folder.call("run scene.toml -o out --frames 3 --resume");
    again.expect(0, &[]);
    assert!(again.out.contains("was already done"), "{again:?}");
    assert!(folder.read("out/report.json") == before);
    folder.call("run scene.toml -o out --frames 2 --force").expect(0, &[]);
    assert_eq!(folder.json("out/report.json")["frames"], 2);
}

#[test]
fn without_a_folder_runs_are_numbered() {
    let folder = TestFolder::with_scene(CUBE);
    for _ in 0..2 {
        folder.call("run scene.toml --frames 1 --quiet").expect(0, &[]);
    }
    assert_eq!(names(&folder.path("runs")), ["scene", "scene-2"]);
    folder.call("run scene.toml --frames 2 --quiet --resume").expect(0, &[]);
    assert_eq!(folder.json("runs/scene-2/report.json")["frames"], 2);
}

#[test]
fn the_demo_is_what_runs_without_a_command() {
    let folder = TestFolder::new();
    folder.call("--frames 2 --quiet").expect(0, &[]);
    folder.call("demo --frames 2 --quiet").expect(0, &[]);
    assert_eq!(names(&folder.path("runs")), ["goop-to-glop", "goop-to-glop-2"]);
    let hash = |run: &str| folder.json(&format!("runs/{run}/report.json"))["state_hash"].clone();
    assert_eq!(hash("goop-to-glop"), hash("goop-to-glop-2"));
    assert!(folder.path("runs/goop-to-glop/film.mp4").is_file());
}

#[test]
fn a_run_is_rendered_and_the_video_of_a_resumed_one_starts_at_its_first_frame() {
    let folder = TestFolder::with_scene(CUBE);
    let result = folder.call("run scene.toml -o out --frames 4 --video film.mp4 --pictures --size 64x36 --color speed");
    result.expect(0, &[]);
    assert!(result.out.contains("film.mp4"), "{result:?}");
    let pictures: Vec<String> = (0..=4).map(|frame| format!("frame_0000{frame}.png")).collect();
    assert_eq!(names(&folder.path("out/pictures")), pictures);
    let whole = folder.read("film.mp4");
    folder.call("run scene.toml -o resumed --frames 2 --video resumed.mp4 --size 64x36 --color speed").expect(0, &[]);
    let resume = "run scene.toml -o resumed --frames 4 --video resumed.mp4 --size 64x36 --color speed --resume";
    folder.call(resume).expect(0, &["from the start"]);
    assert!(folder.read("resumed.mp4") == whole);
    folder.call("run scene.toml -o out --frames 2 --force --quiet").expect(0, &[]);
    assert!(names(&folder.path("out/pictures")).is_empty(), "pictures of the previous run are removed");
}

#[test]
fn a_finished_run_is_rendered_exported_and_plotted() {
    let folder = TestFolder::with_scene(CUBE);
    folder.call("run scene.toml -o out --frames 6 --quiet").expect(0, &[]);
    let render = folder.call("render out --size 64x36");
    render.expect(0, &[]);
    assert!(render.out.contains("film.mp4") && folder.path("out/film.mp4").is_file(), "{render:?}");
    folder.call("render out --pictures --frames 2-3 --size 64x36 --quality high --quiet").expect(0, &[]);
    assert_eq!(names(&folder.path("out/pictures")), ["frame_00002.png", "frame_00003.png"]);
    folder.call("export out ply,obj --json").expect(0, &[]);
    assert!(folder.path("out/ply/particles_00006.ply").is_file() && folder.path("out/obj/frame_00006.obj").is_file());
    let plot = folder.call("plot out");
    plot.expect(0, &[]);
    assert!(plot.out.contains("energy.svg") && folder.path("out/plots/energy.png").is_file(), "{plot:?}");
}

/// The engine writes the keys of reports and `phyxel-plot` reads them: no key that is plotted may be missing.
#[test]
fn plots_have_a_value_of_every_curve_in_every_frame() {
    let folder = TestFolder::with_scene(CUBE);
    folder.call("run scene.toml -o out --frames 4 --quiet --set bodies.cube.temperature=4").expect(0, &[]);
    folder.call("plot out").expect(0, &[]);
    let svg = |name: &str| String::from_utf8(folder.read(&format!("out/plots/{name}.svg"))).unwrap();
    for (name, curves) in [("energy", 6), ("momentum", 8), ("temperature", 3), ("phases", 3), ("strain", 2)] {
        let text = svg(name);
        let paths = text.lines().filter_map(|line| line.strip_prefix("<path class=\"curve\" d=\"")?.split('"').next());
        let points: Vec<usize> = paths.map(|path| path.matches(['M', 'L']).count()).collect();
        assert_eq!(points, vec![5; curves], "{name}");
    }
    let stages = svg("stages");
    assert!(stages.contains(">scene<") && stages.contains(">find neighbours<"), "{stages}");
}

#[test]
fn a_folder_without_a_run_cannot_be_replayed() {
    let folder = TestFolder::with_scene(CUBE);
    folder.call("render nowhere").expect(2, &["there is no run in", "nowhere"]);
    folder.call("export nowhere ply").expect(2, &["there is no run in"]);
    folder.call("plot nowhere").expect(2, &["nowhere"]);
    folder.call("run scene.toml -o out --frames 1 --quiet").expect(0, &[]);
    folder.write("scene.toml", CUBE.replace("[0.0, 0.5, 0.0]", "[0.0, 0.7, 0.0]"));
    folder.call("render out --size 64x36").expect(2, &["has changed since"]);
    folder.call("render out --size 3").expect(2, &["1280x720"]);
    folder.call("run scene.toml -o other --video . --quiet").expect(2, &["cannot create"]);
    assert!(!folder.path("other").exists());
    folder.call("render out --color heat").expect(2, &["heat", "temperature"]);
    folder.call("render out --range 5:1").expect(2, &["0:100"]);
}

#[test]
fn a_failed_simulation_exits_with_code_3_and_keeps_the_valid_frames() {
    // Two velocity changes whose sum overflows.
    let push = "\n[[events]]\nat = 0.2\ntarget = \"cube\"\ndo = \"push\"\nvelocity = [3.0e38, 3.0e38, 0.0]\n";
    let folder = TestFolder::with_scene(&format!("{CUBE}{push}{push}"));
    folder.call("run scene.toml -o out").expect(3, &["error:", "cube", "is kept in \"out\""]);
    let report = folder.json("out/report.json");
    assert_eq!(report["status"], "failed");
    let lines = folder.read("out/frames.jsonl").iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(lines as u64, report["frames"].as_u64().unwrap() + 1);
    assert!(folder.path("out/checkpoint").is_file());
}

#[test]
fn damaged_and_foreign_checkpoints_are_refused() {
    let folder = TestFolder::with_scene(CUBE);
    folder.write("other.toml", CUBE.replace("[0.0, 0.5, 0.0]", "[0.0, 0.7, 0.0]"));
    folder.call("run scene.toml -o out --frames 3 --quiet").expect(0, &[]);
    folder.call("run other.toml -o out --resume").expect(2, &["contains a run of \"scene\"", "this is \"other\""]);
    let good = folder.read("out/checkpoint");
    folder.write("out/checkpoint", &good[..good.len() / 2]);
    folder.call("run scene.toml -o out --resume").expect(2, &["out/checkpoint", "--resume"]);
    folder.write("out/checkpoint", "something else");
    folder.call("run scene.toml -o out --resume").expect(2, &["out/checkpoint", "not a phyxel checkpoint"]);
    folder.call("run scene.toml -o empty --resume").expect(2, &["no run to resume in \"empty\""]);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = TestFolder::with_scene(CUBE);
    let print = format!("scenes {}", a_builtin_scene());
    for arguments in ["scenes", &print, "run scene.toml -o out --frames 2", "check scene.toml"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let child = folder.command(arguments).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        CallResult::from(child.wait_with_output().unwrap()).expect(0, &[]);
    }
    assert_eq!(folder.json("out/report.json")["status"], "done");
}

#[test]
fn scenes_are_listed_printed_and_checked() {
    let folder = TestFolder::new();
    let list = folder.call("scenes");
    assert!(list.out.contains(a_builtin_scene()), "{list:?}");
    let text = folder.call(&format!("scenes {}", a_builtin_scene()));
    assert!(text.out.contains("[[bodies]]"), "{text:?}");
    folder.write("own.toml", &text.out);
    let check = folder.call("check own.toml --json");
    let facts: serde_json::Value = serde_json::from_str(&check.out).unwrap();
    assert!(facts["particles"].as_u64().unwrap() > 0);
}

#[cfg(unix)]
mod interrupts {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command};
    use std::time::{Duration, Instant};

    /// Starts a run that does not end by itself, and waits for some of its frames.
    fn start(folder: &TestFolder, frames: usize) -> Child {
        let mut command = folder.command("run scene.toml -o resumed --frames 1000000");
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        let lines = || std::fs::read(folder.path("resumed/frames.jsonl")).unwrap_or_default();
        let count = || lines().iter().filter(|byte| **byte == b'\n').count();
        while count() < frames || !folder.path("resumed/report.json").exists() {
            assert!(Instant::now() < deadline, "no frames within a minute");
            std::thread::sleep(Duration::from_millis(2));
        }
        child
    }

    fn interrupt(child: &Child) {
        let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(signal.success());
    }

    #[test]
    fn an_interrupted_run_resumes_to_the_same_bits() {
        let folder = TestFolder::with_scene(CUBE);
        let child = start(&folder, 5);
        interrupt(&child);
        CallResult::from(child.wait_with_output().unwrap()).expect(130, &["stopping", "interrupted", "--resume"]);
        let stopped = folder.json("resumed/report.json");
        assert_eq!(stopped["status"], "interrupted");
        let frames = stopped["frames"].as_u64().unwrap() + 20;
        folder.call(&format!("run scene.toml -o resumed --resume --quiet --frames {frames}")).expect(0, &[]);
        folder.call(&format!("run scene.toml -o whole --quiet --frames {frames}")).expect(0, &[]);
        let hash = |run: &str| folder.json(&format!("{run}/report.json"))["state_hash"].clone();
        assert_eq!(hash("whole"), hash("resumed"));
        assert!(folder.read("whole/frames.jsonl") == folder.read("resumed/frames.jsonl"), "frames.jsonl differs");
    }

    #[test]
    fn a_second_interrupt_ends_the_program_within_a_frame() {
        // Frames that take longer than the test.
        let folder = TestFolder::with_scene(&format!("{CUBE}\n[step]\nsubsteps = 100000000\n"));
        let mut child = start(&folder, 1);
        let mut result = BufReader::new(child.stderr.take().unwrap()).lines();
        interrupt(&child);
        assert!(result.any(|line| line.unwrap().contains("interrupt again")));
        interrupt(&child);
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(folder.json("resumed/report.json")["frames"], 0);
    }
}
