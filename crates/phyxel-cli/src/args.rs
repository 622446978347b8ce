//! The command line.

use clap::builder::RangedU64ValueParser;
use clap::{Args as Arguments, Parser, Subcommand};
use phyxel_run::Export;
use phyxel_scene::BuildOptions;
use std::path::PathBuf;

/// Simulates matter that has a temperature: solids that stretch, break, soften, melt and freeze again.
#[derive(Debug, Parser)]
#[command(name = "phyxel", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    /// What to do; without a command, `demo`.
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub demo: RunArgs,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Simulate a built-in scene that shows what phyxel does [default]
    Demo(RunArgs),
    /// Simulate a scene file or a built-in scene
    Run {
        /// A scene file, or the name of a built-in scene (see `phyxel scenes`)
        scene: String,
        #[command(flatten)]
        options: RunArgs,
    },
    /// Find everything that is wrong with a scene, without simulating it
    Check {
        /// A scene file, or the name of a built-in scene
        scene: String,
        #[command(flatten)]
        options: CheckArgs,
    },
    /// Measure how long steps take
    Bench {
        /// Only benchmarks whose name begins so
        name: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the built-in scenes, or print one
    Scenes {
        /// The scene to print
        name: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Changes to a scene.
#[derive(Clone, Debug, Default, Arguments)]
pub(crate) struct SceneArgs {
    /// Seed of everything random, instead of the scene's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Change a value of the scene, for instance bodies.cube.spacing=0.05; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = split_setting)]
    pub settings: Vec<(String, String)>,
    /// Refuse scenes with more particles than this
    #[arg(long, value_name = "N")]
    pub max_particles: Option<usize>,
}

impl SceneArgs {
    /// What the builder of worlds needs to know.
    pub fn build_options(&self) -> BuildOptions {
        let most = BuildOptions::default().max_particles;
        BuildOptions { seed: self.seed, max_particles: self.max_particles.unwrap_or(most) }
    }
}

/// Options of `check`.
#[derive(Clone, Debug, Default, Arguments)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub scene: SceneArgs,
    /// Say nothing if all is well
    #[arg(short, long)]
    pub quiet: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `run` and `demo`.
#[derive(Clone, Debug, Default, Arguments)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub scene: SceneArgs,
    /// Folder for the files of the run [default: runs/SCENE, with a number if taken]
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Frames to simulate, instead of the scene's duration
    #[arg(long, value_name = "N")]
    pub frames: Option<u32>,
    /// Files to make of each frame, separated by commas: ply, obj
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    pub export: Vec<Export>,
    /// A second place for the report
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Threads to use [default: all cores]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    pub threads: Option<usize>,
    /// Go on with the run in the folder
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    /// Replace the run in the folder
    #[arg(long)]
    pub force: bool,
    /// End with code 1 if an expectation of the scene does not come true
    #[arg(long)]
    pub expect: bool,
    /// Say nothing but warnings and errors
    #[arg(short, long)]
    pub quiet: bool,
    /// Print the report as JSON, and errors too
    #[arg(long)]
    pub json: bool,
}

fn split_setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((path, value)) if !path.trim().is_empty() => Ok((path.trim().to_string(), value.trim().to_string())),
        _ => Err(format!("\"{text}\" is not PATH=VALUE; write for instance bodies.cube.spacing=0.05")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_makes_sense_to_its_parser() {
        Args::command().debug_assert();
    }

    #[test]
    fn without_a_command_the_options_are_those_of_the_demo() {
        let args = Args::try_parse_from(["phyxel", "--frames", "3", "-q", "-o", "here"]).unwrap();
        assert!(args.command.is_none());
        assert_eq!((args.demo.frames, args.demo.quiet), (Some(3), true));
        assert_eq!(args.demo.folder, Some("here".into()));
    }

    #[test]
    fn settings_are_split_at_the_first_equals_sign() {
        assert_eq!(split_setting("a.b = c = d"), Ok(("a.b".into(), "c = d".into())));
        assert!(split_setting("nonsense").is_err() && split_setting("=1").is_err());
    }

    #[test]
    fn exports_are_a_list_of_known_words() {
        let args = Args::try_parse_from(["phyxel", "--export", "ply,obj"]).unwrap();
        assert_eq!(args.demo.export, [Export::Ply, Export::Obj]);
        let message = Args::try_parse_from(["phyxel", "--export", "ply,gif"]).unwrap_err().to_string();
        assert!(message.contains("gif") && message.contains("known: ply, obj"), "{message}");
    }
}
