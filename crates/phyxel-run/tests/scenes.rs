//! Every built-in scene does what it says it does, on any number of threads, in one go or in two.

use libtest_mimic::{Arguments, Failed, Trial};
use phyxel_run::{Advance, Claim, Ending, MemoryOptions, Progress, Run, RunOptions, run_scene_in_memory};
use phyxel_scene::{BuildOptions, Scene, builtin};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Frames that are enough for things to touch, and few enough to be run many times. Long tests run all.
const SHORT: u32 = 40;
/// Particles times frames that are few enough, and the least frames even so.
const MOST_WORK: usize = 100_000;
const FEWEST: u32 = 6;

fn main() {
    let trials = builtin::names().flat_map(|name| {
        [
            Trial::test(format!("{name}::comes_out_as_expected"), move || meet_expectations(name)),
            Trial::test(format!("{name}::is_the_same_on_any_number_of_threads"), move || compare_threads(name)),
            Trial::test(format!("{name}::is_the_same_when_resumed"), move || compare_resumed(name)),
        ]
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}

fn meet_expectations(name: &str) -> Result<(), Failed> {
    let scene = Scene::load(name, &[])?;
    let outcome = run_scene_in_memory(&scene, MemoryOptions::default())?;
    if let Ending::Failed(error) = outcome.ending {
        return Err(error.into());
    }
    let unmet = outcome.report.expectations.iter().filter(|finding| finding.passed != Some(true));
    let said: Vec<&str> = unmet.map(|finding| finding.says.as_str()).collect();
    if said.is_empty() { Ok(()) } else { Err(said.join("\n").into()) }
}

fn compare_threads(name: &str) -> Result<(), Failed> {
    let scene = Scene::load(name, &[])?;
    let frames = short(&scene)?;
    let hash = |threads| -> Result<String, Failed> {
        let options = MemoryOptions { threads: Some(threads), frames: Some(frames), ..MemoryOptions::default() };
        Ok(run_scene_in_memory(&scene, options)?.report.state_hash)
    };
    let alone = hash(1)?;
    let others: &[usize] = if is_long() { &[2, 8] } else { &[8] };
    for &threads in others {
        require_equal(&format!("state hash on 1 and on {threads} threads"), &alone, &hash(threads)?)?;
    }
    Ok(())
}

fn compare_resumed(name: &str) -> Result<(), Failed> {
    let scene = Scene::load(name, &[])?;
    let place = tempfile::tempdir()?;
    let (whole, parted) = (place.path().join("whole"), place.path().join("parted"));
    let frames = short(&scene)?;
    let at_once = run_into(&scene, &whole, Claim::New, (frames, None))?;
    run_into(&scene, &parted, Claim::New, (frames, Some(frames / 2)))?;
    let resumed = run_into(&scene, &parted, Claim::Resume, (frames, None))?;
    require_equal("state hash at once and resumed", &at_once, &resumed)?;
    let lines = |folder: &Path| std::fs::read_to_string(folder.join("frames.jsonl"));
    require_equal_lines("frames.jsonl at once and resumed", &lines(&whole)?, &lines(&parted)?)
}

/// Runs so many frames into a folder, or stops after one of them; gives the state hash.
fn run_into(
    scene: &Scene,
    folder: &Path,
    claim: Claim,
    (frames, stop_after): (u32, Option<u32>),
) -> Result<String, Failed> {
    let stop = Arc::new(AtomicBool::new(false));
    let mut stopper = Stopper { after: stop_after, stop: Arc::clone(&stop) };
    let options =
        RunOptions { folder: folder.to_path_buf(), claim, frames: Some(frames), stop, ..RunOptions::default() };
    let outcome = Run::prepare(scene, options)?.execute(&mut stopper)?;
    let expected = if stop_after.is_some() { Ending::Interrupted } else { Ending::Done };
    if outcome.ending != expected {
        return Err(format!("ended with {:?}", outcome.ending).into());
    }
    Ok(outcome.report.state_hash)
}

fn is_long() -> bool {
    std::env::var_os("PHYXEL_LONG").is_some()
}

fn short(scene: &Scene) -> Result<u32, Failed> {
    if is_long() {
        return Ok(scene.frames());
    }
    let particles = scene.build(&BuildOptions::default())?.world.particles().len().max(1);
    Ok(scene.frames().min(SHORT).min(FEWEST.max((MOST_WORK / particles) as u32)))
}

fn require_equal(what: &str, a: &str, b: &str) -> Result<(), Failed> {
    if a == b { Ok(()) } else { Err(format!("{what} differ:\n{a}\n{b}").into()) }
}

/// Tells the first difference of two texts, with little around it: lines are long.
fn require_equal_lines(what: &str, a: &str, b: &str) -> Result<(), Failed> {
    for (number, (a, b)) in a.lines().zip(b.lines()).enumerate() {
        if let Some(at) = a.bytes().zip(b.bytes()).position(|(a, b)| a != b) {
            let around =
                |text: &str| text.get(at.saturating_sub(60)..(at + 30).min(text.len())).unwrap_or(text).to_string();
            let what = format!("{what}, line {}, byte {at}:", number + 1);
            return require_equal(&what, &around(a), &around(b));
        }
    }
    if a == b { Ok(()) } else { Err(format!("{what} differ in length").into()) }
}

/// Stops a run after a frame.
struct Stopper {
    after: Option<u32>,
    stop: Arc<AtomicBool>,
}

impl Progress for Stopper {
    fn frame(&mut self, advance: &Advance) {
        if self.after.is_some_and(|frame| advance.frame >= frame) {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}
