//! The gallery: a picture of every built-in scene, the page that shows them, and the film of the readme.

use crate::{film, project, tool};
use anyhow::{Context, Result, bail};
use jpeg_encoder::{ColorType, Encoder};
use serde_json::Value;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use std::process::Command;

/// Size of the pictures, pixels.
const SIZE: &str = "960x540";
/// Quality of JPEG, 1 to 100.
const JPEG_QUALITY: u8 = 86;
/// Largest size of a picture, bytes.
const LIMIT: u64 = 300_000;

/// Simulates every scene up to its poster frame, renders it and writes `docs/gallery.md`; then the film.
pub fn make() -> Result<()> {
    tool::run(tool::cargo().args(["build", "--release", "--package", "phyxel-cli"]))?;
    let target = project::target()?;
    let program = target.join("release").join(format!("phyxel{}", std::env::consts::EXE_SUFFIX));
    let listed = tool::output(Command::new(&program).args(["scenes", "--json"]))?;
    let scenes: Vec<Value> = serde_json::from_str(&listed).context("cannot understand `phyxel scenes --json`")?;
    let pictures = project::root().join("docs/pictures");
    fs::create_dir_all(&pictures).with_context(|| format!("cannot create {}", pictures.display()))?;
    let mut page = String::from(HEAD);
    for scene in &scenes {
        let (name, title) = (text(scene, "name")?, text(scene, "title")?);
        let frame = scene["poster_frame"].as_u64().context("a scene without its poster frame")?;
        println!("{name}, frame {frame}");
        let picture = pictures.join(format!("{name}.jpg"));
        take(&program, &target.join("gallery").join(name), name, frame, text(scene, "color")?, &picture)?;
        page.push_str(&format!(
            "\n## {title}\n\n[`{name}`](../scenes/{name}.toml)\n\n![{title}](pictures/{name}.jpg)\n"
        ));
    }
    let path = project::root().join("docs/gallery.md");
    fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
    println!("film of {}", film::SCENES.join(", "));
    film::make(&program, &target.join("gallery"), &pictures.join("film.gif"))
}

const HEAD: &str = "# Gallery

A picture of every built-in scene, made by `cargo xtask gallery`. `phyxel run NAME --video film.mp4` makes a film of
one.
";

fn text<'a>(scene: &'a Value, key: &str) -> Result<&'a str> {
    scene[key].as_str().with_context(|| format!("a scene without {key}"))
}

/// Simulates a scene up to a frame and renders that.
fn take(program: &Path, folder: &Path, name: &str, frame: u64, color: &str, picture: &Path) -> Result<()> {
    let (folder_text, frame_text) = (folder.to_string_lossy(), frame.to_string());
    let run = ["run", name, "-o", &folder_text, "--force", "--quiet", "--frames", &frame_text];
    tool::run(Command::new(program).args(run))?;
    let render = ["render", &folder_text, "--pictures", "--frames", &frame_text, "--quality", "high", "--size", SIZE];
    tool::run(Command::new(program).args(render).args(["--color", color, "--quiet"]))?;
    let png = folder.join(format!("pictures/frame_{frame:05}.png"));
    shrink(&png, picture).with_context(|| format!("cannot make {} of {}", picture.display(), png.display()))?;
    let bytes = fs::metadata(picture)?.len();
    if bytes > LIMIT {
        bail!("{} has {bytes} bytes, more than {LIMIT}", picture.display());
    }
    Ok(())
}

/// Writes a PNG picture as JPEG.
fn shrink(png: &Path, jpeg: &Path) -> Result<()> {
    let mut reader = png::Decoder::new(BufReader::new(File::open(png)?)).read_info()?;
    let mut rgb = vec![0; reader.output_buffer_size().context("the picture is too large")?];
    let info = reader.next_frame(&mut rgb)?;
    let (width, height) = (u16::try_from(info.width)?, u16::try_from(info.height)?);
    Encoder::new_file(jpeg, JPEG_QUALITY)?.encode(&rgb, width, height, ColorType::Rgb)?;
    Ok(())
}
