//! Rigid motion of point masses: least-squares fit, and limits on the motion of a step.

use crate::Real;
use crate::numerics::{angular_velocity, scaled_inverse_inertia};
use glam::{DMat3, DVec3};

/// Largest rotation of a component in a step, rad: nodes that move straight then widen it by an eighth.
const MAX_ROTATION: f64 = 0.5;
/// Largest displacement of a node relative to the rigid motion of its component, in units of the
/// component's radius.
const MAX_DEFORMATION: f64 = 0.25;

/// Node of a component: its index in the system, its mass, kg, and its position, m.
pub(in crate::model::tetra) struct PointMass {
    pub node: usize,
    pub mass: f64,
    pub position: DVec3,
}

/// Rigid motion: velocity of the centre of mass and angular velocity, SI units.
#[derive(Clone, Copy)]
pub(in crate::model::tetra) struct RigidMotion {
    pub centre: DVec3,
    pub velocity: DVec3,
    pub angular_velocity: DVec3,
}

impl RigidMotion {
    /// Fits the rigid motion with the linear and angular momentum of nodes with these velocities, m/s.
    pub fn fit(nodes: &[PointMass], velocities: &[DVec3]) -> Self {
        let mass = nodes.iter().map(|node| node.mass).sum::<f64>().max(f64::MIN_POSITIVE);
        let momentum = nodes.iter().zip(velocities).map(|(node, velocity)| node.mass * *velocity).sum::<DVec3>();
        let velocity = momentum / mass;
        let centre = nodes.iter().map(|node| node.mass * node.position).sum::<DVec3>() / mass;
        let moving = nodes.iter().zip(velocities);
        let relative = moving.map(|(node, v)| (node.mass, node.position - centre, *v - velocity));
        Self { centre, velocity, angular_velocity: angular_velocity(relative) }
    }

    /// Velocity at a position, m/s.
    pub fn velocity_at(&self, position: DVec3) -> DVec3 {
        self.velocity + self.angular_velocity.cross(position - self.centre)
    }

    /// Inverse of the inertia tensor of nodes about the centre, 1/(kg m2).
    pub fn inverse_inertia(&self, nodes: &[PointMass]) -> DMat3 {
        let arms = nodes.iter().map(|node| (node.mass, node.position - self.centre));
        let (inverse, scale) = scaled_inverse_inertia(arms);
        inverse * (1.0 / scale)
    }
}

/// Limits the rotation and the deformation of a component in a step; returns true if they were beyond the
/// limits.
pub(in crate::model::tetra) fn clamp_motion(nodes: &[PointMass], dt: Real, velocities: &mut [DVec3]) -> bool {
    let rigid = RigidMotion::fit(nodes, velocities);
    let rotation = rigid.angular_velocity.length() * f64::from(dt);
    let [mut radius, mut max_speed] = [0.0f64; 2];
    for (node, velocity) in nodes.iter().zip(&*velocities) {
        radius = radius.max((node.position - rigid.centre).length_squared());
        max_speed = max_speed.max((*velocity - rigid.velocity_at(node.position)).length_squared());
    }
    let deformation = max_speed.sqrt() * f64::from(dt) / radius.sqrt().max(f64::MIN_POSITIVE);
    if rotation <= MAX_ROTATION && deformation <= MAX_DEFORMATION {
        return false;
    }
    let clamped =
        RigidMotion { angular_velocity: rigid.angular_velocity * (MAX_ROTATION / rotation).min(1.0), ..rigid };
    let factor = (MAX_DEFORMATION / deformation).min(1.0);
    for (node, velocity) in nodes.iter().zip(velocities) {
        *velocity = clamped.velocity_at(node.position) + factor * (*velocity - rigid.velocity_at(node.position));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four corners of different mass.
    fn tetrahedron() -> Vec<PointMass> {
        let positions = [DVec3::ZERO, DVec3::X, 2.0 * DVec3::Y, DVec3::new(0.3, 0.4, 1.5)];
        (0..4).map(|node| PointMass { node, mass: 1.0 + node as f64, position: positions[node] }).collect()
    }

    /// Linear and angular momentum.
    fn momenta(nodes: &[PointMass], velocities: &[DVec3]) -> [DVec3; 2] {
        let sum = |momentum: &dyn Fn(&PointMass, DVec3) -> DVec3| {
            nodes.iter().zip(velocities).map(|(node, &v)| momentum(node, v)).sum()
        };
        [sum(&|node, v| node.mass * v), sum(&|node, v| node.mass * node.position.cross(v))]
    }

    #[test]
    fn the_rigid_fit_keeps_linear_and_angular_momentum() {
        let nodes = tetrahedron();
        let velocities = [DVec3::X, DVec3::new(0.2, -1.0, 3.0), DVec3::Z, DVec3::new(-2.0, 0.5, 0.1)];
        let motion = RigidMotion::fit(&nodes, &velocities);
        let rigid: Vec<DVec3> = nodes.iter().map(|node| motion.velocity_at(node.position)).collect();
        for (a, b) in momenta(&nodes, &velocities).into_iter().zip(momenta(&nodes, &rigid)) {
            // Inertia is a millionth larger, so that a line has no infinite spin about itself.
            assert!((a - b).length() < 1e-4 * a.length(), "{a} and {b}");
        }
        // The inverse inertia turns an angular momentum into an angular velocity that has it.
        let wanted = DVec3::new(0.1, 2.0, -1.0);
        let angular_velocity = motion.inverse_inertia(&nodes) * wanted;
        let spinning = RigidMotion { velocity: DVec3::ZERO, angular_velocity, ..motion };
        let spinning: Vec<DVec3> = nodes.iter().map(|node| spinning.velocity_at(node.position)).collect();
        let [linear, angular] = momenta(&nodes, &spinning);
        assert!(linear.length() < 1e-12 && (angular - wanted).length() < 1e-4, "{linear} and {angular}");
    }

    #[test]
    fn clamping_limits_rotation_and_deformation_but_keeps_the_velocity() {
        let nodes = tetrahedron();
        let spinning = |spin: f64| -> Vec<DVec3> {
            nodes.iter().map(|node| 40.0 * DVec3::X + DVec3::new(0.0, 0.0, spin).cross(node.position)).collect()
        };
        // A tenth of a second at 4 rad/s is within the limit, at 9 rad/s it is beyond.
        let mut slow = spinning(4.0);
        assert!(!clamp_motion(&nodes, 0.1, &mut slow));
        assert_eq!(slow, spinning(4.0));
        let mut fast = spinning(9.0);
        assert!(clamp_motion(&nodes, 0.1, &mut fast));
        let (before, after) = (RigidMotion::fit(&nodes, &spinning(9.0)), RigidMotion::fit(&nodes, &fast));
        let change = (after.velocity - before.velocity).length();
        assert!(change < 1e-12 * before.velocity.length(), "{}", after.velocity);
        // As above, inertia is a millionth larger.
        let limit = DVec3::new(0.0, 0.0, MAX_ROTATION / 0.1);
        assert!((after.angular_velocity - limit).length() < 1e-4, "{}", after.angular_velocity);

        let mut torn = spinning(0.0);
        torn[0].y = 300.0;
        let (before, torn_before) = (RigidMotion::fit(&nodes, &torn), torn.clone());
        assert!(clamp_motion(&nodes, 0.1, &mut torn));
        let radius = nodes.iter().map(|node| (node.position - before.centre).length()).fold(0.0, f64::max);
        let after = RigidMotion::fit(&nodes, &torn);
        let max_speed = |velocities: &[DVec3], motion: &RigidMotion| {
            let relative = |(node, v): (&PointMass, &DVec3)| (*v - motion.velocity_at(node.position)).length();
            nodes.iter().zip(velocities).map(relative).fold(0.0, f64::max)
        };
        assert!(max_speed(&torn_before, &before) * 0.1 > MAX_DEFORMATION * radius);
        assert!(max_speed(&torn, &after) * 0.1 < (MAX_DEFORMATION + 1e-4) * radius);
    }
}
