//! The command line.

use clap::builder::RangedU64ValueParser;
use clap::{Args as Arguments, Parser, Subcommand, ValueEnum};
use phyxel_render::{Camera, ColourRange, Colouring, Quality, RenderSettings};
use phyxel_run::ExportFormat;
use phyxel_scene::{BuildOptions, Scene};
use std::path::PathBuf;

/// Simulates deformable matter with temperature: solids that stretch, break, soften, melt and freeze.
#[derive(Debug, Parser)]
#[command(name = "phyxel", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    /// Command; `demo` if omitted.
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub demo: RunArgs,
}

/// Commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Simulate the built-in demo scene [default]
    Demo(RunArgs),
    /// Simulate a scene file or a built-in scene
    Run {
        /// A scene file, or the name of a built-in scene (see `phyxel scenes`)
        scene: String,
        #[command(flatten)]
        options: RunArgs,
    },
    /// Render pictures or a video of a finished run
    Render {
        /// Folder of the run
        run: PathBuf,
        #[command(flatten)]
        options: RenderArgs,
    },
    /// Export a finished run to files for other programs
    Export {
        /// Folder of the run
        run: PathBuf,
        /// File formats, separated by commas
        #[arg(required = true, value_name = "FORMAT", value_delimiter = ',')]
        formats: Vec<ExportFormat>,
        #[command(flatten)]
        options: ReplayArgs,
    },
    /// Plot energy, momentum, temperature, phases, strain and stage times of a run
    Plot {
        /// Folder of the run
        run: PathBuf,
        /// Folder for the plots [default: plots in the folder of the run]
        #[arg(short = 'o', long = "output", value_name = "DIR")]
        folder: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Report all mistakes in a scene, without simulating it
    Check {
        /// A scene file, or the name of a built-in scene
        scene: String,
        #[command(flatten)]
        options: CheckArgs,
    },
    /// Measure the time of steps
    Bench {
        /// Only benchmarks whose name starts with this
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

/// Overrides of a scene.
#[derive(Clone, Debug, Default, Arguments)]
pub(crate) struct SceneArgs {
    /// Random seed, instead of that of the scene
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Override a value of the scene, for instance bodies.cube.spacing=0.05; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE", value_parser = parse_setting)]
    pub settings: Vec<(String, String)>,
    /// Refuse scenes with more particles than this
    #[arg(long, value_name = "N")]
    pub max_particles: Option<usize>,
}

impl SceneArgs {
    /// Options for building the world.
    pub fn build_options(&self) -> BuildOptions {
        let max_particles = BuildOptions::default().max_particles;
        BuildOptions { seed: self.seed, max_particles: self.max_particles.unwrap_or(max_particles) }
    }
}

/// Options of `check`.
#[derive(Clone, Debug, Default, Arguments)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub scene: SceneArgs,
    /// Print nothing if the scene is valid
    #[arg(short, long)]
    pub quiet: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of pictures and videos.
#[derive(Clone, Debug, Default, Arguments)]
pub(crate) struct PictureArgs {
    /// Size of pictures and videos in pixels [default: 1280x720; the demo 768x432]
    #[arg(long, value_name = "WxH", value_parser = parse_size)]
    pub size: Option<(u32, u32)>,
    /// Quantity shown by colours: material, body, temperature, strain, speed [default: temperature if the scene has
    /// several, else material]
    #[arg(long, value_name = "WORD")]
    pub color: Option<Colouring>,
    /// Values at the ends of the colour scale [default: range of the temperatures in the scene, else of each frame]
    #[arg(long, value_name = "LOW:HIGH", value_parser = parse_range, allow_hyphen_values = true)]
    pub range: Option<ColourRange>,
    /// Quality of pictures: preview or high
    #[arg(long, value_name = "WORD", value_enum, default_value = "preview")]
    pub quality: QualityArg,
}

/// Quality of pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum QualityArg {
    /// About a second per picture
    #[default]
    Preview,
    /// About half a minute per picture
    High,
}

impl PictureArgs {
    /// Settings of the renderer for a scene.
    pub fn render_settings(&self, scene: &Scene, default_size: (u32, u32)) -> RenderSettings {
        let (width, height) = self.size.unwrap_or(default_size);
        let camera = scene.camera.map(|camera| Camera {
            eye: camera.eye,
            target: camera.target,
            field_of_view: camera.field_of_view,
        });
        let quality = match self.quality {
            QualityArg::Preview => Quality::Preview,
            QualityArg::High => Quality::High,
        };
        let temperatures = scene.temperature_range();
        let default_colouring = if temperatures.is_some() { Colouring::Temperature } else { Colouring::Material };
        let colouring = self.color.unwrap_or(default_colouring);
        let range =
            temperatures.filter(|_| colouring == Colouring::Temperature).map(|[low, high]| ColourRange { low, high });
        RenderSettings { width, height, camera, colouring, range: self.range.or(range), quality }
    }
}

/// Options of commands that replay a finished run.
#[derive(Clone, Debug, Default, Arguments)]
pub(crate) struct ReplayArgs {
    /// Frames to replay, for instance 40, 10-90 or 10- [default: all]
    #[arg(long, value_name = "A-B", value_parser = parse_frames)]
    pub frames: Option<(u32, Option<u32>)>,
    /// Threads to use [default: all cores]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    pub threads: Option<usize>,
    /// Refuse scenes with more particles than this
    #[arg(long, value_name = "N")]
    pub max_particles: Option<usize>,
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `render`.
#[derive(Clone, Debug, Default, Arguments)]
pub(crate) struct RenderArgs {
    #[command(flatten)]
    pub replay: ReplayArgs,
    #[command(flatten)]
    pub picture: PictureArgs,
    /// Video file [default: film.mp4 in the folder of the run, unless --pictures is given]
    #[arg(long, value_name = "FILE")]
    pub video: Option<PathBuf>,
    /// Render a PNG picture of each frame, in the folder pictures of the run
    #[arg(long)]
    pub pictures: bool,
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
    /// Export formats of each frame, separated by commas: ply, obj, usd, glb, vtk, bgeo
    #[arg(long, value_name = "FORMAT", value_delimiter = ',')]
    pub export: Vec<ExportFormat>,
    /// Render a video of the run
    #[arg(long, value_name = "FILE")]
    pub video: Option<PathBuf>,
    /// Render a PNG picture of each frame, in the folder pictures of the run
    #[arg(long)]
    pub pictures: bool,
    #[command(flatten)]
    pub picture: PictureArgs,
    /// Second path for the report
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Threads to use [default: all cores]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    pub threads: Option<usize>,
    /// Resume the run in the folder
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    /// Replace the run in the folder
    #[arg(long)]
    pub force: bool,
    /// Exit with code 1 if an expectation of the scene is not met
    #[arg(long)]
    pub expect: bool,
    /// Print nothing but warnings and errors
    #[arg(short, long)]
    pub quiet: bool,
    /// Print the report and errors as JSON
    #[arg(long)]
    pub json: bool,
}

fn parse_size(text: &str) -> Result<(u32, u32), String> {
    let numbers =
        text.split_once(['x', 'X']).and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    let fits = |width: u32, height: u32| {
        let (shorter, longer) = (width.min(height), width.max(height));
        (16..=2160).contains(&shorter) && longer <= 3840
    };
    match numbers {
        Some((width, height)) if fits(width, height) => Ok((width, height)),
        _ => Err(format!("\"{text}\" is not a size; write for instance 1280x720, from 16x16 to 3840x2160")),
    }
}

fn parse_range(text: &str) -> Result<ColourRange, String> {
    let numbers = text.split_once(':').and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    match numbers {
        Some((low, high)) if f32::is_finite(low) && f32::is_finite(high) && low < high => Ok(ColourRange { low, high }),
        _ => Err(format!("\"{text}\" is not a range; write for instance 0:100, the smaller value first")),
    }
}

fn parse_frames(text: &str) -> Result<(u32, Option<u32>), String> {
    let bad = || format!("\"{text}\" names no frames; write for instance 40, 10-90 or 10-");
    let number = |text: &str| text.trim().parse::<u32>().map_err(|_| bad());
    let frames = match text.split_once('-') {
        None => (number(text)?, Some(number(text)?)),
        Some((first, "")) => (number(first)?, None),
        Some((first, last)) => (number(first)?, Some(number(last)?)),
    };
    if frames.1.is_some_and(|last| last < frames.0) { Err(bad()) } else { Ok(frames) }
}

fn parse_setting(text: &str) -> Result<(String, String), String> {
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
    fn the_command_line_is_consistent() {
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
        assert_eq!(parse_setting("a.b = c = d"), Ok(("a.b".into(), "c = d".into())));
        assert!(parse_setting("nonsense").is_err() && parse_setting("=1").is_err());
    }

    #[test]
    fn sizes_ranges_and_frames_are_read_or_refused_with_an_example() {
        assert_eq!(parse_size("640x360"), Ok((640, 360)));
        assert!(parse_size("640").is_err() && parse_size("8x8").is_err() && parse_size("9999x720").is_err());
        assert!(parse_size("2160x3840").is_ok() && parse_size("3000x3000").is_err());
        assert_eq!(parse_range("-5:20.5"), Ok(ColourRange { low: -5.0, high: 20.5 }));
        assert!(parse_range("3:3").is_err() && parse_range("a:b").is_err() && parse_range("0:inf").is_err());
        assert_eq!(parse_frames("40"), Ok((40, Some(40))));
        assert_eq!(parse_frames("10-90"), Ok((10, Some(90))));
        assert_eq!(parse_frames("10-"), Ok((10, None)));
        assert!(parse_frames("9-3").is_err() && parse_frames("x").unwrap_err().contains("10-90"));
    }

    #[test]
    fn exports_are_a_list_of_known_formats() {
        let args = Args::try_parse_from(["phyxel", "--export", "ply,usd"]).unwrap();
        assert_eq!(args.demo.export, [ExportFormat::Ply, ExportFormat::Usd]);
        let message = Args::try_parse_from(["phyxel", "--export", "ply,gif"]).unwrap_err().to_string();
        assert!(message.contains("gif") && message.contains("known: ply, obj, usd, glb, vtk, bgeo"), "{message}");
    }
}
