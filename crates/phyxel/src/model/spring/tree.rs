//! Sums over all molecules: one by one, or far ones in groups (`[BH86]`).

use super::melt::{Kind, Member};
use super::pair_table::PairTable;
use crate::Real;
use crate::parallel;
use glam::Vec3;

/// Particles per task.
const GRAIN: usize = 64;
/// Molecules in a leaf.
const LEAF: usize = 8;
/// Deepest division: as far as coordinates of 21 bits go.
const DEPTH: u32 = 21;

/// Some molecules taken as one.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// Mean position, m.
    centre: Vec3,
    /// Number of molecules, or of what each counts for.
    count: Real,
    /// Mean size, m.
    size: Real,
    /// Mean mass, kg.
    mass: Real,
    /// Mean roots of the factors on attraction and repulsion.
    factors: [Real; 2],
}

impl Group {
    fn of(member: &Member) -> Self {
        let &Member { position: centre, size, mass, factors, .. } = member;
        Self { centre, count: 1.0, size, mass, factors }
    }

    fn united(groups: impl Iterator<Item = Self>) -> Self {
        let mut sum = Self::default();
        for group in groups {
            sum.centre += group.centre * group.count;
            sum.size += group.size * group.count;
            sum.mass += group.mass * group.count;
            (0..2).for_each(|part| sum.factors[part] += group.factors[part] * group.count);
            sum.count += group.count;
        }
        let share = 1.0 / sum.count.max(1.0);
        let factors = sum.factors.map(|factor| factor * share);
        Self { centre: sum.centre * share, size: sum.size * share, mass: sum.mass * share, factors, ..sum }
    }
}

/// A cube of the division of space.
#[derive(Clone, Debug)]
struct Node {
    group: Group,
    /// Edge of the cube, m.
    edge: Real,
    /// Its molecules, in the order of the tree.
    start: u32,
    end: u32,
    /// Its parts; none for a leaf.
    children: Vec<u32>,
}

/// Molecules in groups.
pub(super) struct Tree<'a> {
    members: &'a [Member],
    /// Places of the molecules, those of a node next to each other.
    order: Vec<u32>,
    nodes: Vec<Node>,
}

impl<'a> Tree<'a> {
    /// Sorts molecules (places among the members) into cubes.
    pub fn new(members: &'a [Member], places: Vec<u32>) -> Self {
        let start = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let around = |(min, max): (Vec3, Vec3), &place: &u32| {
            let x = members[place as usize].position;
            (min.min(x), max.max(x))
        };
        let (min, max) = places.iter().fold(start, around);
        let edge = (max - min).max_element().max(1e-30) * 1.000_001;
        let key = |place: u32| {
            let cell = (members[place as usize].position - min) * ((1u32 << DEPTH) as Real / edge);
            cell.to_array().map(|x| spread(x as u64)).iter().enumerate().map(|(axis, bits)| bits << axis).sum::<u64>()
        };
        let mut keyed: Vec<(u64, u32)> = places.into_iter().map(|place| (key(place), place)).collect();
        parallel::sort_by_key(&mut keyed, |&pair| pair);
        let mut tree = Self { members, order: keyed.iter().map(|(_, place)| *place).collect(), nodes: Vec::new() };
        if !keyed.is_empty() {
            tree.divide(&keyed, 0, 0, edge);
        }
        tree
    }

    /// Adds the node of some molecules that follow each other, and its parts; number of the node.
    fn divide(&mut self, keyed: &[(u64, u32)], start: usize, level: u32, edge: Real) -> u32 {
        let number = self.nodes.len();
        let end = start + keyed.len();
        let empty = Group::default();
        self.nodes.push(Node { group: empty, edge, start: start as u32, end: end as u32, children: Vec::new() });
        let group = if keyed.len() <= LEAF || level == DEPTH {
            Group::united(keyed.iter().map(|&(_, place)| Group::of(&self.members[place as usize])))
        } else {
            let part = |key: u64| key >> (3 * (DEPTH - 1 - level)) & 7;
            let mut from = 0;
            while from < keyed.len() {
                let to = from + keyed[from..].partition_point(|(key, _)| part(*key) == part(keyed[from].0));
                let child = self.divide(&keyed[from..to], start + from, level + 1, 0.5 * edge);
                self.nodes[number].children.push(child);
                from = to;
            }
            let children = self.nodes[number].children.iter();
            Group::united(children.map(|&child| self.nodes[child as usize].group))
        };
        self.nodes[number].group = group;
        number as u32
    }

    /// Force of all molecules on each of some members, N. A group counts as one where it is smaller than `opening` times
    /// its distance; without an opening none does.
    pub fn forces(&self, table: &PairTable, opening: Option<Real>) -> Vec<(u32, Vec3)> {
        parallel::map(self.order.len(), GRAIN, |k| {
            let place = self.order[k];
            let me = &self.members[place as usize];
            let mut sum = glam::DVec3::ZERO;
            if opening.is_none() {
                for &other in self.order.iter().filter(|&&other| other != place) {
                    let you = &self.members[other as usize];
                    sum += force_of(table, me, &Group::of(you), me.position - you.position).as_dvec3();
                }
                return (place, sum.as_vec3());
            }
            let mut stack = if self.nodes.is_empty() { vec![] } else { vec![0u32] };
            while let Some(number) = stack.pop() {
                let node = &self.nodes[number as usize];
                let between = me.position - node.group.centre;
                let is_far = opening.is_some_and(|opening| {
                    let reach = opening * between.length();
                    node.edge < reach && reach > 0.0
                });
                if is_far {
                    sum += (force_of(table, me, &node.group, between) * node.group.count).as_dvec3();
                } else if node.children.is_empty() {
                    for &other in &self.order[node.start as usize..node.end as usize] {
                        if other != place {
                            let you = &self.members[other as usize];
                            let between = me.position - you.position;
                            sum += force_of(table, me, &Group::of(you), between).as_dvec3();
                        }
                    }
                } else {
                    stack.extend(node.children.iter().rev());
                }
            }
            (place, sum.as_vec3())
        })
    }
}

/// Force of one molecule of a group on a member, without a cut-off, N.
fn force_of(table: &PairTable, me: &Member, group: &Group, between: Vec3) -> Vec3 {
    let (length, strength) = table.units([me.size, group.size], [me.mass, group.mass]);
    let distance = between.length();
    let [pull, push] = table.law.parts(f64::from(distance / length));
    let factors = [me.factors[0] * group.factors[0], me.factors[1] * group.factors[1]];
    let force = push as Real * factors[1] - pull as Real * factors[0];
    if distance > 0.0 { between * (strength * force / distance) } else { Vec3::ZERO }
}

/// Puts two zeros after each of the lower 21 bits.
fn spread(x: u64) -> u64 {
    let mut x = x & 0x1f_ffff;
    for (shift, mask) in [
        (32, 0x1f00000000ffff),
        (16, 0x1f0000ff0000ff),
        (8, 0x100f00f00f00f00f),
        (4, 0x10c30c30c30c30c3),
        (2, 0x1249249249249249),
    ] {
        x = (x | x << shift) & mask;
    }
    x
}

/// Places of the molecules of a body among the members.
pub(super) fn molecules_of(members: &[Member], body: u32) -> Vec<u32> {
    let is_one = |member: &Member| member.body == body && member.kind == Kind::Molecule;
    (0..members.len() as u32).filter(|&place| is_one(&members[place as usize])).collect()
}

#[cfg(test)]
mod tests {
    use super::super::settings::{Molecules, Summation};
    use super::*;

    /// Molecules on a slightly irregular lattice in a ball.
    pub fn drop_of(radius: i32) -> Vec<Member> {
        let mut members = Vec::new();
        for k in 0..(2 * radius + 1).pow(3) {
            let n = 2 * radius + 1;
            let at = glam::IVec3::new(k % n, k / n % n, k / (n * n)) - radius;
            if at.length_squared() <= radius * radius {
                let wobble = |i: i32| 0.1 * ((k * (7 + i) % 11) as Real / 11.0 - 0.5);
                members.push(Member {
                    position: at.as_vec3() + Vec3::new(wobble(0), wobble(3), wobble(4)),
                    velocity: Vec3::ZERO,
                    mass: 1.0,
                    size: 1.0,
                    kind: Kind::Molecule,
                    body: 0,
                    factors: [1.0; 2],
                    viscosity: 0.0,
                    conductivity: 0.0,
                });
            }
        }
        members
    }

    fn table() -> PairTable {
        let settings = Molecules { summation: Summation::Exact, ..Molecules::default() };
        PairTable::new(&settings, 1.0, 1.0)
    }

    #[test]
    fn opening_no_group_is_the_sum_one_by_one() {
        let (members, table) = (drop_of(5), table());
        let tree = Tree::new(&members, molecules_of(&members, 0));
        for (place, force) in tree.forces(&table, None) {
            let me = &members[place as usize];
            let mut sum = Vec3::ZERO;
            for (other, you) in members.iter().enumerate().filter(|(other, _)| *other != place as usize) {
                let _ = other;
                sum += force_of(&table, me, &Group::of(you), me.position - you.position);
            }
            assert!(force.distance(sum) < 1e-4 * (1.0 + sum.length()), "{force} instead of {sum}");
        }
    }

    #[test]
    fn groups_are_off_by_the_square_of_the_opening() {
        let (members, table) = (drop_of(8), table());
        let tree = Tree::new(&members, molecules_of(&members, 0));
        let exact = tree.forces(&table, None);
        let typical =
            (exact.iter().map(|(_, force)| force.length_squared()).sum::<Real>() / exact.len() as Real).sqrt();
        let error = |opening: Real| {
            let found = tree.forces(&table, Some(opening));
            let squares: Real = found.iter().zip(&exact).map(|(a, b)| a.1.distance_squared(b.1)).sum();
            (squares / exact.len() as Real).sqrt() / typical
        };
        // A group taken as one leaves out its second moment, edge^2/12: for a force that falls with the third power a part
        // 6/12 opening^2 of what it adds.
        let (coarse, fine) = (error(0.8), error(0.4));
        assert!(coarse < 0.5 * 0.8 * 0.8, "{coarse}");
        assert!(fine < 0.5 * 0.4 * 0.4, "{fine}");
        assert!(fine < 0.5 * coarse, "{coarse} {fine}");
    }

    #[test]
    fn molecules_at_one_place_are_taken_too() {
        let mut members = drop_of(2);
        members.iter_mut().for_each(|member| member.position = Vec3::ONE);
        let tree = Tree::new(&members, molecules_of(&members, 0));
        assert!(tree.forces(&table(), Some(0.5)).iter().all(|(_, force)| force.is_finite()));
        assert!(Tree::new(&members, vec![]).forces(&table(), Some(0.5)).is_empty());
    }
}
