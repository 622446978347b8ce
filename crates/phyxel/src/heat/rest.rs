//! Ways for heat along neighbours in the shape at rest, and the faces that particles expose.

use super::{Face, Link, Ways};
use crate::Real;
use crate::body::Body;
use crate::grid::Neighbourhood;
use crate::material::Material;
use crate::particles::Particles;
use glam::Vec3;

/// Neighbours of irregular samples are up to this many spacings apart.
const REACH: Real = 1.5;
/// Neighbours in a lattice are up to this many of its shortest distances apart.
const NEXT: Real = 1.1;
/// How much better heat may flow along one axis of irregular samples than along another: neighbours are looked for in an
/// ellipsoid whose axes go with the square root.
const MOST_UNLIKE: Real = 16.0;
/// A particle of irregular samples is at the surface if the faces of it and its neighbours leave this much on the mean,
/// in faces of a cube of its volume: at a flat surface it is about a half, inside they cancel but for chance.
const AT_SURFACE: Real = 0.25;

/// Ways for heat between particles of a body that are near at rest and share a group, and what they expose.
///
/// Ways have conductances `c` for which `1/2 sum c r r^T = K V` holds inside the body, `K` the conductivities along its
/// own axes: then `sum c (T_j - T_i)` is `V div(K grad T)`, up to second order in the spacing. On a cubic lattice these
/// are the six nearest, with the conductivity of their axis times the spacing each, which is exact at surfaces too. A
/// closest packing that conducts alike along all axes has ways to the twelve nearest, all alike. Other samples have ways
/// to all in a ball, `c = 6 K V/sum r^2` on the mean of both ends, so that heat flows along a surface as well as
/// inside; where axes differ, in a ball of the space that is squeezed by their square root, in which matter conducts alike
/// in all directions.
pub(crate) fn ways_at_rest(body: &Body, material: &Material, particles: &Particles, groups: &[&[u32]]) -> Ways {
    let range = body.range();
    if range.is_empty() {
        return Ways::default();
    }
    let mass: f64 = particles.mass[range.clone()].iter().map(|&mass| f64::from(mass)).sum();
    let sample = Sample {
        rest: &particles.rest[range.clone()],
        volume: (mass / range.len() as f64) as Real / material.density,
        conductivity: material.heat.conductivity,
        together: Together::new(range.len(), body.particles.start, groups),
    };
    let mut ways = sample.on_cubes(body.spacing).unwrap_or_else(|| sample.scattered(body.spacing));
    let start = body.particles.start;
    ways.links.iter_mut().for_each(|link| link.particles = link.particles.map(|i| i + start));
    ways.links.retain(|link| link.conductance > 0.0);
    ways.faces.iter_mut().for_each(|face| face.particle += start);
    ways
}

/// A body at rest; particles are numbered within it.
struct Sample<'a> {
    rest: &'a [Vec3],
    /// Of a particle, on the mean, m3.
    volume: Real,
    /// Along the own axes, W/(m K).
    conductivity: Vec3,
    together: Together,
}

impl Sample<'_> {
    /// The ways of a cubic lattice along the own axes; `None` for other samples.
    fn on_cubes(&self, spacing: Real) -> Option<Ways> {
        let mut pairs = near_pairs(self.rest, REACH * spacing);
        let edge = lattice_distance(self.rest, &pairs)?;
        pairs.retain(|pair| length(self.rest, pair) <= NEXT * edge);
        if crowds(self.rest.len(), &pairs).into_iter().max() > Some(6) {
            return None;
        }
        let sides: Option<Vec<usize>> = pairs.iter().map(|&[a, b]| self.side(a, b)).collect();
        let (area, mut taken) = (self.volume / edge, vec![[false; 6]; self.rest.len()]);
        let mut links = Vec::with_capacity(pairs.len());
        for (pair, side) in pairs.into_iter().zip(sides?).filter(|(pair, _)| self.together.has(*pair)) {
            taken[pair[0] as usize][side] = true;
            taken[pair[1] as usize][side ^ 1] = true;
            links.push(Link { particles: pair, conductance: self.conductivity[side / 2] * area / edge });
        }
        let free = |(particle, taken): (u32, [bool; 6])| {
            (0..6).filter(move |&side| !taken[side]).map(move |side| self.side_face(particle, side, area, edge))
        };
        Some(Ways { links, faces: (0..).zip(taken).flat_map(free).collect() })
    }

    /// A side of a cube around a particle.
    fn side_face(&self, particle: u32, side: usize, area: Real, edge: Real) -> Face {
        let axis = side / 2;
        let normal = if side.is_multiple_of(2) { Vec3::AXES[axis] } else { -Vec3::AXES[axis] };
        Face { particle, normal, area, resistance: 0.5 * edge / self.conductivity[axis] }
    }

    /// The side on which a neighbour is: 0 and 1 for up and down the first own axis, and so on.
    fn side(&self, a: u32, b: u32) -> Option<usize> {
        let way = self.rest[b as usize] - self.rest[a as usize];
        let axis = (0..3).find(|&axis| way[axis].abs() > 0.99 * way.length())?;
        Some(2 * axis + usize::from(way[axis] < 0.0))
    }

    /// The ways of any other sample.
    fn scattered(&self, spacing: Real) -> Ways {
        let best = self.conductivity.max_element();
        let worst = self.conductivity.min_element().max(best / MOST_UNLIKE);
        let squeeze =
            if best > 0.0 { self.conductivity.max(Vec3::splat(worst)).map(|k| (worst / k).sqrt()) } else { Vec3::ONE };
        let points: Vec<Vec3> = self.rest.iter().map(|&x| x * squeeze).collect();
        let mut pairs = near_pairs(&points, REACH * spacing);
        let regular = lattice_distance(&points, &pairs).filter(|_| squeeze == Vec3::ONE);
        if let Some(distance) = regular {
            pairs.retain(|pair| length(&points, pair) <= NEXT * distance);
        }
        pairs.retain(|&pair| self.together.has(pair));
        let (spreads, crowds) = (spreads(&points, &pairs), crowds(points.len(), &pairs));
        let full = if crowds.iter().max() > Some(&6) { 12.0 } else { 6.0 };
        let inside = regular.map_or_else(|| inner_mean(&crowds, &spreads), |distance| full * distance * distance);
        let weight = |spread: Real| if spread > 0.0 { 6.0 * self.volume / spread } else { 0.0 };
        // A lattice lacks neighbours at its surface because cells end there.
        let own = |i: u32| weight(if regular.is_some() { inside } else { spreads[i as usize] });
        let link = |&[a, b]: &[u32; 2]| Link { particles: [a, b], conductance: 0.5 * worst * (own(a) + own(b)) };
        let faces = self.scattered_faces(&pairs, weight(inside), squeeze);
        Ways { links: pairs.iter().map(link).collect(), faces }
    }

    /// What particles of an irregular sample expose.
    ///
    /// In an even gradient `g` the neighbours of a particle inside give it as much heat as they take. At the surface
    /// `g sum c r` is missing: just what flows out through its face, `K g` times the area. So the area, as a vector,
    /// is `-K^-1 sum c r`. Sums of it over a patch of surface are right however irregular the sample is, so the part of
    /// each along the mean of the neighbourhood counts.
    fn scattered_faces(&self, pairs: &[[u32; 2]], weight: Real, squeeze: Vec3) -> Vec<Face> {
        let crowds = crowds(self.rest.len(), pairs);
        let mut areas = vec![Vec3::ZERO; self.rest.len()];
        for &[a, b] in pairs {
            // Conductivity of the squeezed space over that of the own one is the square of the squeeze.
            let area = weight * squeeze * squeeze * (self.rest[b as usize] - self.rest[a as usize]);
            areas[a as usize] -= area;
            areas[b as usize] += area;
        }
        let mut around = areas.clone();
        for &[a, b] in pairs {
            around[a as usize] += areas[b as usize];
            around[b as usize] += areas[a as usize];
        }
        let edge = self.volume.cbrt();
        let along = |normal: Vec3| normal.dot(self.conductivity * normal);
        let face = |i: usize| {
            let mean = around[i] / (1 + crowds[i]) as Real;
            let normal = mean.try_normalize().filter(|_| mean.length() > AT_SURFACE * edge * edge)?;
            let area = areas[i].dot(normal);
            (area > 0.0).then_some(Face { particle: i as u32, normal, area, resistance: 0.5 * edge / along(normal) })
        };
        let lone = |i: u32| (0..6).map(move |side| self.side_face(i, side, edge * edge, edge));
        (0..self.rest.len())
            .flat_map(|i| if crowds[i] == 0 { lone(i as u32).collect() } else { Vec::from_iter(face(i)) })
            .collect()
    }
}

fn length(points: &[Vec3], pair: &[u32; 2]) -> Real {
    points[pair[0] as usize].distance(points[pair[1] as usize])
}

/// Number of neighbours of each particle.
fn crowds(count: usize, pairs: &[[u32; 2]]) -> Vec<u32> {
    let mut crowds = vec![0; count];
    pairs.iter().flatten().for_each(|&i| crowds[i as usize] += 1);
    crowds
}

/// The distance of nearest neighbours, if nearly all have the same.
fn lattice_distance(points: &[Vec3], pairs: &[[u32; 2]]) -> Option<Real> {
    let count = points.len();
    let mut nearest = vec![Real::INFINITY; count];
    for pair in pairs {
        let length = length(points, pair);
        pair.iter().for_each(|&i| nearest[i as usize] = nearest[i as usize].min(length));
    }
    let mut sorted = nearest.clone();
    sorted.sort_unstable_by(Real::total_cmp);
    let middle = *sorted.get(count / 2)?;
    let alike = nearest.iter().filter(|distance| (*distance / middle - 1.0).abs() < 0.02).count();
    (middle.is_finite() && 10 * alike >= 9 * count).then_some(middle)
}

/// Sum of the squared distances of each particle to its neighbours, m2.
fn spreads(points: &[Vec3], pairs: &[[u32; 2]]) -> Vec<Real> {
    let mut squares = vec![0.0; points.len()];
    for pair in pairs {
        let square = length(points, pair).powi(2);
        pair.iter().for_each(|&i| squares[i as usize] += square);
    }
    squares
}

/// The mean of a quantity over the particles inside: those with most neighbours.
fn inner_mean(crowds: &[u32], values: &[Real]) -> Real {
    let most = crowds.iter().copied().max().unwrap_or(0);
    let inner = || crowds.iter().zip(values).filter(|(crowd, _)| 3 * **crowd >= 2 * most);
    let sum: f64 = inner().map(|(_, value)| f64::from(*value)).sum();
    (sum / inner().count().max(1) as f64) as Real
}

/// Pairs of points within reach, each once, the smaller number first.
fn near_pairs(points: &[Vec3], reach: Real) -> Vec<[u32; 2]> {
    let near = Neighbourhood::new(points, reach);
    let mut pairs = Vec::new();
    for (i, &point) in points.iter().enumerate() {
        near.visit(point, |other, square| {
            if other as usize > i && square <= reach * reach {
                pairs.push([i as u32, other]);
            }
        });
    }
    pairs
}

/// Which particles share a group.
struct Together {
    /// Groups of each particle.
    groups: Vec<Vec<u32>>,
}

impl Together {
    fn new(count: usize, start: u32, groups: &[&[u32]]) -> Self {
        let mut lists = vec![Vec::new(); count];
        for (number, group) in groups.iter().enumerate() {
            group.iter().for_each(|&i| lists[(i - start) as usize].push(number as u32));
        }
        Self { groups: lists }
    }

    fn has(&self, [a, b]: [u32; 2]) -> bool {
        let (mine, theirs) = (&self.groups[a as usize], &self.groups[b as usize]);
        mine.iter().any(|group| theirs.contains(group))
    }
}
