//! Backward Euler with contact by a semismooth Newton method: velocities at the end of a step.
//!
//! `(M + dt a M + (dt^2 + dt b) K) v' = M v + dt (f + M g) + sum of contact impulses`, with the
//! corotational stiffness `K` at the rotations of the start of the step, which is positive semidefinite
//! whatever the stress, and Rayleigh damping `a`, `b`. Each Newton iteration solves the linear system of
//! the active contacts by preconditioned conjugate gradients, goes along the solution by a line search, and
//! updates the active set and the friction states.

use super::contact::active_set::ActiveSet;
use super::contact::constraint::{Constraint, ConstraintKind};
use super::contact::obstacles::{DofConstraint, ObstacleQueries};
use super::contact::operator::ContactOperator;
use super::contact::tie_projection::TieProjection;
use super::line_search::{StepLength, line_search};
use super::linear::coarse::{CoarseCache, CoarseSystem, body_blocks};
use super::linear::preconditioner::TwoLevelPreconditioner;
use super::linear::product::Workspace;
use super::rigid_fragments::RigidFragment;
use super::system::{IslandBody, IslandSystem};
use crate::Real;
use crate::model::tetra::assembly::ElementArrays;
use crate::numerics::pcg::{BlockPartition, PcgProblem, TOLERANCE};
use crate::parallel;
use glam::Vec3;

/// Largest number of Newton iterations of a phase of the solve.
const MAX_NEWTON: u32 = 40;
/// Relative tolerance of linear solves while the active set is not yet known.
const LOOSE_TOL: f64 = 0.1;
/// Relative tolerance of linear solves with contacts.
const CONTACT_TOL: f64 = 1e-3;
/// A mismatch between the energy and its quadratic model does not count in blocks whose slope is below this
/// fraction of the reference.
const NEGLIGIBLE: f64 = 1e-3;
/// Rows per task.
const ROW_GRAIN: usize = 512;

/// Solution of a step; nodes are those of all bodies of the island, one body after the other.
pub(in crate::model::tetra) struct StepSolution {
    /// m/s.
    pub velocities: Vec<Vec3>,
    /// Indices of vertex-face contacts and their impulse on the node, kg m/s.
    pub contact_impulses: Vec<(usize, Vec3)>,
    /// Nodes at obstacles and their impulse, kg m/s.
    pub obstacle_impulses: Vec<(usize, Vec3)>,
    /// Conjugate-gradient iterations.
    pub iterations: u32,
}

/// State of the Newton iterations of a step.
struct NewtonState {
    active_set: ActiveSet,
    coarse_cache: Option<CoarseCache>,
    /// Reference of the tolerance of linear solves in the final phase, by block: the largest `r . z` at the
    /// start of any of them, or `d . A d` of the change of velocities (see `residual`) if it is larger.
    reference: Vec<f64>,
    /// True if the energy along the last direction differed from its quadratic model: contacts opened or closed, or
    /// slipped in another direction.
    model_mismatch: bool,
}

/// Linearised system of a Newton iteration, by row.
struct Linearisation {
    /// Motion constraint of each row.
    dofs: Vec<DofConstraint>,
    /// All constraints, open ones too.
    constraints: Vec<Constraint>,
    contacts: ContactOperator,
    partition: BlockPartition,
    velocities: Vec<Vec3>,
}

/// Solution of a linearised system.
struct Direction {
    /// Residual before it.
    residual: Vec<Vec3>,
    /// Change of velocities.
    direction: Vec<Vec3>,
    iterations: u32,
}

impl ElementArrays {
    /// Computes velocities at the end of a step from the positions that were loaded; fixed nodes keep theirs.
    ///
    /// `find_constraints` lists constraints between nodes of the island from their effective masses, kg.
    /// Obstacles and other bodies are part of the system: with contact alone, after the solve, the lightest
    /// nodes would carry the body and run far ahead of it.
    ///
    /// For fixed slip limits and without adhesion the contact potential is convex, so the minimiser is
    /// unique. Each Newton iteration decreases the energy once the active set agrees with the velocities.
    /// In the first phase obstacles are as soft as bodies, which finds the active set fast; in the final
    /// phase they have their final penalties.
    pub fn solve_step(
        &mut self,
        bodies: &[IslandBody],
        find_constraints: impl FnOnce(&[Real]) -> Vec<Constraint>,
        queries: &mut ObstacleQueries,
    ) -> StepSolution {
        let mut system = self.build_system(bodies);
        let mut start: Vec<Vec3> = system.nodal_values(|body, i| body.velocities[i]);
        let any_fixed = system.nodal_values(IslandBody::is_fixed).contains(&true);
        let constraints = find_constraints(&system.effective_masses);
        // Rigid fragments are solved before the rest.
        let fragments = self.solve_rigid_fragments(system.body_systems(), &start, queries);
        let mut active_set = system.activate(constraints, &fragments, &mut start);
        system.tolerance = if active_set.has_contacts() { CONTACT_TOL } else { TOLERANCE };
        active_set.add_obstacles(queries.find_bounds(&start, true), |node| system.node_masses(node));
        // The initial guess has gravity only in islands without support: elsewhere it would only raise the
        // residual.
        let is_supported = any_fixed || active_set.has_contacts();
        let fall = if is_supported { None } else { bodies.first().map(|body| body.gravity * body.dt) };
        let mut velocities: Vec<Vec3> = start.into_iter().map(|v| v + fall.unwrap_or(Vec3::ZERO)).collect();
        for (node, velocity) in fragments.iter().flat_map(RigidFragment::velocities) {
            velocities[node] = velocity;
        }
        let product = self.matrix_product(&system, &velocities);
        let residual: Vec<Vec3> = system.rhs.iter().zip(product).map(|(rhs, product)| *rhs - product).collect();
        (system.initial_velocities, system.initial_residual) = (system.by_row(&velocities), system.by_row(&residual));
        system.components = self.deformable_components(system.body_systems());
        let mut state = NewtonState { active_set, coarse_cache: None, reference: Vec::new(), model_mismatch: false };
        let mut iterations = self.newton(&system, &mut state, queries, &mut velocities);
        if state.active_set.has_contacts() {
            state.active_set.stiffen();
            iterations += self.newton(&system, &mut state, queries, &mut velocities);
        }
        let mut solution = self.collect_solution(system, &state.active_set, velocities, iterations);
        solution.obstacle_impulses.extend(fragments.iter().flat_map(RigidFragment::impulses));
        solution
    }

    /// Iterates Newton until the active set is consistent; returns the conjugate-gradient iterations.
    fn newton(
        &mut self,
        system: &IslandSystem,
        state: &mut NewtonState,
        queries: &mut ObstacleQueries,
        velocities: &mut [Vec3],
    ) -> u32 {
        let mut iterations = 0;
        for _ in 0..MAX_NEWTON {
            iterations += self.newton_iteration(system, state, velocities);
            let active_set = &mut state.active_set;
            let opened_or_closed = active_set.update_normals(velocities, &system.partition);
            let friction_changed = active_set.update_friction(velocities, &system.partition);
            let bounds = queries.find_bounds(velocities, false);
            let obstacles_added = active_set.add_obstacles(bounds, |node| system.node_masses(node));
            if !(state.model_mismatch || opened_or_closed || obstacles_added || friction_changed) {
                break;
            }
        }
        iterations
    }

    /// Collects the impulses of active constraints, and keeps the matrices for the next step.
    fn collect_solution(
        &mut self,
        system: IslandSystem,
        active_set: &ActiveSet,
        velocities: Vec<Vec3>,
        iterations: u32,
    ) -> StepSolution {
        let (mut contact_impulses, mut obstacle_impulses) = (Vec::new(), Vec::new());
        for constraint in active_set.constraints.iter().filter(|constraint| !constraint.is_open) {
            let impulse = constraint.impulse(&velocities);
            match constraint.kind {
                ConstraintKind::VertexFace(contact) => contact_impulses.push((contact, impulse)),
                ConstraintKind::Obstacle => obstacle_impulses.push((constraint.nodes[0], impulse)),
                ConstraintKind::Tie => (),
            }
        }
        for (body, matrix) in system.bodies.iter().zip(system.matrices) {
            self.matrices[body.body] = Some(matrix);
        }
        StepSolution { velocities, contact_impulses, obstacle_impulses, iterations }
    }

    /// Takes one Newton step with the active set as it is; returns the conjugate-gradient iterations.
    fn newton_iteration(&mut self, system: &IslandSystem, state: &mut NewtonState, velocities: &mut [Vec3]) -> u32 {
        let majorise = state.model_mismatch;
        state.active_set.constraints.iter_mut().for_each(|constraint| constraint.linearise(velocities, majorise));
        let linear = Linearisation::new(system, &state.active_set, velocities);
        let Direction { residual, direction, iterations } = self.find_direction(system, &linear, state, velocities);
        let lengths = self.find_step_lengths(system, &linear, state, (&residual, &direction));
        for (row, (&node, change)) in system.order.iter().zip(&direction).enumerate() {
            velocities[node as usize] += *change * lengths[linear.partition.block(row)].length;
        }
        system.restore_momentum(&state.active_set, velocities);
        iterations
    }

    /// Solves the linearised system.
    fn find_direction(
        &mut self,
        system: &IslandSystem,
        linear: &Linearisation,
        state: &mut NewtonState,
        velocities: &[Vec3],
    ) -> Direction {
        let Linearisation { dofs, contacts, .. } = linear;
        let is_final = state.active_set.is_stiffened;
        // Rough velocities suffice to find the active set.
        let is_rough = !is_final && state.active_set.has_contacts();
        let tolerance = if is_rough { LOOSE_TOL } else { system.tolerance };
        let blocks = system.body_systems().zip(&system.coarse_spaces);
        let blocks = body_blocks(blocks.map(|((_, matrix, rows), space)| (matrix, rows, space)));
        let coarse_dofs = linear.coarse_dofs(system, &state.active_set);
        // Much of the coarse system is done by one thread alone.
        let (coarse, (mut residual, work)) = parallel::join(
            || CoarseSystem::new(&blocks, coarse_dofs, contacts, &mut state.coarse_cache),
            || self.residual(system, linear),
        );
        let preconditioner = TwoLevelPreconditioner::new(&blocks, &coarse, dofs, contacts);
        let ties = TieProjection::new(&contacts.constraints, &system.by_row(&system.effective_masses));
        ties.project(&mut residual);
        let initial_residual = residual.clone();
        let mut direction = vec![Vec3::ZERO; residual.len()];
        let mut workspace = Workspace::default();
        let apply_matrix = |x: &[Vec3], product: &mut [Vec3]| {
            self.apply_system(system, (dofs, Some(contacts)), x, product, &mut workspace);
            ties.project(product);
        };
        let apply_preconditioner =
            |r: &[Vec3], z: &mut [Vec3]| ties.precondition(r, z, |r, z| preconditioner.apply(r, z));
        // All linear solves of the final phase share one reference, those with a small residual too.
        let reference = if is_final { elementwise_max(&work, &state.reference) } else { work };
        let problem = PcgProblem {
            apply_matrix,
            apply_preconditioner,
            partition: linear.partition.clone(),
            reference,
            absolute_tolerance: system.rounding_energy(velocities),
            tolerance,
        };
        let report = problem.solve(residual, &mut direction);
        state.reference = if is_final { report.reference } else { Vec::new() };
        Direction { residual: initial_residual, direction, iterations: report.iterations }
    }

    /// Finds the step length of each block along a direction, and records whether the quadratic model of
    /// the energy was right.
    fn find_step_lengths(
        &mut self,
        system: &IslandSystem,
        linear: &Linearisation,
        state: &mut NewtonState,
        (residual, direction): (&[Vec3], &[Vec3]),
    ) -> Vec<StepLength> {
        let Linearisation { dofs, constraints, partition, velocities, .. } = linear;
        if constraints.is_empty() {
            return vec![StepLength::FULL; partition.count()];
        }
        let mut product = vec![Vec3::ZERO; direction.len()];
        self.apply_system(system, (dofs, None), direction, &mut product, &mut Workspace::default());
        let slopes = partition.block_dots(residual, direction);
        let curvatures = partition.block_dots(direction, &product);
        let lengths = line_search(constraints, (velocities, direction), partition, [&slopes, &curvatures]);
        let reference = |block: usize| state.reference.get(block).copied().unwrap_or(0.0);
        let counts = |block: usize| slopes[block] > NEGLIGIBLE * reference(block);
        state.model_mismatch = (0..).zip(&lengths).any(|(block, length)| length.model_mismatch && counts(block));
        lengths
    }

    /// Computes the residual by row, zero at fixed nodes, and by block the squared energy norm
    /// `d . A d` of the change `d` of velocities since the start, J.
    ///
    /// It adds the product with that change to the initial residual, which is computed element by element:
    /// the matrix has not the digits for the whole velocities.
    fn residual(&mut self, system: &IslandSystem, linear: &Linearisation) -> (Vec<Vec3>, Vec<f64>) {
        let Linearisation { dofs, contacts, partition, velocities, .. } = linear;
        let change: Vec<Vec3> =
            velocities.iter().zip(&system.initial_velocities).map(|(now, initial)| *now - *initial).collect();
        let mut product = vec![Vec3::ZERO; change.len()];
        self.apply_system(system, (dofs, None), &change, &mut product, &mut Workspace::default());
        let impulses = contacts.impulses(velocities);
        let residual = parallel::map(change.len(), ROW_GRAIN, |row| {
            dofs[row].project(system.initial_residual[row] + contacts.gather_row(row, &impulses) - product[row])
        });
        (residual, partition.block_dots(&change, &product))
    }
}

impl Linearisation {
    fn new(system: &IslandSystem, active_set: &ActiveSet, velocities: &[Vec3]) -> Self {
        let order = &system.order;
        let dof = |node: usize| if active_set.is_fixed[node] { DofConstraint::Fixed } else { DofConstraint::Free };
        let constraints = renumber_by_row(&active_set.constraints, order);
        let closed = constraints.iter().filter(|constraint| !constraint.is_open).copied().collect();
        Self {
            dofs: order.iter().map(|&node| dof(node as usize)).collect(),
            contacts: ContactOperator::new(closed, order.len()),
            partition: system.partition.permuted(order),
            velocities: system.by_row(velocities),
            constraints,
        }
    }

    /// Constraints on the motion of nodes with their aggregate: in the final phase obstacles count as rigid.
    fn coarse_dofs(&self, system: &IslandSystem, active_set: &ActiveSet) -> Vec<DofConstraint> {
        let at_obstacle = |node: usize| {
            let constraint = active_set.obstacle_of[node].map(|k| active_set.constraints[k].dof_constraint());
            constraint.filter(|_| active_set.is_stiffened)
        };
        let dofs = self.dofs.iter().zip(&system.order);
        dofs.map(|(dof, &node)| at_obstacle(node as usize).unwrap_or(*dof)).collect()
    }
}

/// Returns the larger of both for each value; missing others count as 0.
fn elementwise_max(values: &[f64], others: &[f64]) -> Vec<f64> {
    let other = |k: usize| others.get(k).copied().unwrap_or(0.0);
    values.iter().enumerate().map(|(k, value)| value.max(other(k))).collect()
}

/// Renumbers the nodes of constraints by row.
fn renumber_by_row(constraints: &[Constraint], order: &[u32]) -> Vec<Constraint> {
    let mut row_of = vec![0; if constraints.is_empty() { 0 } else { order.len() }];
    order.iter().zip(0..row_of.len()).for_each(|(&node, row)| row_of[node as usize] = row);
    constraints.iter().map(|constraint| constraint.with_nodes(constraint.nodes.map(|node| row_of[node]))).collect()
}
