//! The film of the readme: four scenes side by side, as an animated GIF.

use crate::tool;
use anyhow::{Context, Result, ensure};
use gif::{DisposalMethod, Encoder, Frame, Repeat};
use serde_json::Value;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use std::process::Command;

/// Scenes, row by row.
pub const SCENES: [&str; 4] = ["goop-to-glop", "chocolate", "ice-drink", "teddy-arm"];
/// Scenes in a row.
const ACROSS: usize = 2;
/// Size of each scene, pixels.
const SIZE: [usize; 2] = [400, 225];
/// Pictures of the film; each scene is sampled uniformly over its duration.
const PICTURES: u64 = 60;
/// Time that a picture is shown, 1/100 s.
const DELAY: u16 = 9;
/// Effort of the colour quantiser (NeuQuant), 1 (best) to 30.
const SAMPLE_FACTOR: i32 = 3;
/// Largest difference of a colour channel that is treated as no change: grain of the renderer is below it.
const UNCHANGED: u8 = 6;
/// Largest size of the film, bytes.
pub const LIMIT: u64 = 3_000_000;

/// A picture, 8 bits a channel, red, green, blue.
type Pixels = Vec<[u8; 3]>;

/// Simulates the scenes, renders them and writes the film.
pub fn make(program: &Path, scratch: &Path, film: &Path) -> Result<()> {
    let clips: Vec<Vec<Pixels>> = SCENES
        .iter()
        .map(|name| render(program, &scratch.join(name), name).with_context(|| format!("cannot film {name}")))
        .collect::<Result<_>>()?;
    let pictures: Vec<Pixels> =
        (0..PICTURES as usize).map(|k| compose(&clips.iter().map(|clip| &clip[k][..]).collect::<Vec<_>>())).collect();
    encode(&pictures, film).with_context(|| format!("cannot write {}", film.display()))?;
    let bytes = fs::metadata(film)?.len();
    ensure!(bytes <= LIMIT, "{} has {bytes} bytes, more than {LIMIT}", film.display());
    Ok(())
}

/// Simulates a scene, renders all its frames and reads those at uniform times.
fn render(program: &Path, folder: &Path, name: &str) -> Result<Vec<Pixels>> {
    let text = folder.to_string_lossy();
    tool::run(Command::new(program).args(["run", name, "-o", &text, "--force", "--quiet"]))?;
    let report: Value = serde_json::from_slice(&fs::read(folder.join("report.json"))?)?;
    let last = report["frames"].as_u64().context("a report without its number of frames")?;
    let frames: Vec<u64> = (0..PICTURES).map(|k| k * last / (PICTURES - 1)).collect();
    let [width, height] = SIZE;
    let size = format!("{width}x{height}");
    let render = ["render", &text, "--pictures", "--quality", "high", "--size", &size];
    tool::run(Command::new(program).args(render).arg("--quiet"))?;
    frames.iter().map(|frame| read(&folder.join(format!("pictures/frame_{frame:05}.png")))).collect()
}

fn read(path: &Path) -> Result<Pixels> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut reader = png::Decoder::new(BufReader::new(file)).read_info()?;
    let mut rgb = vec![0; reader.output_buffer_size().context("the picture is too large")?];
    let info = reader.next_frame(&mut rgb)?;
    ensure!([info.width as usize, info.height as usize] == SIZE, "{} has another size", path.display());
    Ok(rgb.chunks_exact(3).map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect())
}

/// Puts the pictures of all scenes side by side.
fn compose(clips: &[&[[u8; 3]]]) -> Pixels {
    let [width, height] = SIZE;
    let rows = clips.len() / ACROSS;
    let at = |x: usize, y: usize| clips[y / height * ACROSS + x / width][y % height * width + x % width];
    (0..rows * height).flat_map(|y| (0..ACROSS * width).map(move |x| at(x, y))).collect()
}

/// Writes an animated GIF. Each picture has its own palette; pixels that have not changed stay transparent.
fn encode(pictures: &[Pixels], path: &Path) -> Result<()> {
    let (width, height) = (ACROSS * SIZE[0], SCENES.len() / ACROSS * SIZE[1]);
    let (width, height) = (u16::try_from(width)?, u16::try_from(height)?);
    let mut encoder = Encoder::new(File::create(path)?, width, height, &[])?;
    encoder.set_repeat(Repeat::Infinite)?;
    let mut shown: Option<Pixels> = None;
    for picture in pictures {
        let mut rgba = Vec::with_capacity(4 * picture.len());
        let mut now = shown.clone().unwrap_or_else(|| picture.clone());
        for (k, pixel) in picture.iter().enumerate() {
            let is_same = shown.as_ref().is_some_and(|shown| is_unchanged(shown[k], *pixel));
            rgba.extend(if is_same { [0; 4] } else { [pixel[0], pixel[1], pixel[2], 255] });
            now[k] = if is_same { now[k] } else { *pixel };
        }
        let mut frame = Frame::from_rgba_speed(width, height, &mut rgba, SAMPLE_FACTOR);
        (frame.delay, frame.dispose) = (DELAY, DisposalMethod::Keep);
        encoder.write_frame(&frame)?;
        shown = Some(now);
    }
    Ok(())
}

fn is_unchanged(a: [u8; 3], b: [u8; 3]) -> bool {
    (0..3).all(|channel| a[channel].abs_diff(b[channel]) <= UNCHANGED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_lie_side_by_side_row_by_row() {
        let clips: Vec<Pixels> = (0..4).map(|k| vec![[k as u8; 3]; SIZE[0] * SIZE[1]]).collect();
        let picture = compose(&clips.iter().map(|clip| &clip[..]).collect::<Vec<_>>());
        let corner = |x: usize, y: usize| picture[y * ACROSS * SIZE[0] + x][0];
        let [right, bottom] = [ACROSS * SIZE[0] - 1, 2 * SIZE[1] - 1];
        assert_eq!([corner(0, 0), corner(right, 0), corner(0, bottom), corner(right, bottom)], [0, 1, 2, 3]);
    }

    #[test]
    fn a_film_has_all_pictures_and_keeps_what_does_not_change() {
        let folder = std::env::temp_dir().join(format!("xtask-film-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("film.gif");
        let still = vec![[10, 200, 30]; 4 * SIZE[0] * SIZE[1]];
        let mut changed = still.clone();
        changed[5] = [250, 0, 0];
        encode(&[still.clone(), changed], &path).unwrap();
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(File::open(&path).unwrap()).unwrap();
        let first = decoder.read_next_frame().unwrap().unwrap().buffer.to_vec();
        let second = decoder.read_next_frame().unwrap().unwrap().buffer.to_vec();
        assert!(decoder.read_next_frame().unwrap().is_none());
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!([first[3], second[3], second[4 * 5 + 3]], [255, 0, 255]);
        assert!(second[4 * 5].abs_diff(250) < 8, "{}", second[20]);
    }
}
