//! Bodies that overlap at the start.

use crate::hash_grid::HashGrid;
use phyxel::World;
use phyxel::parallel;
use phyxel_laws::geometry::Aabb;
use std::collections::BTreeMap;

/// Fraction of the sum of their radii below which two particles overlap.
const OVERLAP_RATIO: f32 = 0.5;

/// Returns a warning for every two bodies that overlap at the start.
pub(super) fn find_overlapping_bodies(world: &World) -> Vec<String> {
    let candidates = particles_near_other_bodies(world);
    let counts = count_overlaps(world, &candidates);
    let name = |body: u32| &world.bodies()[body as usize].name;
    let sentence = |((a, b), count): (&(u32, u32), &u32)| {
        format!(
            "bodies \"{}\" and \"{}\" overlap at the start with {count} particles; move them apart",
            name(*a),
            name(*b)
        )
    };
    counts.iter().map(sentence).collect()
}

/// Bounding box of each body, expanded by its radii; `None` without particles.
fn bounds_of_bodies(world: &World) -> Vec<Option<Aabb>> {
    let particles = world.particles();
    let bounds = |range: std::ops::Range<usize>| {
        let radius = particles.radius[range.clone()].iter().copied().fold(0.0, f32::max);
        let bounds = Aabb::from_points(particles.position[range].iter().copied()).non_empty();
        bounds.map(|bounds| bounds.inflated(OVERLAP_RATIO * radius))
    };
    world.bodies().iter().map(|body| bounds(body.range())).collect()
}

/// Broad phase: particles within the bounding box of another body, by sweep and prune over the bodies.
fn particles_near_other_bodies(world: &World) -> Vec<u32> {
    let bounds = bounds_of_bodies(world);
    let mut order: Vec<usize> = (0..bounds.len()).filter(|body| bounds[*body].is_some()).collect();
    let start = |body: usize| bounds[body].map_or(0.0, |bounds| bounds.min.x);
    order.sort_by(|a, b| start(*a).total_cmp(&start(*b)));
    let mut neighbours: Vec<Vec<Aabb>> = vec![Vec::new(); bounds.len()];
    for (rank, &a) in order.iter().enumerate() {
        let Some(own) = bounds[a] else { continue };
        for &b in order[rank + 1..].iter().take_while(|b| start(**b) <= own.max.x) {
            let Some(other) = bounds[b] else { continue };
            if own.min.cmple(other.max).all() && other.min.cmple(own.max).all() {
                neighbours[a].push(other);
                neighbours[b].push(own);
            }
        }
    }
    let particles = world.particles();
    let near = |index: usize, around: &[Aabb]| {
        let radius = OVERLAP_RATIO * particles.radius[index];
        around.iter().any(|bounds| bounds.distance_squared(particles.position[index]) <= radius * radius)
    };
    let of_body = |(body, around): (usize, &Vec<Aabb>)| {
        let range = if around.is_empty() { 0..0 } else { world.bodies()[body].range() };
        range.filter(|index| near(*index, around)).map(|index| index as u32).collect::<Vec<u32>>()
    };
    neighbours.iter().enumerate().flat_map(of_body).collect()
}

/// Narrow phase: number of overlapping particles by pairs of bodies, with a hash grid.
fn count_overlaps(world: &World, candidates: &[u32]) -> BTreeMap<(u32, u32), u32> {
    let particles = world.particles();
    let radius = |index: u32| particles.radius[index as usize];
    let cell = candidates.iter().map(|index| radius(*index)).fold(0.0, f32::max) * 2.0 * OVERLAP_RATIO;
    let mut counts = BTreeMap::new();
    if cell <= 0.0 {
        return counts;
    }
    let mut grid = HashGrid::new(cell);
    candidates.iter().for_each(|index| grid.insert(particles.position[*index as usize], *index));
    let touched = parallel::map(candidates.len(), 1024, |row| {
        let index = candidates[row];
        let body = |index: u32| particles.body[index as usize].0;
        let others = grid.around(particles.position[index as usize], cell).copied();
        let near = |other: &u32| {
            let cutoff = OVERLAP_RATIO * (radius(index) + radius(*other));
            let distance = particles.position[index as usize].distance_squared(particles.position[*other as usize]);
            body(*other) != body(index) && distance < cutoff * cutoff
        };
        let mut pairs: Vec<(u32, u32)> =
            others.filter(near).map(|other| (body(index).min(body(other)), body(index).max(body(other)))).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    });
    touched.iter().flatten().for_each(|pair| *counts.entry(*pair).or_insert(0) += 1);
    counts
}
