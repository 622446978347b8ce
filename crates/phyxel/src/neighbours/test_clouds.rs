//! Clouds of spheres and reference results for tests.

use super::QuerySphere;
use crate::Real;
use phyxel_laws::rng::SequentialRng;
use std::collections::BTreeSet;

/// Uniformly distributed spheres in a cube of half edge `half`.
pub fn scattered(count: usize, half: Real, radius: impl Fn(usize) -> Real) -> Vec<QuerySphere> {
    let mut rng = SequentialRng::new(1);
    (0..count)
        .map(|i| QuerySphere { position: rng.uniform_vec3() * 2.0 * half - half, radius: radius(i), index: i as u32 })
        .collect()
}

/// Close pairs by comparison of all.
pub fn brute_force(
    spheres: &[QuerySphere],
    margin: Real,
    is_candidate: impl Fn(&QuerySphere, &QuerySphere) -> bool,
) -> BTreeSet<(u32, u32)> {
    let mut pairs = BTreeSet::new();
    for a in spheres {
        for b in spheres.iter().filter(|b| b.index > a.index && is_candidate(a, b)) {
            let range = (a.radius + b.radius) * (1.0 + margin);
            if a.position.distance_squared(b.position) < range * range {
                pairs.insert((a.index, b.index));
            }
        }
    }
    pairs
}
