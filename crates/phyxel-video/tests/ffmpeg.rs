//! Films as another program sees them. Skipped where `ffmpeg` is not installed.

mod support;

use phyxel_video::{Film, FilmSettings, write_png};
use std::path::Path;
use std::process::{Command, Output};
use support::{likeness, scene};

fn tool(name: &str, arguments: &[&str]) -> Option<Output> {
    Command::new(name).args(arguments).output().ok()
}

/// Whether both programs are there; says so where they are not.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn installed() -> bool {
    let found = ["ffmpeg", "ffprobe"].iter().all(|name| tool(name, &["-version"]).is_some());
    if !found {
        eprintln!("skipped: ffmpeg and ffprobe are not installed");
    }
    found
}

fn make(path: &Path, width: usize, height: usize, rate: f64, pictures: usize) {
    let mut film = Film::create(path, FilmSettings::new(width as u32, height as u32, rate)).unwrap();
    (0..pictures).for_each(|index| film.push(&scene(width, height, index)).unwrap());
    film.finish().unwrap();
}

/// What `ffprobe` says, by field.
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
    let output = tool("ffprobe", &arguments).unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_string).collect()
}

/// One picture of a file as RGB, by `ffmpeg`: the first after `seconds`.
fn picture(path: &Path, seconds: &str) -> Vec<u8> {
    let path = path.to_str().unwrap();
    let before = ["-v", "error", "-ss", seconds, "-i", path, "-frames:v", "1"];
    let after = ["-sws_flags", "accurate_rnd+full_chroma_int", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"];
    let output = tool("ffmpeg", &[&before[..], &after[..]].concat()).unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn another_program_finds_all_pictures_and_their_form() {
    if !installed() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cases = [(320, 240, 30.0, "30/1", 3.0), (318, 202, 23.976, "24000/1001", 3.75375), (64, 48, 12.5, "25/2", 7.2)];
    for (width, height, rate, fraction, duration) in cases {
        let path = folder.path().join("film.mp4");
        make(&path, width, height, rate, 90);
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
fn another_program_sees_the_pictures_that_went_in() {
    if !installed() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (film, still) = (folder.path().join("film.mp4"), folder.path().join("still.png"));
    let (width, height) = (640, 360);
    make(&film, width, height, 30.0, 75);
    // At the start, at a key picture and between two, which a player reaches only by the tables.
    for (number, seconds) in [(0, "0"), (60, "2.0"), (74, "2.45")] {
        write_png(&still, width as u32, height as u32, &scene(width, height, number)).unwrap();
        let exact = picture(&still, "0");
        assert_eq!(exact, scene(width, height, number), "the PNG is exact");
        // The bound of the decoder's test in film.rs: 36.7 dB.
        let found = likeness(&picture(&film, seconds), &exact);
        assert!(found > 36.7, "picture {number}: {found:.1} dB");
    }
}
