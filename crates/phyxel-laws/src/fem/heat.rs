//! Heat conduction in linear elements.

use super::{EDGES, Element};
use crate::Real;
use glam::Vec3;

/// Conductances of the six edges of an element, W/K, in the order of [`EDGES`]: the heat flow from corner
/// `a` to corner `b` is `conductance (T_a - T_b)`.
///
/// They are the negative off-diagonal entries of the finite element conductivity matrix, `-V g_a k g_b`,
/// and exact for linear temperature fields. `conductivity` is in Voigt order (xx, yy, zz, yz, xz, xy, W/(m
/// K)), in the frame of the reference configuration. Flows are antisymmetric, so heat is conserved. At an
/// edge opposite an obtuse dihedral angle the conductance is negative; sums over the elements around an
/// edge mostly are not, and the assembled matrix is positive semidefinite, so that heat as a whole flows
/// from warm to cold.
pub fn edge_conductances(element: &Element, conductivity: &[Real; 6]) -> [Real; 6] {
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

/// Lumped heat capacity of each corner of an element, J/K, from density (kg/m3) and specific heat capacity
/// (J/(kg K)): a quarter of the element's. The capacity matrix is diagonal, so that no node overshoots its
/// neighbours in a short step.
pub fn lumped_capacity(element: &Element, density: Real, heat_capacity: Real) -> Real {
    0.25 * element.volume * density * heat_capacity
}
