//! Tetrahedra against tetrahedra: nodes inside of other bodies, or of other pieces of their own, and the faces that they have come through
//! `[HTKMG04]`.

use super::meetings::find_meetings;
use super::pace;
use super::pairs::surface_between;
use super::solver::Meeting;
use crate::Real;
use crate::model::ModelKind;
use crate::model::tetra::Solid;
use crate::parallel;
use crate::particles::Rearrangement;
use crate::step::StepContext;
use crate::world::World;
use glam::Vec3;
use phyxel_laws::contact::Touch;
use phyxel_laws::tetra::FACES;
use phyxel_laws::tetra::collide::{ANYWHERE, Bodies, Collider, Contact};

/// Elements per task.
const GRAIN: usize = 512;
/// Nodes that are inside of others per task.
const NODES: usize = 32;

/// A node of tetrahedra that is inside of others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Press {
    /// The particle that is the node.
    pub node: u32,
    /// The particles at the corners of the face that is the way out.
    pub face: [u32; 3],
    /// Parts of these where the node touches it.
    pub parts: [Real; 3],
    /// Out of the body that it is in.
    pub normal: Vec3,
    /// How far it is to go, m.
    pub depth: Real,
    /// The particle of the face that it unites with, or is tied to, where matter is sticky.
    pub partner: Option<u32>,
}

impl Press {
    /// Follows particles that moved in the store; false if one of them is gone.
    pub fn rearrange(&mut self, order: &Rearrangement) -> bool {
        let mut particles = [&mut self.node].into_iter().chain(&mut self.face).chain(&mut self.partner);
        particles.all(|particle| order.target(*particle).map(|target| *particle = target).is_some())
    }
}

/// The box between two corners, m.
type Range = [Vec3; 2];

/// A piece of a body, and where others may be in it.
#[derive(Clone, Copy)]
struct Piece {
    range: Range,
    /// Nothing where there are none.
    watched: Option<Range>,
}

/// Notes all nodes of tetrahedra that are inside of another piece of matter.
pub(crate) fn find_presses(world: &mut World) {
    let mut collider = std::mem::take(&mut world.scratch.inside);
    world.scratch.presses = press(world, &mut collider).unwrap_or_default();
    world.scratch.inside = collider;
}

/// Nothing where no bodies are near each other.
fn press(world: &World, collider: &mut Collider) -> Option<Vec<Press>> {
    let solids: Vec<Solid> = world.tetra_model()?.solids().collect();
    let solids = near_others(world, &solids);
    if solids.is_empty() {
        return None;
    }
    let pieces = find_pieces(world, &solids);
    if pieces.iter().all(|piece| piece.watched.is_none()) {
        return None;
    }
    let stock = Stock::choose(world, &solids, &pieces);
    if stock.points.is_empty() {
        return None;
    }
    let bodies = Bodies {
        positions: &world.particles.position,
        elements: &stock.elements,
        bodies: &stock.pieces,
        faces: &stock.faces,
        points: &stock.points,
        homes: &stock.homes,
    };
    collider.sort_points(&bodies);
    let found = parallel::map_ranges(stock.elements.len(), GRAIN, |range| {
        let mut found = Vec::new();
        collider.find_inside(&bodies, range, &mut found);
        found
    });
    let count = collider.take(&bodies, found.concat());
    let ways = parallel::map_ranges(count, NODES, |range| collider.find_ways(&bodies, range)).concat();
    collider.hand_on(&bodies, ways);
    let contacts = parallel::map_ranges(count, NODES, |range| collider.find_contacts(&bodies, range)).concat();
    let press = |contact: &Contact| {
        let element = stock.elements[contact.face as usize / 4];
        Press {
            node: contact.node,
            face: FACES[contact.face as usize % 4].map(|corner| element[corner]),
            parts: contact.parts,
            normal: contact.normal,
            depth: contact.depth,
            partner: contact.is_crossed.then(|| bodies.nearest_node(contact)),
        }
    };
    let mut presses: Vec<Press> = contacts.iter().map(press).collect();
    leave_ties(world, &mut presses);
    Some(presses)
}

/// Leaves out nodes that are tied to the body that they would be pushed out of: they are at its surface for good, and pushed away from it
/// they would pull at their tie.
fn leave_ties(world: &World, presses: &mut Vec<Press>) {
    let Some(partners) = world.tetra_model().map(|model| model.partners()).filter(|ties| !ties.is_empty()) else {
        return;
    };
    let body = |particle: u32| world.particles.body[particle as usize];
    presses.retain(|press| partners.get(&press.node).is_none_or(|&other| body(other) != body(press.face[0])));
}

/// Bodies that are near others, in pieces, or may touch themselves.
fn near_others<'a>(world: &World, solids: &[Solid<'a>]) -> Vec<Solid<'a>> {
    let is_solid = |k: u32| world.bodies[k as usize].model == ModelKind::Tetra;
    let mut is_near = vec![false; world.bodies.len()];
    let meetings = find_meetings(&world.scratch.bounds, 0.0).into_iter();
    meetings.filter(|pair| pair.iter().all(|k| is_solid(*k))).flatten().for_each(|k| is_near[k as usize] = true);
    let matters = |solid: &&Solid| is_near[solid.body] || solid.outside.count > 1 || touches_itself(world, solid.body);
    solids.iter().filter(matters).copied().collect()
}

/// Whether a piece of a body may touch itself. What sticks to its own kind does, as it folds onto itself and as bodies become one by their
/// first joint.
fn touches_itself(world: &World, body: usize) -> bool {
    let body = &world.bodies[body];
    let material = &world.materials[body.material.0 as usize];
    body.self_contact || material.names(material)
}

/// The pieces of all bodies, body after body, and where they may be in each other.
fn find_pieces(world: &World, solids: &[Solid]) -> Vec<Piece> {
    let position = &world.particles.position;
    let mut pieces = Vec::new();
    for solid in solids {
        let first = world.bodies[solid.body].range().start;
        let start = pieces.len();
        let nothing = Piece { range: [Vec3::INFINITY, Vec3::NEG_INFINITY], watched: None };
        pieces.resize(start + solid.outside.count as usize, nothing);
        for (&node, &home) in solid.outside.nodes.iter().zip(&solid.outside.homes) {
            let (x, range) = (position[first + node as usize], &mut pieces[start + home as usize].range);
            *range = [range[0].min(x), range[1].max(x)];
        }
        if touches_itself(world, solid.body) {
            pieces[start..].iter_mut().for_each(|piece| piece.watched = Some(piece.range));
        }
    }
    let ranges: Vec<Range> = pieces.iter().map(|piece| piece.range).collect();
    let mut order: Vec<usize> = (0..ranges.len()).collect();
    order.sort_by(|&a, &b| ranges[a][0].x.total_cmp(&ranges[b][0].x));
    for (place, &a) in order.iter().enumerate() {
        let reach = order[place + 1..].iter().take_while(|&&b| ranges[b][0].x <= ranges[a][1].x);
        for (&b, both) in reach.filter_map(|b| Some((b, overlap(ranges[a], ranges[*b])?))) {
            for piece in [a, b] {
                let watched = pieces[piece].watched.unwrap_or(both);
                pieces[piece].watched = Some([watched[0].min(both[0]), watched[1].max(both[1])]);
            }
        }
    }
    pieces
}

/// What two boxes share.
fn overlap(a: Range, b: Range) -> Option<Range> {
    let both = [a[0].max(b[0]), a[1].min(b[1])];
    both[0].cmple(both[1]).all().then_some(both)
}

/// What is looked at: only what is where others are.
#[derive(Default)]
struct Stock {
    elements: Vec<[u32; 4]>,
    /// The piece of each element.
    pieces: Vec<u32>,
    /// Face `k` of the element `e` of these is `4 e + k`.
    faces: Vec<u32>,
    points: Vec<u32>,
    /// By particle.
    homes: Vec<u32>,
}

impl Stock {
    fn choose(world: &World, solids: &[Solid], pieces: &[Piece]) -> Self {
        let position = &world.particles.position;
        let mut stock = Self { homes: vec![ANYWHERE; position.len()], ..Self::default() };
        let mut first_piece = 0;
        for solid in solids {
            let body = &world.bodies[solid.body];
            let piece = |k: u32| first_piece + k;
            let own = &pieces[first_piece as usize..][..solid.outside.count as usize];
            if own.iter().all(|piece| piece.watched.is_none()) {
                first_piece += solid.outside.count;
                continue;
            }
            let chosen = choose_elements(solid, position, own);
            let start = stock.elements.len() as u32;
            stock.elements.extend(chosen.iter().map(|&e| solid.elements[e as usize]));
            stock.pieces.extend(chosen.iter().map(|&e| piece(solid.outside.pieces[e as usize])));
            let mut numbered = (start..).zip(&chosen).peekable();
            for &face in &solid.outside.faces {
                while numbered.next_if(|(_, element)| **element < face / 4).is_some() {}
                let here = numbered.peek().filter(|(_, element)| **element == face / 4);
                stock.faces.extend(here.map(|(number, _)| 4 * number + face % 4));
            }
            for (&node, &home) in solid.outside.nodes.iter().zip(&solid.outside.homes) {
                let particle = body.particles.start + node;
                let x = position[particle as usize];
                let is_there = |watched: Range| overlap(watched, [x, x]).is_some();
                if pieces[piece(home) as usize].watched.is_some_and(is_there) {
                    stock.points.push(particle);
                    stock.homes[particle as usize] =
                        if touches_itself(world, solid.body) { ANYWHERE } else { piece(home) };
                }
            }
            first_piece += solid.outside.count;
        }
        stock
    }
}

/// Elements of a body that are where others may be, in order; `pieces` are its own.
fn choose_elements(solid: &Solid, position: &[Vec3], pieces: &[Piece]) -> Vec<u32> {
    let is_there = |element: usize| {
        let Some(watched) = pieces[solid.outside.pieces[element] as usize].watched else { return false };
        let corners = solid.elements[element].map(|node| position[node as usize]);
        let low = corners.into_iter().fold(Vec3::INFINITY, Vec3::min);
        let high = corners.into_iter().fold(Vec3::NEG_INFINITY, Vec3::max);
        overlap(watched, [low, high]).is_some()
    };
    let found = parallel::map_ranges(solid.elements.len(), GRAIN, |range| {
        range.filter(|&element| is_there(element)).map(|element| element as u32).collect::<Vec<u32>>()
    });
    found.concat()
}

/// What a node and the face that it is to go back through want of each other.
pub(super) fn describe(world: &World, number: usize, context: &StepContext) -> Meeting<4> {
    let press = &world.scratch.presses[number];
    let [a, b, c] = press.face;
    let [p, q, r] = press.parts;
    let before = |i: u32| world.scratch.velocity_before[i as usize];
    let velocity = before(press.node) - (p * before(a) + q * before(b) + r * before(c));
    let touch = Touch::new(press.normal, -press.depth, velocity);
    let surface = surface_between(world, [press.node, a]);
    let pace = pace(context, world.particles.radius[press.node as usize]);
    let meeting = Meeting::new(world, [press.node, a, b, c], [1.0, -p, -q, -r], touch, surface, pace);
    match world.tetra_model().and_then(|model| model.push_given(number)) {
        Some(given) => meeting.after(given),
        None => meeting,
    }
}
