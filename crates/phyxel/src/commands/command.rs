//! Command types: changes to a world, applied at the start of a step.
//!
//! Scene events, a viewer's pointer and scripts all issue these commands, so that any interaction can be recorded and
//! replayed.

use crate::Real;
use crate::body::NewBody;
use crate::emission::Drain;
use crate::emission::Emitter;
use crate::heating::{Exchange, Radiation};
use crate::material::{Curve, Friction, Plasticity};
use crate::model::continuum::Integration;
use crate::model::shape_matching::MatchingMode;
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// A change to a world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Changes one setting of a body, an obstacle, a material, a heating, an emitter, a drain or the world.
    Set {
        /// Owner of the setting; [`Target::World`] for gravity.
        target: Target,
        /// Setting with its new value.
        setting: Setting,
    },
    /// Adds to the velocity of particles of a body, m/s.
    Push {
        /// Name of a body.
        body: String,
        /// Affected particles.
        region: Region,
        /// m/s.
        velocity: Vec3,
    },
    /// Sets the temperature of particles of a body. The heat this takes counts as heat input.
    Warm {
        /// Name of a body.
        body: String,
        /// Affected particles.
        region: Region,
        /// In the scene's scale.
        temperature: Real,
    },
    /// Fixes particles of a body, or releases them.
    Hold {
        /// Name of a body.
        body: String,
        /// Affected particles.
        region: Region,
        /// True fixes, false releases.
        on: bool,
    },
    /// Starts or moves a drag of one particle: a critically damped spring to the pointer, limited in force.
    Drag(Drag),
    /// Ends the drag of a body, if there is one.
    Release {
        /// Name of a body.
        body: String,
    },
    /// Cuts a body along a plane in its rest frame.
    Cut {
        /// Name of a body.
        body: String,
        /// Point on the plane, m.
        point: Vec3,
        /// Normal of the plane.
        normal: Vec3,
    },
    /// Adds a body.
    Add(Box<NewBody>),
    /// Adds an emitter, or replaces the one of the same name.
    Emit(Emitter),
    /// Adds a drain, or replaces the one of the same name.
    Drain(Drain),
    /// Removes a body with all its particles.
    Remove {
        /// Name of a body.
        body: String,
    },
}

/// Owner of a setting.
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
    /// Body, obstacle, heating or emitted particles: temperature in the scene's scale.
    Temperature(Real),
    /// Body: the velocity of all its particles, m/s.
    Velocity(Vec3),
    /// Emitter: speed of its stream, m/s.
    Speed(Real),
    /// Body: name of its new material.
    Material(String),
    /// Body (shape matching): deformation mode.
    Mode(MatchingMode),
    /// Body (shape matching): weight of the linear or quadratic deformation against the rotation.
    Beta(Real),
    /// Body (shape matching): time constant of the goal positions, s.
    Tau(Option<Real>),
    /// Body: damping rate, 1/s.
    DampingRate(Option<Real>),
    /// Body (mass-spring): formation of new springs between close, cold molecules.
    Refreeze(bool),
    /// Body (continuum): the reference configuration follows the present one.
    Flowing(bool),
    /// Body: volume-preserving plastic flow.
    Deviatoric(bool),
    /// Body: time integration scheme.
    Integration(Integration),
    /// Obstacle or material: coefficients of friction.
    Friction(Friction),
    /// Obstacle or material: coefficient of restitution, 0 to 1.
    Restitution(Real),
    /// Obstacle: adhesion, Pa.
    Adhesion(Real),
    /// Obstacle, heating, emitter or drain: enabled.
    Active(bool),
    /// Material: Young's modulus, Pa.
    YoungModulus(Curve),
    /// Material: Poisson's ratio.
    PoissonRatio(Real),
    /// Material: damping ratio (fraction of critical damping).
    Damping(Real),
    /// Material: tensile strength, Pa, over temperature.
    Strength(Option<Curve>),
    /// Material: plastic flow.
    Plasticity(Option<Plasticity>),
    /// Material: dynamic viscosity, Pa s, over temperature.
    Viscosity(Curve),
    /// Material: relative cohesion of the melt, over temperature.
    Cohesion(Curve),
    /// Material: softening temperature.
    Softening(Option<Real>),
    /// Material: melting temperature.
    Melting(Option<Real>),
    /// Material: boiling temperature.
    Boiling(Option<Real>),
    /// Heating: heat flux, W/m2.
    Flux(Real),
    /// Heating: volumetric heat source, W/m3.
    Power(Real),
    /// Heating: convective exchange.
    Exchange(Option<Exchange>),
    /// Heating: radiative exchange.
    Radiation(Option<Radiation>),
}

impl Setting {
    /// Temperature that it sets, in the scene's scale.
    pub fn temperature(&self) -> Option<Real> {
        match self {
            Self::Temperature(temperature) => Some(*temperature),
            _ => None,
        }
    }

    /// Name in scene files.
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
            Self::Adhesion(_) => "adhesion",
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

/// Selection of particles of a body by their rest positions in the body frame, or by id.
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
    /// Particles with these ids.
    Ids(Vec<u32>),
}

/// Drag of one particle towards a pointer by a critically damped spring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drag {
    /// Name of a body.
    pub body: String,
    /// Id of the particle within the body.
    pub particle: u32,
    /// Position of the pointer, m.
    pub target: Vec3,
    /// Time constant with which a free particle approaches the pointer, s.
    pub tau: Real,
    /// Maximum force, N.
    pub max_force: Real,
}
