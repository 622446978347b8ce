//! Pictures against those that were looked at and found good.
//!
//! With `PHYXEL_BLESS=1` the pictures in `tests/golden` are made anew; look at them before keeping them.

use glam::Vec3;
use phyxel::frame::Frame;
use phyxel::parallel;
use phyxel_render::{Camera, Colouring, Picture, Quality, Range, View, render};
use phyxel_scene::{BuildOptions, Scene};
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn small() -> View {
    View { width: 240, height: 136, ..View::default() }
}

/// The first frame of a scene, or a later one, with the view of its camera.
fn scene(name: &str, frames: u32) -> (Frame, View) {
    let scene = Scene::load(name, &[]).unwrap();
    let mut world = scene.build(&BuildOptions::default()).unwrap().world;
    (0..frames).for_each(|_| {
        world.advance_frame().unwrap();
    });
    let camera = scene.camera.map(|camera| Camera {
        eye: camera.eye,
        target: camera.target,
        field_of_view: camera.field_of_view,
    });
    (world.frame(), View { camera, ..small() })
}

fn own_scene(name: &str) -> (Frame, View) {
    scene(&folder().join("scenes").join(name).to_string_lossy(), 0)
}

fn read_png(path: &Path) -> Picture {
    let file =
        File::open(path).unwrap_or_else(|error| panic!("{}: {error}; make it with PHYXEL_BLESS=1", path.display()));
    let mut reader = png::Decoder::new(BufReader::new(file)).read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut rgb).unwrap();
    Picture { width: info.width, height: info.height, rgb }
}

fn write_png(path: &Path, picture: &Picture) {
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path).unwrap()), picture.width, picture.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::High);
    encoder.write_header().unwrap().write_image_data(&picture.rgb).unwrap();
}

/// Mean over 3 x 3 pixels, as lightness and two differences of colour, 0 to 1: what an eye at arm's length sees.
fn seen(picture: &Picture, x: u32, y: u32) -> Vec3 {
    let mut sum = Vec3::ZERO;
    for (u, v) in (0..9).map(|k| (x + k % 3, y + k / 3)) {
        sum += Vec3::from_array(picture.pixel(u, v).map(|part| f32::from(part) / 255.0));
    }
    let [r, g, b] = (sum / 9.0).to_array();
    Vec3::new(0.3 * r + 0.6 * g + 0.1 * b, 0.5 * (r - g), 0.5 * (b - g))
}

/// Mean and largest difference that an eye sees.
///
/// The same program gives the same bits; other processors may round another way, which moves the dither of shadows by a
/// few shades and edges by a part of a pixel. Something that is missing, moved or lit from elsewhere differs by a tenth
/// over many pixels.
fn difference(a: &Picture, b: &Picture) -> (f32, f32) {
    assert_eq!((a.width, a.height), (b.width, b.height));
    let (mut sum, mut largest, mut count) = (0.0, 0.0f32, 0.0);
    for y in 0..a.height - 2 {
        for x in 0..a.width - 2 {
            let off = (seen(a, x, y) - seen(b, x, y)).length();
            (sum, largest, count) = (sum + off, largest.max(off), count + 1.0);
        }
    }
    (sum / count, largest)
}

fn compare(name: &str, (frame, view): (Frame, View)) {
    let picture = render(&frame, &view);
    let path = folder().join("golden").join(format!("{name}.png"));
    if std::env::var_os("PHYXEL_BLESS").is_some() {
        write_png(&path, &picture);
    }
    let (mean, largest) = difference(&picture, &read_png(&path));
    assert!(mean < 0.004 && largest < 0.15, "{name}: mean {mean}, largest {largest}");
}

#[test]
fn finishes_can_be_told_apart() {
    compare("finishes", own_scene("finishes.toml"));
}

#[test]
fn obstacles_are_shown_as_what_they_are() {
    compare("obstacles", own_scene("obstacles.toml"));
}

#[test]
fn temperatures_have_colours_and_a_scale() {
    let (frame, view) = own_scene("warm.toml");
    let range = Some(Range { low: 0.0, high: 100.0 });
    compare("warm", (frame, View { colouring: Colouring::Temperature, range, width: 480, height: 270, ..view }));
}

#[test]
fn surfels_are_discs() {
    compare("surfels", own_scene("surfels.toml"));
}

#[test]
fn a_body_under_strain_shows_it() {
    let (frame, view) = scene("falling-jelly", 9);
    let range = Some(Range { low: 0.0, high: 0.6 });
    compare("strain", (frame, View { colouring: Colouring::Strain, range, ..view }));
}

#[test]
fn the_comparison_sees_what_an_eye_would() {
    let (frame, view) = own_scene("obstacles.toml");
    let picture = render(&frame, &view);
    let mut without = frame.clone();
    without.obstacles.retain(|obstacle| obstacle.name != "capsule");
    let (mean, largest) = difference(&picture, &render(&without, &view));
    assert!(mean > 0.004 && largest > 0.15, "a missing thing: mean {mean}, largest {largest}");
    let mut other = picture.clone();
    other.rgb.iter_mut().enumerate().for_each(|(k, part)| *part = part.saturating_add((k * 7 % 5) as u8));
    let (mean, largest) = difference(&picture, &other);
    assert!(mean > 0.004 || largest < 0.15, "noise of two shades is no difference: mean {mean}, largest {largest}");
}

#[test]
fn pictures_are_the_same_on_any_number_of_threads() {
    let (frame, view) = own_scene("finishes.toml");
    for quality in [Quality::Preview, Quality::High] {
        let view = View { width: 96, height: 54, quality, ..view.clone() };
        let draw = |threads| parallel::with_threads(Some(threads), || render(&frame, &view));
        let alone = draw(1);
        for threads in [2, 5, 8] {
            assert!(alone == draw(threads), "{quality:?} on {threads} threads");
        }
    }
}

#[test]
fn both_qualities_show_the_same() {
    let (frame, view) = own_scene("obstacles.toml");
    let preview = render(&frame, &view);
    let high = render(&frame, &View { quality: Quality::High, ..view });
    let (mean, _) = difference(&preview, &high);
    assert!(mean < 0.02, "{mean}");
}

#[test]
fn an_empty_frame_is_a_picture_of_the_sky() {
    let picture = render(&Frame::default(), &small());
    assert_eq!(picture.rgb.len(), 3 * 240 * 136);
    let [r, _, b] = picture.pixel(120, 5);
    assert!(b >= r, "the sky is blue");
}
