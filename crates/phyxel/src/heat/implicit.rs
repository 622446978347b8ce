//! Backward Euler by an active-set (semismooth Newton) iteration on the branches of the enthalpy curves and
//! the tangents of radiation.

use super::boundary::BoundaryConditions;
use super::enthalpy_curve::Branch;
use super::network::{GRAIN, Network};
use super::thermal_nodes::ThermalNodes;
use super::{HeatStep, advance_enthalpy, all_robin_terms};
use crate::parallel;

/// Largest number of iterations on branches and tangents.
///
/// Two or three nearly always suffice; a melting front moves by about one particle per iteration. Energy is
/// conserved however many there are.
const MAX_ITERATIONS: usize = 64;
/// Relative change of an absolute temperature at which radiation counts as linearised well; the error is of
/// second order.
const TANGENT_TOLERANCE: f64 = 1e-7;

/// Iteration on the branch of each node at the end of the step, which decides its heat capacity, and on the
/// temperature at which its radiation is linearised.
struct BranchIteration<'a> {
    nodes: &'a ThermalNodes<'a>,
    boundary: &'a BoundaryConditions,
    dt: f64,
    /// Prescribed temperature of each node, if any.
    dirichlet: Vec<Option<f64>>,
    branches: Vec<Branch>,
    /// Temperatures of the last iteration.
    t: Vec<f64>,
    /// Temperatures at which radiation is linearised.
    linearised_at: Vec<f64>,
}

/// Computes an implicit step of any length from temperatures `t`.
pub(super) fn step_implicitly(
    nodes: &ThermalNodes,
    network: &mut Network,
    boundary: &BoundaryConditions,
    t: Vec<f64>,
    dt: f64,
) -> HeatStep {
    let mut iteration = BranchIteration::new(nodes, boundary, t, dt);
    for _ in 1..MAX_ITERATIONS {
        let step = iteration.solve(network);
        if iteration.is_converged(&step) {
            return step;
        }
        iteration.update(&step);
    }
    iteration.solve(network)
}

impl<'a> BranchIteration<'a> {
    fn new(nodes: &'a ThermalNodes<'a>, boundary: &'a BoundaryConditions, t: Vec<f64>, dt: f64) -> Self {
        let branches = parallel::map(nodes.len(), GRAIN, |i| nodes.curve(i).branch(nodes.enthalpy(i)));
        let mut dirichlet = vec![None; nodes.len()];
        boundary.dirichlet.iter().for_each(|&(node, temperature)| dirichlet[node as usize] = Some(temperature));
        // The tangent at the larger of both temperatures lies below the law in between, so the first iterate
        // is not too low and the following ones converge from above.
        let mut linearised_at = t.clone();
        for radiator in &boundary.radiators {
            let temperature = &mut linearised_at[radiator.node as usize];
            *temperature = temperature.max(radiator.ambient);
        }
        Self { nodes, boundary, dt, dirichlet, branches, t, linearised_at }
    }

    /// Solves for the temperatures at the end of the step on the present branches and evaluates the fluxes.
    fn solve(&mut self, network: &mut Network) -> HeatStep {
        let nodes = self.nodes;
        network.set_robin_terms(all_robin_terms(self.boundary, &self.linearised_at));
        let linear = parallel::map(nodes.len(), GRAIN, |i| match self.dirichlet[i] {
            Some(temperature) => (temperature, f64::INFINITY),
            None => {
                let (curve, branch) = (nodes.curve(i), self.branches[i]);
                (curve.temperature_on(branch, nodes.enthalpy(i)), nodes.mass(i) * curve.capacity(branch))
            }
        });
        let (start, capacity): (Vec<f64>, Vec<f64>) = linear.into_iter().unzip();
        // Nodes of infinite capacity start at their temperature, others at their last iterate.
        let guess = parallel::map(nodes.len(), GRAIN, |i| if capacity[i].is_finite() { self.t[i] } else { start[i] });
        self.t = network.solve_backward_euler(&start, guess, &capacity, self.dt);
        advance_enthalpy(nodes, network, &self.t, self.dt)
    }

    /// Returns true if `step` stays on the assumed branches and radiation is linearised well.
    fn is_converged(&self, step: &HeatStep) -> bool {
        let is_same_branch =
            |i: usize| self.dirichlet[i].is_some() || self.nodes.curve(i).branch(step.enthalpy[i]) == self.branches[i];
        let are_same = parallel::map_ranges(self.nodes.len(), GRAIN, |mut range| range.all(is_same_branch));
        !are_same.contains(&false)
            && self.boundary.radiators.iter().all(|radiator| {
                let i = radiator.node as usize;
                (self.t[i] - self.linearised_at[i]).abs()
                    <= TANGENT_TOLERANCE * (self.t[i] - radiator.absolute_zero).abs()
            })
    }

    /// Takes branches and tangents from the last solution.
    fn update(&mut self, step: &HeatStep) {
        let nodes = self.nodes;
        self.branches = parallel::map(nodes.len(), GRAIN, |i| nodes.curve(i).branch(step.enthalpy[i]));
        self.linearised_at.clone_from(&self.t);
    }
}
