//! Nets whose nodes part and unite.

use super::subdivide::SCHEMES;
use super::*;
use std::collections::BTreeSet;

/// Two elements back to back on the face 0 1 2.
const PAIR: [[u32; 4]; 2] = [[0, 1, 2, 3], [0, 2, 1, 4]];

impl Mesh {
    fn net(&self) -> Net {
        Net::new(self.elements.clone(), self.nodes.len()).unwrap()
    }
}

/// Groups of things that belong together.
struct Groups(Vec<usize>);

impl Groups {
    fn find(&self, mut k: usize) -> usize {
        while self.0[k] != k {
            k = self.0[k];
        }
        k
    }

    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a] = b;
    }

    fn count(&self) -> i64 {
        (0..self.0.len()).filter(|&k| self.0[k] == k).count() as i64
    }
}

/// Vertices less edges plus faces less elements, where what only touches in a node or along an edge counts as apart.
fn solid_euler(net: &Net) -> i64 {
    let elements = net.elements();
    let mut vertices = Groups((0..4 * elements.len()).collect());
    let mut edges = Groups((0..6 * elements.len()).collect());
    let mut faces = 0;
    for face in 0..4 * elements.len() as u32 {
        let Some(mate) = net.mate(face).filter(|mate| face < *mate) else { continue };
        faces += 1;
        let (e, f) = (face as usize / 4, mate as usize / 4);
        let corner_in = |node: u32| elements[f].iter().position(|n| *n == node).unwrap();
        for a in FACES[face as usize % 4] {
            vertices.unite(4 * e + a, 4 * f + corner_in(elements[e][a]));
            for b in FACES[face as usize % 4].into_iter().filter(|&b| a < b) {
                let pair = (corner_in(elements[e][a]), corner_in(elements[e][b]));
                let pair = (pair.0.min(pair.1), pair.0.max(pair.1));
                let number = |pair| EDGES.iter().position(|edge| *edge == pair).unwrap();
                edges.unite(6 * e + number((a, b)), 6 * f + number(pair));
            }
        }
    }
    let count = elements.len() as i64;
    vertices.count() - edges.count() + (4 * count - faces) - count
}

/// Everything that must be so after each change.
fn check(net: &Net, positions: &[Vec3]) {
    assert_eq!(*net, Net::new(net.elements().to_vec(), net.nodes()).unwrap(), "the same as made anew");
    let surface = net.surface();
    // Half edges are paired, and run against each other: watertight, sheet by sheet.
    let census = surface.census().unwrap();
    assert!(census.is_sound(), "{census:?}");
    // The surface of a solid has twice its characteristic, where elements around a node do not overlap.
    assert_eq!(census.sheets.iter().sum::<i64>(), 2 * solid_euler(net));
    // Sums of a few thousand products of order 1 in f64, which cancel.
    let (inside, all) = (surface.volume(positions), net.volume(positions));
    assert!((inside - all).abs() < 1e-11 * all.abs().max(1.0), "{inside} {all}");
}

/// What a change says has come and gone is the difference between the surfaces.
fn check_faces(before: &BTreeSet<u32>, net: &Net, change: &Change) -> BTreeSet<u32> {
    let now: BTreeSet<u32> = net.surface_faces().collect();
    assert!(now.difference(before).eq(&change.bared));
    assert!(before.difference(&now).eq(&change.covered));
    now
}

/// Random splits and joins of a body.
struct Play {
    net: Net,
    positions: Vec<Vec3>,
    rest: Vec<Real>,
    random: Stream,
}

impl Play {
    fn new(seed: u64) -> Self {
        let mesh = Mesh::cells([4, 4, 4], 0.25, 0.2);
        let rest = mesh.rest().iter().map(|element| element.volume).collect();
        Self { net: mesh.net(), positions: mesh.nodes, rest, random: Stream::new(seed) }
    }

    fn below(&mut self, count: usize) -> usize {
        ((self.random.unit() * count as Real) as usize).min(count - 1)
    }

    /// Parts a node along a plane, or at random.
    fn split(&mut self) -> Option<Change> {
        let node = self.below(self.net.nodes()) as u32;
        let corners = self.net.corners(node).to_vec();
        if corners.is_empty() {
            return None;
        }
        let (plane, is_random) = (self.random.point(), self.random.unit() < 0.3);
        let mut groups = Vec::new();
        for corner in corners {
            let shape = self.net.elements()[corner as usize / 4].map(|node| self.positions[node as usize]);
            let way = 0.25 * shape.iter().sum::<Vec3>() - self.positions[node as usize];
            groups.push(if is_random { self.below(2) as u32 } else { 7 * u32::from(way.dot(plane) > 0.0) });
        }
        let change = self.net.split(node, &groups).unwrap();
        let place = self.positions[node as usize];
        self.positions.resize(self.net.nodes(), place);
        if self.random.unit() < 0.3 {
            for (node, born) in self.net.part_beside(&change) {
                self.positions.resize(self.positions.len() + born.len(), self.positions[node as usize]);
            }
        }
        Some(change).filter(|change| !change.is_none())
    }

    /// Unites a node of the surface with one at the same place, or with one of those around.
    fn join(&mut self) -> Option<Result<(Change, bool), Refusal>> {
        let nodes: Vec<u32> = (0..self.net.nodes() as u32).filter(|&node| self.net.is_on_surface(node)).collect();
        let a = nodes[self.below(nodes.len())];
        let reach = if self.random.unit() < 0.7 { 0.0 } else { 0.3 };
        let here = self.positions[a as usize];
        let near = |b: &&u32| **b != a && self.positions[**b as usize].distance(here) <= reach;
        let near: Vec<u32> = nodes.iter().filter(near).copied().collect();
        if near.is_empty() {
            return None;
        }
        let b = near[self.below(near.len())];
        let there = self.positions[b as usize];
        let place = 0.5 * (here + there);
        if let Err(refusal) = self.net.allows_join([a, b], place, &self.positions, |element| self.rest[element], 0.05) {
            return Some(Err(refusal));
        }
        let change = self.net.join(a, b).unwrap();
        assert!(self.net.corners(b).is_empty() && change.gone == Some(b));
        self.positions[a as usize] = place;
        Some(Ok((change, here == there)))
    }
}

#[test]
fn a_thousand_random_changes_leave_the_surface_whole_and_the_same_as_one_made_anew() {
    let mut play = Play::new(21);
    let mut faces: BTreeSet<u32> = play.net.surface_faces().collect();
    let (mut splits, mut joins, mut apart, mut closed) = (0, 0, 0, 0);
    let mut refused = [0; 3];
    while splits + joins < 1000 {
        let volume = play.net.volume(&play.positions);
        let change = if play.random.unit() < 0.1 {
            let Some(change) = play.split() else { continue };
            splits += 1;
            // New nodes are where the old one is: not a digit changes.
            assert_eq!(play.net.volume(&play.positions), volume);
            change
        } else {
            match play.join() {
                None => continue,
                Some(Err(refusal)) => {
                    match refusal {
                        Refusal::Folded { .. } => refused[0] += 1,
                        Refusal::Shrunk { .. } => refused[1] += 1,
                        _ => refused[2] += 1,
                    }
                    continue;
                }
                Some(Ok((change, is_same_place))) => {
                    joins += 1;
                    if is_same_place {
                        assert_eq!(play.net.volume(&play.positions), volume);
                    } else {
                        apart += 1;
                    }
                    closed += usize::from(!change.covered.is_empty());
                    change
                }
            }
        };
        faces = check_faces(&faces, &play.net, &change);
        check(&play.net, &play.positions);
        assert_eq!(play.net.elements().len(), 384);
    }
    // The play has played: all kinds of changes came, and all that must be refused was.
    assert!(splits > 50 && joins > 500 && apart > 50 && closed > 100, "{splits} {joins} {apart} {closed}");
    assert!(refused.iter().all(|count| *count > 0), "{refused:?}");
}

#[test]
fn what_was_parted_and_united_again_is_as_it_was() {
    let mesh = Mesh::cells([3, 3, 3], 1.0, 0.0);
    let (start, mut net) = (mesh.net(), mesh.net());
    let mut random = Stream::new(5);
    // Some nodes of the middle, then all the rest of them: the body falls to pieces.
    for node in [21, 22, 25, 26, 37, 38, 41, 42, 0, 63].into_iter().chain(0..64) {
        let groups: Vec<u32> = net.corners(node).iter().map(|_| u32::from(random.unit() < 0.5)).collect();
        let change = net.split(node, &groups).unwrap();
        let mut born = change.born.clone();
        let mut bared = change.bared.len();
        // All but a few come back at once, and faces with them.
        if node % 5 != 0 {
            while let Some(last) = born.pop() {
                bared -= net.join(node, last).unwrap().covered.len();
            }
            assert_eq!(bared, 0);
        }
    }
    assert_ne!(net, start);
    let mut at: Vec<u32> = (0..64).collect();
    at.resize(net.nodes(), u32::MAX);
    for (element, first) in mesh.elements.iter().zip(net.elements().to_vec()) {
        (0..4).for_each(|k| at[first[k] as usize] = element[k]);
    }
    for born in 64..net.nodes() as u32 {
        if !net.corners(born).is_empty() {
            net.join(at[born as usize], born).unwrap();
        }
    }
    assert_eq!(net.elements(), start.elements());
    let numbers: Vec<u32> = (0..64).collect();
    net.renumber(&numbers, 64).unwrap();
    assert_eq!(net, start);
}

#[test]
fn a_face_that_comes_to_lie_on_another_leaves_the_surface_and_a_third_is_refused() {
    // Three elements apart; the first two meet in three nodes, one after the other.
    let mut net = Net::new(vec![[0, 1, 2, 3], [4, 6, 5, 7], [8, 10, 9, 11]], 12).unwrap();
    let all = net.surface_faces().count();
    assert_eq!(all, 12);
    assert!(net.join(0, 4).unwrap().covered.is_empty());
    assert_eq!(net.surface().census().unwrap().sheets, [2, 2, 2], "touching in a node");
    assert!(net.join(1, 5).unwrap().covered.is_empty());
    assert_eq!(net.surface().census().unwrap().sheets, [2, 2, 2], "touching along an edge");
    let change = net.join(2, 6).unwrap();
    // The faces 0 1 2 of both, which lie across from corner 3.
    assert_eq!(change.covered, [0, 4]);
    assert_eq!(net.surface().census().unwrap().sheets, [2, 2]);
    assert_eq!((net.mate(0), net.mate(4), net.mate(8)), (Some(4), Some(0), None));
    net.join(0, 8).unwrap();
    net.join(1, 9).unwrap();
    let before = net.clone();
    assert!(matches!(net.join(2, 10), Err(Refusal::Crowd { .. })));
    assert_eq!(net, before, "nothing has changed");
    assert_eq!(net, Net::new(net.elements().to_vec(), 12).unwrap());
    // Two on the same side of a face, and two with the same four nodes.
    let mut net = Net::new(vec![[0, 1, 2, 3], [4, 1, 2, 5]], 6).unwrap();
    assert_eq!(net.join(0, 4), Err(Refusal::Overlap { elements: [0, 1] }));
    let mut net = Net::new(PAIR.to_vec(), 5).unwrap();
    assert_eq!(net.join(3, 4), Err(Refusal::Overlap { elements: [0, 1] }));
    assert_eq!(net.join(0, 1), Err(Refusal::Folded { element: 0 }));
    assert_eq!(net.join(0, 0), Err(Refusal::Folded { element: 0 }));
    assert_eq!(net.join(0, 9), Err(Refusal::Nothing { node: 9 }));
    assert_eq!(net.split(9, &[]), Err(Refusal::Nothing { node: 9 }));
    assert_eq!(net.split(0, &[1]), Err(Refusal::Groups { node: 0, corners: 2, groups: 1 }));
}

#[test]
fn pieces_of_a_node_that_share_no_face_part() {
    // Four elements in a row around the edge 0 1. The middle two leave node 0: those left share no face there.
    let elements = vec![[0, 1, 2, 3], [0, 1, 3, 4], [0, 1, 4, 5], [0, 1, 5, 6]];
    let mut net = Net::new(elements, 7).unwrap();
    let change = net.split(0, &[3, 9, 9, 3]).unwrap();
    assert_eq!(change, Change { born: vec![7, 8], gone: None, bared: vec![1, 4, 9, 12], covered: vec![] });
    assert_eq!(net.elements(), [[0, 1, 2, 3], [7, 1, 3, 4], [7, 1, 4, 5], [8, 1, 5, 6]]);
    assert_eq!((net.corners(0), net.corners(7), net.corners(8)), (&[0][..], &[4, 8][..], &[12][..]));
    // All are still tied at node 1, where they are in three pieces, and at nodes 3 and 5 by twos.
    assert_eq!(net.surface().census().unwrap().sheets, [2, 2, 2]);
    let faces: Vec<u32> = net.surface_faces().collect();
    assert_eq!(net.part_beside(&change), [(1, vec![9, 10]), (3, vec![11]), (5, vec![12])]);
    assert!(net.surface_faces().eq(faces));
    assert_eq!(net.elements(), [[0, 1, 2, 3], [7, 9, 11, 4], [7, 9, 4, 5], [8, 10, 12, 6]]);
    assert_eq!(net.part_beside(&change), []);
    // A group that holds together stays.
    let before = net.clone();
    assert!(net.split(7, &[4, 4]).unwrap().is_none());
    assert_eq!(net, before);
}

#[test]
fn elements_that_are_no_net_are_named() {
    let flaw = |elements: &[[u32; 4]]| Net::new(elements.to_vec(), 8).unwrap_err();
    assert_eq!(flaw(&[[0, 1, 2, 8]]), Tangle::Node { element: 0, node: 8, nodes: 8 });
    assert_eq!(flaw(&[[0, 1, 2, 3], [4, 5, 6, 5]]), Tangle::Folded { element: 1, node: 5 });
    assert_eq!(flaw(&[[0, 1, 2, 3], [0, 1, 2, 4]]), Tangle::Overlap { nodes: [0, 1, 2], elements: [0, 1] });
    let three = flaw(&[[0, 1, 2, 3], [0, 2, 1, 4], [0, 1, 2, 5]]);
    assert_eq!(three, Tangle::Crowd { nodes: [0, 1, 2], count: 3 });
    assert!(three.to_string().contains("nodes 0, 1 and 2"));
    assert!(matches!(flaw(&[[0, 1, 2, 3], [0, 2, 1, 3]]), Tangle::Overlap { .. }), "a mirrored copy");
    assert_eq!(Net::new(vec![], 3).unwrap().surface(), Surface::default());
}

#[test]
fn nodes_get_other_numbers_and_all_else_stays() {
    let mut net = Net::new(PAIR.to_vec(), 5).unwrap();
    net.split(0, &[0, 1]).unwrap();
    net.join(1, 2).unwrap_err();
    let before = net.surface();
    net.renumber(&[4, 3, 2, 1, 0, 9], 10).unwrap();
    assert_eq!(net.elements(), [[4, 3, 2, 1], [9, 2, 3, 0]]);
    assert_eq!(net, Net::new(net.elements().to_vec(), 10).unwrap());
    assert_eq!((net.surface().faces, net.surface().twins), (before.faces, before.twins));
    let now = net.clone();
    assert_eq!(net.renumber(&[0; 10], 10), Err(Tangle::Taken { number: 0 }));
    assert_eq!(net.renumber(&[0, 1, 2, 3, 4], 10), Err(Tangle::Unnumbered { node: 9 }));
    assert!(matches!(net.renumber(&[7; 10], 7), Err(Tangle::Node { node: 7, nodes: 7, .. })));
    assert_eq!(net, now);
}

#[test]
fn fine_surfaces_that_follow_changes_are_those_made_anew() {
    let mut play = Play::new(22);
    let mut layers: Vec<(Scheme, u32, Layers)> = SCHEMES
        .into_iter()
        .flat_map(|scheme| (0..3).map(move |levels| (scheme, levels, Layers::new(scheme, levels))))
        .collect();
    let mut made = [0; 2];
    for round in 0..120 {
        // Several changes at once, now and then.
        for _ in 0..1 + round % 3 {
            if play.random.unit() < 0.1 || play.join().is_none() {
                play.split();
            }
        }
        if round % 40 == 39 {
            // Nodes get other numbers in between, backwards, without those that are gone.
            let mut numbers = vec![u32::MAX; play.net.nodes()];
            let mut count = 0;
            for node in (0..numbers.len()).rev().filter(|node| !play.net.corners(*node as u32).is_empty()) {
                numbers[node] = count;
                count += 1;
            }
            let mut positions = vec![Vec3::ZERO; count as usize];
            for (node, number) in numbers.iter().enumerate().filter(|(_, number)| **number != u32::MAX) {
                positions[*number as usize] = play.positions[node];
            }
            play.positions = positions;
            play.net.renumber(&numbers, count as usize).unwrap();
            layers.iter_mut().for_each(|(_, _, layers)| layers.renumber(&numbers));
        }
        let surface = play.net.surface();
        let sheet = surface.sheet().unwrap();
        for (scheme, levels, layers) in &mut layers {
            let anew = layers.follow(sheet.clone(), &surface.faces);
            let fine = refine(&sheet, *scheme, *levels);
            assert_eq!((layers.triangles(), layers.weights()), (&fine.triangles[..], &fine.weights));
            if round > 0 && *levels == 2 {
                made[0] += anew;
                made[1] += fine.weights.len();
            }
        }
    }
    assert!(2 * made[0] < made[1], "most is taken over: {made:?}");
}

#[test]
fn a_change_costs_as_many_fine_vertices_in_a_large_body_as_in_a_small_one() {
    let anew = |count: [u32; 3], scheme: Scheme| {
        let mesh = Mesh::cells(count, 1.0, 0.0);
        let (mut net, mut layers) = (mesh.net(), Layers::new(scheme, 2));
        let all = layers.follow(net.surface().sheet().unwrap(), &net.surface().faces);
        assert_eq!(all, layers.weights().len());
        assert_eq!(layers.follow(net.surface().sheet().unwrap(), &net.surface().faces), 0, "nothing has changed");
        // In the middle of the lower side, as far from its edges as rules can see.
        let node = mesh.nodes.iter().position(|p| *p == Vec3::new(6.0, 6.0, 0.0)).unwrap() as u32;
        let groups: Vec<u32> = net
            .corners(node)
            .iter()
            .map(|&corner| u32::from(mesh.nodes[mesh.elements[corner as usize / 4][3] as usize].x > 6.0))
            .collect();
        assert!(!net.split(node, &groups).unwrap().bared.is_empty());
        layers.follow(net.surface().sheet().unwrap(), &net.surface().faces)
    };
    for scheme in SCHEMES {
        let (small, large) = (anew([12, 12, 2], scheme), anew([24, 24, 4], scheme));
        assert_eq!(small, large);
        assert!(small > 50);
    }
}
