//! Line search by bisection on the directional derivative of the energy, with acceptance of the full step.

use super::contact::constraint::Constraint;
use crate::Real;
use crate::numerics::pcg::BlockPartition;
use crate::parallel;
use glam::Vec3;

/// A full step is taken if the slope at its end is at most this fraction of the initial descent.
const SLOPE_TOL: f64 = 0.1;
/// Bisections of the step length.
const BISECTIONS: u32 = 12;
/// Constraints per task.
const CONTACT_GRAIN: usize = 256;

/// Step length of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepLength {
    /// Fraction of the direction.
    pub length: Real,
    /// True if the energy along the direction differs from its quadratic model.
    pub model_mismatch: bool,
}

impl StepLength {
    pub const FULL: Self = Self { length: 1.0, model_mismatch: false };
}

/// Finds the step length `t` of each block along a direction: the full step if the energy hardly increases at
/// its end or a constraint is inconsistent with the velocities, otherwise the minimiser, by bisection.
///
/// `line` is the velocities and the direction, by row. The energy of a block changes by `-slope t +
/// curvature t^2 / 2` without contacts, J, and by the potentials of its constraints.
pub(super) fn line_search(
    constraints: &[Constraint],
    line: (&[Vec3], &[Vec3]),
    partition: &BlockPartition,
    [slopes, curvatures]: [&[f64]; 2],
) -> Vec<StepLength> {
    let mut by_block: Vec<Vec<&Constraint>> = vec![Vec::new(); partition.count()];
    constraints.iter().for_each(|constraint| by_block[partition.block(constraint.nodes[0])].push(constraint));
    let search = |(block, constraints): (usize, Vec<&Constraint>)| {
        let derivative = |t: Real| {
            let contact = parallel::map(constraints.len(), CONTACT_GRAIN, |k| {
                f64::from(constraints[k].directional_derivative(line, t))
            });
            f64::from(t) * curvatures[block] - slopes[block] + contact.iter().sum::<f64>()
        };
        // The energy means nothing while a constraint is inconsistent with the velocities at the start.
        let (end, tolerance) = (derivative(1.0), SLOPE_TOL * slopes[block]);
        if end <= tolerance || !constraints.iter().all(|constraint| constraint.is_consistent(line.0)) {
            return StepLength { length: 1.0, model_mismatch: end.abs() > tolerance };
        }
        let mut bracket = [0.0, 1.0];
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (bracket[0] + bracket[1]);
            bracket[usize::from(derivative(middle) > 0.0)] = middle;
        }
        StepLength { length: bracket[1], model_mismatch: true }
    };
    by_block.into_iter().enumerate().map(search).collect()
}
