//! What stops nodes in implicit steps: walls and other bodies, and how that changes with velocities.

use super::grip::{Court, SMALL, Verdict};
use super::holds::{By, Hold};
use super::walls::Wall;
use crate::Real;
use crate::model::gradients::Groups;
use glam::Vec3;

/// What stops nodes.
pub(super) struct Stops {
    pub holds: Vec<Hold>,
    /// By node, the wall among what holds.
    pub walls: Vec<Option<usize>>,
    /// By node.
    pub is_held: Vec<bool>,
    /// Whether walls are as hard as they are at last.
    pub are_hard: bool,
}

impl Stops {
    /// Takes in walls, by node, that nodes would go into which are at none; whether there are any. `weight` is how a node resists changes of its velocity, with
    /// what it is part of and alone, kg.
    pub fn add(&mut self, walls: Vec<(usize, Wall)>, weight: impl Fn(usize) -> [Real; 2]) -> bool {
        let mut any = false;
        for (i, wall) in walls {
            let old = self.walls[i];
            if self.is_held[i] || old.is_some_and(|k| !self.holds[k].is_open || self.holds[k].keeps()) {
                continue;
            }
            let mut hold = Hold::at_wall(i, &wall, weight(i));
            if self.are_hard {
                hold.harden();
            }
            any = true;
            match old {
                Some(k) => self.holds[k] = hold,
                None => {
                    self.walls[i] = Some(self.holds.len());
                    self.holds.push(hold);
                }
            }
        }
        any
    }

    /// Whether anything is touched. Ties are no touches: what they do is known before velocities are.
    pub fn any_touches(&self) -> bool {
        self.holds.iter().any(|hold| hold.by != By::Tie)
    }

    /// Lets walls be as hard as they are at last.
    pub fn harden(&mut self) {
        self.are_hard = true;
        self.holds.iter_mut().for_each(Hold::harden);
    }

    /// Lets go of what would have to pull, and holds at touches that close; whether that changes pushes in any group.
    pub fn let_go(&mut self, velocities: &[Vec3], groups: &Groups) -> bool {
        let mut sums = vec![[0.0; 2]; groups.count()];
        for hold in &mut self.holds {
            let change = hold.follow(velocities);
            let [all, push] = &mut sums[groups.of(hold.nodes[0])];
            (*all, *push) = (*all + change, *push + hold.push(velocities).length());
        }
        sums.iter().any(|[change, pushes]| *change > SMALL * pushes)
    }

    /// Lets slide what would have to hold too much, and looks at what slides; whether much of it is new in any group.
    pub fn slide(&mut self, velocities: &[Vec3], groups: &Groups) -> bool {
        let judge = |hold: &Hold| (!hold.is_open && hold.by != By::Tie).then(|| hold.judge(velocities));
        let verdicts: Vec<Option<Verdict>> = self.holds.iter().map(judge).collect();
        let mut courts = vec![Court::default(); groups.count()];
        let number = |hold: &Hold| groups.of(hold.nodes[0]);
        for (hold, verdict) in self.holds.iter().zip(&verdicts) {
            verdict.iter().for_each(|verdict| courts[number(hold)].hear(verdict));
        }
        for (hold, verdict) in self.holds.iter_mut().zip(verdicts) {
            let court = &courts[number(hold)];
            let next = verdict.filter(|_| court.has_news()).and_then(|verdict| court.decide(&verdict));
            hold.grip = next.unwrap_or(hold.grip);
        }
        courts.iter().any(Court::has_news)
    }
}
