//! Every built-in scene does what it says it does, on any number of threads, in one go or in two.

use libtest_mimic::{Arguments, Failed, Trial};
use phyxel_run::{
    Ending, MemoryOptions, OverwritePolicy, Progress, ProgressObserver, Run, RunOptions, run_scene_in_memory,
};
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
            Trial::test(format!("{name}::is_the_same_on_any_number_of_threads_and_when_resumed"), move || {
                compare(name)
            }),
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
    let said: Vec<&str> = unmet.map(|finding| finding.message.as_str()).collect();
    if said.is_empty() { Ok(()) } else { Err(said.join("\n").into()) }
}

/// Runs a scene at once on one thread, and in two parts, each on another number of threads. Long tests do the same on more.
fn compare(name: &str) -> Result<(), Failed> {
    let scene = Scene::load(name, &[])?;
    let frames = short(&scene)?;
    let place = tempfile::tempdir()?;
    let whole = place.path().join("whole");
    let at_once = run_into(&scene, &whole, OverwritePolicy::Refuse, (1, frames, None))?;
    let lines = |folder: &Path| std::fs::read_to_string(folder.join("frames.jsonl"));
    let ways: &[[usize; 2]] = if is_long() { &[[8, 2], [1, 1], [2, 8]] } else { &[[8, 2]] };
    for &[first, second] in ways {
        let parted = place.path().join(format!("parted-{first}-{second}"));
        run_into(&scene, &parted, OverwritePolicy::Refuse, (first, frames, Some(frames / 2)))?;
        let resumed = run_into(&scene, &parted, OverwritePolicy::Resume, (second, frames, None))?;
        let way = format!("at once on 1 thread, and on {first} and then resumed on {second}");
        require_equal_lines(&format!("frames.jsonl {way}"), &lines(&whole)?, &lines(&parted)?)?;
        require_equal(&format!("state hash {way}"), &at_once, &resumed)?;
    }
    Ok(())
}

/// Runs so many frames into a folder on so many threads, or stops after one of them; gives the state hash.
fn run_into(
    scene: &Scene,
    folder: &Path,
    claim: OverwritePolicy,
    (threads, frames, stop_after): (usize, u32, Option<u32>),
) -> Result<String, Failed> {
    let stop = Arc::new(AtomicBool::new(false));
    let mut stopper = Stopper { after: stop_after, stop: Arc::clone(&stop) };
    let (folder, threads, frames) = (folder.to_path_buf(), Some(threads), Some(frames));
    let options = RunOptions { folder, overwrite: claim, frames, threads, stop, ..RunOptions::default() };
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

impl ProgressObserver for Stopper {
    fn update(&mut self, advance: &Progress) {
        if self.after.is_some_and(|frame| advance.frame >= frame) {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}
