//! Springs of a lattice of box-shaped cells: twelve edges and two diagonals of each of the six faces.

use crate::Real;

/// Poisson's ratio of every isotropic lattice of springs: central forces leave no other (Cauchy's relations).
pub const POISSON_RATIO: Real = 0.25;

/// Stiffness of the inner springs of a lattice, divided by Young's modulus, m.
///
/// An edge inside a lattice belongs to four cells and a diagonal to two, so a cell contributes a quarter and a half of
/// these. Springs at surfaces then are weaker, and Young's modulus does not depend on the resolution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellSprings {
    /// Edges along x, y and z.
    pub edges: [Real; 3],
    /// Diagonals of the faces across x, y and z.
    pub diagonals: [Real; 3],
}

/// The springs that make a lattice of cells of this size isotropic; `None` where a cell is so flat that an edge would
/// have to push apart instead of pulling back.
///
/// A spring of stiffness `K`, length `L` and direction `n` adds `K L^2 (n.e.n)^2 / 2` to the energy of a strain `e`. With
/// diagonals `D3 = 0.2 E c (a^2 + b^2)/(a b)` across the third axis (cyclic) and edges
/// `K1 = 0.4 E (b c/a) (3 - a^2/b^2 - a^2/c^2)` the sum over a cell `a b c` is that of a solid with `lambda = mu = 0.4 E`. For
/// cubes all are `0.4 E a`.
pub fn isotropic_springs(size: [Real; 3]) -> Option<CellSprings> {
    let [a, b, c] = size;
    let edge = |a: Real, b: Real, c: Real| 0.4 * (b * c / a) * (3.0 - (a * a) / (b * b) - (a * a) / (c * c));
    let diagonal = |a: Real, b: Real, c: Real| 0.2 * c * (a * a + b * b) / (a * b);
    let edges = [edge(a, b, c), edge(b, c, a), edge(c, a, b)];
    let diagonals = [diagonal(b, c, a), diagonal(c, a, b), diagonal(a, b, c)];
    edges.iter().all(|&edge| edge > 0.0).then_some(CellSprings { edges, diagonals })
}

/// Longest step of semi-implicit Euler, as a part `safety` of the limit, s, where the fastest swing has the squared angular
/// frequency `swing` (1/s2) and the strongest damping the rate `braking` (1/s).
///
/// The scheme `v += dt (-swing x - braking v)`, `x += dt v` is stable while `swing dt^2 + 2 braking dt < 4`.
pub fn stable_step(swing: f64, braking: f64, safety: f64) -> f64 {
    let root = braking + (braking * braking + 4.0 * swing).sqrt();
    if root > 0.0 { safety * 4.0 / root } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elastic constants of a cell by summing its springs: `C[i][j]` for stretches, and for shears.
    fn constants(size: [Real; 3], springs: &CellSprings) -> ([[f64; 3]; 3], [f64; 3]) {
        let a = size.map(f64::from);
        let volume = a[0] * a[1] * a[2];
        let (mut stretch, mut shear) = ([[0.0; 3]; 3], [0.0; 3]);
        let mut add = |stiffness: Real, way: [f64; 3]| {
            let square: f64 = way.iter().map(|x| x * x).sum();
            let k = f64::from(stiffness) / (volume * square);
            for i in 0..3 {
                for j in 0..3 {
                    stretch[i][j] += k * way[i] * way[i] * way[j] * way[j];
                }
                let (p, q) = ((i + 1) % 3, (i + 2) % 3);
                shear[i] += k * (way[p] * way[q]).powi(2);
            }
        };
        for axis in 0..3 {
            let mut way = [0.0; 3];
            way[axis] = a[axis];
            add(springs.edges[axis], way);
            let (p, q) = ((axis + 1) % 3, (axis + 2) % 3);
            for sign in [1.0, -1.0] {
                let mut way = [0.0; 3];
                (way[p], way[q]) = (a[p], sign * a[q]);
                add(springs.diagonals[axis], way);
            }
        }
        (stretch, shear)
    }

    #[test]
    fn box_cells_are_isotropic_with_the_asked_modulus_and_a_quarter_for_poisson() {
        for size in [[0.1, 0.1, 0.1], [0.1, 0.11, 0.09], [1.8, 1.7, 1.5]] {
            let springs = isotropic_springs(size).unwrap();
            let (stretch, shear) = constants(size, &springs);
            for i in 0..3 {
                for j in 0..3 {
                    let wanted = if i == j { 1.2 } else { 0.4 };
                    assert!((stretch[i][j] - wanted).abs() < 1e-6, "{size:?}: {stretch:?}");
                }
                assert!((shear[i] - 0.4).abs() < 1e-6, "{size:?}: {shear:?}");
            }
        }
        let cube = isotropic_springs([0.1; 3]).unwrap();
        assert!(cube.edges.iter().chain(&cube.diagonals).all(|k| (k - 0.04).abs() < 1e-7));
    }

    #[test]
    fn flat_cells_are_refused() {
        assert_eq!(isotropic_springs([2.0, 1.0, 1.0]), None);
    }

    #[test]
    fn the_stable_step_is_where_the_scheme_stops_to_decay() {
        let grows = |swing: f64, braking: f64, dt: f64| {
            let (mut x, mut v) = (1.0, 0.0);
            for _ in 0..2000 {
                v += dt * (-swing * x - braking * v);
                x += dt * v;
            }
            !x.is_finite() || f64::abs(x) > 1e3
        };
        for (swing, braking) in [(1e4, 0.0), (1e4, 10.0), (1e4, 500.0), (4.0, 8.0), (1e-3, 100.0)] {
            assert!(!grows(swing, braking, stable_step(swing, braking, 0.99)));
            assert!(grows(swing, braking, stable_step(swing, braking, 1.01)));
        }
        assert_eq!(stable_step(0.0, 0.0, 0.5), f64::INFINITY);
        assert_eq!(stable_step(0.0, 4.0, 0.5), 0.25);
    }
}
