//! Reference frequency of the damping ratio of a material.

use crate::Real;
use crate::numerics::Aabb;
use glam::Vec3;
use phyxel_laws::shape_matching::gain::bar_time_constant;

/// Angular frequency of the lowest longitudinal mode of a bar as long as the body, 1/s.
///
/// `damping = 1` of a material is critical damping at this frequency.
pub(crate) fn lowest_bar_frequency(rest: &[Vec3], young: Real, density: Real) -> f64 {
    let length = Aabb::from_points(rest.iter().copied()).extent().max_element();
    1.0 / f64::from(bar_time_constant(length, young, density)).max(1e-30)
}
