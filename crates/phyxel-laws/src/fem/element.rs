//! Reference configuration of elements, and what follows from it alone.

use crate::Real;
use crate::linalg::eigen::symmetric_eigen;
use crate::material::hooke::{MANDEL, VOIGT};
use crate::simd::{F32x8, WIDTH};
use glam::{DMat3, DVec3, Vec3};

/// Least volume over the cubed longest edge: there the rounding of f32 positions, 1e-7 of an edge, is less
/// than a tenth of the height. A regular element has 0.12.
const MIN_VOLUME_RATIO: f64 = 1e-6;

/// Linear tetrahedron in its reference configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    /// Shape function gradients of corners 1, 2 and 3, 1/m: the rows of `Dm^-1`.
    pub gradients: [Vec3; 3],
    /// Volume, m3.
    pub volume: Real,
}

impl Element {
    /// Element from the positions of its corners, m; `None` if it is inverted or nearly flat.
    pub fn new(corners: [Vec3; 4]) -> Option<Self> {
        let [a, b, c, d] = corners.map(Vec3::as_dvec3);
        let edges = DMat3::from_cols(b - a, c - a, d - a);
        let volume = edges.determinant() / 6.0;
        let longest = [b - a, c - a, d - a, c - b, d - b, d - c].into_iter().map(DVec3::length).fold(0.0, f64::max);
        let inverse = edges.inverse();
        let is_valid = volume > MIN_VOLUME_RATIO * longest * longest * longest && volume.is_finite();
        let gradients = [inverse.row(0), inverse.row(1), inverse.row(2)].map(DVec3::as_vec3);
        is_valid.then_some(Self { gradients, volume: volume as Real })
    }

    /// Deformation gradient `F` for positions of the corners, m.
    pub fn deformation_gradient(&self, corners: [DVec3; 4]) -> DMat3 {
        let ([a, b, c, d], [g, h, k]) = (corners, self.gradients.map(Vec3::as_dvec3));
        DMat3::from_cols(b - a, c - a, d - a) * DMat3::from_cols(g, h, k).transpose()
    }

    /// Shape function gradient of a corner, 1/m.
    pub fn gradient(&self, corner: usize) -> Vec3 {
        let [b, c, d] = self.gradients;
        if corner == 0 { -(b + c + d) } else { self.gradients[corner - 1] }
    }

    /// Area of a corner, m2: a third of the opposite face.
    ///
    /// Under uniform stress, the force on the corner is the traction on that face times this area.
    pub fn corner_area(&self, corner: usize) -> Real {
        self.volume * self.gradient(corner).length()
    }

    /// Largest eigenvalue of the stiffness matrix for unit density, Pa/m2. `root` is the square root of the
    /// elasticity tensor ([`Hooke::mandel_sqrt`](crate::material::hooke::Hooke::mandel_sqrt)).
    ///
    /// With lumped masses, a quarter at each corner, it is that of `4 C^1/2 G C^1/2`, where `G` maps
    /// stresses to corner forces and back to strains. Over the density it is the element's largest squared
    /// angular frequency, and the largest of all elements bounds every eigenfrequency of a body. (The
    /// P-wave modulus gives no bound: the breathing mode of an element is stiffer.)
    pub fn max_eigenvalue(&self, root: &[[f64; 6]; 6]) -> f64 {
        let mut h = [[0.0; 3]; 3];
        for corner in 0..4 {
            let g = self.gradient(corner).as_dvec3();
            for i in 0..3 {
                (0..3).for_each(|j| h[i][j] += g[i] * g[j]);
            }
        }
        let delta = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
        let g: [[f64; 6]; 6] = std::array::from_fn(|p| {
            std::array::from_fn(|q| {
                let ((i, j), (a, b)) = (VOIGT[p], VOIGT[q]);
                let sum = delta(i, a) * h[j][b] + delta(i, b) * h[j][a] + delta(j, a) * h[i][b] + delta(j, b) * h[i][a];
                0.25 * sum * MANDEL[p] * MANDEL[q]
            })
        });
        let times = |a: &[[f64; 6]; 6], b: &[[f64; 6]; 6]| -> [[f64; 6]; 6] {
            std::array::from_fn(|i| std::array::from_fn(|j| (0..6).map(|k| a[i][k] * b[k][j]).sum()))
        };
        4.0 * symmetric_eigen(times(&times(root, &g), root)).0.into_iter().fold(0.0, f64::max)
    }
}

/// Reference configurations of eight elements.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub struct ReferencePack {
    /// Shape function gradients of corners 1, 2 and 3, 1/m.
    pub gradients: [[F32x8; 3]; 3],
    /// Volumes, m3. 0 in unused lanes, which still need gradients and nodes, best those of another lane.
    pub volume: F32x8,
}

impl ReferencePack {
    /// Packs up to eight elements. Unused lanes repeat the last one, with zero volume.
    pub fn new(elements: &[Element]) -> Self {
        let mut rest = Self::default();
        for lane in 0..WIDTH {
            let Some(element) = elements.get(lane).or(elements.last()) else { break };
            rest.set(lane, element);
            if lane >= elements.len() {
                rest.volume[lane] = 0.0;
            }
        }
        rest
    }

    /// Replaces the element of a lane.
    pub fn set(&mut self, lane: usize, element: &Element) {
        for k in 0..3 {
            (0..3).for_each(|axis| self.gradients[k][axis][lane] = element.gradients[k][axis]);
        }
        self.volume[lane] = element.volume;
    }
}

/// Rayleigh damping: a mass-proportional and a stiffness-proportional coefficient.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RayleighDamping {
    /// Mass-proportional coefficient, 1/s: the force on a node of mass `m` is `-mass m v`. See
    /// [`damping_from_rate`](crate::shape_matching::gain::damping_from_rate) for steps that are not short.
    pub mass: f64,
    /// Stiffness-proportional coefficient, s: stress follows `e + stiffness de/dt`.
    pub stiffness: f64,
}

impl RayleighDamping {
    /// Damping ratio of a mode of this angular frequency, rad/s.
    pub fn damping_ratio(&self, frequency: f64) -> f64 {
        0.5 * (self.mass / frequency + self.stiffness * frequency)
    }

    /// Damping with a given ratio at two angular frequencies, rad/s; modes between them have a smaller ratio.
    pub fn between(ratio: f64, low: f64, high: f64) -> Self {
        let twice = 2.0 * ratio / (low + high);
        Self { mass: twice * low * high, stiffness: twice }
    }
}
