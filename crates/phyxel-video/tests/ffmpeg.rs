//! Written files as `ffmpeg` reads them. Skipped where it is not installed.

mod support;

use phyxel_video::{VideoSettings, VideoWriter, write_png};
use std::path::Path;
use std::process::{Command, Output};
use support::{psnr, test_picture};

fn run_tool(name: &str, arguments: &[&str]) -> Option<Output> {
    Command::new(name).args(arguments).output().ok()
}

/// Returns true if both programs are installed; otherwise reports that the test is skipped.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn is_installed() -> bool {
    let found = ["ffmpeg", "ffprobe"].iter().all(|name| run_tool(name, &["-version"]).is_some());
    if !found {
        eprintln!("skipped: ffmpeg and ffprobe are not installed");
    }
    found
}

fn write_video(path: &Path, width: usize, height: usize, rate: f64, pictures: usize) {
    let mut video = VideoWriter::create(path, VideoSettings::new(width as u32, height as u32, rate)).unwrap();
    (0..pictures).for_each(|index| video.add_picture(&test_picture(width, height, index)).unwrap());
    video.finish().unwrap();
}

/// Output of `ffprobe`, a line for each field.
fn probe(path: &Path, fields: &str) -> Vec<String> {
    let entries = format!("stream={fields}");
    let path = path.to_str().unwrap();
    let arguments = [
        "-v",
        "error",
        "-count_frames",
        "-select_streams",
        "v",
        "-show_entries",
        &entries,
        "-of",
        "default=nk=0:nw=1",
        path,
    ];
    let output = run_tool("ffprobe", &arguments).unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_string).collect()
}

/// First picture of a file after `seconds` as RGB, decoded by `ffmpeg`.
fn decode_picture(path: &Path, seconds: &str) -> Vec<u8> {
    let path = path.to_str().unwrap();
    let before = ["-v", "error", "-ss", seconds, "-i", path, "-frames:v", "1"];
    let after = ["-sws_flags", "accurate_rnd+full_chroma_int", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"];
    let output = run_tool("ffmpeg", &[&before[..], &after[..]].concat()).unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn ffprobe_finds_all_pictures_and_their_format() {
    if !is_installed() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cases = [(320, 240, 30.0, "30/1", 3.0), (318, 202, 23.976, "24000/1001", 3.75375), (64, 48, 12.5, "25/2", 7.2)];
    for (width, height, rate, fraction, duration) in cases {
        let path = folder.path().join("film.mp4");
        write_video(&path, width, height, rate, 90);
        let fields = "width,height,pix_fmt,color_range,color_space,color_transfer,color_primaries,r_frame_rate,\
                      avg_frame_rate,duration,nb_frames,nb_read_frames,has_b_frames,codec_name,codec_tag_string";
        let found = probe(&path, fields);
        let expected = [
            format!("width={width}"),
            format!("height={height}"),
            format!("r_frame_rate={fraction}"),
            format!("avg_frame_rate={fraction}"),
            format!("duration={duration:.6}"),
        ];
        let fixed = [
            "codec_name=h264",
            "codec_tag_string=avc1",
            "pix_fmt=yuv420p",
            "color_range=tv",
            "color_space=bt709",
            "color_transfer=bt709",
            "color_primaries=bt709",
            "nb_frames=90",
            "nb_read_frames=90",
            "has_b_frames=0",
        ];
        for line in expected.iter().map(String::as_str).chain(fixed) {
            assert!(found.iter().any(|field| field == line), "{line} is missing in {found:?}");
        }
    }
}

#[test]
fn ffmpeg_decodes_the_original_pictures() {
    if !is_installed() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (video, image) = (folder.path().join("film.mp4"), folder.path().join("still.png"));
    let (width, height) = (640, 360);
    write_video(&video, width, height, 30.0, 75);
    // At the start, at an IDR picture, and between two, which a player reaches only by the sample table.
    for (index, seconds) in [(0, "0"), (60, "2.0"), (74, "2.45")] {
        write_png(&image, width as u32, height as u32, &test_picture(width, height, index)).unwrap();
        let exact = decode_picture(&image, "0");
        assert_eq!(exact, test_picture(width, height, index), "the PNG is lossless");
        // The bound of the decoder's test in writer.rs: 36.7 dB.
        let found = psnr(&decode_picture(&video, seconds), &exact);
        assert!(found > 36.7, "picture {index}: {found:.1} dB");
    }
}
