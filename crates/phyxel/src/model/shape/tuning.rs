//! What the settings of a body and its material mean for the pull of a step.

use super::packs::{Misfit, Pace};
use super::settings::{ShapeMode, ShapeSettings};
use super::warmth::Warmth;
use crate::Real;
use crate::material::{HeatFromWork, Material};
use phyxel_laws::matching::{Kind, LINEAR, QUADRATIC, RIGID};
use phyxel_laws::stiffness;

/// Part of its stiffness that a molten cluster keeps: without any pull its particles would be dust that falls into
/// one layer. A body that is ten times slower hangs together and still gives way like something molten.
const MOLTEN_STIFFNESS: Real = 0.1;

/// What follows from the settings of a body, its material and a temperature.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
    pub kind: Kind,
    pub beta: Real,
    pub keep_volume: bool,
    /// Time constant of the pull, s.
    tau: f64,
    /// Part of critical damping, if no rate is given.
    damping: f64,
    /// 1/s.
    damping_rate: Option<f64>,
    /// Parts of lost work that warm it.
    pub from_work: HeatFromWork,
}

impl Tuning {
    /// Of a body whose clusters have this length, m, where it is this warm.
    pub fn new(settings: &ShapeSettings, material: &Material, length: Real, warmth: Warmth) -> Self {
        let young = young_modulus(material, warmth);
        let tau = settings.tau.unwrap_or_else(|| stiffness::bar_time_constant(length, young, material.density));
        Self {
            kind: match settings.mode {
                ShapeMode::Rigid => RIGID,
                ShapeMode::Linear => LINEAR,
                ShapeMode::Quadratic => QUADRATIC,
            },
            beta: settings.beta,
            keep_volume: settings.keep_volume,
            tau: f64::from(tau),
            damping: f64::from(damping(material, warmth)),
            damping_rate: settings.damping_rate.map(f64::from),
            from_work: material.heat.from_work,
        }
    }

    /// Pull `alpha` of a step.
    fn alpha(&self, dt: f64) -> f64 {
        stiffness::pull(dt, self.tau)
    }

    pub fn pace(&self, dt: f64) -> Pace {
        let alpha = self.alpha(dt);
        let damp = match self.damping_rate {
            Some(rate) => stiffness::damped_part(rate, dt),
            None => stiffness::material_damping(self.damping, dt, self.tau),
        };
        Pace { pull: (alpha / dt) as f32, damp: damp as f32 }
    }

    /// `alpha/(2 dt^2)` times the weighted square distances: the energy whose gradient is the pull, J.
    pub fn elastic_energy(&self, dt: f64, mass: f64, misfit: &Misfit) -> f64 {
        let beta = self.followed();
        0.5 * self.alpha(dt) / (dt * dt) * mass * (beta * misfit.fitted + (1.0 - beta) * misfit.rigid)
    }

    /// Part of a deformation that the goal follows.
    fn followed(&self) -> f64 {
        if self.kind == RIGID { 0.0 } else { f64::from(self.beta) }
    }
}

/// Part of critical damping of a cluster: the softer it is, the nearer to critical. Molten matter does not ring.
fn damping(material: &Material, warmth: Warmth) -> Real {
    let softness = material.heat.softness(warmth.temperature, warmth.molten);
    material.damping + (1.0 - material.damping).max(0.0) * softness
}

/// Young's modulus of a cluster, Pa.
pub(super) fn young_modulus(material: &Material, warmth: Warmth) -> Real {
    let left = material.heat.stiffness_of_mix(warmth.temperature, warmth.molten);
    material.young_modulus.at(warmth.temperature) * left.max(MOLTEN_STIFFNESS)
}
