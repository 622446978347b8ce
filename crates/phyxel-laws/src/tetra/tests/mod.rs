mod collide;
mod elements;
mod motion;
mod net;
mod parting;
mod shapes;
mod shell;
mod subdivide;

use super::*;
use crate::Real;
use crate::elastic::Hooke;
use crate::lanes::{Eight, Level};
use crate::random::tests::Stream;
use glam::{DVec3, Mat3, Mat3A, Quat, Vec3, Vec3A};
use std::slice::{from_mut, from_ref};

/// Corners of a regular element with edges of length 1.
fn regular() -> [Vec3; 4] {
    let up = 0.5 * std::f32::consts::FRAC_1_SQRT_2;
    let [left, right] = [Vec3::new(-0.5, 0.0, -up), Vec3::new(0.5, 0.0, -up)];
    [left, right, Vec3::new(0.0, 0.5, up), Vec3::new(0.0, -0.5, up)]
}

/// Elements with nodes.
struct Mesh {
    nodes: Vec<Vec3>,
    elements: Vec<[u32; 4]>,
}

impl Mesh {
    /// A box of cells, each of six elements around its diagonal, with inner nodes moved at random by `jitter` of a cell.
    fn cells(count: [u32; 3], cell: Real, jitter: Real) -> Self {
        let mut random = Stream::new(7);
        let [nx, ny, nz] = count.map(|n| n + 1);
        let number = |p: [u32; 3]| (p[2] * ny + p[1]) * nx + p[0];
        let mut nodes = Vec::new();
        for (z, y, x) in (0..nz).flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| (z, y, x)))) {
            let inner = [(x, nx), (y, ny), (z, nz)].iter().all(|&(k, n)| k > 0 && k + 1 < n);
            let move_by = random.point() * if inner { jitter } else { 0.0 };
            nodes.push((Vec3::new(x as Real, y as Real, z as Real) + move_by) * cell);
        }
        let mut elements = Vec::new();
        for (z, y, x) in (1..nz).flat_map(|z| (1..ny).flat_map(move |y| (1..nx).map(move |x| (z, y, x)))) {
            for (axes, odd) in [
                ([0, 1, 2], false),
                ([1, 2, 0], false),
                ([2, 0, 1], false),
                ([0, 2, 1], true),
                ([2, 1, 0], true),
                ([1, 0, 2], true),
            ] {
                let mut place = [x - 1, y - 1, z - 1];
                let mut element = [number(place); 4];
                for k in 0..3 {
                    place[axes[k]] += 1;
                    element[k + 1] = number(place);
                }
                if odd {
                    element.swap(2, 3);
                }
                elements.push(element);
            }
        }
        Self { nodes, elements }
    }

    fn shape(&self, element: usize) -> [Vec3; 4] {
        self.elements[element].map(|node| self.nodes[node as usize])
    }

    fn rest(&self) -> Vec<Element> {
        (0..self.elements.len()).map(|k| Element::new(self.shape(k)).unwrap()).collect()
    }

    fn groups(&self) -> Vec<(Corners, Rest)> {
        let (rest, last) = (self.rest(), self.elements.len() - 1);
        let node = |lane: usize, corner: usize| self.elements[lane.min(last)][corner];
        let group = |start: usize| -> Corners {
            std::array::from_fn(|corner| std::array::from_fn(|lane| node(start + lane, corner)))
        };
        rest.chunks(8).enumerate().map(|(k, chunk)| (group(8 * k), Rest::new(chunk))).collect()
    }

    /// Mass of nodes for a density of 1.
    fn masses(&self) -> Vec<f64> {
        let mut masses = vec![0.0; self.nodes.len()];
        for (element, rest) in self.elements.iter().zip(self.rest()) {
            element.iter().for_each(|node| masses[*node as usize] += 0.25 * f64::from(rest.volume));
        }
        masses
    }

    /// Adds what corners have up at their nodes.
    fn gather(&self, corners: &[CornerVectors]) -> Vec<DVec3> {
        let mut sums = vec![DVec3::ZERO; self.nodes.len()];
        for (k, element) in self.elements.iter().enumerate() {
            for corner in 0..4 {
                let [x, y, z, _] = corners[k / 8][corner][k % 8].map(f64::from);
                sums[element[corner] as usize] += DVec3::new(x, y, z);
            }
        }
        sums
    }
}

fn points(nodes: &[Vec3]) -> Vec<[f32; 4]> {
    nodes.iter().map(|p| [p.x, p.y, p.z, 0.0]).collect()
}

const STILL: [Eight; 4] = [[0.0; 8], [0.0; 8], [0.0; 8], [1.0; 8]];

/// A law that is stable and like nothing in particular.
fn crooked() -> Hooke {
    let mut random = Stream::new(3);
    let mut c = [[0.0; 6]; 6];
    for _ in 0..6 {
        let v: [Real; 6] = std::array::from_fn(|_| random.unit() - 0.5);
        (0..6).for_each(|i| (0..6).for_each(|j| c[i][j] += v[i] * v[j]));
    }
    (0..6).for_each(|i| c[i][i] += 0.5);
    Hooke::Anisotropic(c)
}

/// What eight elements do.
struct Exerted {
    forces: CornerVectors,
    note: Note,
}

impl Default for Exerted {
    fn default() -> Self {
        Self { forces: [[[0.0; 4]; 8]; 4], note: Note::default() }
    }
}

/// Forces of one pack, with points and velocities.
fn exert_one<const DAMPED: bool>(
    level: Level,
    group: &Group,
    matter: &Matter,
    [points, velocities]: [&[[f32; 4]]; 2],
    turn: &mut [Eight; 4],
    out: &mut Exerted,
) {
    let (groups, turns) = (from_ref(group), from_mut(turn));
    let packs = Packs { groups, turns, forces: from_mut(&mut out.forces), notes: from_mut(&mut out.note) };
    exert(level, packs, matter, points, DAMPED.then_some(velocities));
}

/// Eight elements of random shapes and states, deformed, with nodes of their own.
struct Eights {
    corners: Corners,
    rest: Rest,
    state: State,
    shapes: Vec<[Vec3; 4]>,
    nodes: Vec<Vec3>,
    velocities: Vec<Vec3>,
}

impl Eights {
    fn new(seed: u64, strain: Real) -> Self {
        let mut random = Stream::new(seed);
        let corners: Corners = std::array::from_fn(|corner| std::array::from_fn(|lane| (4 * lane + corner) as u32));
        let mut eights = Self {
            corners,
            rest: Rest::default(),
            state: State::default(),
            shapes: Vec::new(),
            nodes: Vec::new(),
            velocities: Vec::new(),
        };
        let mut elements = Vec::new();
        for lane in 0..8 {
            let shape = regular().map(|corner| corner + 0.2 * random.point());
            elements.push(Element::new(shape).unwrap());
            let map = Mat3::from_quat(random.turn()) * (Mat3::IDENTITY + strain * random.matrix());
            eights.shapes.push(shape);
            eights.nodes.extend(shape.map(|corner| map * corner + 3.0));
            eights.velocities.extend([(); 4].map(|()| random.point()));
            (0..6).for_each(|k| eights.state.plastic[k][lane] = 0.2 * (random.unit() - 0.5));
            eights.state.swelling[lane] = 0.05 * random.unit();
            eights.state.stiffness[lane] = 0.5 + random.unit();
        }
        eights.rest = Rest::new(&elements);
        eights
    }

    fn group(&self, with_state: bool) -> Group<'_> {
        Group { corners: &self.corners, rest: &self.rest, state: with_state.then_some(&self.state) }
    }

    fn exert(&self, matter: &Matter, with_state: bool) -> (Exerted, [Eight; 4]) {
        let (mut out, mut turn) = (Exerted::default(), STILL);
        let (nodes, velocities) = (points(&self.nodes), points(&self.velocities));
        let group = self.group(with_state);
        if matter.damping > 0.0 {
            exert_one::<true>(Level::detect(), &group, matter, [&nodes, &velocities], &mut turn, &mut out);
        } else {
            exert_one::<false>(Level::detect(), &group, matter, [&nodes, &velocities], &mut turn, &mut out);
        }
        (out, turn)
    }
}

fn vector(v: [f32; 4]) -> DVec3 {
    DVec3::new(v[0].into(), v[1].into(), v[2].into())
}

/// Sum of the sizes of the forces of one element.
fn size(out: &Exerted, lane: usize) -> f64 {
    (0..4).map(|corner| vector(out.forces[corner][lane]).length()).sum()
}
