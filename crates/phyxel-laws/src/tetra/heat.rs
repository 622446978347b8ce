//! Heat in linear elements.

use super::{EDGES, Element};
use crate::Real;
use glam::Vec3;

/// How well heat goes along each of the six edges of an element, W/K, in the order of [`EDGES`]: corner `a` gives corner `b`
/// `conductance (T_a - T_b)`.
///
/// For `conductivity` in the order of Voigt (xx, yy, zz, yz, xz, xy, W/(m K)), in the frame of the shape at rest, a field that is
/// linear in space is exact: `-V g_a k g_b`. What one corner gives the other gets, so heat is kept. Across an edge with an obtuse
/// angle a conductance is below 0; sums over the elements around an edge mostly are not, and the whole never flows from cold
/// to warm.
pub fn conductances(element: &Element, conductivity: &[Real; 6]) -> [Real; 6] {
    let [xx, yy, zz, yz, xz, xy] = conductivity.map(f64::from);
    let volume = f64::from(element.volume);
    EDGES.map(|(a, b)| {
        let [g, h] = [element.gradient(a), element.gradient(b)].map(Vec3::as_dvec3);
        let flux = glam::DVec3::new(
            xx * h.x + xy * h.y + xz * h.z,
            xy * h.x + yy * h.y + yz * h.z,
            xz * h.x + yz * h.y + zz * h.z,
        );
        (-volume * g.dot(flux)) as Real
    })
}

/// Heat capacity of each corner of an element, J/K, from density (kg/m3) and heat capacity per mass (J/(kg K)): a quarter of the
/// whole. So the matrix of capacities is diagonal, and no node overshoots its neighbours in a short step.
pub fn capacity_share(element: &Element, density: Real, heat_capacity: Real) -> Real {
    0.25 * element.volume * density * heat_capacity
}
