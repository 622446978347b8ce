//! Exports consume frames one by one: their memory does not grow with the number of frames.
//!
//! With `PHYXEL_EXPORT_FIGURES=FILE` the measured sizes, times and memory are written to a file.
#![cfg(target_os = "linux")]

#[allow(dead_code)]
#[path = "../src/test_frames.rs"]
mod test_frames;

use glam::Vec3;
use phyxel::Frame;
use phyxel::frame::{FrameParticles, FrameSkin, Topology};
use phyxel::store::Phase;
use phyxel_run::{ExportContext, ExportFormat};
use std::fs;
use std::sync::Arc;
use test_frames::body;

const FRAMES: u32 = 100;
const PARTICLES: usize = 100_000;
/// Cells along each side of the sheet of the skin, of two triangles each.
const CELLS: usize = 317;
/// Limit of the peak memory of the process, MB.
const MAX_MEMORY: u64 = 500;

/// Peak memory of this process so far, MB.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

fn triangles() -> Arc<Vec<[u32; 3]>> {
    let vertex = |i: usize, j: usize| (i * (CELLS + 1) + j) as u32;
    let cells = (0..CELLS * CELLS).map(|k| (k / CELLS, k % CELLS));
    let triangles = cells.flat_map(|(i, j)| {
        [[vertex(i, j), vertex(i + 1, j), vertex(i + 1, j + 1)], [vertex(i, j), vertex(i + 1, j + 1), vertex(i, j + 1)]]
    });
    Arc::new(triangles.collect())
}

/// Sheet of points with a travelling wave.
fn wave(count: usize, side: usize, time: f32) -> Vec<Vec3> {
    let rest = |i: usize| Vec3::new((i / side) as f32, 0.0, (i % side) as f32) * 0.01;
    (0..count).map(rest).map(|p| p + Vec3::Y * periodic(10.0 * p.x + time)).collect()
}

/// Periodic parabolas, similar to a sine.
fn periodic(x: f32) -> f32 {
    let x = x.rem_euclid(4.0) - 2.0;
    0.1 * x * (2.0 - x.abs())
}

fn frame(index: u32, triangles: &Arc<Vec<[u32; 3]>>) -> Frame {
    let time = index as f32 / 30.0;
    let vertices = (CELLS + 1) * (CELLS + 1);
    let skin = FrameSkin {
        positions: wave(vertices, CELLS + 1, time),
        normals: vec![Vec3::Y; vertices],
        velocities: wave(vertices, CELLS + 1, 2.0 * time),
        temperatures: vec![time; vertices],
        strains: vec![0.1 * time; vertices],
        triangles: Arc::clone(triangles),
        axes: vec![],
        crease: None,
        topology: Topology { closed: false, pieces: 1, genus: None },
    };
    let particles = FrameParticles {
        position: wave(PARTICLES, 300, time),
        velocity: wave(PARTICLES, 300, 3.0 * time),
        radius: vec![0.005; PARTICLES],
        mass: vec![0.001; PARTICLES],
        temperature: vec![time; PARTICLES],
        strain: vec![0.1 * time; PARTICLES],
        phase: vec![Phase::Solid; PARTICLES],
    };
    let half = PARTICLES / 2;
    let bodies = vec![body("sheet", 0..half, 1.0, Some(skin)), body("cloud", half..PARTICLES, 1.0, None)];
    Frame { index, time: f64::from(time), particles, bodies, ..Frame::default() }
}

/// Exports in one format; returns the size of the files, bytes.
fn export(format: ExportFormat, triangles: &Arc<Vec<[u32; 3]>>) -> u64 {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join(format.name());
    fs::create_dir(&folder).unwrap();
    let context = ExportContext { frame_rate: 30.0, title: "a sheet and a cloud".to_string() };
    let mut sink = format.sink(directory.path(), &context);
    for index in 0..FRAMES {
        sink.write_frame(&frame(index, triangles)).unwrap();
    }
    sink.finish().unwrap();
    fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

#[test]
#[ignore = "writes some gigabytes; part of the long tests"]
fn a_hundred_large_frames_need_little_memory_in_every_format() {
    let triangles = triangles();
    assert!(triangles.len() >= 200_000);
    let mut lines = String::new();
    for format in ExportFormat::ALL {
        let start = std::time::Instant::now();
        let bytes = export(format, &triangles);
        let (seconds, peak_memory) = (start.elapsed().as_secs_f64(), peak_memory());
        let line = format!("{format}: {} MB of files in {seconds:.1} s, {peak_memory} MB of memory\n", bytes >> 20);
        lines.push_str(&line);
        assert!(bytes > 0 && peak_memory < MAX_MEMORY, "{lines}");
    }
    if let Some(path) = std::env::var_os("PHYXEL_EXPORT_FIGURES") {
        fs::write(path, lines).unwrap();
    }
}
