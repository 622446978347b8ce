//! Every built-in scene meets its expectations, and is the same on any number of threads and when resumed.

mod support;

use libtest_mimic::{Arguments, Failed, Trial};
use phyxel_run::{Ending, MemoryOptions, OverwritePolicy, Run, RunOptions, run_scene_in_memory};
use phyxel_scene::{BuildOptions, Scene, builtin};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use support::Stopper;

/// Frames of short tests: enough for contacts, few enough to be repeated. Long tests run all frames.
const SHORT_FRAMES: u32 = 40;
/// Limit of particles times frames in short tests, and the smallest number of frames.
const MAX_WORK: usize = 100_000;
const MIN_FRAMES: u32 = 6;

fn main() {
    let trials = builtin::names().flat_map(|name| {
        [
            Trial::test(format!("{name}::meets_its_expectations"), move || meet_expectations(name)),
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
    let messages: Vec<&str> = unmet.map(|finding| finding.message.as_str()).collect();
    if messages.is_empty() { Ok(()) } else { Err(messages.join("\n").into()) }
}

/// Compares a run on one thread with a run that is resumed on another number of threads. Long tests use more numbers.
fn compare(name: &str) -> Result<(), Failed> {
    let scene = Scene::load(name, &[])?;
    let frames = short_frames(&scene)?;
    let directory = tempfile::tempdir()?;
    let whole = directory.path().join("whole");
    let uninterrupted = run_into(&scene, &whole, OverwritePolicy::Refuse, (1, frames, None))?;
    let lines = |folder: &Path| std::fs::read_to_string(folder.join("frames.jsonl"));
    let thread_counts: &[[usize; 2]] = if is_long() { &[[8, 2], [1, 1], [2, 8]] } else { &[[8, 2]] };
    for &[first, second] in thread_counts {
        let resumed_folder = directory.path().join(format!("resumed-{first}-{second}"));
        run_into(&scene, &resumed_folder, OverwritePolicy::Refuse, (first, frames, Some(frames / 2)))?;
        let resumed = run_into(&scene, &resumed_folder, OverwritePolicy::Resume, (second, frames, None))?;
        let case = format!("uninterrupted on 1 thread, and on {first}, then resumed on {second}");
        require_equal_lines(&format!("frames.jsonl {case}"), &lines(&whole)?, &lines(&resumed_folder)?)?;
        require_equal(&format!("state hash {case}"), &uninterrupted, &resumed)?;
    }
    Ok(())
}

/// Runs frames into a folder on a number of threads, or interrupts after one of them; returns the state hash.
fn run_into(
    scene: &Scene,
    folder: &Path,
    overwrite: OverwritePolicy,
    (threads, frames, stop_after): (usize, u32, Option<u32>),
) -> Result<String, Failed> {
    let stop = Arc::new(AtomicBool::new(false));
    let mut stopper = Stopper { after: stop_after, stop: Arc::clone(&stop) };
    let (folder, threads, frames) = (folder.to_path_buf(), Some(threads), Some(frames));
    let options = RunOptions { folder, overwrite, frames, threads, stop, ..RunOptions::default() };
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

fn short_frames(scene: &Scene) -> Result<u32, Failed> {
    if is_long() {
        return Ok(scene.frames());
    }
    let particles = scene.build(&BuildOptions::default())?.world.particles().len().max(1);
    Ok(scene.frames().min(SHORT_FRAMES).min(MIN_FRAMES.max((MAX_WORK / particles) as u32)))
}

fn require_equal(what: &str, a: &str, b: &str) -> Result<(), Failed> {
    if a == b { Ok(()) } else { Err(format!("{what} differ:\n{a}\n{b}").into()) }
}

/// Reports the first difference of two texts, with some context.
fn require_equal_lines(what: &str, a: &str, b: &str) -> Result<(), Failed> {
    for (number, (a, b)) in a.lines().zip(b.lines()).enumerate() {
        if let Some(position) = a.bytes().zip(b.bytes()).position(|(a, b)| a != b) {
            let context = |text: &str| {
                text.get(position.saturating_sub(60)..(position + 30).min(text.len())).unwrap_or(text).to_string()
            };
            let what = format!("{what}, line {}, byte {position}:", number + 1);
            return require_equal(&what, &context(a), &context(b));
        }
    }
    if a == b { Ok(()) } else { Err(format!("{what} differ in length").into()) }
}
