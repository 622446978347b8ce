//! Frictional heat. Nothing here runs unless a material takes frictional heat.

use crate::material::Material;
use crate::world::World;

/// Returns true if friction heats any material.
pub(in crate::contact) fn friction_heats_any(world: &World) -> bool {
    world.materials.iter().any(|material| material.heat.from_work.friction > 0.0)
}

/// Material of a particle.
pub(in crate::contact) fn material_of(world: &World, particle: u32) -> &Material {
    let body = &world.bodies[world.particles.body[particle as usize].0 as usize];
    &world.materials[body.material.0 as usize]
}

/// Splits the work of friction between two materials into the heat of each side, J.
///
/// Sliding surfaces have one temperature, so heat divides by effusivity, the square root of conductivity
/// times density times specific heat. Each side then keeps the fraction that its material specifies.
pub(in crate::contact) fn split_friction_heat(sides: [&Material; 2], work: f64) -> [f64; 2] {
    let [a, b] = sides.map(|material| f64::from(material.effusivity()));
    let share = if a + b > 0.0 { a / (a + b) } else { 0.5 };
    let [p, q] = sides.map(|material| f64::from(material.heat.from_work.friction));
    [p * share * work, q * (1.0 - share) * work]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::material::{HeatFromWork, ThermalProperties};

    #[test]
    fn heat_divides_by_effusivity_and_each_side_keeps_its_fraction() {
        let material = |conductivity: f32, friction: f32| Material {
            heat: ThermalProperties {
                conductivity: glam::Vec3::splat(conductivity),
                from_work: HeatFromWork { friction, ..HeatFromWork::default() },
                ..ThermalProperties::default()
            },
            ..Material::default()
        };
        let (conductive, insulating) = (material(9.0, 1.0), material(1.0, 0.5));
        assert_eq!(split_friction_heat([&conductive, &insulating], 8.0), [6.0, 1.0]);
        assert_eq!(split_friction_heat([&conductive, &conductive], 8.0), [4.0, 4.0]);
        let none = material(0.0, 1.0);
        assert_eq!(split_friction_heat([&none, &none], 8.0), [4.0, 4.0], "two perfect insulators share evenly");
    }
}
