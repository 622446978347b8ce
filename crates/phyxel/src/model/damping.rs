//! Reference frequency of the damping ratio of a material.

use crate::Real;
use glam::Vec3;
use phyxel_laws::shape_matching::gain::bar_time_constant;

/// Angular frequency of the lowest longitudinal mode of a bar as long as the body, 1/s.
///
/// `damping = 1` of a material is critical damping at this frequency.
pub(crate) fn lowest_bar_frequency(rest: &[Vec3], young: Real, density: Real) -> f64 {
    let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let (min, max) = rest.iter().fold(start, |(min, max), &x| (min.min(x), max.max(x)));
    let length = (max - min).max_element();
    1.0 / f64::from(bar_time_constant(length, young, density)).max(1e-30)
}
