//! Thermal network: conductances between thermal nodes, and the backward Euler step by preconditioned
//! conjugate gradients.
//!
//! Nodes are the particles of the world, then the obstacles with a heat capacity. Links inside bodies are
//! fixed until a model changes them and are assembled once; contact links and boundary conditions change in
//! every step and concern few nodes.

use super::fixed_links::FixedLinks;
use crate::Real;
use crate::numerics::pcg::{PcgSystem, iterate_pcg};
use crate::parallel;
use std::ops::Range;

/// Thermal link between two nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Link {
    pub nodes: [u32; 2],
    /// Conductance, W/K.
    pub conductance: Real,
}

/// Robin boundary term of a node: heat flow `source - conductance T` into it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RobinTerm {
    pub node: u32,
    /// Conductance, W/K.
    pub conductance: f64,
    /// Source, W.
    pub source: f64,
}

/// Nodes per task.
pub(crate) const GRAIN: usize = 4096;
/// Relative residual norm of convergence. Energy is conserved whatever it is.
const TOLERANCE: f64 = 1e-9;
/// Largest number of iterations of conjugate gradients.
const MAX_ITERATIONS: u32 = 500;

/// Thermal network of a step.
#[derive(Clone, Debug)]
pub(crate) struct Network<'a> {
    fixed: &'a FixedLinks,
    count: usize,
    /// Both directions of the contact links: from, to, W/K; sorted by the first node.
    contact_links: Vec<(u32, u32, Real)>,
    /// Robin terms, sorted by node.
    robin: Vec<RobinTerm>,
}

impl<'a> Network<'a> {
    /// Network of `count` nodes, the first of which are those of `fixed`.
    pub fn new(fixed: &'a FixedLinks, count: usize, links: &[Link]) -> Self {
        let both = links.iter().flat_map(|link| {
            let [a, b] = link.nodes;
            [(a, b, link.conductance), (b, a, link.conductance)]
        });
        let mut contact_links: Vec<(u32, u32, Real)> = both.collect();
        contact_links.sort_by_key(|link| link.0);
        Self { fixed, count, contact_links, robin: Vec::new() }
    }

    /// Replaces the Robin terms.
    pub fn set_robin_terms(&mut self, mut terms: Vec<RobinTerm>) {
        terms.sort_by_key(|term| term.node);
        self.robin = terms;
    }

    fn contact_links_of(&self, range: &Range<usize>) -> &[(u32, u32, Real)] {
        let at = |node: usize| self.contact_links.partition_point(|link| (link.0 as usize) < node);
        if self.contact_links.is_empty() { &[] } else { &self.contact_links[at(range.start)..at(range.end)] }
    }

    fn robin_terms_of(&self, range: &Range<usize>) -> &[RobinTerm] {
        let at = |node: usize| self.robin.partition_point(|term| (term.node as usize) < node);
        if self.robin.is_empty() { &[] } else { &self.robin[at(range.start)..at(range.end)] }
    }

    /// Evaluates the heat flow into each node of a range, W; returns the total of the Robin terms.
    pub fn heat_flow(&self, range: Range<usize>, t: &[f64], out: &mut [f64]) -> f64 {
        let first = range.start;
        self.fixed.laplacian(range.clone(), t, out);
        for &(from, to, g) in self.contact_links_of(&range) {
            out[from as usize - first] += f64::from(g) * (t[to as usize] - t[from as usize]);
        }
        let mut boundary_flow = 0.0;
        for term in self.robin_terms_of(&range) {
            let heat = term.source - term.conductance * t[term.node as usize];
            out[term.node as usize - first] += heat;
            boundary_flow += heat;
        }
        boundary_flow
    }

    /// Sum of all conductances of each node that has contact links or Robin terms, W/K, in order.
    pub fn contact_conductance_sums(&self) -> Vec<(usize, f64)> {
        let contacts = self.contact_links.iter().map(|&(from, _, g)| (from as usize, f64::from(g)));
        let mut conductances: Vec<(usize, f64)> =
            contacts.chain(self.robin.iter().map(|term| (term.node as usize, term.conductance))).collect();
        conductances.sort_by_key(|(node, _)| *node);
        let groups = conductances.chunk_by(|a, b| a.0 == b.0);
        let sum = |group: &[(usize, f64)]| group.iter().map(|(_, g)| g).sum::<f64>();
        groups.map(|group| (group[0].0, self.fixed.conductance_sum(group[0].0) + sum(group))).collect()
    }

    /// Solves a backward Euler step `C (T - T_0)/dt = q(T)` for the temperatures after `dt` seconds.
    ///
    /// Conjugate gradients on a symmetric positive definite system with a diagonal preconditioner; sums run
    /// in index order. A node of infinite capacity (melting, or with a prescribed temperature) keeps its
    /// temperature, which `guess` must contain.
    pub fn solve_backward_euler(&self, previous: &[f64], guess: Vec<f64>, capacity: &[f64], dt: f64) -> Vec<f64> {
        let mut diagonal: Vec<f64> =
            parallel::map(self.count, GRAIN, |i| capacity[i] / dt + self.fixed.conductance_sum(i));
        self.contact_conductance_sums().iter().for_each(|&(i, sum)| diagonal[i] = capacity[i] / dt + sum);
        let t = guess;
        let mut r = vec![0.0; self.count];
        parallel::for_each_chunk(&mut r, GRAIN, |first, out| {
            self.heat_flow(first..first + out.len(), &t, out);
            for (i, out) in (first..).zip(out) {
                *out = if capacity[i].is_finite() { *out - capacity[i] / dt * (t[i] - previous[i]) } else { 0.0 };
            }
        });
        let reference = self.reference_norm(previous, &diagonal, capacity);
        let zero = vec![0.0; self.count];
        let (z, p, ap) = (zero.clone(), zero.clone(), zero);
        let mut system = BackwardEuler { network: self, diagonal, t, r, z, p, ap };
        iterate_pcg(&mut system, MAX_ITERATIONS, |rz| vec![TOLERANCE * TOLERANCE * rz[0].max(reference)]);
        system.t
    }

    /// Squared residual norm `r.M^-1 r` of the previous temperatures: the reference of convergence where the
    /// guess is good.
    fn reference_norm(&self, previous: &[f64], diagonal: &[f64], capacity: &[f64]) -> f64 {
        let chunks = parallel::map_ranges(self.count, GRAIN, |range| {
            let mut out = vec![0.0; range.len()];
            self.heat_flow(range.clone(), previous, &mut out);
            let squares = range.zip(out).filter(|(i, _)| capacity[*i].is_finite());
            squares.map(|(i, flow)| flow * flow / diagonal[i]).sum::<f64>()
        });
        chunks.iter().sum()
    }

    /// Product of the system matrix with a vector. Rows of nodes of infinite capacity are zero, as the vector
    /// is there.
    fn apply_matrix(&self, x: &[f64], diagonal: &[f64], product: &mut [f64]) {
        parallel::for_each_chunk(product, GRAIN, |first, out| {
            let range = first..first + out.len();
            self.fixed.laplacian(range.clone(), x, out);
            for (i, out) in range.clone().zip(out.iter_mut()) {
                *out = if diagonal[i].is_finite() {
                    (diagonal[i] - self.fixed.conductance_sum(i)) * x[i] - *out
                } else {
                    0.0
                };
            }
            for &(from, to, g) in self.contact_links_of(&range) {
                if diagonal[from as usize].is_finite() {
                    out[from as usize - first] -= f64::from(g) * x[to as usize];
                }
            }
        });
    }
}

/// Linear system of a backward Euler step, preconditioned by its diagonal.
struct BackwardEuler<'a> {
    network: &'a Network<'a>,
    diagonal: Vec<f64>,
    t: Vec<f64>,
    r: Vec<f64>,
    z: Vec<f64>,
    p: Vec<f64>,
    ap: Vec<f64>,
}

impl PcgSystem for BackwardEuler<'_> {
    fn precondition(&mut self) -> Vec<f64> {
        let (r, diagonal) = (&self.r, &self.diagonal);
        parallel::for_each_chunk(&mut self.z, GRAIN, |first, z| {
            (first..).zip(z).for_each(|(i, z)| *z = r[i] / diagonal[i]);
        });
        vec![dot(&self.r, &self.z)]
    }

    fn update_direction(&mut self, beta: &[f64]) {
        let (beta, z) = (beta[0], &self.z);
        parallel::for_each_chunk(&mut self.p, GRAIN, |first, chunk| {
            chunk.iter_mut().zip(&z[first..]).for_each(|(p, z)| *p = z + beta * *p);
        });
    }

    fn multiply(&mut self) -> Vec<f64> {
        self.network.apply_matrix(&self.p, &self.diagonal, &mut self.ap);
        vec![dot(&self.p, &self.ap)]
    }

    fn advance(&mut self, alpha: &[f64]) {
        axpy(&mut self.t, alpha[0], &self.p);
        axpy(&mut self.r, -alpha[0], &self.ap);
    }
}

/// `x += alpha y`.
fn axpy(x: &mut [f64], alpha: f64, y: &[f64]) {
    parallel::for_each_chunk(x, GRAIN, |first, chunk| {
        chunk.iter_mut().zip(&y[first..]).for_each(|(x, y)| *x += alpha * y);
    });
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let chunks = parallel::map_ranges(a.len(), GRAIN, |range| range.map(|i| a[i] * b[i]).sum::<f64>());
    chunks.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heat::{ConductionBlock, ConductionGraph};
    use std::sync::Arc;

    /// Links of a row of particles.
    fn row(count: u32, conductance: Real) -> Vec<Link> {
        (0..count - 1).map(|i| Link { nodes: [i, i + 1], conductance }).collect()
    }

    /// Links of one block.
    fn fixed(count: usize, links: &[Link]) -> FixedLinks {
        let graph = ConductionGraph { count, links: links.to_vec(), faces: Vec::new() };
        let mut fixed = FixedLinks::default();
        fixed.update(count, vec![ConductionBlock { first: 0, graph: Arc::new(graph) }]);
        fixed
    }

    fn solve(network: &Network, previous: &[f64], capacity: &[f64], dt: f64) -> Vec<f64> {
        network.solve_backward_euler(previous, previous.to_vec(), capacity, dt)
    }

    #[test]
    fn a_step_of_any_length_conserves_energy_and_tends_to_the_mean() {
        // Half of the links are fixed, half are contact links; the result must not depend on it.
        let links = row(50, 3.0);
        let fixed = fixed(50, &links[..25]);
        let network = Network::new(&fixed, 50, &links[25..]);
        let previous: Vec<f64> = (0..50).map(|i| f64::from(i % 7)).collect();
        let capacity = vec![2.0; 50];
        let mean = previous.iter().sum::<f64>() / 50.0;
        for dt in [1e-6, 1.0, 1e6] {
            let end = solve(&network, &previous, &capacity, dt);
            // To the tolerance of the solver; the fluxes conserve energy to rounding, as they are
            // antisymmetric.
            assert!((end.iter().sum::<f64>() / 50.0 - mean).abs() < 1e-7, "{dt}");
            let mut flows = vec![0.0; 50];
            assert_eq!(network.heat_flow(0..50, &end, &mut flows), 0.0);
            let sum: f64 = flows.iter().sum();
            assert!(sum.abs() < 1e-12, "{sum}");
            let (low, high) =
                (previous.iter().copied().fold(f64::MAX, f64::min), previous.iter().copied().fold(0.0, f64::max));
            assert!(end.iter().all(|t| (low - 1e-7..=high + 1e-7).contains(t)), "no new extremes");
        }
        // The slowest mode decays with 2 (1 - cos(pi/50)) 3/2 per second: 170 s.
        let end = solve(&network, &previous, &capacity, 1e6);
        assert!(end.iter().all(|t| (t - mean).abs() < 1e-3));
    }

    #[test]
    fn the_steady_profile_between_two_fixed_temperatures_is_linear() {
        let links = row(20, 1.0);
        let fixed = fixed(20, &links);
        let mut network = Network::new(&fixed, 20, &[]);
        network.set_robin_terms(vec![
            RobinTerm { node: 19, conductance: 2.0, source: 100.0 },
            RobinTerm { node: 0, conductance: 2.0, source: 20.0 },
        ]);
        let end = solve(&network, &[0.0; 20], &[1.0; 20], 1e9);
        for (i, t) in end.iter().enumerate() {
            // The prescribed temperatures are half a link outside.
            let expected = 10.0 + 40.0 * (i as f64 + 0.5) / 20.0;
            assert!((t - expected).abs() < 1e-5, "{i}: {t}");
        }
    }

    #[test]
    fn a_melting_node_keeps_its_temperature() {
        let links = row(3, 1.0);
        let fixed = fixed(3, &links);
        let network = Network::new(&fixed, 3, &[]);
        let end = solve(&network, &[10.0, 0.0, 10.0], &[1.0, f64::INFINITY, 1.0], 100.0);
        assert_eq!(end[1], 0.0);
        assert!((end[0] - 10.0 / 101.0).abs() < 1e-9);
    }
}
