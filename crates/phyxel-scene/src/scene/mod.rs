//! A scene as its file describes it: plain values, checked, not yet a world.

mod body;
mod event;
mod expectation;
mod flow;
mod heating;
mod obstacle;

pub use body::{BodyDescription, ClusterPlan, Copies, Deformation, ModelDescription, SkinDescription};
pub use event::{Action, Event};
pub use expectation::{Expectation, ExpectedValue, Moment, Subject};
pub use flow::{DrainDescription, EmitterDescription};
pub use heating::HeatingDescription;
pub use obstacle::{ObstacleDescription, PlaceKey};

use crate::shape::Placement;
use glam::Vec3;
use phyxel::body::Pose;
use phyxel::drain::Bounds;
use phyxel::material::Material;

/// The version of the file format that this crate reads.
pub const VERSION: u32 = 1;

/// A scene: everything a file says.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Name of the scene: that of its file without ending, or of the built-in scene.
    pub name: String,
    /// What it shows, in a few words.
    pub title: String,
    /// Simulated time, s.
    pub duration: f64,
    /// Frames per simulated second.
    pub frame_rate: f64,
    /// Start of everything random.
    pub seed: u64,
    /// m/s2; y is up.
    pub gravity: Vec3,
    /// From where pictures are taken; `None` leaves it to whoever takes them.
    pub camera: Option<Camera>,
    /// The moment that shows best what the scene is about, s.
    pub poster: Option<f64>,
    /// How well heat passes where things touch, W/(m2 K); `None` leaves it to the engine.
    pub contact_conductance: Option<f32>,
    /// The temperature at which nothing radiates any more, in the scene's scale; `None` leaves it to the engine.
    pub absolute_zero: Option<f32>,
    /// How time is cut into steps.
    pub step: StepDescription,
    /// Materials by name, with their presets worked in; presets that bodies name directly are among them.
    pub materials: Vec<Material>,
    /// Matter.
    pub bodies: Vec<BodyDescription>,
    /// What does not give way.
    pub obstacles: Vec<ObstacleDescription>,
    /// Heat from outside.
    pub heatings: Vec<HeatingDescription>,
    /// What pours particles in.
    pub emitters: Vec<EmitterDescription>,
    /// What takes particles away.
    pub drains: Vec<DrainDescription>,
    /// The room outside of which particles of crystals and fluids are taken away.
    pub bounds: Option<Bounds>,
    /// What happens at given times, in the order of the file.
    pub events: Vec<Event>,
    /// What has to come true.
    pub expectations: Vec<Expectation>,
}

impl Scene {
    /// Number of frames after the first, which shows the start.
    pub fn frames(&self) -> u32 {
        (self.duration * self.frame_rate).round().max(1.0) as u32
    }

    /// Lowest and highest temperature that the scene names; `None` where all are the same.
    pub fn temperature_range(&self) -> Option<[f32; 2]> {
        let bodies = self.bodies.iter().map(|body| body.temperature);
        let obstacles = self.obstacles.iter().filter_map(|obstacle| obstacle.temperature);
        let heatings = self.heatings.iter().flat_map(|heating| {
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

    /// Number of the frame that shows best what the scene is about; the middle one where nothing is said.
    pub fn poster_frame(&self) -> u32 {
        let moment = self.poster.unwrap_or(0.5 * self.duration);
        ((moment * self.frame_rate).round() as u32).min(self.frames())
    }
}

/// Where pictures are taken from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where the camera is, m.
    pub eye: Vec3,
    /// What it looks at, m.
    pub target: Vec3,
    /// Vertical angle of view, degrees.
    pub field_of_view: f32,
}

/// How time is cut into steps; what is `None` is left to the engine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepDescription {
    /// Sub-steps of every frame.
    pub substeps: Option<u32>,
    /// Longest step, s.
    pub max_step: Option<f64>,
    /// Most sub-steps of a frame when they are chosen automatically.
    pub max_substeps: Option<u32>,
    /// Rounds of the contact solver per step.
    pub contact_rounds: Option<u32>,
}

/// The rigid part of a placement.
pub(crate) fn pose_of(placement: &Placement) -> Pose {
    Pose { at: placement.at, turn: placement.rotation() }
}
