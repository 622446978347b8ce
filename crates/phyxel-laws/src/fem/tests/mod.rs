mod elements;
mod heat;
mod motion;
mod quality;
mod splitting;

use super::*;
use crate::Real;
use crate::material::hooke::Hooke;
use crate::rng::CounterRng;
use crate::simd::{F32x8, SimdLevel};
use glam::{DVec3, Mat3, Mat3A, Quat, Vec3, Vec3A};
use std::slice::{from_mut, from_ref};

/// Corners of a regular tetrahedron with edges of length 1.
pub(crate) fn regular_tet() -> [Vec3; 4] {
    let up = 0.5 * std::f32::consts::FRAC_1_SQRT_2;
    let [a, b] = [Vec3::new(-0.5, 0.0, -up), Vec3::new(0.5, 0.0, -up)];
    [a, b, Vec3::new(0.0, 0.5, up), Vec3::new(0.0, -0.5, up)]
}

/// Mesh of tetrahedra.
pub(crate) struct TetMesh {
    pub(crate) nodes: Vec<Vec3>,
    pub(crate) elements: Vec<[u32; 4]>,
}

impl TetMesh {
    /// Box of cells, each of six elements around its diagonal, with interior nodes displaced at random by
    /// `jitter` of a cell.
    pub(crate) fn grid(count: [u32; 3], cell: Real, jitter: Real) -> Self {
        let mut rng = CounterRng::new(7, 0).sequence();
        let [nx, ny, nz] = count.map(|n| n + 1);
        let number = |p: [u32; 3]| (p[2] * ny + p[1]) * nx + p[0];
        let mut nodes = Vec::new();
        for (z, y, x) in (0..nz).flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| (z, y, x)))) {
            let is_interior = [(x, nx), (y, ny), (z, nz)].iter().all(|&(k, n)| k > 0 && k + 1 < n);
            let displacement = rng.point() * if is_interior { jitter } else { 0.0 };
            nodes.push((Vec3::new(x as Real, y as Real, z as Real) + displacement) * cell);
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
                let mut cell_corner = [x - 1, y - 1, z - 1];
                let mut element = [number(cell_corner); 4];
                for k in 0..3 {
                    cell_corner[axes[k]] += 1;
                    element[k + 1] = number(cell_corner);
                }
                if odd {
                    element.swap(2, 3);
                }
                elements.push(element);
            }
        }
        Self { nodes, elements }
    }

    fn corners(&self, element: usize) -> [Vec3; 4] {
        self.elements[element].map(|node| self.nodes[node as usize])
    }

    pub(crate) fn reference_elements(&self) -> Vec<Element> {
        (0..self.elements.len()).map(|k| Element::new(self.corners(k)).unwrap()).collect()
    }

    fn packs(&self) -> Vec<(PackCorners, ReferencePack)> {
        let (references, last) = (self.reference_elements(), self.elements.len() - 1);
        let node = |lane: usize, corner: usize| self.elements[lane.min(last)][corner];
        let corners = |start: usize| -> PackCorners {
            std::array::from_fn(|corner| std::array::from_fn(|lane| node(start + lane, corner)))
        };
        references.chunks(8).enumerate().map(|(k, chunk)| (corners(8 * k), ReferencePack::new(chunk))).collect()
    }

    /// Lumped nodal masses for a density of 1.
    fn masses(&self) -> Vec<f64> {
        let mut masses = vec![0.0; self.nodes.len()];
        for (element, reference) in self.elements.iter().zip(self.reference_elements()) {
            element.iter().for_each(|node| masses[*node as usize] += 0.25 * f64::from(reference.volume));
        }
        masses
    }

    /// Sums corner vectors at the nodes.
    fn assemble(&self, corners: &[CornerVectors]) -> Vec<DVec3> {
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

fn rows(nodes: &[Vec3]) -> Vec<[f32; 4]> {
    nodes.iter().map(|p| [p.x, p.y, p.z, 0.0]).collect()
}

const IDENTITY: [F32x8; 4] = [[0.0; 8], [0.0; 8], [0.0; 8], [1.0; 8]];

/// Generic stable anisotropic law.
fn anisotropic_hooke() -> Hooke {
    let mut rng = CounterRng::new(3, 0).sequence();
    let mut c = [[0.0; 6]; 6];
    for _ in 0..6 {
        let v: [Real; 6] = std::array::from_fn(|_| rng.uniform() - 0.5);
        (0..6).for_each(|i| (0..6).for_each(|j| c[i][j] += v[i] * v[j]));
    }
    (0..6).for_each(|i| c[i][i] += 0.5);
    Hooke::Anisotropic(c)
}

/// Forces and response of one pack.
struct PackForces {
    forces: CornerVectors,
    response: ResponsePack,
}

impl Default for PackForces {
    fn default() -> Self {
        Self { forces: [[[0.0; 4]; 8]; 4], response: ResponsePack::default() }
    }
}

/// [`internal_forces`] of one pack.
fn pack_internal_forces<const DAMPED: bool>(
    level: SimdLevel,
    pack: &PackView,
    law: &ViscoelasticLaw,
    [points, velocities]: [&[[f32; 4]]; 2],
    rotation: &mut [F32x8; 4],
    out: &mut PackForces,
) {
    let batch = ForceBatch {
        packs: from_ref(pack),
        rotations: from_mut(rotation),
        forces: from_mut(&mut out.forces),
        responses: from_mut(&mut out.response),
    };
    internal_forces(level, batch, law, points, DAMPED.then_some(velocities));
}

/// Eight deformed elements of random shapes and states that share no nodes.
struct RandomPack {
    corners: PackCorners,
    reference: ReferencePack,
    state: StatePack,
    reference_corners: Vec<[Vec3; 4]>,
    nodes: Vec<Vec3>,
    velocities: Vec<Vec3>,
}

impl RandomPack {
    fn new(seed: u64, strain: Real) -> Self {
        let mut rng = CounterRng::new(seed, 0).sequence();
        let corners: PackCorners = std::array::from_fn(|corner| std::array::from_fn(|lane| (4 * lane + corner) as u32));
        let mut pack = Self {
            corners,
            reference: ReferencePack::default(),
            state: StatePack::default(),
            reference_corners: Vec::new(),
            nodes: Vec::new(),
            velocities: Vec::new(),
        };
        let mut elements = Vec::new();
        for lane in 0..8 {
            let shape = regular_tet().map(|corner| corner + 0.2 * rng.point());
            elements.push(Element::new(shape).unwrap());
            let map = Mat3::from_quat(rng.rotation()) * (Mat3::IDENTITY + strain * rng.matrix());
            pack.reference_corners.push(shape);
            pack.nodes.extend(shape.map(|corner| map * corner + 3.0));
            pack.velocities.extend([(); 4].map(|()| rng.point()));
            (0..6).for_each(|k| pack.state.plastic_strain[k][lane] = 0.2 * (rng.uniform() - 0.5));
            pack.state.thermal_strain[lane] = 0.05 * rng.uniform();
            pack.state.stiffness_scale[lane] = 0.5 + rng.uniform();
        }
        pack.reference = ReferencePack::new(&elements);
        pack
    }

    fn view(&self, with_state: bool) -> PackView<'_> {
        PackView { corners: &self.corners, reference: &self.reference, state: with_state.then_some(&self.state) }
    }

    fn internal_forces(&self, law: &ViscoelasticLaw, with_state: bool) -> (PackForces, [F32x8; 4]) {
        let (mut out, mut rotation) = (PackForces::default(), IDENTITY);
        let (nodes, velocities) = (rows(&self.nodes), rows(&self.velocities));
        let view = self.view(with_state);
        if law.damping_time > 0.0 {
            pack_internal_forces::<true>(
                SimdLevel::detect(),
                &view,
                law,
                [&nodes, &velocities],
                &mut rotation,
                &mut out,
            );
        } else {
            pack_internal_forces::<false>(
                SimdLevel::detect(),
                &view,
                law,
                [&nodes, &velocities],
                &mut rotation,
                &mut out,
            );
        }
        (out, rotation)
    }
}

fn dvec3(v: [f32; 4]) -> DVec3 {
    DVec3::new(v[0].into(), v[1].into(), v[2].into())
}

/// Sum of the magnitudes of the corner forces of one element.
fn force_scale(out: &PackForces, lane: usize) -> f64 {
    (0..4).map(|corner| dvec3(out.forces[corner][lane]).length()).sum()
}
