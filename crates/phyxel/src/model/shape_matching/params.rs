//! Parameters of clusters from the settings of a body, its material and temperature.

use super::batch::Misfit;
use super::batches::StepGains;
use super::settings::{MatchingMode, ShapeMatchingSettings};
use super::thermal::ThermalState;
use crate::Real;
use crate::material::{HeatFromWork, Material};
use phyxel_laws::shape_matching::gain;
use phyxel_laws::shape_matching::{LINEAR, Mode, QUADRATIC, RIGID};

/// Fraction of its stiffness that a molten cluster keeps. With none its particles would fall into one layer
/// like dust; with a tenth the body is coherent and yields like something molten.
const MOLTEN_STIFFNESS: Real = 0.1;

/// Parameters of clusters of one body at one temperature.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClusterParams {
    pub mode: Mode,
    pub beta: Real,
    pub keep_volume: bool,
    /// Time constant, s.
    tau: f64,
    /// Damping ratio, if no rate is given.
    damping_ratio: f64,
    /// Damping rate, 1/s.
    damping_rate: Option<f64>,
    /// Fractions of dissipated work that become heat.
    pub from_work: HeatFromWork,
}

impl ClusterParams {
    /// Parameters of a body whose clusters have this mean length (m), in this thermal state.
    pub fn new(settings: &ShapeMatchingSettings, material: &Material, length: Real, state: ThermalState) -> Self {
        let young = young_modulus(material, state);
        let tau = settings.tau.unwrap_or_else(|| gain::bar_time_constant(length, young, material.density));
        Self {
            mode: match settings.mode {
                MatchingMode::Rigid => RIGID,
                MatchingMode::Linear => LINEAR,
                MatchingMode::Quadratic => QUADRATIC,
            },
            beta: settings.beta,
            keep_volume: settings.keep_volume,
            tau: f64::from(tau),
            damping_ratio: f64::from(damping_ratio(material, state)),
            damping_rate: settings.damping_rate.map(f64::from),
            from_work: material.heat.from_work,
        }
    }

    /// Gain `alpha` of a step.
    fn alpha(&self, dt: f64) -> f64 {
        gain::alpha(dt, self.tau)
    }

    /// Gains of a step.
    pub fn gains(&self, dt: f64) -> StepGains {
        let alpha = self.alpha(dt);
        let damping = match self.damping_rate {
            Some(rate) => gain::damping_from_rate(rate, dt),
            None => gain::damping_from_ratio(self.damping_ratio, dt, self.tau),
        };
        StepGains { velocity_gain: (alpha / dt) as f32, damping: damping as f32 }
    }

    /// Elastic energy (J), whose gradient is the correction: `alpha/(2 dt^2)` times the weighted squared
    /// distances.
    pub fn elastic_energy(&self, dt: f64, mass: f64, misfit: &Misfit) -> f64 {
        let beta = self.followed_fraction();
        0.5 * self.alpha(dt) / (dt * dt) * mass * (beta * misfit.fitted + (1.0 - beta) * misfit.rigid)
    }

    /// Fraction of a deformation that the goal follows.
    fn followed_fraction(&self) -> f64 {
        if self.mode == RIGID { 0.0 } else { f64::from(self.beta) }
    }
}

/// Damping ratio of a cluster: it rises to critical with softness; molten material does not oscillate.
fn damping_ratio(material: &Material, state: ThermalState) -> Real {
    let softness = material.heat.softness(state.temperature, state.liquid_fraction);
    material.damping + (1.0 - material.damping).max(0.0) * softness
}

/// Young's modulus of a cluster, Pa.
pub(super) fn young_modulus(material: &Material, state: ThermalState) -> Real {
    let fraction = material.heat.mixture_stiffness_fraction(state.temperature, state.liquid_fraction);
    material.young_modulus.at(state.temperature) * fraction.max(MOLTEN_STIFFNESS)
}
