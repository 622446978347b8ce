//! The shape at rest of elements, and what follows from it alone.

use crate::Real;
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

    /// How swiftly an element swings, 1/m2: no swing of a body of such elements has a squared angular frequency above this
    /// times the modulus of waves that push along ([`push_modulus`](crate::elastic::Hooke::push_modulus)) over the density.
    ///
    /// Work per volume of corner moves `u` is at most `modulus |sum_k u_k g_k^T|^2/2`, with the largest eigenvalue of
    /// `sum_k g_k g_k^T` at most `modulus eigenvalue |u|^2/2`; a corner has a quarter of the mass. A body swings no faster than
    /// its fastest element.
    pub fn swiftness(&self) -> f64 {
        let mut sum = [[0.0; 3]; 3];
        for corner in 0..4 {
            let g = self.gradient(corner).as_dvec3();
            for i in 0..3 {
                (0..3).for_each(|j| sum[i][j] += g[i] * g[j]);
            }
        }
        4.0 * eigen(sum).0.into_iter().fold(0.0, f64::max)
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
