//! System of equations of an island: bodies that are solved together, their matrices and their connected
//! components.

use super::contact::active_set::ActiveSet;
use super::contact::constraint::{Constraint, ConstraintKind, effective_masses};
use super::contact::tie_projection::TieProjection;
use super::linear::coarse::CoarseSpace;
use super::linear::matrix::SystemMatrix;
use super::linear::pattern::Pattern;
use super::rigid_fragments::RigidFragment;
use super::rigid_motion::{PointMass, RigidMotion, clamp_motion};
use crate::Real;
use crate::model::tetra::assembly::{ElementArrays, ElementLaw};
use crate::model::tetra::body::TetBody;
use crate::numerics::UnionFind;
use crate::numerics::pcg::{BlockPartition, TOLERANCE};
use crate::store::Flags;
use glam::{DVec3, Vec3, Vec4};
use phyxel_laws::fem::{CornerVectors, ElasticityFactors, corner_factors};
use std::ops::Range;

/// Body of an island and its state at the start of a step.
pub(in crate::model::tetra) struct IslandBody<'a> {
    /// Index among all bodies of the model.
    pub body: usize,
    pub tet_body: &'a TetBody,
    pub element_law: ElementLaw<'a>,
    /// m/s.
    pub velocities: &'a [Vec3],
    /// Without damping, N.
    pub forces: &'a [Vec3],
    /// kg.
    pub masses: &'a [Real],
    pub flags: &'a [Flags],
    /// Rest positions, m.
    pub rest: &'a [Vec3],
    pub gravity: Vec3,
    pub dt: Real,
    /// Mass-proportional damping, 1/s.
    pub mass_damping: Real,
}

impl IslandBody<'_> {
    /// Returns true if the velocity of a node is prescribed.
    pub fn is_fixed(&self, i: usize) -> bool {
        self.flags[i].has(Flags::FIXED)
    }

    /// Factor `dt^2 + dt b` of the stiffness in the system, s2.
    pub fn stiffness_factor(&self) -> Real {
        self.dt * (self.dt + self.element_law.law.damping_time)
    }

    /// Factor `1 + dt a` of the mass in the system.
    pub fn mass_factor(&self) -> Real {
        1.0 + self.dt * self.mass_damping
    }

    /// Nodes of a component as point masses, from the positions of all nodes of the body, m; `first` is the
    /// index of the first node of the body in the system.
    pub fn point_masses(
        &self,
        component: &[u32],
        positions: &[[f32; 4]],
        first: usize,
    ) -> impl Iterator<Item = PointMass> {
        component.iter().map(move |&i| {
            let mass = f64::from(self.mass_factor() * self.masses[i as usize]);
            let position = Vec4::from_array(positions[i as usize]).truncate().as_dvec3();
            PointMass { node: first + i as usize, mass, position }
        })
    }

    /// Right-hand side `M v + dt (f + M g)` of a node, kg m/s.
    pub fn rhs(&self, i: usize) -> Vec3 {
        self.masses[i] * (self.velocities[i] + self.gravity * self.dt) + self.forces[i] * self.dt
    }
}

/// System of equations of an island. Nodes of its bodies follow each other; rows are nodes in the order of
/// the sparsity patterns.
pub(in crate::model::tetra) struct IslandSystem<'a> {
    pub bodies: &'a [IslandBody<'a>],
    pub matrices: Vec<SystemMatrix>,
    pub coarse_spaces: Vec<CoarseSpace>,
    /// Nodes, and rows, of each body.
    pub nodes: Vec<Range<usize>>,
    /// Node of each row.
    pub order: Vec<u32>,
    /// Mean diagonals of the matrix by node: inertia with the stiffness around, kg.
    pub effective_masses: Vec<Real>,
    /// Mass with mass-proportional damping, `(1 + dt a) m`, by node, kg.
    pub masses: Vec<Real>,
    /// By node, kg m/s.
    pub rhs: Vec<Vec3>,
    /// Initial guess and its residual, by row.
    pub initial_velocities: Vec<Vec3>,
    pub initial_residual: Vec<Vec3>,
    /// Connected components that are not rigid fragments.
    pub components: Vec<Component>,
    /// Nodes by sets of components that no constraint couples.
    pub partition: BlockPartition,
    /// Relative tolerance of linear solves.
    pub tolerance: f64,
}

impl<'a> IslandSystem<'a> {
    /// Bodies with their matrices and their ranges of nodes.
    pub fn body_systems(&self) -> impl Iterator<Item = (&IslandBody<'a>, &SystemMatrix, Range<usize>)> {
        let bodies = self.bodies.iter().zip(&self.matrices).zip(&self.nodes);
        bodies.map(|((body, matrix), nodes)| (body, matrix, nodes.clone()))
    }

    /// Collects a value of each node.
    pub fn nodal_values<T>(&self, value: impl Fn(&IslandBody<'a>, usize) -> T) -> Vec<T> {
        nodal_values(self.bodies, value)
    }

    /// Effective mass and mass of a node, kg.
    pub fn node_masses(&self, node: usize) -> [Real; 2] {
        [self.effective_masses[node], self.masses[node]]
    }

    /// Permutes values of nodes to rows.
    pub fn by_row<T: Copy>(&self, values: &[T]) -> Vec<T> {
        self.order.iter().map(|&node| values[node as usize]).collect()
    }

    /// Computes twice the kinetic energy of the rounding errors of velocities, by block, J: the accuracy that a
    /// solve can reach.
    pub fn rounding_energy(&self, velocities: &[Vec3]) -> Vec<f64> {
        let momentum: Vec<Vec3> =
            self.masses.iter().zip(velocities).map(|(mass, velocity)| *velocity * *mass).collect();
        let energy = self.partition.block_dots(&momentum, velocities);
        energy.into_iter().map(|energy| f64::from(Real::EPSILON).powi(2) * energy).collect()
    }

    /// Sets up the active set: drops constraints within a component and on rigid fragments, partitions the
    /// nodes, and fixes and averages tied ones.
    pub fn activate(
        &mut self,
        mut constraints: Vec<Constraint>,
        fragments: &[RigidFragment],
        start: &mut [Vec3],
    ) -> ActiveSet {
        let mut is_fixed = self.nodal_values(IslandBody::is_fixed);
        let mut is_in_fragment = vec![false; is_fixed.len()];
        for (node, _) in fragments.iter().flat_map(RigidFragment::velocities) {
            (is_fixed[node], is_in_fragment[node]) = (true, true);
        }
        let (component_of, count) = self.find_components();
        constraints.retain(|constraint| {
            let [node, face] = [constraint.nodes[0], constraint.nodes[1]];
            !constraint.nodes.iter().any(|&node| is_in_fragment[node])
                && (component_of[node] != component_of[face])
                && self.solves_contact([node, face])
        });
        self.partition = independent_blocks(&constraints, component_of, count);
        let ties = TieProjection::new(&constraints, &self.masses);
        ties.fix_together(&mut is_fixed);
        ties.average(start);
        ActiveSet { constraints, obstacle_of: vec![None; is_fixed.len()], is_fixed, is_stiffened: false }
    }

    /// Finds the connected component of each node, and their number.
    fn find_components(&self) -> (Vec<u32>, usize) {
        let mut component_of = vec![0u32; self.rhs.len()];
        let mut count = 0;
        for (_, matrix, nodes) in self.body_systems() {
            for component in &matrix.pattern.components {
                component.iter().for_each(|&i| component_of[nodes.start + i as usize] = count);
                count += 1;
            }
        }
        (component_of, count as usize)
    }

    /// Returns true if contact between these nodes of different components is part of the solve. Within a
    /// body it is so only if that is very stiff; otherwise contact acts after the solve: where a crack has
    /// just opened, the contact normal is too uncertain.
    fn solves_contact(&self, nodes: [usize; 2]) -> bool {
        let [a, b] = nodes.map(|node| self.nodes.partition_point(|range| range.end <= node));
        a != b || self.matrices[a].inertia_is_lost
    }

    /// Restores the exact momentum that an iterative solve loses: linear and angular for each free
    /// component, linear for all that are in contact together, unless obstacles or fixed nodes hold them.
    /// Neither elements nor contacts have a net force, whatever the residual. (The residual is small beside
    /// the work of the whole body; a fragment of it may be far lighter.)
    ///
    /// Nodes move straight during a step, so components with too large a rotation or deformation are
    /// clamped: one that turned by more than half a radian would be torn wide, and a fragment that is
    /// struck may be faster than its own size per step.
    pub fn restore_momentum(&self, active_set: &ActiveSet, velocities: &mut [Vec3]) {
        let mut is_held = active_set.is_fixed.clone();
        let mut is_constrained = is_held.clone();
        for constraint in active_set.constraints.iter().filter(|constraint| !constraint.is_open) {
            constraint.nodes.iter().for_each(|&node| is_constrained[node] = true);
            is_held[constraint.nodes[0]] |= constraint.kind == ConstraintKind::Obstacle;
        }
        let missing = |node: &PointMass, velocity: DVec3| self.rhs[node.node].as_dvec3() / node.mass - velocity;
        let mut in_contact = Vec::new();
        for Component { nodes, dt, is_fixed } in &self.components {
            let is_free = !nodes.iter().any(|node| is_constrained[node.node]);
            let mut local: Vec<DVec3> = nodes.iter().map(|node| velocities[node.node].as_dvec3()).collect();
            if is_free {
                let missing = nodes.iter().zip(&local).map(|(node, velocity)| missing(node, *velocity));
                let rigid = RigidMotion::fit(nodes, &missing.collect::<Vec<DVec3>>());
                nodes.iter().zip(&mut local).for_each(|(node, v)| *v += rigid.velocity_at(node.position));
            }
            let is_clamped = !is_fixed && clamp_motion(nodes, *dt, &mut local);
            if is_free || is_clamped {
                nodes.iter().zip(local).for_each(|(node, velocity)| velocities[node.node] = velocity.as_vec3());
            }
            if is_clamped {
                // The clamped component leaves obstacles as a whole.
                let obstacle = |node: &PointMass| Some(&active_set.constraints[active_set.obstacle_of[node.node]?]);
                for constraint in nodes.iter().filter_map(obstacle) {
                    let shift = constraint.violation(velocities);
                    nodes.iter().for_each(|node| velocities[node.node] += shift);
                }
            }
            if !is_free {
                in_contact.extend(nodes);
            }
        }
        if !in_contact.iter().any(|node| is_held[node.node]) {
            let momentum = in_contact.iter().map(|node| node.mass * missing(node, velocities[node.node].as_dvec3()));
            let mass = in_contact.iter().map(|node| node.mass).sum::<f64>().max(f64::MIN_POSITIVE);
            let shift = (momentum.sum::<DVec3>() / mass).as_vec3();
            in_contact.iter().for_each(|node| velocities[node.node] += shift);
        }
    }
}

fn nodal_values<'a, T>(bodies: &[IslandBody<'a>], value: impl Fn(&IslandBody<'a>, usize) -> T) -> Vec<T> {
    let mut values = Vec::new();
    for body in bodies {
        values.extend((0..body.masses.len()).map(|i| value(body, i)));
    }
    values
}

/// Connected component of a body in a step.
pub(in crate::model::tetra) struct Component {
    nodes: Vec<PointMass>,
    /// s.
    dt: Real,
    /// True if any of its nodes is fixed.
    is_fixed: bool,
}

/// Partitions nodes into blocks of components that constraints couple, from the component of each node.
fn independent_blocks(constraints: &[Constraint], component_of: Vec<u32>, count: usize) -> BlockPartition {
    let mut sets = UnionFind::new(count);
    for constraint in constraints.iter().filter(|constraint| constraint.kind != ConstraintKind::Obstacle) {
        let first = component_of[constraint.nodes[0]];
        constraint.nodes.iter().for_each(|&node| sets.union([first, component_of[node]]));
    }
    let roots: Vec<u32> = (0..count as u32).map(|component| sets.find(component)).collect();
    let mut block_of_root = vec![0; count];
    let own_roots = roots.iter().enumerate().filter(|(component, root)| **root as usize == *component);
    let blocks = own_roots.zip(0..).map(|((component, _), block)| block_of_root[component] = block).count();
    let block_of = component_of.into_iter().map(|component| block_of_root[roots[component as usize] as usize]);
    BlockPartition::new(block_of.collect(), blocks)
}

impl ElementArrays {
    /// Assembles the system of bodies at the positions that were loaded.
    pub(super) fn build_system<'a>(&mut self, bodies: &'a [IslandBody<'a>]) -> IslandSystem<'a> {
        let matrices: Vec<SystemMatrix> = bodies.iter().map(|body| self.assemble_matrix(body)).collect();
        let spaces = bodies.iter().zip(&matrices).map(|(body, matrix)| {
            let positions = self.body_positions(body.body);
            let row = |&node: &u32| Vec4::from_array(positions[node as usize]).truncate();
            CoarseSpace::new(matrix, &matrix.pattern.order.iter().map(row).collect::<Vec<Vec3>>())
        });
        let coarse_spaces = spaces.collect();
        let mut count = 0;
        let nodes = bodies.iter().map(|body| {
            let first = count;
            count += body.masses.len();
            first..count
        });
        let nodes: Vec<Range<usize>> = nodes.collect();
        let order = matrices.iter().zip(&nodes).flat_map(|(matrix, nodes)| {
            let first = nodes.start as u32;
            matrix.pattern.order.iter().map(move |&node| first + node)
        });
        IslandSystem {
            bodies,
            order: order.collect(),
            effective_masses: matrices.iter().flat_map(effective_masses).collect(),
            masses: nodal_values(bodies, |body, i| body.mass_factor() * body.masses[i]),
            rhs: nodal_values(bodies, IslandBody::rhs),
            initial_velocities: Vec::new(),
            initial_residual: Vec::new(),
            components: Vec::new(),
            partition: BlockPartition::SINGLE,
            tolerance: TOLERANCE,
            coarse_spaces,
            matrices,
            nodes,
        }
    }

    /// Assembles the matrix of a body; its pattern is kept until the mesh changes.
    fn assemble_matrix(&mut self, body: &IslandBody) -> SystemMatrix {
        let IslandBody { tet_body, element_law, .. } = body;
        let first = self.ranges[body.body].particles.start as u32;
        let mut matrix = self.matrices[body.body].take().unwrap_or_else(|| {
            let local = |element: &[u32; 4]| element.map(|node| node.wrapping_sub(first));
            let elements: Vec<[u32; 4]> = tet_body.elements.iter().map(local).collect();
            SystemMatrix::new(Pattern::new(body.rest, &elements))
        });
        let factors = ElasticityFactors::new(&element_law.law.hooke);
        let corner_vectors = |[mode, pack]: [usize; 2], out: &mut CornerVectors| {
            let view = self.pack_view(body.body, tet_body, element_law.states, pack);
            corner_factors(self.level, &view, &factors, mode, &tet_body.rotations[pack], out);
        };
        let mass = |node: usize| body.mass_factor() * body.masses[node];
        matrix.assemble((&factors, tet_body.rest.len()), corner_vectors, body.stiffness_factor(), mass);
        matrix
    }

    /// Lists the connected components of bodies that are not rigid fragments.
    pub(super) fn deformable_components<'a>(
        &self,
        bodies: impl Iterator<Item = (&'a IslandBody<'a>, &'a SystemMatrix, Range<usize>)>,
    ) -> Vec<Component> {
        let mut components = Vec::new();
        for (body, matrix, nodes) in bodies {
            let positions = self.body_positions(body.body);
            let deformable = matrix.pattern.components.iter().filter(|nodes| !body.is_rigid_fragment(matrix, nodes));
            components.extend(deformable.map(|component| Component {
                nodes: body.point_masses(component, positions, nodes.start).collect(),
                dt: body.dt,
                is_fixed: component.iter().any(|&i| body.is_fixed(i as usize)),
            }));
        }
        components
    }
}
