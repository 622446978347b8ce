//! Conduction between particles: ways for heat, and temperatures after a step.

use crate::Real;
use crate::parallel;

/// A way for heat between two particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Link {
    pub particles: [u32; 2],
    /// W/K.
    pub conductance: Real,
}

/// A way for heat between a particle and something that keeps its temperature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shore {
    pub particle: u32,
    /// W/K.
    pub conductance: Real,
    /// In the scene's scale.
    pub temperature: Real,
}

/// Ways for heat, by particle.
#[derive(Clone, Debug, Default)]
pub(crate) struct Network {
    /// First entry of each particle in `ways`.
    start: Vec<u32>,
    /// The other particle, and W/K.
    ways: Vec<(u32, Real)>,
    /// Sum of the conductances to what keeps its temperature, W/K.
    shore: Vec<Real>,
    /// The same times that temperature, W.
    supply: Vec<f64>,
}

/// Particles per task.
const GRAIN: usize = 4096;
/// Residual at which temperatures count as found, relative to the start. Heat is conserved whatever it is.
const TOLERANCE: f64 = 1e-9;
/// Most rounds of conjugate gradients.
const ROUNDS: usize = 500;

impl Network {
    pub fn new<'a>(count: usize, links: impl Iterator<Item = &'a Link> + Clone, shores: &[Shore]) -> Self {
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
        let (mut shore, mut supply) = (vec![0.0; count], vec![0.0; count]);
        for one in shores {
            shore[one.particle as usize] += one.conductance;
            supply[one.particle as usize] += f64::from(one.conductance) * f64::from(one.temperature);
        }
        Self { start, ways, shore, supply }
    }

    fn ways_of(&self, i: usize) -> &[(u32, Real)] {
        &self.ways[self.start[i] as usize..self.start[i + 1] as usize]
    }

    /// Sum of all conductances of a particle, W/K.
    pub fn total(&self, i: usize) -> f64 {
        f64::from(self.shore[i]) + self.ways_of(i).iter().map(|(_, conductance)| f64::from(*conductance)).sum::<f64>()
    }

    /// Heat that flows into a particle from others and from what keeps its temperature, W.
    pub fn flow(&self, i: usize, temperature: &[f64]) -> (f64, f64) {
        let own = temperature[i];
        let others = self.ways_of(i).iter();
        let inner = others.map(|&(other, g)| f64::from(g) * (temperature[other as usize] - own)).sum();
        (inner, self.supply[i] - f64::from(self.shore[i]) * own)
    }

    /// Temperatures after `dt` seconds by backward Euler: `C (T - T_before)/dt = flow(T)`. A particle without capacity
    /// keeps its temperature (it is melting).
    ///
    /// Conjugate gradients on a symmetric positive system; sums run in index order.
    pub fn later(&self, before: &[f64], capacity: &[f64], dt: f64) -> Vec<f64> {
        let count = before.len();
        let is_free = |i: usize| capacity[i].is_finite();
        let diagonal: Vec<f64> = parallel::map(count, GRAIN, |i| capacity[i] / dt + self.total(i));
        let mut t = before.to_vec();
        let mut residual: Vec<f64> = parallel::map(count, GRAIN, |i| {
            let (inner, outer) = self.flow(i, before);
            if is_free(i) { inner + outer } else { 0.0 }
        });
        let mut z: Vec<f64> = parallel::map(count, GRAIN, |i| if is_free(i) { residual[i] / diagonal[i] } else { 0.0 });
        let mut direction = z.clone();
        let mut rho = dot(&residual, &z);
        let goal = TOLERANCE * TOLERANCE * rho;
        for _ in 0..ROUNDS {
            if rho <= goal || rho <= 0.0 {
                break;
            }
            let image: Vec<f64> = parallel::map(count, GRAIN, |i| {
                let others = self.ways_of(i).iter();
                let off: f64 = others.map(|&(other, g)| f64::from(g) * direction[other as usize]).sum();
                if is_free(i) { diagonal[i] * direction[i] - off } else { 0.0 }
            });
            let alpha = rho / dot(&direction, &image);
            (0..count).for_each(|i| t[i] += alpha * direction[i]);
            (0..count).for_each(|i| residual[i] -= alpha * image[i]);
            z = parallel::map(count, GRAIN, |i| if is_free(i) { residual[i] / diagonal[i] } else { 0.0 });
            let next = dot(&residual, &z);
            let beta = next / rho;
            (0..count).for_each(|i| direction[i] = z[i] + beta * direction[i]);
            rho = next;
        }
        t
    }
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

    #[test]
    fn a_step_of_any_length_keeps_the_heat_and_ends_at_the_mean() {
        let links = row(50, 3.0);
        let network = Network::new(50, links.iter(), &[]);
        let before: Vec<f64> = (0..50).map(|i| f64::from(i % 7)).collect();
        let capacity = vec![2.0; 50];
        let mean = before.iter().sum::<f64>() / 50.0;
        for dt in [1e-6, 1.0, 1e6] {
            let later = network.later(&before, &capacity, dt);
            // To the tolerance of the solver; what flows is kept to rounding, as it is the same both ways.
            assert!((later.iter().sum::<f64>() / 50.0 - mean).abs() < 1e-7, "{dt}");
            let flows: f64 = (0..50).map(|i| network.flow(i, &later).0).sum();
            assert!(flows.abs() < 1e-12, "{flows}");
            let (low, high) =
                (before.iter().copied().fold(f64::MAX, f64::min), before.iter().copied().fold(0.0, f64::max));
            assert!(later.iter().all(|t| (low - 1e-7..=high + 1e-7).contains(t)), "no new extremes");
        }
        // The slowest difference fades with 2 (1 - cos(pi/50)) 3/2 per second: 170 s.
        let end = network.later(&before, &capacity, 1e6);
        assert!(end.iter().all(|t| (t - mean).abs() < 1e-3));
    }

    #[test]
    fn between_two_shores_the_temperature_is_linear_in_the_end() {
        let links = row(20, 1.0);
        let shores = [
            Shore { particle: 0, conductance: 2.0, temperature: 10.0 },
            Shore { particle: 19, conductance: 2.0, temperature: 50.0 },
        ];
        let network = Network::new(20, links.iter(), &shores);
        let end = network.later(&[0.0; 20], &[1.0; 20], 1e9);
        for (i, t) in end.iter().enumerate() {
            // The shores are half a link outside.
            let expected = 10.0 + 40.0 * (i as f64 + 0.5) / 20.0;
            assert!((t - expected).abs() < 1e-5, "{i}: {t}");
        }
    }

    #[test]
    fn what_melts_keeps_its_temperature() {
        let links = row(3, 1.0);
        let network = Network::new(3, links.iter(), &[]);
        let later = network.later(&[10.0, 0.0, 10.0], &[1.0, f64::INFINITY, 1.0], 100.0);
        assert_eq!(later[1], 0.0);
        assert!((later[0] - 10.0 / 101.0).abs() < 1e-9);
    }
}
