//! Particles of other models against bodies of tetrahedra: spheres at the outer faces of elements.
//!
//! Outside, a sphere touches the nearest place of the surface; in a corner that goes inwards, also others in other directions. Inside, it
//! is to go out by the nearest face. What it is given is taken from the three nodes of the face, each by its part.

use super::meetings::{WATCHED, find_meetings, inside};
use super::obstacles::is_fluid;
use super::pace;
use super::pairs::surface_between;
use super::solver::Meeting;
use crate::Real;
use crate::grid::Dot;
use crate::model::ModelKind;
use crate::model::tetra::Solid;
use crate::parallel;
use crate::step::StepContext;
use crate::world::World;
use glam::Vec3;
use phyxel_laws::contact::{Surface, Touch};
use phyxel_laws::tetra::FACES;
use phyxel_laws::tetra::collide::{Foot, Points, Shell};

/// Elements, faces or particles per task.
const GRAIN: usize = 512;
/// Cosine of the angle from which on two ways to a surface are two. Of a plane that a sphere touches, all that is within the watched gap is
/// within this angle of the nearest place.
const APART: f64 = 1.0 / (1.0 + WATCHED as f64);
/// Nearer than this part of the radius to the surface, the normal of the face is the way out.
const ON: f64 = 1e-5;

/// A particle at a face of tetrahedra.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FaceTouch {
    pub particle: u32,
    /// The nodes of the face.
    pub face: [u32; 3],
    /// Parts of these where it is touched.
    pub parts: [Real; 3],
    /// Out of the body.
    pub normal: Vec3,
    /// Distance of the sphere from the face, m; negative if it is in it.
    pub gap: Real,
}

/// Notes all particles of other models that touch a body of tetrahedra or are about to.
pub(crate) fn find_face_touches(world: &mut World, dt: Real) {
    world.scratch.faces = find(world, dt).unwrap_or_default();
}

/// Nothing where there are no tetrahedra.
fn find(world: &World, dt: Real) -> Option<Vec<FaceTouch>> {
    let is_solid = |k: u32| world.bodies[k as usize].model == ModelKind::Tetra;
    let solids: Vec<Solid> = world.tetra_model()?.solids().collect();
    let mut met: Vec<[u32; 2]> = find_meetings(&world.scratch.bounds, dt)
        .into_iter()
        .filter(|&[a, b]| is_solid(a) != is_solid(b))
        .map(|[a, b]| if is_solid(a) { [a, b] } else { [b, a] })
        .collect();
    met.sort_unstable();
    let found = parallel::map(solids.len(), 1, |k| {
        let body = solids[k].body as u32;
        let others = &met[met.partition_point(|pair| pair[0] < body)..];
        let crowd: Vec<Dot> =
            others.iter().take_while(|pair| pair[0] == body).flat_map(|pair| find_near(world, *pair, dt)).collect();
        touch_all(world, &solids[k], &crowd, dt)
    });
    Some(found.concat())
}

/// Particles of the second body that may touch the first.
fn find_near(world: &World, [solid, other]: [u32; 2], dt: Real) -> Vec<Dot> {
    let [solid, bounds] = [solid, other].map(|body| &world.scratch.bounds[body as usize]);
    let reach = (1.0 + WATCHED) * bounds.radius + solid.relative_speed(bounds) * dt;
    // The box of a body is wider than its surface by the radius of a node.
    let widening = reach - solid.radius;
    inside(world, other, solid.min - widening, solid.max + widening)
}

/// A body with those that may touch it.
struct Encounter<'a> {
    world: &'a World,
    solid: &'a Solid<'a>,
    crowd: &'a [Dot],
    shell: Shell,
    /// The faces of the shell.
    faces: Vec<u32>,
    /// Numbers of those in the crowd that are in a piece, and that piece; rising.
    buried: Vec<(u32, u32)>,
    dt: Real,
}

/// Touches of particles in the order of the crowd.
fn touch_all(world: &World, solid: &Solid, crowd: &[Dot], dt: Real) -> Vec<FaceTouch> {
    if crowd.is_empty() {
        return Vec::new();
    }
    let reach = |dot: &Dot| reach_of(world, solid, dot, dt);
    let widest = crowd.iter().map(reach).fold(0.0, Real::max);
    let (low, high) = crowd
        .iter()
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), dot| (low.min(dot.position), high.max(dot.position)));
    let buried = find_buried(world, solid, crowd, [low, high]);
    let position = &world.particles.position;
    // What is deep inside may be far from all faces near the crowd.
    let widening = if buried.is_empty() { widest } else { Real::INFINITY };
    let is_near = |corners: [Vec3; 3]| overlaps(&corners, [low - widening, high + widening]);
    let all = &solid.outside.faces;
    let chosen = parallel::map_ranges(all.len(), GRAIN, |range| {
        let near = all[range].iter().filter(|&&face| is_near(nodes_of(solid, face).map(|i| position[i as usize])));
        near.copied().collect::<Vec<u32>>()
    });
    let faces = chosen.concat();
    if faces.is_empty() {
        return Vec::new();
    }
    let corners = faces.iter().map(|&face| nodes_of(solid, face).map(|i| position[i as usize]));
    let shell = Shell::new(corners.collect(), widest);
    let encounter = Encounter { world, solid, crowd, shell, faces, buried, dt };
    let found = parallel::map_ranges(crowd.len(), GRAIN, |range| {
        let (mut touches, mut feet) = (Vec::new(), Vec::new());
        range.for_each(|number| encounter.touch(number, &mut feet, &mut touches));
        touches
    });
    found.concat()
}

/// How far from its centre a particle looks for faces, m: what it touches and what it may come to within the step.
fn reach_of(world: &World, solid: &Solid, dot: &Dot, dt: Real) -> Real {
    let (bounds, velocity) = (&world.scratch.bounds[solid.body], world.particles.velocity[dot.particle as usize]);
    let fastest = (velocity - bounds.slowest).abs().max((velocity - bounds.fastest).abs());
    (1.0 + WATCHED) * dot.radius + fastest.length() * dt
}

/// The particles that are the nodes of a face.
fn nodes_of(solid: &Solid, face: u32) -> [u32; 3] {
    FACES[face as usize % 4].map(|corner| solid.elements[face as usize / 4][corner])
}

/// Whether the box around some points shares one with another.
fn overlaps(points: &[Vec3], [low, high]: [Vec3; 2]) -> bool {
    let least = points.iter().copied().fold(Vec3::INFINITY, Vec3::min);
    let most = points.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
    (least.cmple(high) & most.cmpge(low)).all()
}

/// Which of a crowd between two corners are in elements, and the pieces that these are of; rising.
fn find_buried(world: &World, solid: &Solid, crowd: &[Dot], range: [Vec3; 2]) -> Vec<(u32, u32)> {
    let bounds = &world.scratch.bounds[solid.body];
    // The box of a body is wider than its surface by the radius of a node.
    if !overlaps(&[bounds.min + bounds.radius, bounds.max - bounds.radius], range) {
        return Vec::new();
    }
    let position = &world.particles.position;
    let points = Points::new(world.bodies[solid.body].spacing, (0..).zip(crowd.iter().map(|dot| dot.position)));
    let found = parallel::map_ranges(solid.elements.len(), GRAIN, |elements| {
        let mut found = Vec::new();
        for element in elements {
            let corners = solid.elements[element].map(|node| position[node as usize]);
            if overlaps(&corners, range) {
                points.visit_inside(corners, |number| found.push((number, solid.outside.pieces[element])));
            }
        }
        found
    });
    let mut buried = found.concat();
    buried.sort_unstable();
    buried.dedup();
    buried
}

impl Encounter<'_> {
    /// Notes what a particle of the crowd touches. `feet` is room.
    fn touch(&self, number: usize, feet: &mut Vec<(u32, f64, Foot)>, touches: &mut Vec<FaceTouch>) {
        let dot = &self.crowd[number];
        let buried = &self.buried[self.buried.partition_point(|(k, _)| (*k as usize) < number)..];
        let buried = || buried.iter().take_while(|(k, _)| *k as usize == number).map(|(_, piece)| *piece);
        for piece in buried() {
            let foot = self.shell.nearest(dot.position, |face| self.piece_of(face) == piece);
            touches.extend(foot.map(|foot| self.describe(dot, &foot, -1.0)));
        }
        feet.clear();
        let reach = reach_of(self.world, self.solid, dot, self.dt);
        self.shell.visit(dot.position, reach, |foot| {
            let piece = self.piece_of(foot.face);
            if buried().all(|other| other != piece) {
                feet.push((piece, foot.way.length_squared(), foot));
            }
        });
        feet.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.face.cmp(&b.2.face)));
        for own in feet.chunk_by(|a, b| a.0 == b.0) {
            self.touch_piece(dot, own, touches);
        }
    }

    /// Notes the nearest place of a piece, and others that lie another way.
    fn touch_piece(&self, dot: &Dot, feet: &[(u32, f64, Foot)], touches: &mut Vec<FaceTouch>) {
        let first = touches.len();
        for (k, (_, _, foot)) in feet.iter().enumerate() {
            let touch = self.describe(dot, foot, 1.0);
            let is_seen = k == 0 || foot.way.dot(self.shell.normal(foot.face)) > 0.0;
            let is_apart = |known: &FaceTouch| f64::from(known.normal.dot(touch.normal)) < APART;
            if is_seen && touches[first..].iter().all(is_apart) && self.is_due(&touch, dot) {
                touches.push(touch);
            }
        }
    }

    fn piece_of(&self, face: u32) -> u32 {
        self.solid.outside.pieces[self.faces[face as usize] as usize / 4]
    }

    /// The touch at a place of the surface; `side` is 1 outside and -1 inside.
    fn describe(&self, dot: &Dot, foot: &Foot, side: f64) -> FaceTouch {
        let distance = foot.way.length();
        let is_on = distance < ON * f64::from(dot.radius);
        let normal = if is_on { self.shell.normal(foot.face) } else { foot.way * (side / distance) };
        FaceTouch {
            particle: dot.particle,
            face: nodes_of(self.solid, self.faces[foot.face as usize]),
            parts: foot.parts,
            normal: normal.as_vec3(),
            gap: (side * distance) as Real - dot.radius,
        }
    }

    /// Whether a gap is small or may close within the step.
    fn is_due(&self, touch: &FaceTouch, dot: &Dot) -> bool {
        let closing = -relative(touch, &self.world.particles.velocity).dot(touch.normal);
        touch.gap < WATCHED * dot.radius + closing.max(0.0) * self.dt
    }
}

/// Velocity of the particle relative to the face, m/s.
fn relative(touch: &FaceTouch, velocity: &[Vec3]) -> Vec3 {
    let of_face: Vec3 = (0..3).map(|k| velocity[touch.face[k] as usize] * touch.parts[k]).sum();
    velocity[touch.particle as usize] - of_face
}

/// What a particle and the face that it is at want of each other.
pub(super) fn describe(world: &World, touch: &FaceTouch, context: &StepContext) -> Meeting<4> {
    let ([a, b, c], [p, q, r]) = (touch.face, touch.parts);
    let before = relative(touch, &world.scratch.velocity_before);
    let i = touch.particle as usize;
    // Dry friction and rebound are of solids.
    let surface = if is_fluid(world, i) { Surface::default() } else { surface_between(world, [touch.particle, a]) };
    let pace = pace(context, world.particles.radius[i]);
    let felt = Touch::new(touch.normal, touch.gap, before);
    Meeting::new(world, [touch.particle, a, b, c], [1.0, -p, -q, -r], felt, surface, pace)
}
