//! Written videos read back: their boxes, timing and decoded pictures.

mod support;

use openh264::decoder::Decoder;
use openh264::formats::YUVSource;
use phyxel_video::{Quality, VideoError, VideoSettings, VideoWriter};
use std::fs;
use std::path::Path;
use support::mp4::{Mp4File, big_endian};
use support::{psnr, sequence, test_picture, to_rgb};

fn write_video(path: &Path, settings: VideoSettings, pictures: usize) {
    let mut video = VideoWriter::create(path, settings).unwrap();
    for index in 0..pictures {
        video.add_picture(&test_picture(settings.width as usize, settings.height as usize, index)).unwrap();
    }
    assert_eq!(video.picture_count(), pictures as u32);
    video.finish().unwrap();
}

fn video_file(settings: VideoSettings, pictures: usize) -> Mp4File {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film.mp4");
    write_video(&path, settings, pictures);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary files");
    Mp4File::read(&path)
}

#[test]
fn the_boxes_are_those_of_the_standard() {
    let file = video_file(VideoSettings::new(64, 48, 30.0), 3);
    let box_types: Vec<&str> = file.nodes.iter().map(|node| node.box_type.as_str()).collect();
    assert_eq!(box_types, ["ftyp", "free", "mdat", "moov"]);
    let tables = ["stsd", "stts", "stss", "stsc", "stsz", "stco"];
    tables.iter().for_each(|table| assert!(!file.table(table).is_empty(), "{table}"));
    let header = file.content("moov/trak/tkhd");
    assert_eq!((big_endian(header, 76, 2), big_endian(header, 80, 2)), (64, 48));
    let entry = file.table("stsd/avc1");
    assert_eq!((big_endian(entry, 24, 2), big_endian(entry, 26, 2)), (64, 48));
    assert_eq!(file.table("stsd/avc1/colr"), b"nclx\0\x01\0\x01\0\x01\0");
    let payload = file.nodes[2].content.len();
    assert_eq!(file.sample_sizes().iter().sum::<usize>(), payload, "the samples fill the media data box");
}

#[test]
fn durations_are_exact_for_any_rate() {
    let cases =
        [(24, 1, 24.0), (25, 2, 12.5), (60, 1, 60.0), (24000, 1001, 23.976), (30000, 1001, 29.97), (1, 4, 0.25)];
    for (numerator, denominator, rate) in cases {
        let file = video_file(VideoSettings::new(32, 32, rate), 7);
        for header in ["moov/mvhd", "moov/trak/mdia/mdhd"] {
            let (timescale, ticks) = file.timing(header);
            assert_eq!(ticks * numerator, 7 * denominator * timescale, "{header} at {rate}");
        }
        let time_to_sample = file.table("stts");
        assert_eq!((big_endian(time_to_sample, 4, 4), big_endian(time_to_sample, 8, 4)), (1, 7));
        assert_eq!(big_endian(time_to_sample, 12, 4) * numerator, file.timing("moov/mvhd").0 * denominator, "{rate}");
        assert_eq!(big_endian(file.content("moov/trak/tkhd"), 20, 4), file.timing("moov/mvhd").1);
    }
}

#[test]
fn key_pictures_come_every_two_seconds() {
    let file = video_file(VideoSettings::new(32, 32, 12.5), 60);
    assert_eq!(file.sync_samples(), [1, 26, 51]);
    let samples = file.samples();
    assert_eq!(samples.len(), 60);
    for (index, sample) in samples.iter().enumerate() {
        assert_eq!(sample[4] & 31 == 5, index % 25 == 0, "picture {index}");
    }
}

#[test]
fn the_stream_contains_resolution_and_colour_description() {
    for (width, height) in [(1280, 720), (64, 48), (66, 50), (65, 49), (1920, 1080), (16, 16), (360, 640)] {
        let file = video_file(VideoSettings::new(width, height, 30.0), 1);
        let parsed = sequence::parse(file.parameter_sets().0);
        let even = |side: u32| side + side % 2;
        assert_eq!((parsed.width, parsed.height), (even(width), even(height)));
        assert_eq!((parsed.full_range, parsed.colour_description), (Some(false), Some([1, 1, 1])));
        let entry = file.table("stsd/avc1");
        assert_eq!(
            (big_endian(entry, 24, 2), big_endian(entry, 26, 2)),
            (u64::from(even(width)), u64::from(even(height)))
        );
    }
    let level = |rate| sequence::parse(video_file(VideoSettings::new(1280, 720, rate), 1).parameter_sets().0).level;
    // H.264 table A-1: 3600 macroblocks need level 3.1 at 30 and 3.2 at 60 pictures per second.
    assert_eq!((level(30.0), level(60.0)), (31, 32));
}

/// Decoded pictures of a video, RGB of `width` x `height` pixels.
fn decode(file: &Mp4File, width: usize, height: usize) -> Vec<Vec<u8>> {
    let mut decoder = Decoder::new().unwrap();
    let mut pictures = Vec::new();
    for index in 0..file.samples().len() {
        let stream = file.annex_b_stream(index);
        let planes = decoder.decode(&stream).unwrap().expect("a picture for each sample");
        let (luma_stride, chroma_stride, _) = planes.strides();
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        let rgb = |(x, y): (usize, usize)| {
            let chroma = y / 2 * chroma_stride + x / 2;
            to_rgb(planes.y()[y * luma_stride + x], planes.u()[chroma], planes.v()[chroma])
        };
        pictures.push(pixels.flat_map(rgb).collect());
    }
    pictures
}

/// Lowest peak signal-to-noise ratio of decoded pictures to the originals, dB.
fn min_psnr(quality: Quality) -> f64 {
    let (width, height) = (320, 240);
    let settings = VideoSettings { quality, ..VideoSettings::new(width, height, 30.0) };
    let pictures = decode(&video_file(settings, 20), width as usize, height as usize);
    let originals = (0..20).map(|index| test_picture(width as usize, height as usize, index));
    originals.zip(&pictures).map(|(original, decoded)| psnr(&original, decoded)).fold(f64::INFINITY, f64::min)
}

#[test]
fn decoded_pictures_resemble_the_originals() {
    // Quantisation parameter q has steps of s = 2^((q - 4) / 6) levels in an orthonormal basis. Errors are at most
    // 5/6 s where rounding favours zero (dead zone of 5/6 for predicted pictures), and s / sqrt(12) on average where it
    // does not. Were every coefficient between zero and the first step, the mean square error would be (5/6 s)^2 / 3.
    // Chroma at half the resolution adds errors along the edge of the sphere: 1 pixel in 200, off by some 30 levels,
    // 4.5 levels squared. For q = 20, s = 6.35: 9.3 + 4.5 -> 36.7 dB.
    for (quality, step) in [(Quality::Small, 16.0_f64), (Quality::Standard, 6.35), (Quality::Fine, 3.56)] {
        let bound = 10.0 * (255.0_f64.powi(2) / ((step * 5.0 / 6.0).powi(2) / 3.0 + 4.5)).log10();
        let found = min_psnr(quality);
        assert!(found > bound, "{quality:?}: {found:.1} dB, at least {bound:.1} dB wanted");
    }
}

#[test]
fn pictures_of_odd_sizes_are_kept() {
    let (width, height) = (65, 49);
    let decoded = decode(&video_file(VideoSettings::new(width, height, 30.0), 2), width as usize, height as usize);
    let found = psnr(&test_picture(width as usize, height as usize, 1), &decoded[1]);
    // The edge of the sphere is 1 pixel in 40 here, so chroma adds five times as much: 9.3 + 22.5 levels squared.
    assert!(found > 33.1, "{found:.1} dB");
}

#[test]
fn the_same_pictures_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let settings = VideoSettings::new(318, 242, 29.97);
    let videos: Vec<Vec<u8>> = ["one.mp4", "two.mp4"]
        .map(|name| {
            write_video(&folder.path().join(name), settings, 70);
            fs::read(folder.path().join(name)).unwrap()
        })
        .into();
    assert!(videos[0] == videos[1]);
}

#[test]
fn an_unfinished_video_leaves_no_file_and_keeps_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film.mp4");
    let create = || VideoWriter::create(&path, VideoSettings::new(64, 48, 30.0)).unwrap();
    let mut video = create();
    video.add_picture(&test_picture(64, 48, 0)).unwrap();
    assert!(!path.exists());
    drop(video);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

    fs::write(&path, b"old").unwrap();
    let message = create().finish().unwrap_err().to_string();
    assert!(message.contains("film.mp4") && message.contains("add at least one"), "{message}");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_picture_of_another_size_is_refused_and_the_video_continues() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film.mp4");
    let mut video = VideoWriter::create(&path, VideoSettings::new(64, 48, 30.0)).unwrap();
    video.add_picture(&test_picture(64, 48, 0)).unwrap();
    let error = video.add_picture(&test_picture(64, 47, 1)).unwrap_err();
    assert!(matches!(error, VideoError::Picture { index: 1, expected: 9216, found: 9024, .. }), "{error}");
    video.add_picture(&test_picture(64, 48, 1)).unwrap();
    video.finish().unwrap();
    assert_eq!(Mp4File::read(&path).samples().len(), 2);
}

#[test]
fn invalid_settings_are_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film.mp4");
    for (width, height) in [(0, 0), (15, 400), (3841, 100), (2400, 2400), (u32::MAX, 2)] {
        let error = VideoWriter::create(&path, VideoSettings::new(width, height, 30.0)).unwrap_err();
        assert!(matches!(error, VideoError::Size { .. }), "{error}");
    }
    for rate in [0.0, -1.0, f64::NAN, 1e6] {
        let error = VideoWriter::create(&path, VideoSettings::new(64, 48, rate)).unwrap_err();
        assert!(error.to_string().contains("choose one from"), "{error}");
    }
    assert!(VideoWriter::create(folder.path().join("no/film.mp4"), VideoSettings::new(64, 48, 30.0)).is_err());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
