//! Scene description: plain validated values, not yet a world.

mod body;
mod event;
mod expectation;
mod flow;
mod heating;
mod model;
mod obstacle;
mod skin;

pub use body::{BodyDescription, Copies, Deformation};
pub use event::{Action, Event};
pub use expectation::{Expectation, ExpectedTime, ExpectedValue, Subject};
pub use flow::{DrainDescription, EmitterDescription};
pub use heating::HeatingDescription;
pub use model::{ClusterPlan, ModelDescription};
pub use obstacle::{ObstacleDescription, PoseKeyframe};
pub use skin::SkinDescription;

use crate::shape::Placement;
use glam::Vec3;
use phyxel::body::Pose;
use phyxel::emission::Bounds;
use phyxel::material::Material;

/// The version of the file format that this crate reads.
pub const VERSION: u32 = 1;

/// Scene: all values of a file.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Name of the scene: that of its file without ending, or of the built-in scene.
    pub name: String,
    /// Title.
    pub title: String,
    /// Simulated time, s.
    pub duration: f64,
    /// Frames per simulated second.
    pub frame_rate: f64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Gravitational acceleration, m/s2; y is up.
    pub gravity: Vec3,
    /// Camera; `None` leaves it to the renderer.
    pub camera: Option<Camera>,
    /// Time of the poster frame, which shows best what the scene is about, s.
    pub poster: Option<f64>,
    /// Thermal contact conductance, W/(m2 K); the default of the engine if `None`.
    pub contact_conductance: Option<f32>,
    /// Absolute zero in the scene's temperature scale; the default of the engine if `None`.
    pub absolute_zero: Option<f32>,
    /// Time stepping.
    pub step: StepDescription,
    /// Materials, with their presets merged; presets that bodies name directly are among them.
    pub materials: Vec<Material>,
    /// Bodies.
    pub bodies: Vec<BodyDescription>,
    /// Obstacles.
    pub obstacles: Vec<ObstacleDescription>,
    /// Heatings: thermal boundary conditions and sources.
    pub heatings: Vec<HeatingDescription>,
    /// Emitters.
    pub emitters: Vec<EmitterDescription>,
    /// Drains.
    pub drains: Vec<DrainDescription>,
    /// Domain outside of which particles of crystals and fluids are removed.
    pub bounds: Option<Bounds>,
    /// Events, in the order of the file.
    pub events: Vec<Event>,
    /// Expectations.
    pub expectations: Vec<Expectation>,
}

impl Scene {
    /// Number of frames after the initial one.
    pub fn frames(&self) -> u32 {
        (self.duration * self.frame_rate).round().max(1.0) as u32
    }

    /// Lowest and highest temperature in the scene; `None` where all are equal.
    pub fn temperature_range(&self) -> Option<[f32; 2]> {
        let bodies = self.bodies.iter().map(|body| body.temperature);
        let obstacles = self.obstacles.iter().filter_map(|obstacle| obstacle.temperature);
        let heatings = self.heatings.iter().flat_map(|HeatingDescription { heating, .. }| {
            let ambient = heating.exchange.map(|exchange| exchange.ambient);
            [heating.temperature, ambient].into_iter().flatten()
        });
        let emitters = self.emitters.iter().filter_map(|emitter| emitter.temperature);
        let events = self.events.iter().flat_map(|event| match &event.action {
            Action::Set(settings) => settings.iter().filter_map(|(_, setting)| setting.temperature()).collect(),
            Action::Warm { temperature, .. } => vec![*temperature],
            _ => Vec::new(),
        });
        let all = bodies.chain(obstacles).chain(heatings).chain(emitters).chain(events);
        let [low, high] = all.fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], t| [low.min(t), high.max(t)]);
        (low < high).then_some([low, high])
    }

    /// Index of the poster frame; the middle one by default.
    pub fn poster_frame(&self) -> u32 {
        let time = self.poster.unwrap_or(0.5 * self.duration);
        ((time * self.frame_rate).round() as u32).min(self.frames())
    }
}

/// Camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Position of the camera, m.
    pub eye: Vec3,
    /// Point in the centre of the view, m.
    pub target: Vec3,
    /// Vertical field of view, degrees.
    pub field_of_view: f32,
}

/// Time stepping; `None` is the default of the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepDescription {
    /// Fixed number of sub-steps per frame.
    pub substeps: Option<u32>,
    /// Largest step, s.
    pub max_step: Option<f64>,
    /// Largest automatic number of sub-steps per frame.
    pub max_substeps: Option<u32>,
    /// Iterations of the contact solver per step.
    pub contact_iterations: Option<u32>,
}

/// Rigid part of a placement.
pub(crate) fn pose_of(placement: &Placement) -> Pose {
    Pose { position: placement.at, rotation: placement.rotation() }
}
