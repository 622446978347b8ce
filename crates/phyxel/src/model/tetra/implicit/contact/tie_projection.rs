//! Tied nodes in the implicit solve: multi-point constraints by projection.
//!
//! The solve is restricted to velocities that are equal at tied nodes. With the orthogonal projection `P`
//! onto them (the mean of each pair) the system is `P A P`. The preconditioner is `E M^-1 E^T`, with the
//! preconditioner `M^-1` of the unconstrained system and the mean `E` weighted by effective mass. (With
//! plain means the softer node of a pair would dominate; compare the scaling of Neumann-Neumann methods.)

use super::constraint::{Constraint, ConstraintKind};
use crate::Real;
use glam::Vec3;

/// Projection onto vectors that are equal at tied nodes.
#[derive(Clone, Debug)]
pub(in crate::model::tetra) struct TieProjection {
    pairs: Vec<TiedPair>,
}

#[derive(Clone, Copy, Debug)]
struct TiedPair {
    nodes: [usize; 2],
    /// Fractions of their joint effective mass.
    weights: [Real; 2],
}

impl TieProjection {
    /// Collects the ties among the constraints; `masses` are effective masses by node, kg.
    pub fn new(constraints: &[Constraint], masses: &[Real]) -> Self {
        let pair = |constraint: &Constraint| {
            let nodes = [constraint.nodes[0], constraint.nodes[1]];
            let [p, q] = nodes.map(|node| masses[node]);
            TiedPair { nodes, weights: [p / (p + q), q / (p + q)] }
        };
        let ties = constraints.iter().filter(|constraint| constraint.kind == ConstraintKind::Tie);
        Self { pairs: ties.map(pair).collect() }
    }

    /// Fixes both nodes of a pair where one is fixed.
    pub fn fix_together(&self, is_fixed: &mut [bool]) {
        for TiedPair { nodes: [a, b], .. } in &self.pairs {
            let is_either = is_fixed[*a] || is_fixed[*b];
            (is_fixed[*a], is_fixed[*b]) = (is_either, is_either);
        }
    }

    /// Applies `P`: both nodes of a pair get their mean.
    pub fn project(&self, x: &mut [Vec3]) {
        for TiedPair { nodes: [a, b], .. } in &self.pairs {
            let mean = 0.5 * (x[*a] + x[*b]);
            (x[*a], x[*b]) = (mean, mean);
        }
    }

    /// Applies `E`: both nodes of a pair get their weighted mean.
    pub fn average(&self, x: &mut [Vec3]) {
        for TiedPair { nodes: [a, b], weights: [p, q] } in &self.pairs {
            let mean = *p * x[*a] + *q * x[*b];
            (x[*a], x[*b]) = (mean, mean);
        }
    }

    /// Applies `E^T`: splits the sum of a pair by weight.
    fn transpose_average(&self, x: &mut [Vec3]) {
        for TiedPair { nodes: [a, b], weights: [p, q] } in &self.pairs {
            let sum = x[*a] + x[*b];
            (x[*a], x[*b]) = (*p * sum, *q * sum);
        }
    }

    /// Computes `z = E M^-1 E^T r` from a function that applies `M^-1`.
    pub fn precondition(&self, r: &[Vec3], z: &mut [Vec3], apply: impl Fn(&[Vec3], &mut [Vec3])) {
        if self.pairs.is_empty() {
            return apply(r, z);
        }
        let mut r = r.to_vec();
        self.transpose_average(&mut r);
        apply(&r, z);
        self.average(z);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tied pair of 9 and 1 kg, and one node between them.
    fn projection() -> TieProjection {
        TieProjection::new(&[Constraint::tie([0, 2], [9.0, 1.0])], &[9.0, 4.0, 1.0])
    }

    #[test]
    fn a_diagonal_preconditioner_is_exact_for_a_tied_pair() {
        let r = [Vec3::X, Vec3::Y, Vec3::X];
        let mut z = [Vec3::ZERO; 3];
        let jacobi = |r: &[Vec3], z: &mut [Vec3]| {
            z.iter_mut().zip(r).zip([9.0, 4.0, 1.0]).for_each(|((z, r), mass)| *z = *r / mass);
        };
        projection().precondition(&r, &mut z, jacobi);
        // An impulse of 2 on 10 kg makes 0.2 m/s; the free node is as before. A rounding or two.
        assert!((z[0] - 0.2 * Vec3::X).length() < 1e-6 && z[0] == z[2]);
        assert_eq!(z[1], 0.25 * Vec3::Y);
    }

    #[test]
    fn a_node_tied_to_a_fixed_node_is_fixed() {
        let mut is_fixed = [false, false, true];
        projection().fix_together(&mut is_fixed);
        assert_eq!(is_fixed, [true, false, true]);
    }

    #[test]
    fn projections_keep_equal_values() {
        let equal = [Vec3::ONE, Vec3::Y, Vec3::ONE];
        let (mut averaged, mut projected) = (equal, equal);
        projection().average(&mut averaged);
        projection().project(&mut projected);
        assert_eq!(projected, equal);
        // Nine tenths and one tenth in f32.
        assert!((averaged[0] - Vec3::ONE).length() < 1e-6);
    }
}
