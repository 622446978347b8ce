//! Small frames for the tests of this crate.

use glam::Vec3;
use phyxel::Frame;
use phyxel::frame::{BodyReport, FrameBody, FrameParticles, FrameSkin, PhaseCounts, SkinReport, Span, Topology};
use phyxel::material::Finish;
use phyxel::model::ModelKind;
use phyxel::store::Phase;
use std::sync::Arc;

/// Frame of a solid "soft cube" of two particles with a skin of one triangle, and a fluid "drop" of one particle.
pub(crate) fn two_bodies() -> Frame {
    let skin = FrameSkin {
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
        normals: vec![Vec3::Z; 3],
        velocities: vec![Vec3::new(0.5, 0.0, 0.0); 3],
        temperatures: vec![0.0, 5.0, 10.0],
        strains: vec![0.0, 0.1, 0.2],
        triangles: Arc::new(vec![[0, 1, 2]]),
        axes: vec![],
        crease: None,
        topology: Topology { closed: false, pieces: 1, genus: None },
    };
    let particles = FrameParticles {
        position: vec![Vec3::ZERO, Vec3::X, 2.0 * Vec3::X],
        velocity: vec![Vec3::ZERO, Vec3::ZERO, -2.0 * Vec3::Z],
        radius: vec![0.5, 0.5, 0.25],
        mass: vec![1.0, 1.0, 0.5],
        temperature: vec![0.0, 0.0, 20.0],
        strain: vec![0.1, 0.1, 0.0],
        phase: vec![Phase::Solid, Phase::Solid, Phase::Fluid],
    };
    Frame {
        particles,
        bodies: vec![body("soft cube", 0..2, 0.5, Some(skin)), body("drop", 2..3, 2.0, None)],
        ..Frame::default()
    }
}

/// The same frame with a skin of three surfels with semi-axes of half a metre.
pub(crate) fn surfels() -> Frame {
    let mut frame = two_bodies();
    if let Some(skin) = &mut frame.bodies[0].skin {
        skin.triangles = Arc::default();
        skin.axes = vec![[0.5 * Vec3::X, 0.5 * Vec3::Y]; 3];
        skin.topology.pieces = 0;
    }
    frame
}

/// Body with a range of particles, whose bounds and centre reach to `x` along x, m.
pub(crate) fn body(name: &str, particles: std::ops::Range<usize>, x: f64, skin: Option<FrameSkin>) -> FrameBody {
    let count = particles.len() as u64;
    let report = BodyReport {
        name: name.to_string(),
        model: ModelKind::ShapeMatching,
        particles: PhaseCounts { solid: count, fluid: 0, gas: 0 },
        pieces: 1,
        centre: [x, 0.0, 0.0],
        bounds: [[0.0; 3], [x, 1.0, 1.0]],
        velocity: [0.0; 3],
        temperature: Span::default(),
        strain_max: 0.0,
        solver_iterations: None,
        degenerate: None,
        tetrahedra: None,
        broken: 0,
        merged: 0,
        skin: SkinReport {
            kind: "mesh".to_string(),
            vertices: 3,
            triangles: 1,
            closed: Some(false),
            pieces: Some(1),
            genus: None,
            volume: None,
        },
    };
    FrameBody { report, material: "jelly".to_string(), color: [1.0, 0.5, 0.0], finish: Finish::Jelly, particles, skin }
}
