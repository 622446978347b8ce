//! Active set of the implicit solve: contact constraints, and their updates between Newton iterations.

use super::constraint::{Constraint, ConstraintKind};
use super::friction::{CHANGE_TOL, FrictionSums, FrictionTransition};
use super::obstacles::ObstacleBound;
use crate::Real;
use crate::numerics::pcg::BlockPartition;
use glam::Vec3;

/// Constraints on the nodes of an island with their activity: closed, or open and without impulse.
pub(in crate::model::tetra) struct ActiveSet {
    pub constraints: Vec<Constraint>,
    /// By node, the index of its obstacle constraint.
    pub obstacle_of: Vec<Option<usize>>,
    /// By node: true if its velocity is prescribed.
    pub is_fixed: Vec<bool>,
    /// True in the final phase, in which obstacle penalties have their final values.
    pub is_stiffened: bool,
}

impl ActiveSet {
    /// Adds obstacle constraints, by node, where none is active; returns true if there are any. `masses` are the
    /// effective mass and the mass of a node, kg.
    pub fn add_obstacles(&mut self, bounds: Vec<(usize, ObstacleBound)>, masses: impl Fn(usize) -> [Real; 2]) -> bool {
        let mut any = false;
        for (node, bound) in bounds {
            let old = self.obstacle_of[node];
            let is_kept = |k: usize| !self.constraints[k].is_open || self.constraints[k].is_adhesive();
            if self.is_fixed[node] || old.is_some_and(is_kept) {
                continue;
            }
            let mut constraint = Constraint::obstacle(node, &bound, masses(node));
            if self.is_stiffened {
                constraint.stiffen();
            }
            any = true;
            match old {
                Some(k) => self.constraints[k] = constraint,
                None => {
                    self.obstacle_of[node] = Some(self.constraints.len());
                    self.constraints.push(constraint);
                }
            }
        }
        any
    }

    /// Returns true if there is any contact. Ties do not count: the tie projection satisfies them exactly.
    pub fn has_contacts(&self) -> bool {
        self.constraints.iter().any(|constraint| constraint.kind != ConstraintKind::Tie)
    }

    /// Raises all penalties to their final values.
    pub fn stiffen(&mut self) {
        self.is_stiffened = true;
        self.constraints.iter_mut().for_each(Constraint::stiffen);
    }

    /// Opens and closes constraints; returns true if that changes the impulses of any block noticeably.
    pub fn update_normals(&mut self, velocities: &[Vec3], partition: &BlockPartition) -> bool {
        let mut sums = vec![[0.0; 2]; partition.count()];
        for constraint in &mut self.constraints {
            let change = constraint.update_normal(velocities);
            let [changes, impulses] = &mut sums[partition.block(constraint.nodes[0])];
            (*changes, *impulses) = (*changes + change, *impulses + constraint.impulse(velocities).length());
        }
        sums.iter().any(|[changes, impulses]| *changes > CHANGE_TOL * impulses)
    }

    /// Updates stick-slip states and slip limits; returns true if that changes the impulses of any block
    /// noticeably.
    pub fn update_friction(&mut self, velocities: &[Vec3], partition: &BlockPartition) -> bool {
        let test = |constraint: &Constraint| {
            (!constraint.is_open && constraint.kind != ConstraintKind::Tie)
                .then(|| constraint.test_friction(velocities))
        };
        let transitions: Vec<Option<FrictionTransition>> = self.constraints.iter().map(test).collect();
        let mut block_sums = vec![FrictionSums::default(); partition.count()];
        let block = |constraint: &Constraint| partition.block(constraint.nodes[0]);
        for (constraint, transition) in self.constraints.iter().zip(&transitions) {
            transition.iter().for_each(|transition| block_sums[block(constraint)].add(transition));
        }
        for (constraint, transition) in self.constraints.iter_mut().zip(transitions) {
            let sums = &block_sums[block(constraint)];
            let next = transition.filter(|_| sums.is_significant()).and_then(|transition| sums.next_state(&transition));
            constraint.friction_state = next.unwrap_or(constraint.friction_state);
        }
        block_sums.iter().any(FrictionSums::is_significant)
    }
}
