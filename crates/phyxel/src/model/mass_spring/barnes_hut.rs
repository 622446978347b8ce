//! Barnes-Hut summation of pair forces over an octree (`[BH86]`), and direct summation.

use super::pair_interactions::PairParticle;
use super::pair_table::PairTable;
use super::verlet_list::Role;
use crate::Real;
use crate::numerics::Aabb;
use crate::parallel;
use glam::Vec3;

/// Particles per task.
const GRAIN: usize = 64;
/// Largest number of molecules in a leaf.
const LEAF_SIZE: usize = 8;
/// Depth limit of the octree: coordinates have 21 bits.
const MAX_DEPTH: u32 = 21;

/// Monopole of a group of molecules.
#[derive(Clone, Copy, Debug, Default)]
struct Monopole {
    /// Mean position, m.
    centre: Vec3,
    /// Number of molecules.
    count: Real,
    /// Mean size, m.
    size: Real,
    /// Mean mass, kg.
    mass: Real,
    /// Mean square roots of the factors on attraction and repulsion.
    factors: [Real; 2],
}

impl Monopole {
    fn of(particle: &PairParticle) -> Self {
        let &PairParticle { position: centre, size, mass, factors, .. } = particle;
        Self { centre, count: 1.0, size, mass, factors }
    }

    fn merged(monopoles: impl Iterator<Item = Self>) -> Self {
        let mut sum = Self::default();
        for monopole in monopoles {
            sum.centre += monopole.centre * monopole.count;
            sum.size += monopole.size * monopole.count;
            sum.mass += monopole.mass * monopole.count;
            (0..2).for_each(|term| sum.factors[term] += monopole.factors[term] * monopole.count);
            sum.count += monopole.count;
        }
        let inverse_count = 1.0 / sum.count.max(1.0);
        let factors = sum.factors.map(|factor| factor * inverse_count);
        Self {
            centre: sum.centre * inverse_count,
            size: sum.size * inverse_count,
            mass: sum.mass * inverse_count,
            factors,
            ..sum
        }
    }
}

/// Node of the octree.
#[derive(Clone, Debug)]
struct OctreeNode {
    monopole: Monopole,
    /// Edge of the cube, m.
    edge: Real,
    /// Range of its molecules in the order of the tree.
    start: u32,
    end: u32,
    /// Child nodes; none for a leaf.
    children: Vec<u32>,
}

/// Octree over the molecules of a body.
pub(super) struct BarnesHutTree<'a> {
    particles: &'a [PairParticle],
    /// Rows of the molecules in Morton order: those of a node are consecutive.
    order: Vec<u32>,
    nodes: Vec<OctreeNode>,
}

impl<'a> BarnesHutTree<'a> {
    /// Builds the octree of the molecules in the given rows.
    pub fn new(particles: &'a [PairParticle], rows: Vec<u32>) -> Self {
        let aabb = Aabb::from_points(rows.iter().map(|&row| particles[row as usize].position));
        let edge = aabb.extent().max_element().max(1e-30) * 1.000_001;
        let key = |row: u32| {
            let cell = (particles[row as usize].position - aabb.min) * ((1u32 << MAX_DEPTH) as Real / edge);
            cell.to_array()
                .map(|x| dilate_bits(x as u64))
                .iter()
                .enumerate()
                .map(|(axis, bits)| bits << axis)
                .sum::<u64>()
        };
        let mut keyed: Vec<(u64, u32)> = rows.into_iter().map(|row| (key(row), row)).collect();
        parallel::sort_by_key(&mut keyed, |&pair| pair);
        let mut tree = Self { particles, order: keyed.iter().map(|(_, row)| *row).collect(), nodes: Vec::new() };
        if !keyed.is_empty() {
            tree.build(&keyed, 0, 0, edge);
        }
        tree
    }

    /// Adds the node of consecutive molecules and its descendants; returns its index.
    fn build(&mut self, keyed: &[(u64, u32)], start: usize, level: u32, edge: Real) -> u32 {
        let node_index = self.nodes.len();
        let end = start + keyed.len();
        let empty = Monopole::default();
        self.nodes.push(OctreeNode {
            monopole: empty,
            edge,
            start: start as u32,
            end: end as u32,
            children: Vec::new(),
        });
        let monopole = if keyed.len() <= LEAF_SIZE || level == MAX_DEPTH {
            Monopole::merged(keyed.iter().map(|&(_, row)| Monopole::of(&self.particles[row as usize])))
        } else {
            let octant = |key: u64| key >> (3 * (MAX_DEPTH - 1 - level)) & 7;
            let mut begin = 0;
            while begin < keyed.len() {
                let end = begin + keyed[begin..].partition_point(|(key, _)| octant(*key) == octant(keyed[begin].0));
                let child = self.build(&keyed[begin..end], start + begin, level + 1, 0.5 * edge);
                self.nodes[node_index].children.push(child);
                begin = end;
            }
            let children = self.nodes[node_index].children.iter();
            Monopole::merged(children.map(|&child| self.nodes[child as usize].monopole))
        };
        self.nodes[node_index].monopole = monopole;
        node_index as u32
    }

    /// Force of all molecules on each one, N. A cell smaller than `opening_angle` times its distance counts
    /// as a monopole; without an opening angle, the sum is direct.
    pub fn forces(&self, table: &PairTable, opening_angle: Option<Real>) -> Vec<(u32, Vec3)> {
        parallel::map(self.order.len(), GRAIN, |k| {
            let row = self.order[k];
            let a = &self.particles[row as usize];
            let mut sum = glam::DVec3::ZERO;
            if opening_angle.is_none() {
                for &other in self.order.iter().filter(|&&other| other != row) {
                    let b = &self.particles[other as usize];
                    sum += pair_force(table, a, &Monopole::of(b), a.position - b.position).as_dvec3();
                }
                return (row, sum.as_vec3());
            }
            let mut stack = if self.nodes.is_empty() { vec![] } else { vec![0u32] };
            while let Some(node_index) = stack.pop() {
                let node = &self.nodes[node_index as usize];
                let offset = a.position - node.monopole.centre;
                let is_distant = opening_angle.is_some_and(|opening_angle| {
                    let max_edge = opening_angle * offset.length();
                    node.edge < max_edge && max_edge > 0.0
                });
                if is_distant {
                    sum += (pair_force(table, a, &node.monopole, offset) * node.monopole.count).as_dvec3();
                } else if node.children.is_empty() {
                    for &other in &self.order[node.start as usize..node.end as usize] {
                        if other != row {
                            let b = &self.particles[other as usize];
                            let offset = a.position - b.position;
                            sum += pair_force(table, a, &Monopole::of(b), offset).as_dvec3();
                        }
                    }
                } else {
                    stack.extend(node.children.iter().rev());
                }
            }
            (row, sum.as_vec3())
        })
    }
}

/// Force of a mean molecule of a monopole on a particle, without a cut-off, N.
fn pair_force(table: &PairTable, a: &PairParticle, monopole: &Monopole, offset: Vec3) -> Vec3 {
    let (length, strength) = table.scales([a.size, monopole.size], [a.mass, monopole.mass]);
    let distance = offset.length();
    let [attraction, repulsion] = table.law.components(f64::from(distance / length));
    let factors = [a.factors[0] * monopole.factors[0], a.factors[1] * monopole.factors[1]];
    let force = repulsion as Real * factors[1] - attraction as Real * factors[0];
    if distance > 0.0 { offset * (strength * force / distance) } else { Vec3::ZERO }
}

/// Inserts two zero bits after each of the lower 21 bits (Morton code).
fn dilate_bits(x: u64) -> u64 {
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

/// Rows of the molecules of a body.
pub(super) fn molecules_of(particles: &[PairParticle], body: u32) -> Vec<u32> {
    let is_molecule = |particle: &PairParticle| particle.body == body && particle.role == Role::Molecule;
    (0..particles.len() as u32).filter(|&row| is_molecule(&particles[row as usize])).collect()
}

#[cfg(test)]
mod tests {
    use super::super::settings::{Molecules, Summation};
    use super::*;

    /// Molecules on a perturbed lattice in a ball.
    pub fn drop_of(radius: i32) -> Vec<PairParticle> {
        let mut particles = Vec::new();
        for k in 0..(2 * radius + 1).pow(3) {
            let n = 2 * radius + 1;
            let at = glam::IVec3::new(k % n, k / n % n, k / (n * n)) - radius;
            if at.length_squared() <= radius * radius {
                let perturbation = |i: i32| 0.1 * ((k * (7 + i) % 11) as Real / 11.0 - 0.5);
                particles.push(PairParticle {
                    position: at.as_vec3() + Vec3::new(perturbation(0), perturbation(3), perturbation(4)),
                    velocity: Vec3::ZERO,
                    mass: 1.0,
                    size: 1.0,
                    role: Role::Molecule,
                    body: 0,
                    factors: [1.0; 2],
                    viscosity: 0.0,
                    conductivity: 0.0,
                });
            }
        }
        particles
    }

    fn table() -> PairTable {
        let settings = Molecules { summation: Summation::Exact, ..Molecules::default() };
        PairTable::new(&settings, 1.0, 1.0)
    }

    #[test]
    fn without_an_opening_angle_the_sum_is_direct() {
        let (particles, table) = (drop_of(5), table());
        let tree = BarnesHutTree::new(&particles, molecules_of(&particles, 0));
        for (row, force) in tree.forces(&table, None) {
            let a = &particles[row as usize];
            let mut sum = Vec3::ZERO;
            for (other, b) in particles.iter().enumerate().filter(|(other, _)| *other != row as usize) {
                let _ = other;
                sum += pair_force(&table, a, &Monopole::of(b), a.position - b.position);
            }
            assert!(force.distance(sum) < 1e-4 * (1.0 + sum.length()), "{force} instead of {sum}");
        }
    }

    #[test]
    fn the_error_of_monopoles_is_of_second_order_in_the_opening_angle() {
        let (particles, table) = (drop_of(8), table());
        let tree = BarnesHutTree::new(&particles, molecules_of(&particles, 0));
        let exact = tree.forces(&table, None);
        let rms = (exact.iter().map(|(_, force)| force.length_squared()).sum::<Real>() / exact.len() as Real).sqrt();
        let error = |opening_angle: Real| {
            let found = tree.forces(&table, Some(opening_angle));
            let squares: Real = found.iter().zip(&exact).map(|(a, b)| a.1.distance_squared(b.1)).sum();
            (squares / exact.len() as Real).sqrt() / rms
        };
        // A monopole omits the second moment, edge^2/12: for a force that falls with the third power, a
        // fraction 6/12 opening_angle^2 of its contribution.
        let (coarse, fine) = (error(0.8), error(0.4));
        assert!(coarse < 0.5 * 0.8 * 0.8, "{coarse}");
        assert!(fine < 0.5 * 0.4 * 0.4, "{fine}");
        assert!(fine < 0.5 * coarse, "{coarse} {fine}");
    }

    #[test]
    fn coincident_molecules_are_accepted() {
        let mut particles = drop_of(2);
        particles.iter_mut().for_each(|particle| particle.position = Vec3::ONE);
        let tree = BarnesHutTree::new(&particles, molecules_of(&particles, 0));
        assert!(tree.forces(&table(), Some(0.5)).iter().all(|(_, force)| force.is_finite()));
        assert!(BarnesHutTree::new(&particles, vec![]).forces(&table(), Some(0.5)).is_empty());
    }
}
