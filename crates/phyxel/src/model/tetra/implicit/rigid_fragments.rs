//! Small stiff fragments as rigid bodies.
//!
//! A fragment of a very stiff body resists deformation millions of times as much as acceleration, and a
//! small residual of the one is a large one of the other. In the limit of infinite stiffness a backward
//! Euler step has a simple solution, which is taken instead: the fragment moves rigidly and assumes its
//! stress-free shape.

use super::contact::obstacles::{ObstacleBound, ObstacleQueries};
use super::linear::matrix::SystemMatrix;
use super::rigid_motion::{PointMass, RigidMotion, clamp_motion};
use super::system::IslandBody;
use crate::model::tetra::assembly::ElementArrays;
use crate::model::tetra::body::TetBody;
use crate::store::Particles;
use glam::{DMat3, DQuat, DVec3, Vec3, Vec4};
use phyxel_laws::fem::Element;
use phyxel_laws::material::hooke::VOIGT;
use phyxel_laws::simd::WIDTH;
use std::ops::Range;

/// Most nodes of a rigid fragment: about those of a ball of two elements across.
const MAX_NODES: usize = 32;
/// Most passes of obstacle detection: the first, and more where the fragment turns towards other obstacles.
const MAX_DETECTIONS: u32 = 3;
/// Gauss-Seidel sweeps over the contacts of a fragment. Each leaves about half of the error.
const SWEEPS: u32 = 16;

impl IslandBody<'_> {
    /// Returns true if a component is too small and stiff for the linear solve.
    pub fn is_rigid_fragment(&self, matrix: &SystemMatrix, component: &[u32]) -> bool {
        let is_fixed = |&i: &u32| self.is_fixed(i as usize);
        matrix.inertia_is_lost && component.len() <= MAX_NODES && !component.iter().any(is_fixed)
    }
}

impl TetBody {
    /// Returns true if a node, by its index in the body, is part of a rigid fragment.
    pub fn is_in_rigid_fragment(&self, node: u32) -> bool {
        let Some(complex) = self.complex.as_ref().filter(|_| self.inertia_is_lost) else { return false };
        let mut component = vec![node];
        let mut visited = 0;
        while visited < component.len() && component.len() <= MAX_NODES {
            let corners = complex.corners(component[visited]).iter();
            let elements = corners.map(|&corner| complex.elements()[corner as usize / 4]);
            for node in elements.flatten() {
                if !component.contains(&node) {
                    component.push(node);
                }
            }
            visited += 1;
        }
        component.len() <= MAX_NODES
    }
}

/// Rigid fragment in a step.
pub(in crate::model::tetra) struct RigidFragment {
    nodes: Vec<PointMass>,
    /// s.
    dt: f32,
    /// kg.
    mass: f64,
    /// 1/(kg m2).
    inverse_inertia: DMat3,
    motion: RigidMotion,
    /// Velocities of nodes to the stress-free shape, m/s.
    relaxation: Vec<DVec3>,
    /// By node, the obstacle and its impulse so far, kg m/s.
    contacts: Vec<Option<(ObstacleBound, DVec3)>>,
    /// By node, m/s.
    velocities: Vec<DVec3>,
}

impl RigidFragment {
    /// Nodes, by index in the system, and their velocities at the end of the step, m/s.
    pub fn velocities(&self) -> impl Iterator<Item = (usize, Vec3)> {
        self.nodes.iter().zip(&self.velocities).map(|(node, velocity)| (node.node, velocity.as_vec3()))
    }

    /// Nodes at obstacles and their impulses, kg m/s.
    pub fn impulses(&self) -> impl Iterator<Item = (usize, Vec3)> {
        let contacts = self.nodes.iter().zip(&self.contacts);
        contacts.filter_map(|(node, contact)| contact.map(|(_, impulse)| (node.node, impulse.as_vec3())))
    }

    /// Adds obstacle contacts, ascending by node, where there are none; returns true if there are any.
    fn add_bounds(&mut self, bounds: &[(usize, ObstacleBound)]) -> bool {
        let bound_of = |node: usize| Some(bounds[bounds.binary_search_by_key(&node, |(node, _)| *node).ok()?].1);
        let mut any = false;
        let without = self.nodes.iter().zip(&mut self.contacts).filter(|(_, contact)| contact.is_none());
        for (node, contact) in without {
            *contact = bound_of(node.node).map(|bound| (bound, DVec3::ZERO));
            any |= contact.is_some();
        }
        any
    }

    /// Solves the contacts by sequential impulses: normal, then friction, accumulated and clamped.
    fn sequential_impulses(&mut self) {
        let count = self.nodes.len();
        for k in (0..SWEEPS).flat_map(|_| 0..count) {
            let Some((bound, old)) = self.contacts[k] else { continue };
            let (normal, adhesion_impulse) = (bound.normal.as_dvec3(), f64::from(bound.adhesion_impulse));
            let missing = f64::from(bound.min_velocity) - self.relative_velocity(k, &bound).dot(normal);
            let normal_impulse = (old.dot(normal) + missing * self.effective_mass(k, normal)).max(-adhesion_impulse);
            let old_friction = old - normal * old.dot(normal);
            self.apply_impulse(k, normal * normal_impulse + old_friction - old);
            let slip = self.relative_velocity(k, &bound);
            let slip = slip - normal * slip.dot(normal);
            let limit = f64::from(bound.friction.kinetic) * (normal_impulse + adhesion_impulse).max(0.0);
            let friction = old_friction - slip * self.effective_mass(k, slip.normalize_or_zero());
            let friction = friction.clamp_length_max(limit);
            self.apply_impulse(k, friction - old_friction);
            self.contacts[k] = Some((bound, normal * normal_impulse + friction));
        }
        self.update_velocities();
    }

    /// Velocity of a node relative to its obstacle, m/s.
    fn relative_velocity(&self, k: usize, bound: &ObstacleBound) -> DVec3 {
        self.motion.velocity_at(self.nodes[k].position) + self.relaxation[k] - bound.surface_velocity.as_dvec3()
    }

    /// Impulse at a node per change of its velocity along a direction, kg.
    fn effective_mass(&self, k: usize, direction: DVec3) -> f64 {
        let torque = (self.nodes[k].position - self.motion.centre).cross(direction);
        1.0 / (1.0 / self.mass + torque.dot(self.inverse_inertia * torque))
    }

    /// Applies an impulse at a node, kg m/s.
    fn apply_impulse(&mut self, k: usize, impulse: DVec3) {
        self.motion.velocity += impulse / self.mass;
        self.motion.angular_velocity +=
            self.inverse_inertia * (self.nodes[k].position - self.motion.centre).cross(impulse);
    }

    /// Updates the velocities of nodes. A fragment whose motion was clamped leaves its obstacles as a whole.
    fn update_velocities(&mut self) {
        let velocity = |(node, relaxation): (&PointMass, &DVec3)| self.motion.velocity_at(node.position) + *relaxation;
        self.velocities = self.nodes.iter().zip(&self.relaxation).map(velocity).collect();
        if !clamp_motion(&self.nodes, self.dt, &mut self.velocities) {
            return;
        }
        for (k, contact) in self.contacts.iter_mut().enumerate() {
            let Some((bound, impulse)) = contact else { continue };
            let normal = bound.normal.as_dvec3();
            let relative = self.velocities[k] - bound.surface_velocity.as_dvec3();
            let missing = f64::from(bound.min_velocity) - relative.dot(normal);
            let shift = normal * missing.max(0.0);
            self.velocities.iter_mut().for_each(|velocity| *velocity += shift);
            *impulse += self.mass * shift;
        }
    }
}

impl ElementArrays {
    /// Solves the motion of the rigid fragments of bodies, from the velocities of all nodes at the start, m/s.
    pub fn solve_rigid_fragments<'a>(
        &self,
        bodies: impl Iterator<Item = (&'a IslandBody<'a>, &'a SystemMatrix, Range<usize>)>,
        start: &[Vec3],
        queries: &mut ObstacleQueries,
    ) -> Vec<RigidFragment> {
        let mut fragments = Vec::new();
        for (body, matrix, nodes) in bodies {
            let components = matrix.pattern.components.iter().filter(|nodes| body.is_rigid_fragment(matrix, nodes));
            fragments.extend(components.map(|component| self.free_fragment(body, component, nodes.start)));
        }
        let mut velocities = start.to_vec();
        for _ in 0..if fragments.is_empty() { 0 } else { MAX_DETECTIONS } {
            let moved = fragments.iter().flat_map(RigidFragment::velocities);
            moved.for_each(|(node, velocity)| velocities[node] = velocity);
            let bounds = queries.find_bounds(&velocities, false);
            let mut is_done = true;
            for fragment in &mut fragments {
                if fragment.add_bounds(&bounds) {
                    fragment.sequential_impulses();
                    is_done = false;
                }
            }
            if is_done {
                break;
            }
        }
        fragments
    }

    /// Replaces the velocity changes that contacts made after the solve, `velocity - solved`, by their
    /// rigid fit, for each component of a very stiff body, m/s.
    pub fn rigidify_contact_response(&self, body: usize, solved: &[Vec3], particles: &mut Particles) {
        let Some(matrix) = self.matrices[body].as_ref().filter(|matrix| matrix.inertia_is_lost) else { return };
        let first = self.ranges[body].particles.start;
        let is_changed = |&i: &u32| particles.velocity[first + i as usize] != solved[i as usize];
        let is_fixed = |&i: &u32| particles.is_fixed(first + i as usize);
        let components = matrix.pattern.components.iter();
        let changed = components.filter(|nodes| nodes.iter().any(is_changed) && !nodes.iter().any(is_fixed));
        for component in changed.collect::<Vec<_>>() {
            let point_mass = |&i: &u32| {
                let node = first + i as usize;
                let (mass, position) = (f64::from(particles.mass[node]), particles.position[node].as_dvec3());
                PointMass { node, mass, position }
            };
            let nodes: Vec<PointMass> = component.iter().map(point_mass).collect();
            let change =
                |(node, &i): (&PointMass, &u32)| (particles.velocity[node.node] - solved[i as usize]).as_dvec3();
            let changes: Vec<DVec3> = nodes.iter().zip(component).map(change).collect();
            let rigid = RigidMotion::fit(&nodes, &changes);
            for (node, &i) in nodes.iter().zip(component) {
                particles.velocity[node.node] = solved[i as usize] + rigid.velocity_at(node.position).as_vec3();
            }
        }
    }

    /// Fragment without contacts; `first` is the index of the first node of its body in the system.
    fn free_fragment(&self, body: &IslandBody, component: &[u32], first: usize) -> RigidFragment {
        let positions = self.body_positions(body.body);
        let nodes: Vec<PointMass> = body.point_masses(component, positions, first).collect();
        // Internal forces have no net force and no torque but by rounding.
        let internal = |i: usize| self.nodal_force(self.ranges[body.body].nodes.start + i);
        let momentum = |i: usize| (body.rhs(i) - internal(i) * body.dt).as_dvec3();
        let free = component.iter().zip(&nodes).map(|(&i, node)| momentum(i as usize) / node.mass);
        let motion = RigidMotion::fit(&nodes, &free.collect::<Vec<DVec3>>());
        // The relaxation must not move it rigidly either.
        let shifts: Vec<DVec3> = component.iter().map(|&i| self.stress_free_shift(body, i as usize)).collect();
        let rigid = RigidMotion::fit(&nodes, &shifts);
        let relaxation = nodes.iter().zip(&shifts);
        let relaxation =
            relaxation.map(|(node, shift)| (*shift - rigid.velocity_at(node.position)) / f64::from(body.dt));
        let mut relaxation: Vec<DVec3> = relaxation.collect();
        clamp_motion(&nodes, body.dt, &mut relaxation);
        let mut fragment = RigidFragment {
            mass: nodes.iter().map(|node| node.mass).sum(),
            inverse_inertia: motion.inverse_inertia(&nodes),
            contacts: vec![None; nodes.len()],
            velocities: Vec::new(),
            dt: body.dt,
            nodes,
            motion,
            relaxation,
        };
        fragment.update_velocities();
        fragment
    }

    /// Displacement of a node to the stress-free shape, m: the mean over its elements by volume, each
    /// relaxed about its centroid.
    fn stress_free_shift(&self, body: &IslandBody, node: usize) -> DVec3 {
        let ranges = &self.ranges[body.body];
        let (mut sum, mut volumes) = (DVec3::ZERO, 0.0);
        for &offset in self.corners_of_node(ranges.nodes.start + node) {
            let offset = offset as usize;
            let (pack, corner, lane) = (offset / 32 - ranges.packs.start, offset / WIDTH % 4, offset % WIDTH);
            let index = WIDTH * pack + lane;
            let element = body.tet_body.element(index);
            let [b, c, d] = element.gradients.map(Vec3::as_dvec3);
            let edges = DMat3::from_cols(b, c, d).transpose().inverse();
            let corners = [DVec3::ZERO, edges.x_axis, edges.y_axis, edges.z_axis];
            let centroid = 0.25 * corners.iter().sum::<DVec3>();
            let volume = f64::from(element.volume);
            sum -= volume * (self.rotated_elastic_strain(body, index, &element) * (corners[corner] - centroid));
            volumes += volume;
        }
        sum / volumes.max(f64::MIN_POSITIVE)
    }

    /// Elastic strain of an element times its rotation, `R e`: from vectors at rest to displacements in space.
    fn rotated_elastic_strain(&self, body: &IslandBody, index: usize, element: &Element) -> DMat3 {
        let (pack, lane) = (index / WIDTH, index % WIDTH);
        let positions = self.body_positions(body.body);
        let first = self.ranges[body.body].particles.start;
        let corners = body.tet_body.elements[index]
            .map(|node| Vec4::from_array(positions[node as usize - first]).truncate().as_dvec3());
        let gradient = element.deformation_gradient(corners);
        let [x, y, z, w] = body.tet_body.rotations[pack].map(|component| f64::from(component[lane]));
        let rotation = DMat3::from_quat(DQuat::from_xyzw(x, y, z, w).normalize());
        let stretch = rotation.transpose() * gradient;
        let mut elastic = 0.5 * (stretch + stretch.transpose()) - DMat3::IDENTITY;
        if let Some(state) = body.element_law.states.get(pack) {
            elastic -= DMat3::from_diagonal(DVec3::splat(state.thermal_strain[lane].into()));
            for (plastic, (i, j)) in state.plastic_strain.iter().zip(VOIGT) {
                let plastic = f64::from(plastic[lane]);
                elastic.col_mut(i)[j] -= plastic;
                elastic.col_mut(j)[i] -= if i == j { 0.0 } else { plastic };
            }
        }
        rotation * elastic
    }
}
