//! Ways for heat between places that have a temperature, and temperatures after a step.
//!
//! Places are numbered: first the particles of the world, then the obstacles that have a heat capacity. Ways inside
//! bodies stay the same until a model changes them and are laid out once; everything else is new in every step and
//! touches few places.

use crate::Real;
use crate::parallel;
use std::ops::Range;

/// A way for heat between two places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Link {
    pub particles: [u32; 2],
    /// W/K.
    pub conductance: Real,
}

/// Heat that comes into a place from outside: `supply - conductance T`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Inflow {
    pub place: u32,
    /// W/K.
    pub conductance: f64,
    /// W.
    pub supply: f64,
}

/// Places per task.
pub(crate) const GRAIN: usize = 4096;
/// Residual at which temperatures count as found, relative to the start. Heat is conserved whatever it is.
const TOLERANCE: f64 = 1e-9;
/// Most rounds of conjugate gradients.
const ROUNDS: usize = 500;

/// Ways inside bodies, by particle.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inner {
    /// First entry of each particle in `ways`.
    start: Vec<u32>,
    /// The other particle, and W/K.
    ways: Vec<(u32, Real)>,
    /// Sum of the conductances of each particle, W/K.
    total: Vec<f64>,
}

impl Inner {
    pub fn new<'a>(count: usize, links: impl Iterator<Item = &'a Link> + Clone) -> Self {
        let mut start = vec![0u32; count + 1];
        for link in links.clone() {
            link.particles.iter().for_each(|&i| start[i as usize + 1] += 1);
        }
        (0..count).for_each(|i| start[i + 1] += start[i]);
        let mut next = start.clone();
        let mut ways = vec![(0, 0.0); start[count] as usize];
        for Link { particles: [a, b], conductance } in links {
            for (from, to) in [(*a, *b), (*b, *a)] {
                let place = &mut next[from as usize];
                ways[*place as usize] = (to, *conductance);
                *place += 1;
            }
        }
        let of = |i: usize| &ways[start[i] as usize..start[i + 1] as usize];
        let total = parallel::map(count, GRAIN, |i| of(i).iter().map(|(_, g)| f64::from(*g)).sum());
        Self { start, ways, total }
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.total.len()
    }

    /// Sum of the conductances of a place, W/K.
    pub fn total(&self, place: usize) -> f64 {
        self.total.get(place).copied().unwrap_or(0.0)
    }

    /// `sum g (x_j - x_i)` for a range of places.
    fn differences(&self, range: Range<usize>, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let particles = range.start.min(self.len())..range.end.min(self.len());
        let bounds = self.start[particles.start..particles.end + 1].windows(2);
        for ((out, bounds), own) in out.iter_mut().zip(bounds).zip(&x[particles]) {
            let ways = &self.ways[bounds[0] as usize..bounds[1] as usize];
            *out = ways.iter().map(|&(other, g)| f64::from(g) * (x[other as usize] - own)).sum();
        }
    }
}

/// All ways of a step.
#[derive(Clone, Debug)]
pub(crate) struct Network<'a> {
    inner: &'a Inner,
    count: usize,
    /// Both directions of the ways that are new in this step: from, to, W/K; sorted by the first.
    outer: Vec<(u32, u32, Real)>,
    /// Sorted by place.
    inflows: Vec<Inflow>,
}

impl<'a> Network<'a> {
    /// Ways between `count` places; the first of them are those of `inner`.
    pub fn new(inner: &'a Inner, count: usize, links: &[Link]) -> Self {
        let both = links.iter().flat_map(|link| {
            let [a, b] = link.particles;
            [(a, b, link.conductance), (b, a, link.conductance)]
        });
        let mut outer: Vec<(u32, u32, Real)> = both.collect();
        outer.sort_by_key(|way| way.0);
        Self { inner, count, outer, inflows: Vec::new() }
    }

    /// Replaces what comes in from outside.
    pub fn set_inflows(&mut self, mut inflows: Vec<Inflow>) {
        inflows.sort_by_key(|inflow| inflow.place);
        self.inflows = inflows;
    }

    fn outer_of(&self, range: &Range<usize>) -> &[(u32, u32, Real)] {
        let at = |place: usize| self.outer.partition_point(|way| (way.0 as usize) < place);
        if self.outer.is_empty() { &[] } else { &self.outer[at(range.start)..at(range.end)] }
    }

    fn inflows_of(&self, range: &Range<usize>) -> &[Inflow] {
        let at = |place: usize| self.inflows.partition_point(|inflow| (inflow.place as usize) < place);
        if self.inflows.is_empty() { &[] } else { &self.inflows[at(range.start)..at(range.end)] }
    }

    /// Heat that flows into each place of a range, W; returns the part of it that comes from outside the network.
    pub fn flows(&self, range: Range<usize>, t: &[f64], out: &mut [f64]) -> f64 {
        let first = range.start;
        self.inner.differences(range.clone(), t, out);
        for &(from, to, g) in self.outer_of(&range) {
            out[from as usize - first] += f64::from(g) * (t[to as usize] - t[from as usize]);
        }
        let mut came = 0.0;
        for inflow in self.inflows_of(&range) {
            let heat = inflow.supply - inflow.conductance * t[inflow.place as usize];
            out[inflow.place as usize - first] += heat;
            came += heat;
        }
        came
    }

    /// Sum of all conductances of each place that has more than its ways inside a body, W/K, in order.
    pub fn touched_totals(&self) -> Vec<(usize, f64)> {
        let ways = self.outer.iter().map(|&(from, _, g)| (from as usize, f64::from(g)));
        let mut extra: Vec<(usize, f64)> =
            ways.chain(self.inflows.iter().map(|inflow| (inflow.place as usize, inflow.conductance))).collect();
        extra.sort_by_key(|(place, _)| *place);
        let groups = extra.chunk_by(|a, b| a.0 == b.0);
        let sum = |group: &[(usize, f64)]| group.iter().map(|(_, g)| g).sum::<f64>();
        groups.map(|group| (group[0].0, self.inner.total(group[0].0) + sum(group))).collect()
    }

    /// Temperatures after `dt` seconds by backward Euler: `C (T - T_before)/dt = flow(T)`, looked for from a guess. A
    /// place of infinite capacity keeps its temperature (it is melting, or held), which the guess must have too.
    ///
    /// Conjugate gradients on a symmetric positive system; sums run in index order.
    pub fn later(&self, before: &[f64], guess: Vec<f64>, capacity: &[f64], dt: f64) -> Vec<f64> {
        let mut diagonal: Vec<f64> = parallel::map(self.count, GRAIN, |i| capacity[i] / dt + self.inner.total(i));
        self.touched_totals().iter().for_each(|&(i, total)| diagonal[i] = capacity[i] / dt + total);
        let mut t = guess;
        let mut residual = vec![0.0; self.count];
        parallel::for_each_chunk(&mut residual, GRAIN, |first, out| {
            self.flows(first..first + out.len(), &t, out);
            for (i, out) in (first..).zip(out) {
                *out = if capacity[i].is_finite() { *out - capacity[i] / dt * (t[i] - before[i]) } else { 0.0 };
            }
        });
        let settle = |residual: &[f64]| -> Vec<f64> { parallel::map(self.count, GRAIN, |i| residual[i] / diagonal[i]) };
        let scale = self.scale(before, &diagonal, capacity);
        let mut direction = settle(&residual);
        let mut rho = dot(&residual, &direction);
        let goal = TOLERANCE * TOLERANCE * rho.max(scale);
        let mut image = vec![0.0; self.count];
        for _ in 0..ROUNDS {
            if rho <= goal || rho <= 0.0 {
                break;
            }
            self.apply(&direction, &diagonal, &mut image);
            let alpha = rho / dot(&direction, &image);
            add(&mut t, alpha, &direction);
            add(&mut residual, -alpha, &image);
            let z = settle(&residual);
            let next = dot(&residual, &z);
            let beta = next / rho;
            parallel::for_each_chunk(&mut direction, GRAIN, |first, chunk| {
                chunk.iter_mut().zip(&z[first..]).for_each(|(direction, z)| *direction = z + beta * *direction);
            });
            rho = next;
        }
        t
    }

    /// What the residual is measured by where the guess is nearly right: that of the temperatures before the step.
    fn scale(&self, before: &[f64], diagonal: &[f64], capacity: &[f64]) -> f64 {
        let parts = parallel::map_ranges(self.count, GRAIN, |range| {
            let mut out = vec![0.0; range.len()];
            self.flows(range.clone(), before, &mut out);
            let squares = range.zip(out).filter(|(i, _)| capacity[*i].is_finite());
            squares.map(|(i, flow)| flow * flow / diagonal[i]).sum::<f64>()
        });
        parts.iter().sum()
    }

    /// The matrix of the step times a vector. Rows of places that keep their temperature are zero, as the vector is
    /// there.
    fn apply(&self, x: &[f64], diagonal: &[f64], image: &mut [f64]) {
        parallel::for_each_chunk(image, GRAIN, |first, out| {
            let range = first..first + out.len();
            self.inner.differences(range.clone(), x, out);
            for (i, out) in range.clone().zip(out.iter_mut()) {
                *out = if diagonal[i].is_finite() { (diagonal[i] - self.inner.total(i)) * x[i] - *out } else { 0.0 };
            }
            for &(from, to, g) in self.outer_of(&range) {
                if diagonal[from as usize].is_finite() {
                    out[from as usize - first] -= f64::from(g) * x[to as usize];
                }
            }
        });
    }
}

/// `x += factor y`.
fn add(x: &mut [f64], factor: f64, y: &[f64]) {
    parallel::for_each_chunk(x, GRAIN, |first, chunk| {
        chunk.iter_mut().zip(&y[first..]).for_each(|(x, y)| *x += factor * y);
    });
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let parts = parallel::map_ranges(a.len(), GRAIN, |range| range.map(|i| a[i] * b[i]).sum::<f64>());
    parts.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bar of particles, joined in a row.
    fn row(count: u32, conductance: Real) -> Vec<Link> {
        (0..count - 1).map(|i| Link { particles: [i, i + 1], conductance }).collect()
    }

    fn later(network: &Network, before: &[f64], capacity: &[f64], dt: f64) -> Vec<f64> {
        network.later(before, before.to_vec(), capacity, dt)
    }

    #[test]
    fn a_step_of_any_length_keeps_the_heat_and_ends_at_the_mean() {
        // Half of the ways are laid out, half are new in this step; it makes no difference.
        let links = row(50, 3.0);
        let inner = Inner::new(50, links[..25].iter());
        let network = Network::new(&inner, 50, &links[25..]);
        let before: Vec<f64> = (0..50).map(|i| f64::from(i % 7)).collect();
        let capacity = vec![2.0; 50];
        let mean = before.iter().sum::<f64>() / 50.0;
        for dt in [1e-6, 1.0, 1e6] {
            let later = later(&network, &before, &capacity, dt);
            // To the tolerance of the solver; what flows is kept to rounding, as it is the same both ways.
            assert!((later.iter().sum::<f64>() / 50.0 - mean).abs() < 1e-7, "{dt}");
            let mut flows = vec![0.0; 50];
            assert_eq!(network.flows(0..50, &later, &mut flows), 0.0);
            let sum: f64 = flows.iter().sum();
            assert!(sum.abs() < 1e-12, "{sum}");
            let (low, high) =
                (before.iter().copied().fold(f64::MAX, f64::min), before.iter().copied().fold(0.0, f64::max));
            assert!(later.iter().all(|t| (low - 1e-7..=high + 1e-7).contains(t)), "no new extremes");
        }
        // The slowest difference fades with 2 (1 - cos(pi/50)) 3/2 per second: 170 s.
        let end = later(&network, &before, &capacity, 1e6);
        assert!(end.iter().all(|t| (t - mean).abs() < 1e-3));
    }

    #[test]
    fn between_two_fixed_temperatures_it_is_linear_in_the_end() {
        let links = row(20, 1.0);
        let inner = Inner::new(20, links.iter());
        let mut network = Network::new(&inner, 20, &[]);
        network.set_inflows(vec![
            Inflow { place: 19, conductance: 2.0, supply: 100.0 },
            Inflow { place: 0, conductance: 2.0, supply: 20.0 },
        ]);
        let end = later(&network, &[0.0; 20], &[1.0; 20], 1e9);
        for (i, t) in end.iter().enumerate() {
            // What keeps its temperature is half a link outside.
            let expected = 10.0 + 40.0 * (i as f64 + 0.5) / 20.0;
            assert!((t - expected).abs() < 1e-5, "{i}: {t}");
        }
    }

    #[test]
    fn what_melts_keeps_its_temperature() {
        let links = row(3, 1.0);
        let inner = Inner::new(3, links.iter());
        let network = Network::new(&inner, 3, &[]);
        let later = later(&network, &[10.0, 0.0, 10.0], &[1.0, f64::INFINITY, 1.0], 100.0);
        assert_eq!(later[1], 0.0);
        assert!((later[0] - 10.0 / 101.0).abs() < 1e-9);
    }
}
