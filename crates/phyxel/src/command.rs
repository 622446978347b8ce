//! The only way back into a world: a list of commands, applied at the start of a step.
//!
//! Scene events, a viewer's pointer and scripts all speak this language, so whatever is done live can be
//! recorded and replayed.

use crate::Real;
use crate::body::NewBody;
use crate::drain::Drain;
use crate::emitter::Emitter;
use crate::heating::{Exchange, Radiation};
use crate::material::{Curve, Friction, Plasticity};
use crate::model::continuum::Integration;
use crate::model::shape::ShapeMode;
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// A change to a world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Changes one setting of a body, an obstacle, a material, a heating, an emitter, a drain or the world.
    Set {
        /// What to change; [`Target::World`] for gravity.
        target: Target,
        /// The setting and its new value.
        setting: Setting,
    },
    /// Adds to the velocity of particles of a body, m/s.
    Push {
        /// Name of a body.
        body: String,
        /// Which particles.
        region: Region,
        /// m/s.
        velocity: Vec3,
    },
    /// Brings particles of a body to a temperature at once. The heat that takes is counted as coming in.
    Warm {
        /// Name of a body.
        body: String,
        /// Which particles.
        region: Region,
        /// In the scene's scale.
        temperature: Real,
    },
    /// Holds particles of a body in place, or lets them go.
    Hold {
        /// Name of a body.
        body: String,
        /// Which particles.
        region: Region,
        /// True holds, false lets go.
        on: bool,
    },
    /// Starts or moves a pull on one particle: a critically damped spring to the pointer, limited in force.
    Drag(Drag),
    /// Ends the pull on a body, if there is one.
    Release {
        /// Name of a body.
        body: String,
    },
    /// Parts a body along a plane given in its own frame at rest.
    Cut {
        /// Name of a body.
        body: String,
        /// A point of the plane, m.
        point: Vec3,
        /// Across the plane.
        normal: Vec3,
    },
    /// Adds a body.
    Add(Box<NewBody>),
    /// Starts an emitter, in the place of the one of its name if there is one.
    Emit(Emitter),
    /// Starts a drain, in the place of the one of its name if there is one.
    Drain(Drain),
    /// Removes a body with all its particles.
    Remove {
        /// Name of a body.
        body: String,
    },
}

/// What a setting belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// The world itself.
    World,
    /// A body, by name.
    Body(String),
    /// An obstacle, by name.
    Obstacle(String),
    /// A material, by name.
    Material(String),
    /// A heating, by name.
    Heating(String),
    /// An emitter, by name.
    Emitter(String),
    /// A drain, by name.
    Drain(String),
}

/// A setting that may change at run time, with its new value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Setting {
    /// World: m/s2.
    Gravity(Vec3),
    /// Body, obstacle, heating or what comes out of an emitter: temperature in the scene's scale.
    Temperature(Real),
    /// Body: the velocity of all its particles, m/s.
    Velocity(Vec3),
    /// Emitter: speed of its stream, m/s.
    Speed(Real),
    /// Body: name of the material it is made of from now on.
    Material(String),
    /// Body: kinds of deformation.
    Mode(ShapeMode),
    /// Body: part of the deformation that the goal follows.
    Beta(Real),
    /// Body: time constant of the pull, s.
    Tau(Option<Real>),
    /// Body: 1/s.
    DampingRate(Option<Real>),
    /// Body: whether molecules that are near each other and cold make new springs.
    Refreeze(bool),
    /// Body: whether its reference shape follows the present one.
    Flowing(bool),
    /// Body: whether plastic flow keeps the volume.
    Deviatoric(bool),
    /// Body: how it is stepped.
    Integration(Integration),
    /// Obstacle or material.
    Friction(Friction),
    /// Obstacle or material: 0 to 1.
    Restitution(Real),
    /// Obstacle: Pa.
    Stickiness(Real),
    /// Obstacle: whether it is there. Heating, emitter or drain: whether it works.
    Active(bool),
    /// Material: Young's modulus, Pa.
    YoungModulus(Curve),
    /// Material: Poisson's ratio.
    PoissonRatio(Real),
    /// Material: part of critical damping.
    Damping(Real),
    /// Material: Pa, over temperature.
    Strength(Option<Curve>),
    /// Material: permanent deformation.
    Plasticity(Option<Plasticity>),
    /// Material: Pa s, over temperature.
    Viscosity(Curve),
    /// Material: how strongly the melt holds together, over temperature.
    Cohesion(Curve),
    /// Material: temperature above which it softens.
    Softening(Option<Real>),
    /// Material: temperature at which it melts.
    Melting(Option<Real>),
    /// Material: temperature at which it boils.
    Boiling(Option<Real>),
    /// Heating: W/m2.
    Flux(Real),
    /// Heating: W/m3.
    Power(Real),
    /// Heating: exchange with what is around.
    Exchange(Option<Exchange>),
    /// Heating: radiation.
    Radiation(Option<Radiation>),
}

impl Setting {
    /// The temperature it sets, in the scene's scale.
    pub fn temperature(&self) -> Option<Real> {
        match self {
            Self::Temperature(temperature) => Some(*temperature),
            _ => None,
        }
    }

    /// As scene files write it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Gravity(_) => "gravity",
            Self::Temperature(_) => "temperature",
            Self::Velocity(_) => "velocity",
            Self::Speed(_) => "speed",
            Self::Material(_) => "material",
            Self::Mode(_) => "mode",
            Self::Beta(_) => "beta",
            Self::Tau(_) => "tau",
            Self::DampingRate(_) => "damping_rate",
            Self::Refreeze(_) => "refreeze",
            Self::Flowing(_) => "flowing",
            Self::Deviatoric(_) => "deviatoric",
            Self::Integration(_) => "integration",
            Self::Friction(_) => "friction",
            Self::Restitution(_) => "restitution",
            Self::Stickiness(_) => "stickiness",
            Self::Active(_) => "active",
            Self::YoungModulus(_) => "young_modulus",
            Self::PoissonRatio(_) => "poisson_ratio",
            Self::Damping(_) => "damping",
            Self::Strength(_) => "strength",
            Self::Plasticity(_) => "plasticity",
            Self::Viscosity(_) => "viscosity",
            Self::Cohesion(_) => "cohesion",
            Self::Softening(_) => "softening",
            Self::Melting(_) => "melting",
            Self::Boiling(_) => "boiling",
            Self::Flux(_) => "flux",
            Self::Power(_) => "power",
            Self::Exchange(_) => "exchange",
            Self::Radiation(_) => "radiation",
        }
    }
}

/// Which particles of a body are meant, in the body's own frame at rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Region {
    /// All of them.
    All,
    /// Those in a box.
    Box {
        /// Smallest corner, m.
        min: Vec3,
        /// Largest corner, m.
        max: Vec3,
    },
    /// Those in a ball.
    Ball {
        /// m.
        centre: Vec3,
        /// m.
        radius: Real,
    },
    /// By number within the body, as given at birth.
    Samples(Vec<u32>),
}

/// A pull on one particle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drag {
    /// Name of a body.
    pub body: String,
    /// Number of the particle within the body.
    pub sample: u32,
    /// Where the pointer is, m.
    pub to: Vec3,
    /// Time in which the particle would reach the pointer if nothing held it, s.
    pub tau: Real,
    /// Largest force, N.
    pub limit: Real,
}
