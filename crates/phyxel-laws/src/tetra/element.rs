//! The shape at rest of elements, and what follows from it alone.

use crate::Real;
use crate::elastic::{SCALE, VOIGT};
use crate::lanes::{Eight, WIDTH};
use crate::symmetric::eigen;
use glam::{DMat3, DVec3, Vec3};

/// Volume over the cube of the longest edge from which the rounding of f32 positions, 1e-7 of an edge, is less than a tenth of
/// the height. A regular element has 0.12.
const FLAT: f64 = 1e-6;

/// The shape of an element at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    /// How the weights of corners 1, 2 and 3 grow in space, 1/m: the rows of `Dm^-1`.
    pub gradients: [Vec3; 3],
    /// m3.
    pub volume: Real,
}

impl Element {
    /// From the positions of its corners, m; `None` if it is mirrored or as good as flat.
    pub fn new(corners: [Vec3; 4]) -> Option<Self> {
        let [a, b, c, d] = corners.map(Vec3::as_dvec3);
        let edges = DMat3::from_cols(b - a, c - a, d - a);
        let volume = edges.determinant() / 6.0;
        let longest = [b - a, c - a, d - a, c - b, d - b, d - c].into_iter().map(DVec3::length).fold(0.0, f64::max);
        let inverse = edges.inverse();
        let is_sound = volume > FLAT * longest * longest * longest && volume.is_finite();
        let gradients = [inverse.row(0), inverse.row(1), inverse.row(2)].map(DVec3::as_vec3);
        is_sound.then_some(Self { gradients, volume: volume as Real })
    }

    /// Its deformation `F` with its corners at these places, m.
    pub fn deformation(&self, corners: [DVec3; 4]) -> DMat3 {
        let ([a, b, c, d], [g, h, k]) = (corners, self.gradients.map(Vec3::as_dvec3));
        DMat3::from_cols(b - a, c - a, d - a) * DMat3::from_cols(g, h, k).transpose()
    }

    /// How the weight of a corner grows in space, 1/m.
    pub fn gradient(&self, corner: usize) -> Vec3 {
        let [b, c, d] = self.gradients;
        if corner == 0 { -(b + c + d) } else { self.gradients[corner - 1] }
    }

    /// The area by which a corner hangs on its element, m2: a third of the face across from it.
    ///
    /// Under an even stress the element pulls the corner with the traction on that face times this, whatever its size.
    pub fn area_share(&self, corner: usize) -> Real {
        self.volume * self.gradient(corner).length()
    }

    /// How swiftly an element swings, Pa/m2: no swing of a body of such elements has a squared angular frequency above the largest
    /// of these over the density. `root` is that of their law ([`Hooke::root`](crate::elastic::Hooke::root)).
    ///
    /// With a quarter of the mass at each corner, the largest eigenvalue of the element's own stiffness: that of `4 C^1/2 G C^1/2`,
    /// where `G` takes stresses to corner forces and back to strains. A body swings no faster than its fastest element. (The
    /// modulus of waves that push along is no bound: an element that breathes is stiffer.)
    pub fn swiftness(&self, root: &[[f64; 6]; 6]) -> f64 {
        let mut h = [[0.0; 3]; 3];
        for corner in 0..4 {
            let g = self.gradient(corner).as_dvec3();
            for i in 0..3 {
                (0..3).for_each(|j| h[i][j] += g[i] * g[j]);
            }
        }
        let same = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
        let g: [[f64; 6]; 6] = std::array::from_fn(|p| {
            std::array::from_fn(|q| {
                let ((i, j), (a, b)) = (VOIGT[p], VOIGT[q]);
                let sum = same(i, a) * h[j][b] + same(i, b) * h[j][a] + same(j, a) * h[i][b] + same(j, b) * h[i][a];
                0.25 * sum * SCALE[p] * SCALE[q]
            })
        });
        let times = |a: &[[f64; 6]; 6], b: &[[f64; 6]; 6]| -> [[f64; 6]; 6] {
            std::array::from_fn(|i| std::array::from_fn(|j| (0..6).map(|k| a[i][k] * b[k][j]).sum()))
        };
        4.0 * eigen(times(&times(root, &g), root)).0.into_iter().fold(0.0, f64::max)
    }
}

/// The shapes of eight elements at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
pub struct Rest {
    /// Gradients of corners 1, 2 and 3, 1/m.
    pub gradients: [[Eight; 3]; 3],
    /// m3. 0 where there is no element; its lane still needs a shape and nodes, best those of another lane.
    pub volume: Eight,
}

impl Rest {
    /// Of up to eight elements. Lanes that are left over have the shape of the last one, and no volume.
    pub fn new(elements: &[Element]) -> Self {
        let mut rest = Self::default();
        for lane in 0..WIDTH {
            let Some(element) = elements.get(lane).or(elements.last()) else { break };
            rest.put(lane, element);
            if lane >= elements.len() {
                rest.volume[lane] = 0.0;
            }
        }
        rest
    }

    /// Changes the shape of one of them.
    pub fn put(&mut self, lane: usize, element: &Element) {
        for k in 0..3 {
            (0..3).for_each(|axis| self.gradients[k][axis][lane] = element.gradients[k][axis]);
        }
        self.volume[lane] = element.volume;
    }
}

/// Damping in proportion to mass and to stiffness, after Rayleigh.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rayleigh {
    /// Rate at which motion through space dies out, 1/s: a node of mass `m` feels `-rate m v`. See
    /// [`damped_part`](crate::stiffness::damped_part) for a step that is not short.
    pub mass: f64,
    /// Time by which stress is ahead of strain, s: stress follows `e + time de/dt`.
    pub stiffness: f64,
}

impl Rayleigh {
    /// Part of critical damping of a swing of this angular frequency, rad/s.
    pub fn ratio(&self, frequency: f64) -> f64 {
        0.5 * (self.mass / frequency + self.stiffness * frequency)
    }

    /// Damping with the given part of critical damping at two angular frequencies, rad/s; nothing between them is damped more.
    pub fn between(ratio: f64, low: f64, high: f64) -> Self {
        let twice = 2.0 * ratio / (low + high);
        Self { mass: twice * low * high, stiffness: twice }
    }
}
