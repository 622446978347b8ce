//! Mass-spring lattice of box-shaped cells: springs along the twelve edges and both diagonals of each of the
//! six faces.

use crate::Real;

/// Poisson's ratio of every isotropic lattice of central forces (Cauchy's relations).
pub const POISSON_RATIO: Real = 0.25;

/// Stiffnesses of the interior springs of a lattice, divided by Young's modulus, m.
///
/// Four cells share an interior edge and two share a diagonal, so each cell contributes a quarter or a half
/// of these. Springs on the surface are weaker accordingly, and Young's modulus does not depend on the
/// resolution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellSprings {
    /// Edges along x, y and z.
    pub edges: [Real; 3],
    /// Diagonals of the faces normal to x, y and z.
    pub diagonals: [Real; 3],
}

/// Spring stiffnesses of an isotropic lattice with cells of this size; `None` if a cell is so flat that an
/// edge would need a negative stiffness.
///
/// A spring of stiffness `K`, length `L` and direction `n` adds `K L^2 (n.e.n)^2 / 2` to the energy of a
/// strain `e`. With diagonals `D3 = 0.2 E c (a^2 + b^2)/(a b)` normal to the third axis (cyclic) and edges
/// `K1 = 0.4 E (b c/a) (3 - a^2/b^2 - a^2/c^2)`, the sum over a cell `a b c` is the energy of a solid with
/// `lambda = mu = 0.4 E`. For cubes all stiffnesses are `0.4 E a`.
pub fn isotropic_springs(size: [Real; 3]) -> Option<CellSprings> {
    let [a, b, c] = size;
    let edge = |a: Real, b: Real, c: Real| 0.4 * (b * c / a) * (3.0 - (a * a) / (b * b) - (a * a) / (c * c));
    let diagonal = |a: Real, b: Real, c: Real| 0.2 * c * (a * a + b * b) / (a * b);
    let edges = [edge(a, b, c), edge(b, c, a), edge(c, a, b)];
    let diagonals = [diagonal(b, c, a), diagonal(c, a, b), diagonal(a, b, c)];
    edges.iter().all(|&edge| edge > 0.0).then_some(CellSprings { edges, diagonals })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elastic constants of a cell, summed over its springs: normal `C[i][j]` and shear.
    fn constants(size: [Real; 3], springs: &CellSprings) -> ([[f64; 3]; 3], [f64; 3]) {
        let a = size.map(f64::from);
        let volume = a[0] * a[1] * a[2];
        let (mut stretch, mut shear) = ([[0.0; 3]; 3], [0.0; 3]);
        let mut add = |stiffness: Real, edge_vector: [f64; 3]| {
            let square: f64 = edge_vector.iter().map(|x| x * x).sum();
            let k = f64::from(stiffness) / (volume * square);
            for i in 0..3 {
                for j in 0..3 {
                    stretch[i][j] += k * edge_vector[i] * edge_vector[i] * edge_vector[j] * edge_vector[j];
                }
                let (p, q) = ((i + 1) % 3, (i + 2) % 3);
                shear[i] += k * (edge_vector[p] * edge_vector[q]).powi(2);
            }
        };
        for axis in 0..3 {
            let mut edge_vector = [0.0; 3];
            edge_vector[axis] = a[axis];
            add(springs.edges[axis], edge_vector);
            let (p, q) = ((axis + 1) % 3, (axis + 2) % 3);
            for sign in [1.0, -1.0] {
                let mut edge_vector = [0.0; 3];
                (edge_vector[p], edge_vector[q]) = (a[p], sign * a[q]);
                add(springs.diagonals[axis], edge_vector);
            }
        }
        (stretch, shear)
    }

    #[test]
    fn box_cells_are_isotropic_with_the_given_modulus_and_a_poisson_ratio_of_one_quarter() {
        for size in [[0.1, 0.1, 0.1], [0.1, 0.11, 0.09], [1.8, 1.7, 1.5]] {
            let springs = isotropic_springs(size).unwrap();
            let (stretch, shear) = constants(size, &springs);
            for i in 0..3 {
                for j in 0..3 {
                    let expected = if i == j { 1.2 } else { 0.4 };
                    assert!((stretch[i][j] - expected).abs() < 1e-6, "{size:?}: {stretch:?}");
                }
                assert!((shear[i] - 0.4).abs() < 1e-6, "{size:?}: {shear:?}");
            }
        }
        let cube = isotropic_springs([0.1; 3]).unwrap();
        assert!(cube.edges.iter().chain(&cube.diagonals).all(|k| (k - 0.04).abs() < 1e-7));
    }

    #[test]
    fn flat_cells_are_rejected() {
        assert_eq!(isotropic_springs([2.0, 1.0, 1.0]), None);
    }
}
