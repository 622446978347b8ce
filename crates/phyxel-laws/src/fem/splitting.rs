//! Fracture criterion at nodes: the constraint forces between the corners of a node, and how overloaded
//! corners split off.
//!
//! The source ties corners by constraints. Tied corners have the same position and history, so its eq. 15
//! reduces to `C_i = (m_i/M) sum_j F_j - F_i`, the constraint force by which corner `i` moves with the
//! node. `F_i` is the force of its element plus its share of external forces, `m_i` its share of the mass
//! `M` of the node.

use super::Element;
use crate::Real;
use glam::{DVec3, Vec3};

/// Strength of a material against node splitting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Strength {
    /// Largest constraint force on a corner, N, as in the source: the finer the elements, the stronger the
    /// body.
    Force(Real),
    /// Largest stress, Pa: independent of the element size.
    Stress(Real),
}

impl Strength {
    /// Largest constraint force on a corner of an element, N.
    pub fn corner_strength(self, element: &Element, corner: usize) -> Real {
        match self {
            Self::Force(force) => force,
            Self::Stress(stress) => stress * element.corner_area(corner),
        }
    }
}

/// Load and strength of a corner of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CornerLoad {
    /// Mass, kg.
    pub mass: Real,
    /// Force on this corner alone, N.
    pub force: Vec3,
    /// Largest constraint force, N; not negative, infinite where the corner never splits off.
    pub strength: Real,
    /// Outward direction from the element to the corner, of any length: `R g_k`, for corners that split in
    /// tension only. `None` where compression splits too, as in the source.
    pub outward: Option<Vec3>,
}

/// Totals over a group of corners.
#[derive(Clone, Copy, Debug, Default)]
struct GroupTotal {
    count: usize,
    mass: f64,
    force: DVec3,
}

impl GroupTotal {
    fn of<'a>(corners: impl Iterator<Item = &'a CornerLoad>) -> Self {
        corners.fold(Self::default(), |sum, corner| Self {
            count: sum.count + 1,
            mass: sum.mass + f64::from(corner.mass),
            force: sum.force + corner.force.as_dvec3(),
        })
    }

    fn constraint(&self, corner: &CornerLoad) -> DVec3 {
        let fraction =
            if self.mass > 0.0 { f64::from(corner.mass) / self.mass } else { 1.0 / self.count.max(1) as f64 };
        fraction * self.force - corner.force.as_dvec3()
    }
}

/// Constraint force on one of the corners of a node, N.
pub fn constraint_force(corners: &[CornerLoad], which: usize) -> Vec3 {
    GroupTotal::of(corners.iter()).constraint(&corners[which]).as_vec3()
}

fn exceeds_strength(corner: &CornerLoad, constraint: DVec3) -> bool {
    let is_in_mode = corner.outward.is_none_or(|outward| constraint.dot(outward.as_dvec3()) > 0.0);
    is_in_mode && constraint.length() > f64::from(corner.strength.max(0.0))
}

/// Splits the corners of a node into groups by their constraint forces: writes the group number of each
/// corner, and returns the number of groups. Groups are numbered from 0 in the order of their first
/// corners.
///
/// `[Gis07]` section 5.2: corners whose constraint force exceeds their strength leave for a new group, and
/// both groups are tested again. Where all corners would leave, as two that are pulled apart always do, the
/// source restarts with the same corners and never ends. Here those leave whose constraint force has a
/// positive component along the largest one. The forces of a group sum to zero, so some point against it,
/// and every iteration makes smaller groups.
pub fn split_corners(corners: &[CornerLoad], group: &mut [u32]) -> usize {
    group.fill(0);
    let (mut current, mut count) = (0, 1u32);
    while current < count {
        let total = GroupTotal::of(group_members(corners, group, current));
        let is_leaving = |corner: &CornerLoad| exceeds_strength(corner, total.constraint(corner));
        let leaving = group_members(corners, group, current).filter(|corner| is_leaving(corner)).count();
        if leaving == 0 {
            current += 1;
            continue;
        }
        let largest = group_members(corners, group, current).map(|corner| total.constraint(corner)).fold(
            DVec3::ZERO,
            |largest, force| if force.length_squared() > largest.length_squared() { force } else { largest },
        );
        let mut moved = 0;
        for (corner, group) in corners.iter().zip(group.iter_mut()).filter(|(_, group)| **group == current) {
            let leaves =
                if leaving == total.count { total.constraint(corner).dot(largest) > 0.0 } else { is_leaving(corner) };
            if leaves {
                *group = count;
                moved += 1;
            }
        }
        if moved == 0 || moved == total.count {
            // Only where sums of forces overflow: the corners stay together.
            group_members_mut(group, count).for_each(|group| *group = current);
            current += 1;
        } else {
            count += 1;
        }
    }
    renumber(group, count)
}

fn group_members<'a>(
    corners: &'a [CornerLoad],
    group: &'a [u32],
    current: u32,
) -> impl Iterator<Item = &'a CornerLoad> {
    corners.iter().zip(group).filter(move |(_, group)| **group == current).map(|(corner, _)| corner)
}

fn group_members_mut(group: &mut [u32], current: u32) -> impl Iterator<Item = &mut u32> {
    group.iter_mut().filter(move |group| **group == current)
}

/// Renumbers groups in the order of their first corners.
fn renumber(group: &mut [u32], count: u32) -> usize {
    let mut next = 0;
    for first in 0..group.len() {
        let old = group[first];
        if old >= count {
            continue;
        }
        // New numbers are above all old ones until the end.
        group_members_mut(group, old).for_each(|group| *group = count + next);
        next += 1;
    }
    group.iter_mut().for_each(|group| *group -= count);
    next as usize
}

/// Splits groups of corners into the connected components of their elements, connected by faces at the
/// node: writes the group number of each corner, and returns the number of groups.
///
/// `others` are the three other nodes of each corner's element. Two elements share a face at the node if
/// they share two of these. Elements that are connected by an edge or a node only become separate.
pub fn split_by_faces(others: &[[u32; 3]], group: &mut [u32]) -> usize {
    let count = group.iter().map(|group| group + 1).max().unwrap_or(0);
    let mut next = count;
    for first in 0..group.len() {
        let old = group[first];
        if old >= count {
            continue;
        }
        group[first] = next;
        // Elements that share a face with the component join it, until none does.
        let mut has_grown = true;
        while has_grown {
            has_grown = false;
            for i in 0..group.len() {
                let is_connected =
                    group[i] == old && (0..group.len()).any(|j| group[j] == next && share_face(others[i], others[j]));
                if is_connected {
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

/// Returns true if two elements at a node share a face there.
fn share_face(a: [u32; 3], b: [u32; 3]) -> bool {
    a.iter().filter(|node| b.contains(node)).count() >= 2
}
