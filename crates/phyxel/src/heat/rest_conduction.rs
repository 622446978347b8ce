//! Conduction between neighbours in the rest shape, and the exposed faces of particles.

use super::{ConductionGraph, Face, Link};
use crate::Real;
use crate::body::Body;
use crate::material::Material;
use crate::neighbours::RadiusSearch;
use crate::store::Particles;
use glam::Vec3;

/// Neighbour radius of irregular samples, spacings.
const RADIUS: Real = 1.5;
/// Neighbour radius in a lattice, in its nearest-neighbour distances.
const LATTICE_RADIUS: Real = 1.1;
/// Largest ratio of conductivities of irregular samples. Their neighbourhood is an ellipsoid with axes
/// proportional to the square roots of the conductivities.
const MAX_ANISOTROPY: Real = 16.0;
/// A particle of irregular samples is at the surface if the mean area vector of it and its neighbours exceeds
/// this, in faces of a cube of its volume. It is about a half at a flat surface and nearly zero inside.
const SURFACE_THRESHOLD: Real = 0.25;

/// Conduction graph of a body between rest neighbours that share a group, and its exposed faces.
///
/// Conductances `c` satisfy `1/2 sum c r r^T = K V` inside the body, with the conductivities `K` along its
/// axes; then `sum c (T_j - T_i)` is `V div(K grad T)` to second order in the spacing.
///
/// - Cubic lattice: the six nearest neighbours, `c` the conductivity of the axis times the spacing (finite
///   volumes), exact at surfaces too.
/// - Isotropic closest packing: the twelve nearest neighbours, all `c` equal.
/// - Other samples: all neighbours in a ball, `c = 6 K V/sum r^2`, averaged over both ends, so that heat flows
///   along a surface as well as inside. Where axes differ, in coordinates divided by the square roots of the
///   conductivities, in which conduction is isotropic.
pub(crate) fn rest_conduction(
    body: &Body,
    material: &Material,
    particles: &Particles,
    groups: &[&[u32]],
) -> ConductionGraph {
    let range = body.range();
    if range.is_empty() {
        return ConductionGraph::default();
    }
    let mass: f64 = particles.mass[range.clone()].iter().map(|&mass| f64::from(mass)).sum();
    let sample = RestSample {
        rest: &particles.rest[range.clone()],
        volume: (mass / range.len() as f64) as Real / material.density,
        conductivity: material.heat.conductivity,
        groups: SharedGroups::new(range.len(), body.particles.start, groups),
    };
    let mut graph = sample.cubic_lattice(body.spacing).unwrap_or_else(|| sample.irregular(body.spacing));
    graph.links.retain(|link| link.conductance > 0.0);
    graph
}

/// Rest shape of a body; indices are local to it.
struct RestSample<'a> {
    rest: &'a [Vec3],
    /// Mean volume of a particle, m3.
    volume: Real,
    /// Conductivity along the body axes, W/(m K).
    conductivity: Vec3,
    groups: SharedGroups,
}

impl RestSample<'_> {
    /// Graph of a cubic lattice along the body axes; `None` for other samples.
    fn cubic_lattice(&self, spacing: Real) -> Option<ConductionGraph> {
        let mut pairs = near_pairs(self.rest, RADIUS * spacing);
        let edge = lattice_distance(self.rest, &pairs)?;
        pairs.retain(|pair| length(self.rest, pair) <= LATTICE_RADIUS * edge);
        if neighbour_counts(self.rest.len(), &pairs).into_iter().max() > Some(6) {
            return None;
        }
        let sides: Option<Vec<usize>> = pairs.iter().map(|&[a, b]| self.side(a, b)).collect();
        let (area, mut is_covered) = (self.volume / edge, vec![[false; 6]; self.rest.len()]);
        let mut links = Vec::with_capacity(pairs.len());
        for (pair, side) in pairs.into_iter().zip(sides?).filter(|(pair, _)| self.groups.contains(*pair)) {
            is_covered[pair[0] as usize][side] = true;
            is_covered[pair[1] as usize][side ^ 1] = true;
            links.push(Link { nodes: pair, conductance: self.conductivity[side / 2] * area / edge });
        }
        let free_faces = |(particle, is_covered): (u32, [bool; 6])| {
            (0..6).filter(move |&side| !is_covered[side]).map(move |side| self.side_face(particle, side, area, edge))
        };
        let count = self.rest.len();
        Some(ConductionGraph { count, links, faces: (0..).zip(is_covered).flat_map(free_faces).collect() })
    }

    /// Face of the cube around a particle.
    fn side_face(&self, particle: u32, side: usize, area: Real, edge: Real) -> Face {
        let axis = side / 2;
        let normal = if side.is_multiple_of(2) { Vec3::AXES[axis] } else { -Vec3::AXES[axis] };
        Face { particle, normal, area, resistance: 0.5 * edge / self.conductivity[axis] }
    }

    /// Side on which a neighbour lies: 0 and 1 for the positive and negative first axis, and so on.
    fn side(&self, a: u32, b: u32) -> Option<usize> {
        let offset = self.rest[b as usize] - self.rest[a as usize];
        let axis = (0..3).find(|&axis| offset[axis].abs() > 0.99 * offset.length())?;
        Some(2 * axis + usize::from(offset[axis] < 0.0))
    }

    /// Graph of an irregular sample or a closest packing.
    fn irregular(&self, spacing: Real) -> ConductionGraph {
        let max = self.conductivity.max_element();
        let min = self.conductivity.min_element().max(max / MAX_ANISOTROPY);
        let scaling =
            if max > 0.0 { self.conductivity.max(Vec3::splat(min)).map(|k| (min / k).sqrt()) } else { Vec3::ONE };
        let points: Vec<Vec3> = self.rest.iter().map(|&x| x * scaling).collect();
        let mut pairs = near_pairs(&points, RADIUS * spacing);
        let regular = lattice_distance(&points, &pairs).filter(|_| scaling == Vec3::ONE);
        if let Some(distance) = regular {
            pairs.retain(|pair| length(&points, pair) <= LATTICE_RADIUS * distance);
        }
        pairs.retain(|&pair| self.groups.contains(pair));
        let (sums, counts) = (squared_distance_sums(&points, &pairs), neighbour_counts(points.len(), &pairs));
        let coordination = if counts.iter().max() > Some(&6) { 12.0 } else { 6.0 };
        let interior =
            regular.map_or_else(|| interior_mean(&counts, &sums), |distance| coordination * distance * distance);
        let weight = |sum: Real| if sum > 0.0 { 6.0 * self.volume / sum } else { 0.0 };
        // A lattice lacks neighbours at its surface, where its cells end; its weight stays.
        let weight_of = |i: u32| weight(if regular.is_some() { interior } else { sums[i as usize] });
        let link = |&[a, b]: &[u32; 2]| Link { nodes: [a, b], conductance: 0.5 * min * (weight_of(a) + weight_of(b)) };
        let faces = self.irregular_faces(&pairs, weight(interior), scaling);
        ConductionGraph { count: self.rest.len(), links: pairs.iter().map(link).collect(), faces }
    }

    /// Exposed faces of an irregular sample.
    ///
    /// In a uniform gradient `g`, the net flow into an interior particle is zero. At the surface the flow
    /// `g sum c r` is missing: the flow through the face, `K g` times its area vector. So the area vector is
    /// `-K^-1 sum c r`. Its sum over a patch of surface is right however irregular the sample is; each face
    /// is its component along the mean of the neighbourhood.
    fn irregular_faces(&self, pairs: &[[u32; 2]], weight: Real, scaling: Vec3) -> Vec<Face> {
        let counts = neighbour_counts(self.rest.len(), pairs);
        let mut areas = vec![Vec3::ZERO; self.rest.len()];
        for &[a, b] in pairs {
            // The conductivity in scaled coordinates is the physical one times the squared scaling.
            let area = weight * scaling * scaling * (self.rest[b as usize] - self.rest[a as usize]);
            areas[a as usize] -= area;
            areas[b as usize] += area;
        }
        let mut neighbourhood = areas.clone();
        for &[a, b] in pairs {
            neighbourhood[a as usize] += areas[b as usize];
            neighbourhood[b as usize] += areas[a as usize];
        }
        let edge = self.volume.cbrt();
        let conductivity_along = |normal: Vec3| normal.dot(self.conductivity * normal);
        let face = |i: usize| {
            let mean = neighbourhood[i] / (1 + counts[i]) as Real;
            let normal = mean.try_normalize().filter(|_| mean.length() > SURFACE_THRESHOLD * edge * edge)?;
            let area = areas[i].dot(normal);
            (area > 0.0).then_some(Face {
                particle: i as u32,
                normal,
                area,
                resistance: 0.5 * edge / conductivity_along(normal),
            })
        };
        let isolated = |i: u32| (0..6).map(move |side| self.side_face(i, side, edge * edge, edge));
        (0..self.rest.len())
            .flat_map(|i| if counts[i] == 0 { isolated(i as u32).collect() } else { Vec::from_iter(face(i)) })
            .collect()
    }
}

fn length(points: &[Vec3], pair: &[u32; 2]) -> Real {
    points[pair[0] as usize].distance(points[pair[1] as usize])
}

/// Number of neighbours of each particle.
fn neighbour_counts(count: usize, pairs: &[[u32; 2]]) -> Vec<u32> {
    let mut counts = vec![0; count];
    pairs.iter().flatten().for_each(|&i| counts[i as usize] += 1);
    counts
}

/// Nearest-neighbour distance, if it is the same for nearly all points.
fn lattice_distance(points: &[Vec3], pairs: &[[u32; 2]]) -> Option<Real> {
    let count = points.len();
    let mut nearest = vec![Real::INFINITY; count];
    for pair in pairs {
        let length = length(points, pair);
        pair.iter().for_each(|&i| nearest[i as usize] = nearest[i as usize].min(length));
    }
    let mut sorted = nearest.clone();
    sorted.sort_unstable_by(Real::total_cmp);
    let median = *sorted.get(count / 2)?;
    let equal = nearest.iter().filter(|distance| (*distance / median - 1.0).abs() < 0.02).count();
    (median.is_finite() && 10 * equal >= 9 * count).then_some(median)
}

/// Sum of squared distances of each particle to its neighbours, m2.
fn squared_distance_sums(points: &[Vec3], pairs: &[[u32; 2]]) -> Vec<Real> {
    let mut squares = vec![0.0; points.len()];
    for pair in pairs {
        let square = length(points, pair).powi(2);
        pair.iter().for_each(|&i| squares[i as usize] += square);
    }
    squares
}

/// Mean over the interior particles: those with the most neighbours.
fn interior_mean(counts: &[u32], values: &[Real]) -> Real {
    let max_count = counts.iter().copied().max().unwrap_or(0);
    let interior = || counts.iter().zip(values).filter(|(count, _)| 3 * **count >= 2 * max_count);
    let sum: f64 = interior().map(|(_, value)| f64::from(*value)).sum();
    (sum / interior().count().max(1) as f64) as Real
}

/// Pairs of points within a radius, each once, the smaller index first.
fn near_pairs(points: &[Vec3], radius: Real) -> Vec<[u32; 2]> {
    let grid = RadiusSearch::new(points, radius);
    let mut pairs = Vec::new();
    for (i, &point) in points.iter().enumerate() {
        grid.visit(point, |other, square| {
            if other as usize > i && square <= radius * radius {
                pairs.push([i as u32, other]);
            }
        });
    }
    pairs
}

/// Groups of each particle.
struct SharedGroups {
    /// Groups by particle.
    groups: Vec<Vec<u32>>,
}

impl SharedGroups {
    fn new(count: usize, start: u32, groups: &[&[u32]]) -> Self {
        let mut of_particle = vec![Vec::new(); count];
        for (index, group) in groups.iter().enumerate() {
            group.iter().for_each(|&i| of_particle[(i - start) as usize].push(index as u32));
        }
        Self { groups: of_particle }
    }

    fn contains(&self, [a, b]: [u32; 2]) -> bool {
        let (of_a, of_b) = (&self.groups[a as usize], &self.groups[b as usize]);
        of_a.iter().any(|group| of_b.contains(group))
    }
}
