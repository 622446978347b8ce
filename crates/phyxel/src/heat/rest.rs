//! Ways for heat along neighbours in the shape at rest.

use super::Link;
use crate::Real;
use crate::body::Body;
use crate::grid::Neighbourhood;
use crate::material::Material;
use crate::particles::Particles;
use glam::Vec3;

/// Neighbours of irregular samples are up to this many spacings apart.
const REACH: Real = 1.5;
/// Neighbours in a lattice are up to this many of its shortest distances apart.
const NEXT: Real = 1.1;

/// Ways for heat between particles of a body that are near at rest and share a group.
///
/// All ways have the conductance `c` for which `1/2 sum c r r^T = kappa V` holds inside the body: then
/// `sum c (T_j - T_i)` is `kappa V` times the Laplacian of the temperature, up to second order in the spacing. On a cubic
/// lattice that are the six nearest, with `kappa` times the spacing each, which is exact at surfaces too; in a closest
/// packing the twelve nearest. Irregular samples take all within 1.5 spacings, and the mean of those inside.
pub(crate) fn link_at_rest(body: &Body, material: &Material, particles: &Particles, groups: &[&[u32]]) -> Vec<Link> {
    let range = body.range();
    if range.is_empty() || material.heat.conductivity <= 0.0 {
        return Vec::new();
    }
    let rest = &particles.rest[range.clone()];
    let mut neighbours = near_pairs(rest, REACH * body.spacing);
    let length = |pair: &[u32; 2]| rest[pair[0] as usize].distance(rest[pair[1] as usize]);
    let spread = match lattice_distance(rest.len(), &neighbours, length) {
        Some(distance) => {
            neighbours.retain(|pair| length(pair) <= NEXT * distance);
            let full = if crowds(rest.len(), &neighbours).into_iter().max() > Some(6) { 12.0 } else { 6.0 };
            full * f64::from(distance * distance)
        }
        None => inner_spread(rest.len(), &neighbours, length),
    };
    if spread <= 0.0 {
        return Vec::new();
    }
    let volume = f64::from(particles.mass[range.start]) / f64::from(material.density);
    let conductance = (6.0 * volume * f64::from(material.heat.conductivity) / spread) as Real;
    let start = body.particles.start;
    let shared = share_lists(rest.len(), start, groups);
    let together = |[a, b]: [u32; 2]| {
        let (mine, theirs) = (&shared[a as usize], &shared[b as usize]);
        mine.iter().any(|group| theirs.contains(group))
    };
    let kept = neighbours.into_iter().filter(|&pair| together(pair));
    kept.map(|pair| Link { particles: pair.map(|i| start + i), conductance }).collect()
}

/// Number of neighbours of each particle.
fn crowds(count: usize, pairs: &[[u32; 2]]) -> Vec<u32> {
    let mut crowds = vec![0; count];
    pairs.iter().flatten().for_each(|&i| crowds[i as usize] += 1);
    crowds
}

/// The distance of nearest neighbours, if nearly all have the same.
fn lattice_distance(count: usize, pairs: &[[u32; 2]], length: impl Fn(&[u32; 2]) -> Real) -> Option<Real> {
    let mut nearest = vec![Real::INFINITY; count];
    for pair in pairs {
        let length = length(pair);
        pair.iter().for_each(|&i| nearest[i as usize] = nearest[i as usize].min(length));
    }
    let mut sorted = nearest.clone();
    sorted.sort_unstable_by(Real::total_cmp);
    let middle = *sorted.get(count / 2)?;
    let alike = nearest.iter().filter(|distance| (*distance / middle - 1.0).abs() < 0.02).count();
    (middle.is_finite() && 10 * alike >= 9 * count).then_some(middle)
}

/// Sum of the squared distances to all neighbours, on the mean of the particles inside: those with most neighbours.
fn inner_spread(count: usize, pairs: &[[u32; 2]], length: impl Fn(&[u32; 2]) -> Real) -> f64 {
    let crowds = crowds(count, pairs);
    let mut squares = vec![0.0; count];
    for pair in pairs {
        let square = f64::from(length(pair)).powi(2);
        pair.iter().for_each(|&i| squares[i as usize] += square);
    }
    let most = crowds.iter().copied().max().unwrap_or(0);
    let inner: Vec<f64> = (0..count).filter(|&i| 3 * crowds[i] >= 2 * most).map(|i| squares[i]).collect();
    inner.iter().sum::<f64>() / inner.len().max(1) as f64
}

/// Pairs of points within reach, each once, the smaller number first.
fn near_pairs(points: &[Vec3], reach: Real) -> Vec<[u32; 2]> {
    let near = Neighbourhood::new(points, reach);
    let mut pairs = Vec::new();
    for (i, &point) in points.iter().enumerate() {
        near.visit(point, |other, square| {
            if other as usize > i && square <= reach * reach {
                pairs.push([i as u32, other]);
            }
        });
    }
    pairs
}

/// Groups of each particle.
fn share_lists(count: usize, start: u32, groups: &[&[u32]]) -> Vec<Vec<u32>> {
    let mut lists = vec![Vec::new(); count];
    for (number, group) in groups.iter().enumerate() {
        group.iter().for_each(|&i| lists[(i - start) as usize].push(number as u32));
    }
    lists
}
