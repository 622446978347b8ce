//! Heat from work: what models and contacts noted during the step.

use crate::world::World;

/// Gives particles the heat that work made in this step; whether there was any.
pub(crate) fn take_up_work(world: &mut World) -> bool {
    let mut made = std::mem::take(&mut world.particles.heat_made);
    let particles = &mut world.particles;
    for ((enthalpy, mass), heat) in particles.enthalpy.iter_mut().zip(&particles.mass).zip(&made) {
        *enthalpy += heat / f64::from(*mass);
    }
    let total: f64 = made.iter().sum();
    world.heat_in += total;
    made.clear();
    // The memory is kept for the next step.
    world.particles.heat_made = made;
    total != 0.0
}
