//! Nodes that part: what holds the corners of elements together, and when it no longer does.
//!
//! The source ties corners by constraints. Corners that are tied share place and past, so its eq. 15 comes down to
//! `C_i = (m_i/M) sum_j F_j - F_i`: what corner `i` gets from the others so that it moves as the node does. `F_i` is the force of
//! its own element and its share of forces from outside, `m_i` its part of the mass, `M` that of the node.

use super::Element;
use crate::Real;
use glam::{DVec3, Vec3};

/// How strong matter is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Strength {
    /// The force that a corner bears, N, as in the source: the finer the elements, the stronger the body.
    Force(Real),
    /// The stress that it bears, Pa: the same at any size of elements.
    Stress(Real),
}

impl Strength {
    /// What a corner of an element bears, N.
    pub fn of_corner(self, element: &Element, corner: usize) -> Real {
        match self {
            Self::Force(force) => force,
            Self::Stress(stress) => stress * element.area_share(corner),
        }
    }
}

/// A corner that a node holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held {
    /// kg.
    pub mass: Real,
    /// Force on this corner alone, N.
    pub force: Vec3,
    /// The constraint force it bears, N. Not below 0; endless where it never parts.
    pub strength: Real,
    /// Where only tension parts it, the way from its element to the corner, of any length: `R g_k`. Nothing where pressure
    /// does so too, as in the source.
    pub outward: Option<Vec3>,
}

/// What the corners of a group have together.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: usize,
    mass: f64,
    force: DVec3,
}

impl Sum {
    fn of<'a>(corners: impl Iterator<Item = &'a Held>) -> Self {
        corners.fold(Self::default(), |sum, corner| Self {
            count: sum.count + 1,
            mass: sum.mass + f64::from(corner.mass),
            force: sum.force + corner.force.as_dvec3(),
        })
    }

    fn constraint(&self, corner: &Held) -> DVec3 {
        let part = if self.mass > 0.0 { f64::from(corner.mass) / self.mass } else { 1.0 / self.count.max(1) as f64 };
        part * self.force - corner.force.as_dvec3()
    }
}

/// The constraint force on one of the corners that a node holds, N.
pub fn constraint_force(corners: &[Held], which: usize) -> Vec3 {
    Sum::of(corners.iter()).constraint(&corners[which]).as_vec3()
}

fn is_overloaded(corner: &Held, constraint: DVec3) -> bool {
    let pulls = corner.outward.is_none_or(|outward| constraint.dot(outward.as_dvec3()) > 0.0);
    pulls && constraint.length() > f64::from(corner.strength.max(0.0))
}

/// Parts the corners of a node by what holds them: writes the number of its group for each, and returns how many groups there
/// are. Groups are numbered from 0 in the order in which they first have a corner.
///
/// `[Gis07]` section 5.2: corners whose constraint force is beyond their strength leave for a new group, and both groups are looked
/// at again. Where all would leave together, as two that are pulled apart always do, the source begins anew with the same
/// corners, for ever. Here those leave whose constraint force is along the largest one. The forces of a group add up to nothing,
/// so some are against it, and every round leaves smaller groups.
pub fn part(corners: &[Held], group: &mut [u32]) -> usize {
    group.fill(0);
    let (mut now, mut count) = (0, 1u32);
    while now < count {
        let sum = Sum::of(members(corners, group, now));
        let is_leaving = |corner: &Held| is_overloaded(corner, sum.constraint(corner));
        let leaving = members(corners, group, now).filter(|corner| is_leaving(corner)).count();
        if leaving == 0 {
            now += 1;
            continue;
        }
        let largest = members(corners, group, now)
            .map(|corner| sum.constraint(corner))
            .fold(DVec3::ZERO, |most, force| if force.length_squared() > most.length_squared() { force } else { most });
        let mut left = 0;
        for (corner, group) in corners.iter().zip(group.iter_mut()).filter(|(_, group)| **group == now) {
            let leaves =
                if leaving == sum.count { sum.constraint(corner).dot(largest) > 0.0 } else { is_leaving(corner) };
            if leaves {
                *group = count;
                left += 1;
            }
        }
        if left == 0 || left == sum.count {
            // Only where forces are too large for sums: they stay together.
            members_mut(group, count).for_each(|group| *group = now);
            now += 1;
        } else {
            count += 1;
        }
    }
    renumber(group, count)
}

fn members<'a>(corners: &'a [Held], group: &'a [u32], now: u32) -> impl Iterator<Item = &'a Held> {
    corners.iter().zip(group).filter(move |(_, group)| **group == now).map(|(corner, _)| corner)
}

fn members_mut(group: &mut [u32], now: u32) -> impl Iterator<Item = &mut u32> {
    group.iter_mut().filter(move |group| **group == now)
}

/// Numbers groups in the order of their first corners.
fn renumber(group: &mut [u32], count: u32) -> usize {
    let mut next = 0;
    for first in 0..group.len() {
        let old = group[first];
        if old >= count {
            continue;
        }
        // New numbers lie above all old ones until the end.
        members_mut(group, old).for_each(|group| *group = count + next);
        next += 1;
    }
    group.iter_mut().for_each(|group| *group -= count);
    next as usize
}

/// Parts groups of corners further where their elements share no face at the node: writes the number of its group for each
/// corner, and returns how many groups there are.
///
/// `others` are the three other nodes of each corner's element. Two elements share a face at the node if they share two of
/// these. What hangs together by an edge or a point only becomes separate.
pub fn part_by_faces(others: &[[u32; 3]], group: &mut [u32]) -> usize {
    let count = group.iter().map(|group| group + 1).max().unwrap_or(0);
    let mut next = count;
    for first in 0..group.len() {
        let old = group[first];
        if old >= count {
            continue;
        }
        group[first] = next;
        // Elements that share a face with one of this piece join it, until none does.
        let mut has_grown = true;
        while has_grown {
            has_grown = false;
            for i in 0..group.len() {
                let joins =
                    group[i] == old && (0..group.len()).any(|j| group[j] == next && share(others[i], others[j]));
                if joins {
                    group[i] = next;
                    has_grown = true;
                }
            }
        }
        next += 1;
    }
    group.iter_mut().for_each(|group| *group -= count);
    (next - count) as usize
}

/// Whether two elements at a node share a face there.
fn share(a: [u32; 3], b: [u32; 3]) -> bool {
    a.iter().filter(|node| b.contains(node)).count() >= 2
}
