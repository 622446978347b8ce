//! Comparison of pictures with reference pictures that were inspected.
//!
//! `PHYXEL_BLESS=1` rewrites the references in `tests/golden`; inspect them before a commit.

use glam::Vec3;
use phyxel::frame::Frame;
use phyxel::parallel;
use phyxel_render::{Camera, ColourRange, Colouring, Picture, Quality, RenderSettings, render};
use phyxel_scene::{BuildOptions, Scene};
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn small_settings() -> RenderSettings {
    RenderSettings { width: 240, height: 136, ..RenderSettings::default() }
}

/// Frame of a scene after some frames, and settings with the camera of the scene.
fn scene(name: &str, frames: u32) -> (Frame, RenderSettings) {
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
    (world.frame(), RenderSettings { camera, ..small_settings() })
}

fn test_scene(name: &str) -> (Frame, RenderSettings) {
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

/// Mean over 3 x 3 pixels in an opponent colour space (luminance, red-green, blue-green), 0 to 1.
fn blurred_colour(picture: &Picture, x: u32, y: u32) -> Vec3 {
    let mut sum = Vec3::ZERO;
    for (u, v) in (0..9).map(|k| (x + k % 3, y + k / 3)) {
        sum += Vec3::from_array(picture.pixel(u, v).map(|channel| f32::from(channel) / 255.0));
    }
    let [r, g, b] = (sum / 9.0).to_array();
    Vec3::new(0.3 * r + 0.6 * g + 0.1 * b, 0.5 * (r - g), 0.5 * (b - g))
}

/// Mean and largest perceptual difference of two pictures.
///
/// The same program gives the same bits. Other processors may round differently, which changes the noise of shadows by
/// a few levels and moves edges by a fraction of a pixel. An object that is missing, moved or lit differently gives
/// differences of a tenth over many pixels.
fn difference(a: &Picture, b: &Picture) -> (f32, f32) {
    assert_eq!((a.width, a.height), (b.width, b.height));
    let (mut sum, mut largest, mut count) = (0.0, 0.0f32, 0.0);
    for y in 0..a.height - 2 {
        for x in 0..a.width - 2 {
            let distance = (blurred_colour(a, x, y) - blurred_colour(b, x, y)).length();
            (sum, largest, count) = (sum + distance, largest.max(distance), count + 1.0);
        }
    }
    (sum / count, largest)
}

fn compare(name: &str, (frame, settings): (Frame, RenderSettings)) {
    let picture = render(&frame, &settings);
    let path = folder().join("golden").join(format!("{name}.png"));
    if std::env::var_os("PHYXEL_BLESS").is_some() {
        write_png(&path, &picture);
    }
    let (mean, largest) = difference(&picture, &read_png(&path));
    assert!(mean < 0.004 && largest < 0.15, "{name}: mean {mean}, largest {largest}");
}

#[test]
fn finishes_match_the_reference() {
    compare("finishes", test_scene("finishes.toml"));
}

#[test]
fn obstacles_match_the_reference() {
    compare("obstacles", test_scene("obstacles.toml"));
}

#[test]
fn temperatures_match_the_reference() {
    let (frame, settings) = test_scene("warm.toml");
    let range = Some(ColourRange { low: 0.0, high: 100.0 });
    compare(
        "warm",
        (frame, RenderSettings { colouring: Colouring::Temperature, range, width: 480, height: 270, ..settings }),
    );
}

#[test]
fn surfels_match_the_reference() {
    compare("surfels", test_scene("surfels.toml"));
}

#[test]
fn strains_match_the_reference() {
    let (frame, settings) = scene("falling-jelly", 9);
    let range = Some(ColourRange { low: 0.0, high: 0.6 });
    compare("strain", (frame, RenderSettings { colouring: Colouring::Strain, range, ..settings }));
}

#[test]
fn the_comparison_detects_missing_objects_and_ignores_noise() {
    let (frame, settings) = test_scene("obstacles.toml");
    let picture = render(&frame, &settings);
    let mut without = frame.clone();
    without.obstacles.retain(|obstacle| obstacle.name != "capsule");
    let (mean, largest) = difference(&picture, &render(&without, &settings));
    assert!(mean > 0.004 && largest > 0.15, "a missing object: mean {mean}, largest {largest}");
    let mut noisy = picture.clone();
    // Two of five channels differ by a level: 0.4/255 on average.
    noisy.rgb.iter_mut().enumerate().for_each(|(k, channel)| *channel = channel.saturating_add((k * 7 % 5 / 3) as u8));
    let (mean, largest) = difference(&picture, &noisy);
    assert!(mean < 0.004 && largest < 0.15, "noise of a level is no difference: mean {mean}, largest {largest}");
}

#[test]
fn pictures_are_the_same_on_any_number_of_threads() {
    let (frame, settings) = test_scene("finishes.toml");
    for quality in [Quality::Preview, Quality::High] {
        let settings = RenderSettings { width: 96, height: 54, quality, ..settings.clone() };
        let draw = |threads| parallel::with_threads(Some(threads), || render(&frame, &settings));
        let alone = draw(1);
        for threads in [2, 5, 8] {
            assert!(alone == draw(threads), "{quality:?} on {threads} threads");
        }
    }
}

#[test]
fn both_qualities_show_the_same() {
    let (frame, settings) = test_scene("obstacles.toml");
    let preview = render(&frame, &settings);
    let high = render(&frame, &RenderSettings { quality: Quality::High, ..settings });
    let (mean, _) = difference(&preview, &high);
    assert!(mean < 0.02, "{mean}");
}

#[test]
fn an_empty_frame_is_a_picture_of_the_sky() {
    let picture = render(&Frame::default(), &small_settings());
    assert_eq!(picture.rgb.len(), 3 * 240 * 136);
    let [r, _, b] = picture.pixel(120, 5);
    assert!(b >= r, "the sky is blue");
}
