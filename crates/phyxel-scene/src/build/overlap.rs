//! Bodies that start inside each other.

use crate::shape::Bounds;
use glam::{IVec3, Vec3};
use phyxel::World;
use phyxel::parallel;
use std::collections::{BTreeMap, HashMap};

/// Particles nearer than this part of the sum of their radii overlap.
const NEAR: f32 = 0.5;

/// A warning for every two bodies that overlap at the start.
pub(super) fn find(world: &World) -> Vec<String> {
    let suspects = particles_near_other_bodies(world);
    let counts = count_overlaps(world, &suspects);
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

/// Bounds of each body with the radii of its particles; `None` without particles.
fn bounds_of_bodies(world: &World) -> Vec<Option<Bounds>> {
    let particles = world.particles();
    let bounds = |range: std::ops::Range<usize>| {
        let radius = particles.radius[range.clone()].iter().copied().fold(0.0, f32::max);
        Bounds::of_points(particles.position[range].iter().copied()).map(|bounds| bounds.grown(NEAR * radius))
    };
    world.bodies().iter().map(|body| bounds(body.range())).collect()
}

/// Particles within the bounds of another body. For bodies that stand apart there are none, and no more work.
fn particles_near_other_bodies(world: &World) -> Vec<u32> {
    let bounds = bounds_of_bodies(world);
    let mut order: Vec<usize> = (0..bounds.len()).filter(|body| bounds[*body].is_some()).collect();
    let start = |body: usize| bounds[body].map_or(0.0, |bounds| bounds.min.x);
    order.sort_by(|a, b| start(*a).total_cmp(&start(*b)));
    let mut neighbours: Vec<Vec<Bounds>> = vec![Vec::new(); bounds.len()];
    for (place, &a) in order.iter().enumerate() {
        let Some(own) = bounds[a] else { continue };
        for &b in order[place + 1..].iter().take_while(|b| start(**b) <= own.max.x) {
            let Some(other) = bounds[b] else { continue };
            if own.min.cmple(other.max).all() && other.min.cmple(own.max).all() {
                neighbours[a].push(other);
                neighbours[b].push(own);
            }
        }
    }
    let particles = world.particles();
    let near = |index: usize, around: &[Bounds]| {
        let reach = NEAR * particles.radius[index];
        around.iter().any(|bounds| bounds.distance_squared(particles.position[index]) <= reach * reach)
    };
    let of_body = |(body, around): (usize, &Vec<Bounds>)| {
        let range = if around.is_empty() { 0..0 } else { world.bodies()[body].range() };
        range.filter(|index| near(*index, around)).map(|index| index as u32).collect::<Vec<u32>>()
    };
    neighbours.iter().enumerate().flat_map(of_body).collect()
}

/// Number of particles that overlap one of another body, by pairs of bodies.
fn count_overlaps(world: &World, suspects: &[u32]) -> BTreeMap<(u32, u32), u32> {
    let particles = world.particles();
    let radius = |index: u32| particles.radius[index as usize];
    let cell = suspects.iter().map(|index| radius(*index)).fold(0.0, f32::max) * 2.0 * NEAR;
    let mut counts = BTreeMap::new();
    if cell <= 0.0 {
        return counts;
    }
    let home = |index: u32| cell_of(particles.position[index as usize], cell);
    let mut cells: HashMap<IVec3, Vec<u32>> = HashMap::new();
    suspects.iter().for_each(|index| cells.entry(home(*index)).or_default().push(*index));
    let touched = parallel::map(suspects.len(), 1024, |place| {
        let index = suspects[place];
        let body = |index: u32| particles.body[index as usize].0;
        let around = (0..27).map(|n| home(index).saturating_add(IVec3::new(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1)));
        let others = around.filter_map(|cell| cells.get(&cell)).flatten().copied();
        let near = |other: &u32| {
            let reach = NEAR * (radius(index) + radius(*other));
            let apart = particles.position[index as usize].distance_squared(particles.position[*other as usize]);
            body(*other) != body(index) && apart < reach * reach
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

fn cell_of(position: Vec3, cell: f32) -> IVec3 {
    (position / cell).floor().as_ivec3()
}
