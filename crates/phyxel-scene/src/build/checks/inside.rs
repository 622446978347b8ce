//! Bodies that start inside obstacles.

use crate::scene::{ObstacleDescription, pose_of};
use phyxel::World;
use phyxel::body::Pose;
use phyxel::parallel;

/// Returns a warning for every body with particles inside an obstacle at the start.
pub(super) fn find_bodies_in_obstacles(world: &World, obstacles: &[ObstacleDescription]) -> Vec<String> {
    let mut warnings = Vec::new();
    for obstacle in obstacles.iter().filter(|obstacle| obstacle.active) {
        let counts = count_inside(world, obstacle);
        for (body, count) in world.bodies().iter().zip(counts).filter(|(_, count)| *count > 0) {
            warnings.push(format!(
                "body \"{}\" starts inside obstacle \"{}\" with {count} of its {} particles; move one of them",
                body.name,
                obstacle.name,
                body.len()
            ));
        }
    }
    warnings
}

/// Number of particles of each body with their centre inside an obstacle.
fn count_inside(world: &World, obstacle: &ObstacleDescription) -> Vec<u32> {
    let pose: Pose = obstacle.keyframes.first().map_or_else(|| pose_of(&obstacle.place), |keyframe| keyframe.pose);
    let bounds = obstacle.shape.bounds();
    let particles = world.particles();
    let inside = parallel::map(particles.len(), 4096, |index| {
        let local = pose.inverse_transform_point(particles.position[index]) / obstacle.place.scale;
        // A particle exactly on the surface is not inside.
        bounds.is_none_or(|bounds| bounds.contains(local))
            && obstacle.shape.contains(local)
            && obstacle.shape.distance(local) < 0.0
    });
    let count = |range: std::ops::Range<usize>| inside[range].iter().filter(|inside| **inside).count() as u32;
    world.bodies().iter().map(|body| count(body.range())).collect()
}
