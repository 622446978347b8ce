//! Runs of the program: what they say, what they leave, and how they end.

mod support;

use std::process::Stdio;
use support::{CUBE, Desk, Said, a_builtin_scene, names};

#[test]
fn a_run_says_where_its_files_are_and_what_came_out() {
    let desk = Desk::with_scene(CUBE);
    let said = desk.call("run scene.toml -o out --export ply,obj --report copy.json");
    said.must(0, &[]);
    for word in ["A falling cube", "done", "out", "15", "1 came true"] {
        assert!(said.out.contains(word), "no {word:?} in {said:?}");
    }
    assert!(said.out.contains(desk.json("out/report.json")["state_hash"].as_str().unwrap()));
    assert_eq!(names(&desk.path("out")), ["checkpoint", "frames.jsonl", "obj", "ply", "report.json", "run.json"]);
    assert!(desk.path("out/ply/particles_00015.ply").is_file() && desk.path("out/obj/frame_00000.obj").is_file());
    assert!(desk.read("copy.json") == desk.read("out/report.json"));
}

#[test]
fn quiet_runs_say_nothing_and_json_runs_say_the_report() {
    let desk = Desk::with_scene(CUBE);
    let quiet = desk.call("run scene.toml -o quiet --quiet --frames 2");
    assert_eq!((quiet.code, quiet.out.as_str(), quiet.err.as_str()), (Some(0), "", ""));
    let json = desk.call("run scene.toml -o json --json --frames 2 --threads 1");
    let report: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((json.code, json.err.as_str()), (Some(0), ""));
    assert_eq!((&report["frames"], &report["threads"], &report["folder"]), (&2.into(), &1.into(), &"json".into()));
}

#[test]
fn expectations_change_the_exit_code_only_when_asked() {
    let desk = Desk::with_scene(&CUBE.replace("below = 0.49", "above = 0.49"));
    let said = desk.call("run scene.toml -o plain");
    said.must(0, &[]);
    assert!(said.out.contains("but expected above 0.49"), "{said:?}");
    desk.call("run scene.toml -o strict --expect").must(1, &[]);
    assert_eq!(desk.json("strict/report.json")["expectations"][0]["passed"], false);
}

#[test]
fn settings_and_seed_reach_the_scene() {
    let desk = Desk::with_scene(CUBE);
    desk.call("run scene.toml -o out --set duration=0.1 --set bodies.cube.temperature=4 --seed 9").must(0, &[]);
    let report = desk.json("out/report.json");
    assert_eq!((&report["frames"], &report["seed"]), (&3.into(), &9.into()));
    assert_eq!(report["bodies"][0]["temperature"]["mean"], 4.0);
}

#[test]
fn a_folder_that_holds_a_run_is_left_alone_unless_asked() {
    let desk = Desk::with_scene(CUBE);
    desk.call("run scene.toml -o out --frames 3").must(0, &[]);
    let before = desk.read("out/report.json");
    desk.call("run scene.toml -o out").must(2, &["out", "already holds a run of \"scene\"", "--resume", "--force"]);
    let again = desk.call("run scene.toml -o out --frames 3 --resume");
    again.must(0, &[]);
    assert!(again.out.contains("was done already"), "{again:?}");
    assert!(desk.read("out/report.json") == before);
    desk.call("run scene.toml -o out --frames 2 --force").must(0, &[]);
    assert_eq!(desk.json("out/report.json")["frames"], 2);
}

#[test]
fn without_a_folder_runs_are_numbered() {
    let desk = Desk::with_scene(CUBE);
    for _ in 0..2 {
        desk.call("run scene.toml --frames 1 --quiet").must(0, &[]);
    }
    assert_eq!(names(&desk.path("runs")), ["scene", "scene-2"]);
    desk.call("run scene.toml --frames 2 --quiet --resume").must(0, &[]);
    assert_eq!(desk.json("runs/scene-2/report.json")["frames"], 2);
}

#[test]
fn the_demo_is_what_runs_without_a_command() {
    let desk = Desk::new();
    desk.call("--frames 2 --quiet").must(0, &[]);
    desk.call("demo --frames 2 --quiet").must(0, &[]);
    assert_eq!(names(&desk.path("runs")), ["goop-to-glop", "goop-to-glop-2"]);
    let hash = |folder: &str| desk.json(&format!("runs/{folder}/report.json"))["state_hash"].clone();
    assert_eq!(hash("goop-to-glop"), hash("goop-to-glop-2"));
    assert!(desk.path("runs/goop-to-glop/film.mp4").is_file());
}

#[test]
fn a_run_is_filmed_and_pictured_and_a_resumed_one_is_filmed_from_the_start() {
    let desk = Desk::with_scene(CUBE);
    let said = desk.call("run scene.toml -o out --frames 4 --video film.mp4 --pictures --size 64x36 --color speed");
    said.must(0, &[]);
    assert!(said.out.contains("film.mp4"), "{said:?}");
    let pictures: Vec<String> = (0..=4).map(|frame| format!("frame_0000{frame}.png")).collect();
    assert_eq!(names(&desk.path("out/pictures")), pictures);
    let whole = desk.read("film.mp4");
    desk.call("run scene.toml -o parted --frames 2 --video parted.mp4 --size 64x36 --color speed").must(0, &[]);
    let resume = "run scene.toml -o parted --frames 4 --video parted.mp4 --size 64x36 --color speed --resume";
    desk.call(resume).must(0, &["from the start"]);
    assert!(desk.read("parted.mp4") == whole);
    desk.call("run scene.toml -o out --frames 2 --force --quiet").must(0, &[]);
    assert!(names(&desk.path("out/pictures")).is_empty(), "pictures of the run before are gone");
}

#[test]
fn a_finished_run_is_rendered_exported_and_plotted() {
    let desk = Desk::with_scene(CUBE);
    desk.call("run scene.toml -o out --frames 6 --quiet").must(0, &[]);
    let render = desk.call("render out --size 64x36");
    render.must(0, &[]);
    assert!(render.out.contains("film.mp4") && desk.path("out/film.mp4").is_file(), "{render:?}");
    desk.call("render out --pictures --frames 2-3 --size 64x36 --quality high --quiet").must(0, &[]);
    assert_eq!(names(&desk.path("out/pictures")), ["frame_00002.png", "frame_00003.png"]);
    desk.call("export out ply,obj --json").must(0, &[]);
    assert!(desk.path("out/ply/particles_00006.ply").is_file() && desk.path("out/obj/frame_00006.obj").is_file());
    let plot = desk.call("plot out");
    plot.must(0, &[]);
    assert!(plot.out.contains("energy.svg") && desk.path("out/plots/energy.png").is_file(), "{plot:?}");
}

#[test]
fn what_is_no_run_cannot_be_looked_at_again() {
    let desk = Desk::with_scene(CUBE);
    desk.call("render nowhere").must(2, &["there is no run in", "nowhere"]);
    desk.call("export nowhere ply").must(2, &["there is no run in"]);
    desk.call("plot nowhere").must(2, &["nowhere"]);
    desk.call("run scene.toml -o out --frames 1 --quiet").must(0, &[]);
    desk.write("scene.toml", CUBE.replace("[0.0, 0.5, 0.0]", "[0.0, 0.7, 0.0]"));
    desk.call("render out --size 64x36").must(2, &["has changed since"]);
    desk.call("render out --size 3").must(2, &["1280x720"]);
    desk.call("run scene.toml -o other --video . --quiet").must(2, &["cannot create"]);
    assert!(!desk.path("other").exists());
    desk.call("render out --color heat").must(2, &["heat", "temperature"]);
    desk.call("render out --range 5:1").must(2, &["0:100"]);
}

#[test]
fn a_simulation_that_fails_ends_with_code_3_and_keeps_what_was_good() {
    // Two pushes that together are faster than a number can say.
    let push = "\n[[events]]\nat = 0.2\ntarget = \"cube\"\ndo = \"push\"\nvelocity = [3.0e38, 3.0e38, 0.0]\n";
    let desk = Desk::with_scene(&format!("{CUBE}{push}{push}"));
    desk.call("run scene.toml -o out").must(3, &["error:", "cube", "is kept in \"out\""]);
    let report = desk.json("out/report.json");
    assert_eq!(report["status"], "failed");
    let lines = desk.read("out/frames.jsonl").iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(lines as u64, report["frames"].as_u64().unwrap() + 1);
    assert!(desk.path("out/checkpoint").is_file());
}

#[test]
fn damaged_and_foreign_checkpoints_are_refused() {
    let desk = Desk::with_scene(CUBE);
    desk.write("other.toml", CUBE.replace("[0.0, 0.5, 0.0]", "[0.0, 0.7, 0.0]"));
    desk.call("run scene.toml -o out --frames 3 --quiet").must(0, &[]);
    desk.call("run other.toml -o out --resume").must(2, &["holds a run of \"scene\"", "this is \"other\""]);
    let good = desk.read("out/checkpoint");
    desk.write("out/checkpoint", &good[..good.len() / 2]);
    desk.call("run scene.toml -o out --resume").must(2, &["out/checkpoint", "--resume"]);
    desk.write("out/checkpoint", "something else");
    desk.call("run scene.toml -o out --resume").must(2, &["out/checkpoint", "not a phyxel checkpoint"]);
    desk.call("run scene.toml -o empty --resume").must(2, &["no run to resume in \"empty\""]);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let desk = Desk::with_scene(CUBE);
    let print = format!("scenes {}", a_builtin_scene());
    for arguments in ["scenes", &print, "run scene.toml -o out --frames 2", "check scene.toml"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let child = desk.command(arguments).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        Said::from(child.wait_with_output().unwrap()).must(0, &[]);
    }
    assert_eq!(desk.json("out/report.json")["status"], "done");
}

#[test]
fn scenes_are_listed_printed_and_checked() {
    let desk = Desk::new();
    let list = desk.call("scenes");
    assert!(list.out.contains(a_builtin_scene()), "{list:?}");
    let text = desk.call(&format!("scenes {}", a_builtin_scene()));
    assert!(text.out.contains("[[bodies]]"), "{text:?}");
    desk.write("own.toml", &text.out);
    let check = desk.call("check own.toml --json");
    let facts: serde_json::Value = serde_json::from_str(&check.out).unwrap();
    assert!(facts["particles"].as_u64().unwrap() > 0);
}

#[cfg(unix)]
mod interrupts {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command};
    use std::time::{Duration, Instant};

    /// Starts a run that is not going to end by itself and waits for some frames of it.
    fn start(desk: &Desk, frames: usize) -> Child {
        let mut command = desk.command("run scene.toml -o parted --frames 1000000");
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let patience = Instant::now() + Duration::from_secs(60);
        let lines = || std::fs::read(desk.path("parted/frames.jsonl")).unwrap_or_default();
        let count = || lines().iter().filter(|byte| **byte == b'\n').count();
        while count() < frames || !desk.path("parted/report.json").exists() {
            assert!(Instant::now() < patience, "no frames came");
            std::thread::sleep(Duration::from_millis(2));
        }
        child
    }

    fn interrupt(child: &Child) {
        let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(signal.success());
    }

    #[test]
    fn an_interrupted_run_goes_on_as_if_nothing_had_been() {
        let desk = Desk::with_scene(CUBE);
        let child = start(&desk, 5);
        interrupt(&child);
        Said::from(child.wait_with_output().unwrap()).must(130, &["stopping", "interrupted", "--resume"]);
        let stopped = desk.json("parted/report.json");
        assert_eq!(stopped["status"], "interrupted");
        let frames = stopped["frames"].as_u64().unwrap() + 20;
        desk.call(&format!("run scene.toml -o parted --resume --quiet --frames {frames}")).must(0, &[]);
        desk.call(&format!("run scene.toml -o whole --quiet --frames {frames}")).must(0, &[]);
        let hash = |folder: &str| desk.json(&format!("{folder}/report.json"))["state_hash"].clone();
        assert_eq!(hash("whole"), hash("parted"));
        assert!(desk.read("whole/frames.jsonl") == desk.read("parted/frames.jsonl"), "frames.jsonl differs");
    }

    #[test]
    fn a_second_interrupt_ends_the_program_within_a_frame() {
        // Frames that take longer than anyone waits.
        let desk = Desk::with_scene(&format!("{CUBE}\n[step]\nsubsteps = 100000000\n"));
        let mut child = start(&desk, 1);
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        interrupt(&child);
        assert!(said.any(|line| line.unwrap().contains("interrupt again")));
        interrupt(&child);
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(desk.json("parted/report.json")["frames"], 0);
    }
}
