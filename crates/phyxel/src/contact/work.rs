//! The heat that friction makes. Nothing here runs unless a material asks for it.

use crate::material::Material;
use crate::world::World;

/// Whether friction warms any matter.
pub(super) fn friction_warms(world: &World) -> bool {
    world.materials.iter().any(|material| material.heat.from_work.friction > 0.0)
}

/// What a particle is made of.
pub(super) fn matter(world: &World, particle: u32) -> &Material {
    let body = &world.bodies[world.particles.body[particle as usize].0 as usize];
    &world.materials[body.material.0 as usize]
}

/// Heat of each side, J, of the work that friction between two kinds of matter takes, J.
///
/// Faces that rub have one temperature, so heat goes into each as well as it takes it up: by effusivity, the root of
/// conductivity, density and specific heat. Each side then keeps the part that its material says.
pub(super) fn shared_heat(sides: [&Material; 2], work: f64) -> [f64; 2] {
    let [a, b] = sides.map(|material| f64::from(material.effusivity()));
    let share = if a + b > 0.0 { a / (a + b) } else { 0.5 };
    let [p, q] = sides.map(|material| f64::from(material.heat.from_work.friction));
    [p * share * work, q * (1.0 - share) * work]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::material::{Heat, HeatFromWork};

    #[test]
    fn what_takes_heat_up_better_gets_more_of_it_and_keeps_the_part_it_says() {
        let asking = |conductivity: f32, friction: f32| Material {
            heat: Heat {
                conductivity: glam::Vec3::splat(conductivity),
                from_work: HeatFromWork { friction, ..HeatFromWork::default() },
                ..Heat::default()
            },
            ..Material::default()
        };
        let (good, poor) = (asking(9.0, 1.0), asking(1.0, 0.5));
        assert_eq!(shared_heat([&good, &poor], 8.0), [6.0, 1.0]);
        assert_eq!(shared_heat([&good, &good], 8.0), [4.0, 4.0]);
        let none = asking(0.0, 1.0);
        assert_eq!(shared_heat([&none, &none], 8.0), [4.0, 4.0], "two that take none up share evenly");
    }
}
