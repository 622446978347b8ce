//! Heat of dissipated work, which models and contacts accumulate during the step.

use crate::world::World;

/// Adds the accumulated heat of dissipation to the enthalpies. Returns true if there was any.
pub(crate) fn apply_dissipation(world: &mut World) -> bool {
    let mut dissipated = std::mem::take(&mut world.particles.dissipated_heat);
    let particles = &mut world.particles;
    for ((enthalpy, mass), heat) in particles.enthalpy.iter_mut().zip(&particles.mass).zip(&dissipated) {
        *enthalpy += heat / f64::from(*mass);
    }
    let total: f64 = dissipated.iter().sum();
    world.heat_in += total;
    dissipated.clear();
    // Keeps the allocation for the next step.
    world.particles.dissipated_heat = dissipated;
    total != 0.0
}
