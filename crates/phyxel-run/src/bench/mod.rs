//! Benchmarks: what steps, skins and pictures cost, per element, on one thread and on all.
//!
//! Every row carries a fingerprint of the state it ended in, so that a faster run that computes something else
//! is seen at once. Claims of speed are ratios of rows of one table, on one machine.

mod continuum;
mod crystal;
mod limits;
mod picture;
mod shape;
mod spring;
mod tetra;

use phyxel::{StepError, World, parallel};
use serde::Serialize;
use std::time::Instant;

/// A measured benchmark.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Name of the benchmark.
    pub name: String,
    /// What was measured.
    pub measured: &'static str,
    /// Threads.
    pub threads: usize,
    /// How many elements a repetition works on.
    pub elements: u64,
    /// What an element is.
    pub element: &'static str,
    /// Repetitions.
    pub repetitions: usize,
    /// Median of a repetition, s.
    pub median: f64,
    /// Shortest repetition, s.
    pub minimum: f64,
    /// Median per element, s.
    pub per_element: f64,
    /// Fingerprint of the state at the end.
    pub state_hash: String,
    /// A published figure to compare with, if there is one.
    pub published: Option<String>,
}

/// Measures on each of some numbers of threads and hands over the rows.
type Measure = fn(&[usize], &mut dyn FnMut(Row)) -> Result<(), BenchError>;

/// A group of benchmarks.
#[derive(Clone, Copy, Debug)]
pub struct Benchmark {
    /// Its name.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    run: Measure,
}

/// A benchmark could not be run.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// No benchmark has this name.
    #[error("there is no benchmark named \"{name}\"; known: {known}")]
    Unknown {
        /// The name asked for.
        name: String,
        /// Names there are.
        known: String,
    },
    /// Its scene could not be read.
    #[error(transparent)]
    Load(#[from] phyxel_scene::LoadError),
    /// Its scene could not be built.
    #[error(transparent)]
    Build(#[from] phyxel_scene::BuildError),
    /// Its world could not be made.
    #[error(transparent)]
    World(#[from] phyxel::WorldError),
    /// A step failed.
    #[error(transparent)]
    Step(#[from] phyxel::StepError),
}

/// All benchmarks.
pub const ALL: [Benchmark; 19] = [
    Benchmark {
        name: "phyxels-source",
        about: "200 and 400 phyxels under skins of 10,000 and 20,000 vertices, explicit and implicit (the source's table 1)",
        run: continuum::source,
    },
    Benchmark {
        name: "phyxels-scaling",
        about: "explicit steps of 10,000 and 1,000,000 phyxels beside the limits of the machine",
        run: continuum::scaling,
    },
    Benchmark {
        name: "crystal-source",
        about: "nine dice, goo that freezes on a rod, an animal that melts: the source's three scenes",
        run: crystal::source,
    },
    Benchmark {
        name: "fluid-scaling",
        about: "a cubic metre of water of 100,000 and 1,000,000 particles collapses",
        run: crystal::fluid,
    },
    Benchmark {
        name: "crystal-scaling",
        about: "a spinning crystal of 100,000 and 1,000,000 particles",
        run: crystal::solid,
    },
    Benchmark {
        name: "shape-source",
        about: "100 objects of 100 points in 8 clusters, quadratic, as the source's figure 8",
        run: shape::source,
    },
    Benchmark {
        name: "shape-pile",
        about: "145 objects, 1,728 clusters, 24,618 points (the source's figure 1)",
        run: shape::pile,
    },
    Benchmark {
        name: "shape-massive",
        about: "384 objects, 2,448 clusters, 55,200 points (the source's figure 9)",
        run: shape::massive,
    },
    Benchmark { name: "shape-scaling", about: "matching from 1,000 to 1,000,000 points", run: shape::scaling },
    Benchmark {
        name: "goop-to-glop",
        about: "250 particles drop, soften, melt and spread (the source's figure 5)",
        run: spring::goop,
    },
    Benchmark { name: "goop-scaling", about: "the same with 10,000 and 100,000 particles", run: spring::scaling },
    Benchmark {
        name: "molecules",
        about: "forces between 1,000 to 100,000 molecules: cut-off and tree against the exact sum",
        run: spring::molecules,
    },
    Benchmark {
        name: "tetra-fill",
        about: "a bear of thirteen parts is filled with 50,000 tetrahedra",
        run: tetra::fill,
    },
    Benchmark {
        name: "tetra-step",
        about: "explicit and implicit steps of a block of 40,000 tetrahedra (the size of the source's largest)",
        run: tetra::steps,
    },
    Benchmark {
        name: "tetra-contact",
        about: "the search for contacts of 45,000 tetrahedra in two blocks that are pressed together, and of 40,000 with 20,000 particles",
        run: tetra::contacts,
    },
    Benchmark {
        name: "tetra-stamp",
        about: "frames of the scene `stamp`, surfaces included: 40,000 tetrahedra that press on each other (the source's figure 5)",
        run: tetra::stamp,
    },
    Benchmark {
        name: "tetra-surface",
        about: "frames of the scene `teddy-arm` in which nodes part: 4,300 tetrahedra under 24,000 fine triangles (the source's figures 6 and 7)",
        run: tetra::surfaces,
    },
    Benchmark {
        name: "picture",
        about: "a preview of the start of shape-pile, 139,480 triangles",
        run: picture::pictures,
    },
    Benchmark { name: "skin", about: "an isosurface around 100,000 particles", run: picture::skins },
];

/// Runs the benchmarks whose names begin with `name` (all if `None`) on one and on all threads, and hands over
/// each row as it is measured.
pub fn run(name: Option<&str>, row: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    let wanted = |benchmark: &&Benchmark| name.is_none_or(|name| benchmark.name.starts_with(name));
    let chosen: Vec<&Benchmark> = ALL.iter().filter(wanted).collect();
    if chosen.is_empty() {
        let known = ALL.map(|benchmark| benchmark.name).join(", ");
        return Err(BenchError::Unknown { name: name.unwrap_or_default().to_string(), known });
    }
    let all = parallel::with_threads(None, parallel::threads);
    let threads: &[usize] = if all > 1 { &[1, all] } else { &[1] };
    chosen.into_iter().try_for_each(|benchmark| (benchmark.run)(threads, row))
}

/// What was measured, and how.
struct Measured<'a> {
    name: &'a str,
    what: &'static str,
    threads: usize,
    published: Option<&'a str>,
}

impl Measured<'_> {
    /// The row of durations of repetitions that worked on so many elements each, and a fingerprint of what came out.
    fn row(self, (elements, element): (u64, &'static str), seconds: Vec<f64>, state_hash: String) -> Row {
        let repetitions = seconds.len();
        let (median, minimum) = median_and_minimum(seconds);
        Row {
            name: self.name.to_string(),
            measured: self.what,
            threads: self.threads,
            elements,
            element,
            repetitions,
            median,
            minimum,
            per_element: median / elements.max(1) as f64,
            state_hash,
            published: self.published.map(str::to_string),
        }
    }
}

/// Repeats work on a world with so many threads; seconds that each repetition says it took, those to warm up left out.
fn time_each(
    world: &mut World,
    threads: usize,
    (warm_up, repetitions): (usize, usize),
    work: impl Fn(&mut World) -> Result<f64, StepError> + Sync,
) -> Result<Vec<f64>, BenchError> {
    parallel::with_threads(Some(threads), || {
        let seconds: Result<Vec<f64>, StepError> = (0..warm_up + repetitions).map(|_| work(world)).collect();
        Ok(seconds?.split_off(warm_up))
    })
}

/// A frame, and what it took, s.
fn time_frame(world: &mut World) -> Result<f64, StepError> {
    let start = Instant::now();
    world.advance_frame()?;
    Ok(start.elapsed().as_secs_f64())
}

/// Median and minimum of some durations, s.
fn median_and_minimum(mut seconds: Vec<f64>) -> (f64, f64) {
    seconds.sort_by(f64::total_cmp);
    let median = seconds.get(seconds.len() / 2).copied().unwrap_or(0.0);
    (median, seconds.first().copied().unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_and_the_minimum_the_first() {
        assert_eq!(median_and_minimum(vec![3.0, 1.0, 2.0]), (2.0, 1.0));
        assert_eq!(median_and_minimum(vec![]), (0.0, 0.0));
    }

    #[test]
    fn an_unknown_benchmark_lists_the_known_ones() {
        let error = run(Some("nothing"), &mut |_| ()).unwrap_err().to_string();
        assert!(error.contains("nothing") && error.contains("shape-massive"), "{error}");
    }
}
