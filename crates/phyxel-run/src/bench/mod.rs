//! Benchmarks: cost per element of steps, skins and pictures, on one thread and on all threads.
//!
//! Every row has a hash of the final state, so that a faster run with a different result is detected. Speed-ups are
//! ratios of rows of one table, on one machine.

mod continuum;
mod crystal;
mod machine_limits;
mod mass_spring;
mod picture;
mod shape_matching;
mod tetra;

use phyxel::{StepError, World, parallel};
use serde::Serialize;
use std::time::Instant;

/// Result of a benchmark.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Name of the benchmark.
    pub name: String,
    /// Measured quantity.
    pub measured: &'static str,
    /// Number of threads.
    pub threads: usize,
    /// Number of elements per repetition.
    pub elements: u64,
    /// Name of an element.
    pub element: &'static str,
    /// Number of repetitions.
    pub repetitions: usize,
    /// Median time of a repetition, s.
    pub median: f64,
    /// Minimum time of a repetition, s.
    pub minimum: f64,
    /// Median time per element, s.
    pub per_element: f64,
    /// Hash of the final state.
    pub state_hash: String,
    /// Published time to compare with, or a note.
    pub published: Option<String>,
}

/// Measures on given numbers of threads and emits the rows.
type Measure = fn(&[usize], &mut dyn FnMut(Row)) -> Result<(), BenchError>;

/// Group of benchmarks.
#[derive(Clone, Copy, Debug)]
pub struct Benchmark {
    /// Name of the group.
    pub name: &'static str,
    /// One-line description.
    pub description: &'static str,
    run: Measure,
}

/// A benchmark could not be run.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// No benchmark has this name.
    #[error("there is no benchmark named \"{name}\"; known: {known}")]
    Unknown {
        /// Requested name.
        name: String,
        /// Known names.
        known: String,
    },
    /// Its scene could not be read.
    #[error(transparent)]
    Load(#[from] phyxel_scene::LoadError),
    /// Its scene could not be built.
    #[error(transparent)]
    Build(#[from] phyxel_scene::BuildError),
    /// Its world could not be built.
    #[error(transparent)]
    World(#[from] phyxel::WorldError),
    /// A step failed.
    #[error(transparent)]
    Step(#[from] phyxel::StepError),
}

/// All benchmarks.
pub const ALL: [Benchmark; 19] = [
    Benchmark {
        name: "continuum-paper",
        description: "200 and 400 phyxels, skins of 10,000 and 20,000 vertices ([MKN04] table 1)",
        run: continuum::paper,
    },
    Benchmark {
        name: "continuum-scaling",
        description: "explicit steps of 10,000 and 1,000,000 phyxels, with the limits of the machine (roofline)",
        run: continuum::scaling,
    },
    Benchmark {
        name: "crystal-paper",
        description: "nine dice, goo that freezes on a rod, an animal that melts: the scenes of [WHP06]",
        run: crystal::paper,
    },
    Benchmark {
        name: "fluid-scaling",
        description: "dam break of a cubic metre of water with 100,000 and 1,000,000 particles",
        run: crystal::fluid,
    },
    Benchmark {
        name: "crystal-scaling",
        description: "rotating crystal of 100,000 and 1,000,000 particles",
        run: crystal::solid,
    },
    Benchmark {
        name: "shape-paper",
        description: "100 objects of 100 points in 8 clusters, quadratic ([MHTG05] figure 8)",
        run: shape_matching::paper,
    },
    Benchmark {
        name: "shape-pile",
        description: "145 objects, 1,728 clusters, 24,618 points ([MHTG05] figure 1)",
        run: shape_matching::pile,
    },
    Benchmark {
        name: "shape-massive",
        description: "384 objects, 2,448 clusters, 55,200 points ([MHTG05] figure 9)",
        run: shape_matching::massive,
    },
    Benchmark {
        name: "shape-scaling",
        description: "shape matching of 1,000 to 1,000,000 points",
        run: shape_matching::scaling,
    },
    Benchmark {
        name: "goop-to-glop",
        description: "250 particles drop, soften, melt and spread ([TPF89] figure 5)",
        run: mass_spring::goop,
    },
    Benchmark {
        name: "goop-scaling",
        description: "the same with 10,000 and 100,000 particles",
        run: mass_spring::scaling,
    },
    Benchmark {
        name: "pair-forces",
        description: "pair forces of 1,000 to 100,000 molecules: cut-off and Barnes-Hut tree against the direct sum",
        run: mass_spring::pair_forces,
    },
    Benchmark {
        name: "tetra-fill",
        description: "meshing of a bear of thirteen parts with 50,000 tetrahedra",
        run: tetra::fill,
    },
    Benchmark {
        name: "tetra-step",
        description: "explicit and implicit steps of a block of 40,000 tetrahedra (the largest size in [Gis07])",
        run: tetra::steps,
    },
    Benchmark {
        name: "tetra-contact",
        description: "contact search: 45,000 tetrahedra in two penetrating blocks, and 40,000 with 20,000 particles",
        run: tetra::contacts,
    },
    Benchmark {
        name: "tetra-stamp",
        description: "frames of the scene `stamp` with surfaces: 40,000 tetrahedra in contact ([Gis07] figure 5)",
        run: tetra::stamp,
    },
    Benchmark {
        name: "tetra-surface",
        description: "fracture in `teddy-arm`: 4,300 tetrahedra, surface of 24,000 triangles ([Gis07] figures 6, 7)",
        run: tetra::surfaces,
    },
    Benchmark {
        name: "picture",
        description: "a preview of the first frame of shape-pile, 139,480 triangles",
        run: picture::pictures,
    },
    Benchmark { name: "skin", description: "isosurface of 100,000 particles", run: picture::skins },
];

/// Runs the benchmarks whose names start with `name` (all if `None`) on one and on all threads, and emits each row as
/// it is measured.
pub fn run(name: Option<&str>, emit: &mut dyn FnMut(Row)) -> Result<(), BenchError> {
    let is_selected = |benchmark: &&Benchmark| name.is_none_or(|name| benchmark.name.starts_with(name));
    let selected: Vec<&Benchmark> = ALL.iter().filter(is_selected).collect();
    if selected.is_empty() {
        let known = ALL.map(|benchmark| benchmark.name).join(", ");
        return Err(BenchError::Unknown { name: name.unwrap_or_default().to_string(), known });
    }
    let all = parallel::with_threads(None, parallel::threads);
    let threads: &[usize] = if all > 1 { &[1, all] } else { &[1] };
    selected.into_iter().try_for_each(|benchmark| (benchmark.run)(threads, emit))
}

/// Description of a measurement.
struct Measurement<'a> {
    name: &'a str,
    what: &'static str,
    threads: usize,
    published: Option<&'a str>,
}

impl Measurement<'_> {
    /// Row from the number of elements, the times of repetitions (s) and the hash of the result.
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

/// Repeats work on a world; returns the times that the repetitions report, without those of the warm-up, s.
fn time_repetitions(
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

/// Advances a frame; returns the time it took, s.
fn time_frame(world: &mut World) -> Result<f64, StepError> {
    let start = Instant::now();
    world.advance_frame()?;
    Ok(start.elapsed().as_secs_f64())
}

/// Median and minimum of times, s.
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
