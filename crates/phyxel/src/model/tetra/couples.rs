//! Nodes that are tied, in the equations of implicit steps.
//!
//! Velocities are looked for only among those in which tied nodes move as one. With `P` for the even mean of both in the place of each, the system is
//! `P A P`. Its guide is that of the nodes alone with the mean by how much each resists, `E G E^T`: what pushes a stiff node and a soft one at once moves
//! both as the stiff one moves. (An even mean there would let the soft one lead; see the scaling of Neumann-Neumann methods.)

use super::holds::{By, Hold};
use crate::Real;
use glam::Vec3;

/// Pairs of unknowns that are one.
#[derive(Clone, Debug)]
pub(super) struct Couples {
    pairs: Vec<Couple>,
}

#[derive(Clone, Copy, Debug)]
struct Couple {
    nodes: [usize; 2],
    /// Their parts of what they resist with together.
    parts: [Real; 2],
}

impl Couples {
    /// Of ties among what holds, with how much each unknown resists.
    pub fn new(holds: &[Hold], weights: &[Real]) -> Self {
        let couple = |hold: &Hold| {
            let nodes = [hold.nodes[0], hold.nodes[1]];
            let [p, q] = nodes.map(|node| weights[node]);
            Couple { nodes, parts: [p / (p + q), q / (p + q)] }
        };
        Self { pairs: holds.iter().filter(|hold| hold.by == By::Tie).map(couple).collect() }
    }

    /// Lets both be held where one is.
    pub fn hold(&self, is_held: &mut [bool]) {
        for Couple { nodes: [a, b], .. } in &self.pairs {
            let is_either = is_held[*a] || is_held[*b];
            (is_held[*a], is_held[*b]) = (is_either, is_either);
        }
    }

    /// Gives both the even mean.
    pub fn even(&self, x: &mut [Vec3]) {
        for Couple { nodes: [a, b], .. } in &self.pairs {
            let mean = 0.5 * (x[*a] + x[*b]);
            (x[*a], x[*b]) = (mean, mean);
        }
    }

    /// Gives both the mean by how much they resist.
    pub fn average(&self, x: &mut [Vec3]) {
        for Couple { nodes: [a, b], parts: [p, q] } in &self.pairs {
            let mean = *p * x[*a] + *q * x[*b];
            (x[*a], x[*b]) = (mean, mean);
        }
    }

    /// Shares out what both feel together by how much they resist.
    fn share_out(&self, x: &mut [Vec3]) {
        for Couple { nodes: [a, b], parts: [p, q] } in &self.pairs {
            let sum = x[*a] + x[*b];
            (x[*a], x[*b]) = (*p * sum, *q * sum);
        }
    }

    /// Multiplies a guide of all unknowns, as it is seen by those that are one.
    pub fn guide(&self, left: &[Vec3], better: &mut [Vec3], multiply: impl Fn(&[Vec3], &mut [Vec3])) {
        if self.pairs.is_empty() {
            return multiply(left, better);
        }
        let mut left = left.to_vec();
        self.share_out(&mut left);
        multiply(&left, better);
        self.average(better);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two unknowns and one beside them; the couple resists with 9 and 1.
    fn couples() -> Couples {
        Couples::new(&[Hold::tied([0, 2], [9.0, 1.0])], &[9.0, 4.0, 1.0])
    }

    #[test]
    fn a_guide_by_single_nodes_is_exact_for_a_couple() {
        let left = [Vec3::X, Vec3::Y, Vec3::X];
        let mut better = [Vec3::ZERO; 3];
        let alone = |left: &[Vec3], better: &mut [Vec3]| {
            better
                .iter_mut()
                .zip(left)
                .zip([9.0, 4.0, 1.0])
                .for_each(|((better, left), weight)| *better = *left / weight);
        };
        couples().guide(&left, &mut better, alone);
        // Pushed by 2 in all, 10 kg move by a fifth; the other is as it was. A rounding or two.
        assert!((better[0] - 0.2 * Vec3::X).length() < 1e-6 && better[0] == better[2]);
        assert_eq!(better[1], 0.25 * Vec3::Y);
    }

    #[test]
    fn what_is_tied_to_something_held_is_held() {
        let mut is_held = [false, false, true];
        couples().hold(&mut is_held);
        assert_eq!(is_held, [true, false, true]);
    }

    #[test]
    fn means_keep_what_is_even() {
        let even = [Vec3::ONE, Vec3::Y, Vec3::ONE];
        let (mut by_weight, mut plain) = (even, even);
        couples().average(&mut by_weight);
        couples().even(&mut plain);
        assert_eq!(plain, even);
        // Nine tenths and one tenth in f32.
        assert!((by_weight[0] - Vec3::ONE).length() < 1e-6);
    }
}
