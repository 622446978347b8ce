//! Films read back: their boxes, their times, and their pictures.

mod support;

use openh264::decoder::Decoder;
use openh264::formats::YUVSource;
use phyxel_video::{Film, FilmError, FilmSettings, Quality};
use std::fs;
use std::path::Path;
use support::mp4::{File, number};
use support::{likeness, scene, sequence, to_rgb};

fn make(path: &Path, settings: FilmSettings, pictures: usize) {
    let mut film = Film::create(path, settings).unwrap();
    for index in 0..pictures {
        film.push(&scene(settings.width as usize, settings.height as usize, index)).unwrap();
    }
    assert_eq!(film.pictures(), pictures as u32);
    film.finish().unwrap();
}

fn film(settings: FilmSettings, pictures: usize) -> File {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film.mp4");
    make(&path, settings, pictures);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no litter");
    File::read(&path)
}

#[test]
fn the_boxes_are_those_of_the_standard() {
    let file = film(FilmSettings::new(64, 48, 30.0), 3);
    let kinds: Vec<&str> = file.nodes.iter().map(|node| node.kind.as_str()).collect();
    assert_eq!(kinds, ["ftyp", "free", "mdat", "moov"]);
    let tables = ["stsd", "stts", "stss", "stsc", "stsz", "stco"];
    tables.iter().for_each(|table| assert!(!file.table(table).is_empty(), "{table}"));
    let header = file.content("moov/trak/tkhd");
    assert_eq!((number(header, 76, 2), number(header, 80, 2)), (64, 48));
    let entry = file.table("stsd/avc1");
    assert_eq!((number(entry, 24, 2), number(entry, 26, 2)), (64, 48));
    assert_eq!(file.table("stsd/avc1/colr"), b"nclx\0\x01\0\x01\0\x01\0");
    let payload = file.nodes[2].content.len();
    assert_eq!(file.sizes().iter().sum::<usize>(), payload, "the pictures fill the box of their bytes");
}

#[test]
fn durations_are_exact_for_any_rate() {
    let cases =
        [(24, 1, 24.0), (25, 2, 12.5), (60, 1, 60.0), (24000, 1001, 23.976), (30000, 1001, 29.97), (1, 4, 0.25)];
    for (numerator, denominator, rate) in cases {
        let file = film(FilmSettings::new(32, 32, rate), 7);
        for header in ["moov/mvhd", "moov/trak/mdia/mdhd"] {
            let (timescale, ticks) = file.timing(header);
            assert_eq!(ticks * numerator, 7 * denominator * timescale, "{header} at {rate}");
        }
        let times = file.table("stts");
        assert_eq!((number(times, 4, 4), number(times, 8, 4)), (1, 7));
        assert_eq!(number(times, 12, 4) * numerator, file.timing("moov/mvhd").0 * denominator, "{rate}");
        assert_eq!(number(file.content("moov/trak/tkhd"), 20, 4), file.timing("moov/mvhd").1);
    }
}

#[test]
fn key_pictures_come_every_two_seconds() {
    let file = film(FilmSettings::new(32, 32, 12.5), 60);
    assert_eq!(file.keys(), [1, 26, 51]);
    let samples = file.samples();
    assert_eq!(samples.len(), 60);
    for (index, sample) in samples.iter().enumerate() {
        assert_eq!(sample[4] & 31 == 5, index % 25 == 0, "picture {index}");
    }
}

#[test]
fn the_stream_tells_its_size_and_its_colours() {
    for (width, height) in [(1280, 720), (64, 48), (66, 50), (65, 49), (1920, 1080), (16, 16), (360, 640)] {
        let file = film(FilmSettings::new(width, height, 30.0), 1);
        let told = sequence::parse(file.parameter_sets().0);
        let even = |side: u32| side + side % 2;
        assert_eq!((told.width, told.height), (even(width), even(height)));
        assert_eq!((told.full_range, told.colours), (Some(false), Some([1, 1, 1])));
        let entry = file.table("stsd/avc1");
        assert_eq!((number(entry, 24, 2), number(entry, 26, 2)), (u64::from(even(width)), u64::from(even(height))));
    }
    let level = |rate| sequence::parse(film(FilmSettings::new(1280, 720, rate), 1).parameter_sets().0).level;
    // H.264 table A-1: 3600 blocks of 16 x 16 need level 3.1 at 30 and 3.2 at 60 pictures per second.
    assert_eq!((level(30.0), level(60.0)), (31, 32));
}

/// Pictures of a film as a decoder gives them, `width` x `height` pixels.
fn decode(file: &File, width: usize, height: usize) -> Vec<Vec<u8>> {
    let mut decoder = Decoder::new().unwrap();
    let mut pictures = Vec::new();
    for index in 0..file.samples().len() {
        let stream = file.stream(index);
        let planes = decoder.decode(&stream).unwrap().expect("a picture for each sample");
        let (across, half, _) = planes.strides();
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let colour = |(x, y): (usize, usize)| {
            let chroma = y / 2 * half + x / 2;
            to_rgb(planes.y()[y * across + x], planes.u()[chroma], planes.v()[chroma])
        };
        pictures.push(pixels.flat_map(colour).collect());
    }
    pictures
}

/// Likeness of decoded pictures to those that went in, dB, the worst of them.
fn worst(quality: Quality) -> f64 {
    let (width, height) = (320, 240);
    let settings = FilmSettings { quality, ..FilmSettings::new(width, height, 30.0) };
    let pictures = decode(&film(settings, 20), width as usize, height as usize);
    let pushed = (0..20).map(|index| scene(width as usize, height as usize, index));
    pushed.zip(&pictures).map(|(pushed, decoded)| likeness(&pushed, decoded)).fold(f64::INFINITY, f64::min)
}

#[test]
fn decoded_pictures_are_near_those_that_went_in() {
    // A quantiser q has steps of s = 2^((q - 4) / 6) shades in an orthonormal basis, so errors of at most 5/6 s where
    // rounding favours zero (5 of 6 parts for predicted pictures), and of s / sqrt(12) on average where it does not. Were
    // every coefficient to lie between zero and the first step, the mean square error would be (5/6 s)^2 / 3. On top come
    // colours at half the resolution, which a smooth picture shows only along the edge of the ball: 1 pixel in 200, off by
    // some 30 shades, 4.5 shades squared. For q = 20, s = 6.35: 9.3 + 4.5 -> 36.7 dB.
    for (quality, step) in [(Quality::Small, 16.0_f64), (Quality::Standard, 6.35), (Quality::Fine, 3.56)] {
        let bound = 10.0 * (255.0_f64.powi(2) / ((step * 5.0 / 6.0).powi(2) / 3.0 + 4.5)).log10();
        let found = worst(quality);
        assert!(found > bound, "{quality:?}: {found:.1} dB, at least {bound:.1} dB wanted");
    }
}

#[test]
fn odd_sizes_keep_their_pictures() {
    let (width, height) = (65, 49);
    let decoded = decode(&film(FilmSettings::new(width, height, 30.0), 2), width as usize, height as usize);
    let found = likeness(&scene(width as usize, height as usize, 1), &decoded[1]);
    // The edge of the ball is 1 pixel in 40 here, so its colours count five times as much: 9.3 + 22.5 shades squared.
    assert!(found > 33.1, "{found:.1} dB");
}

#[test]
fn the_same_pictures_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let settings = FilmSettings::new(318, 242, 29.97);
    let films: Vec<Vec<u8>> = ["one.mp4", "two.mp4"]
        .map(|name| {
            make(&folder.path().join(name), settings, 70);
            fs::read(folder.path().join(name)).unwrap()
        })
        .into();
    assert!(films[0] == films[1]);
}

#[test]
fn an_unfinished_film_leaves_nothing_and_spares_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film.mp4");
    let start = || Film::create(&path, FilmSettings::new(64, 48, 30.0)).unwrap();
    let mut film = start();
    film.push(&scene(64, 48, 0)).unwrap();
    assert!(!path.exists());
    drop(film);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

    fs::write(&path, b"old").unwrap();
    let message = start().finish().unwrap_err().to_string();
    assert!(message.contains("film.mp4") && message.contains("push at least one"), "{message}");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_picture_of_another_size_is_refused_and_the_film_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film.mp4");
    let mut film = Film::create(&path, FilmSettings::new(64, 48, 30.0)).unwrap();
    film.push(&scene(64, 48, 0)).unwrap();
    let error = film.push(&scene(64, 47, 1)).unwrap_err();
    assert!(matches!(error, FilmError::Picture { number: 1, expected: 9216, found: 9024, .. }), "{error}");
    film.push(&scene(64, 48, 1)).unwrap();
    film.finish().unwrap();
    assert_eq!(File::read(&path).samples().len(), 2);
}

#[test]
fn settings_without_sense_are_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film.mp4");
    for (width, height) in [(0, 0), (15, 400), (3841, 100), (2400, 2400), (u32::MAX, 2)] {
        let error = Film::create(&path, FilmSettings::new(width, height, 30.0)).unwrap_err();
        assert!(matches!(error, FilmError::Size { .. }), "{error}");
    }
    for rate in [0.0, -1.0, f64::NAN, 1e6] {
        let error = Film::create(&path, FilmSettings::new(64, 48, rate)).unwrap_err();
        assert!(error.to_string().contains("choose one from"), "{error}");
    }
    assert!(Film::create(folder.path().join("no/film.mp4"), FilmSettings::new(64, 48, 30.0)).is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
