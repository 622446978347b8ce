//! Surfaces that are made finer.

use super::*;

fn icosahedron() -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let golden = 0.5 * (1.0 + 5f32.sqrt());
    let mut nodes = Vec::new();
    for (a, b) in [(-1.0, -golden), (1.0, -golden), (-1.0, golden), (1.0, golden)] {
        nodes.extend([Vec3::new(0.0, a, b), Vec3::new(a, b, 0.0), Vec3::new(b, 0.0, a)]);
    }
    let nodes: Vec<Vec3> = nodes.into_iter().map(Vec3::normalize).collect();
    let near = |a: usize, b: usize| nodes[a].distance(nodes[b]) < 1.1;
    let mut triangles = Vec::new();
    for (a, b, c) in (0..12).flat_map(|a| (a + 1..12).flat_map(move |b| (b + 1..12).map(move |c| (a, b, c)))) {
        if near(a, b) && near(b, c) && near(c, a) {
            let outward = (nodes[b] - nodes[a]).cross(nodes[c] - nodes[a]).dot(nodes[a]) > 0.0;
            triangles.push([a, b, c].map(|k| k as u32));
            if !outward {
                triangles.last_mut().unwrap().swap(1, 2);
            }
        }
    }
    assert_eq!(triangles.len(), 20);
    (nodes, triangles)
}

const TETRAHEDRON: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
const OCTAHEDRON: [[u32; 3]; 8] =
    [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]];

/// A torus of triangles, all of whose vertices have six neighbours.
fn torus(n: u32) -> Vec<[u32; 3]> {
    let at = |x: u32, y: u32| (y % n) * n + x % n;
    let cell =
        |x: u32, y: u32| [[at(x, y), at(x + 1, y), at(x + 1, y + 1)], [at(x, y), at(x + 1, y + 1), at(x, y + 1)]];
    (0..n).flat_map(|y| (0..n).flat_map(move |x| cell(x, y))).collect()
}

/// A double pyramid: two vertices of any valence, the others of valence four.
fn pyramids(n: u32) -> Vec<[u32; 3]> {
    (0..n).flat_map(|k| [[0, 2 + k, 2 + (k + 1) % n], [1, 2 + (k + 1) % n, 2 + k]]).collect()
}

fn meshes() -> Vec<Vec<[u32; 3]>> {
    let mut meshes = vec![TETRAHEDRON.to_vec(), OCTAHEDRON.to_vec(), icosahedron().1, torus(6)];
    meshes.extend([3, 5, 7, 12].map(pyramids));
    meshes
}

pub(super) const SCHEMES: [Scheme; 2] = [Scheme::Loop, Scheme::Butterfly];

fn edge_terms(sheet: &Sheet, scheme: Scheme, half: u32) -> Vec<(u32, f64)> {
    let mut terms = Vec::new();
    scheme.edge(sheet, half, &mut |vertex, weight| terms.push((vertex, weight)));
    terms
}

#[test]
fn weights_add_up_to_one_at_every_level() {
    for triangles in meshes() {
        let sheet = Sheet::new(&triangles).unwrap();
        for (scheme, levels) in SCHEMES.into_iter().flat_map(|scheme| (0..4).map(move |levels| (scheme, levels))) {
            let fine = refine(&sheet, scheme, levels);
            for vertex in 0..fine.weights.len() {
                let sum: f64 = fine.weights.of(vertex).iter().map(|(_, weight)| f64::from(*weight)).sum();
                // A dozen weights, rounded to f32 at each level.
                assert!((sum - 1.0).abs() < 1e-6, "{sum}");
                assert!(fine.weights.of(vertex).windows(2).all(|pair| pair[0].0 < pair[1].0));
            }
        }
    }
}

#[test]
fn surfaces_stay_closed_and_keep_their_kind() {
    for triangles in meshes() {
        let sheet = Sheet::new(&triangles).unwrap();
        let euler = |vertices: usize, triangles: usize| vertices as i64 - triangles as i64 / 2;
        let kind = euler(sheet.vertices() as usize, triangles.len());
        for levels in 1..4 {
            let fine = refine(&sheet, Scheme::Loop, levels);
            assert_eq!(fine.triangles.len(), triangles.len() << (2 * levels));
            // Edges found anew: each is met once in each direction, and no vertex has two fans.
            let again = Sheet::new(&fine.triangles).unwrap();
            assert_eq!(again.vertices() as usize, fine.weights.len());
            assert_eq!(euler(fine.weights.len(), fine.triangles.len()), kind);
            assert_eq!(again.triangles(), &fine.triangles);
        }
        assert_eq!(refine(&sheet, Scheme::Loop, 0).triangles, triangles);
    }
}

#[test]
fn regular_masks_are_those_that_are_published() {
    let sheet = Sheet::new(&torus(8)).unwrap();
    let half = sheet.first(27);
    let mut around = Vec::new();
    Scheme::Loop.vertex(&sheet, 27, &mut |vertex, weight| around.push((vertex, weight)));
    assert!((around[0].1 - 0.625).abs() < 1e-12 && around.len() == 7);
    assert!(around[1..].iter().all(|(_, weight)| (weight - 0.0625).abs() < 1e-12));
    let sorted = |mut terms: Vec<(u32, f64)>| {
        terms.sort_by(|a, b| a.1.total_cmp(&b.1));
        terms.into_iter().map(|(_, weight)| weight).collect::<Vec<f64>>()
    };
    assert_eq!(sorted(edge_terms(&sheet, Scheme::Loop, half)), [0.125, 0.125, 0.375, 0.375]);
    let terms = edge_terms(&sheet, Scheme::Butterfly, half);
    assert_eq!(sorted(terms.clone()), [-0.0625, -0.0625, -0.0625, -0.0625, 0.125, 0.125, 0.5, 0.5]);
    // The points themselves, on a torus of 8 x 8: the edge goes from 27 = (3, 3) to one of six neighbours.
    let point = |vertex: u32| [(vertex % 8) as f64, (vertex / 8) as f64];
    let middle: [f64; 2] = [0, 1].map(|k| terms.iter().map(|(v, w)| point(*v)[k] * w).sum());
    let expected: [f64; 2] = [0, 1].map(|k| 0.5 * (point(27)[k] + point(sheet.end(half))[k]));
    assert_eq!(middle, expected);
    assert_eq!(terms.iter().map(|(v, _)| *v).collect::<std::collections::HashSet<_>>().len(), 8);
    // Loop's numbers for three, and the limit for many: 3/16, and 3/8 over n.
    let three = Sheet::new(&TETRAHEDRON).unwrap();
    let mut ring = Vec::new();
    Scheme::Loop.vertex(&three, 0, &mut |_, weight| ring.push(weight));
    assert!((ring[1] - 0.1875).abs() < 1e-12 && (ring[0] - 0.4375).abs() < 1e-12);
}

#[test]
fn masks_around_irregular_vertices_are_those_that_are_published() {
    // [ZSS96]: 3/4 for the vertex; 5/12 and -1/12 for three; 3/8, 0, -1/8, 0 for four; (1/4 + cos + cos/2)/n from five on.
    let sheet = Sheet::new(&pyramids(7)).unwrap();
    let spoke = sheet.first(0);
    let mut expected: std::collections::BTreeMap<u32, f64> = Default::default();
    *expected.entry(0).or_default() += 0.5 * 0.75;
    for (k, half) in sheet.ring(spoke).enumerate() {
        let angle = std::f64::consts::TAU * k as f64 / 7.0;
        *expected.entry(sheet.end(half)).or_default() += 0.5 * (0.25 + angle.cos() + 0.5 * (2.0 * angle).cos()) / 7.0;
    }
    let twin = sheet.twin(spoke);
    *expected.entry(sheet.end(spoke)).or_default() += 0.5 * 0.75;
    for (half, weight) in sheet.ring(twin).zip([0.375, 0.0, -0.125, 0.0]) {
        *expected.entry(sheet.end(half)).or_default() += 0.5 * weight;
    }
    let mut found: std::collections::BTreeMap<u32, f64> = Default::default();
    edge_terms(&sheet, Scheme::Butterfly, spoke).iter().for_each(|(v, w)| *found.entry(*v).or_default() += w);
    for (vertex, weight) in &expected {
        assert!((found[vertex] - weight).abs() < 1e-12);
    }
    let three = Sheet::new(&TETRAHEDRON).unwrap();
    let mut ends = [0.0; 4];
    edge_terms(&three, Scheme::Butterfly, 0).iter().for_each(|(v, w)| ends[*v as usize] += w);
    let [a, b] = [three.start(0) as usize, three.end(0) as usize];
    for k in 0..4 {
        let exact = if k == a || k == b { 0.5 * (0.75 + 5.0 / 12.0) } else { -1.0 / 12.0 };
        assert!((ends[k] - exact).abs() < 1e-12, "{ends:?}");
    }
}

#[test]
fn butterfly_interpolates_and_loop_reaches_its_limit() {
    let (nodes, triangles) = icosahedron();
    let sheet = Sheet::new(&triangles).unwrap();
    let fine = refine(&sheet, Scheme::Butterfly, 3);
    (0..12).for_each(|k| assert_eq!(fine.weights.place(k, &nodes), nodes[k]));
    // Vertices of the level before stay too.
    let before = refine(&sheet, Scheme::Butterfly, 2);
    (0..before.weights.len()).for_each(|k| assert_eq!(fine.weights.of(k), before.weights.of(k)));
    // Loop: the limit of a vertex is (w v + sum of neighbours)/(w + n) with w = 3/(8 beta). Each level leaves
    // 5/8 - n beta of the way to it, 0.205 for five neighbours.
    let beta = (0.625 - (0.375 + 0.25 * (std::f32::consts::TAU / 5.0).cos()).powi(2)) / 5.0;
    let weight = 0.375 / beta;
    let fine = refine(&sheet, Scheme::Loop, 6);
    for vertex in 0..12 {
        let ring: Vec3 = sheet.ring(sheet.first(vertex)).map(|half| nodes[sheet.end(half) as usize]).sum();
        let limit = (weight * nodes[vertex as usize] + ring) / (weight + 5.0);
        let off = fine.weights.place(vertex as usize, &nodes).distance(limit);
        assert!(off < 0.205f32.powi(6) + 1e-6, "{off}");
    }
}

/// Largest angle between triangles at an edge, rad.
fn largest_bend(triangles: &[[u32; 3]], nodes: &[Vec3]) -> Real {
    let sheet = Sheet::new(triangles).unwrap();
    let normal = |half: u32| {
        let [a, b, c] = triangles[half as usize / 3].map(|k| nodes[k as usize]);
        (b - a).cross(c - a).normalize()
    };
    sheet.edges().map(|half| normal(half).angle_between(normal(sheet.twin(half)))).fold(0.0, Real::max)
}

#[test]
fn an_icosahedron_becomes_round() {
    let (nodes, triangles) = icosahedron();
    let sheet = Sheet::new(&triangles).unwrap();
    for scheme in SCHEMES {
        let mut bend = largest_bend(&triangles, &nodes);
        for levels in 1..5 {
            let fine = refine(&sheet, scheme, levels);
            let places: Vec<Vec3> = (0..fine.weights.len()).map(|k| fine.weights.place(k, &nodes)).collect();
            // Triangles half as large on a smooth surface bend half as much; a ridge would keep its bend.
            let now = largest_bend(&fine.triangles, &places);
            assert!(now < 0.7 * bend, "{scheme:?}, level {levels}: {now} after {bend}");
            bend = now;
            let radii = places.iter().map(|p| p.length());
            let (least, most) = (radii.clone().fold(9.0, Real::min), radii.fold(0.0, Real::max));
            // Faces of the icosahedron lie at 0.795 of its corners. No surface of its symmetry is round to the last, but less
            // than half of that must be left.
            assert!(most - least < 0.1 * most, "{scheme:?}: {least} to {most}");
        }
    }
}

#[test]
fn surfaces_that_are_not_closed_are_refused_and_fans_are_parted() {
    assert_eq!(
        Sheet::new(&TETRAHEDRON[..3]),
        Err(Flaw::Edge { from: 1, to: 3, along: 1, against: 0 }),
        "{}",
        Sheet::new(&TETRAHEDRON[..3]).unwrap_err()
    );
    assert_eq!(Sheet::new(&[[0, 1, 1]]), Err(Flaw::Folded { triangle: 0 }));
    let turned = [TETRAHEDRON[0], TETRAHEDRON[1], TETRAHEDRON[2], [1, 3, 2]];
    let flaw = Sheet::new(&turned).unwrap_err();
    assert!(matches!(flaw, Flaw::Edge { along: 2, .. } | Flaw::Edge { along: 1, against: 0, .. }), "{flaw}");
    assert_eq!(Sheet::from_twins(&TETRAHEDRON, vec![0; 12]), Err(Flaw::Twin { half: 0 }));
    assert_eq!(Sheet::from_twins(&TETRAHEDRON, vec![]), Err(Flaw::Twin { half: 0 }));
    assert!(flaw.to_string().contains("close the surface"));
    // Two tetrahedra that touch in node 0 have it as two vertices; nodes that are not used have none.
    let mut two = TETRAHEDRON.to_vec();
    two.extend(TETRAHEDRON.map(|t| t.map(|k| if k == 0 { 0 } else { k + 5 })));
    let sheet = Sheet::new(&two).unwrap();
    assert_eq!(sheet.origin(), [0, 0, 1, 2, 3, 6, 7, 8]);
    let fine = refine(&sheet, Scheme::Loop, 1);
    for vertex in 0..fine.weights.len() {
        let nodes = fine.weights.of(vertex);
        assert!(nodes.iter().all(|(k, _)| *k < 5) || nodes.iter().all(|(k, _)| *k == 0 || *k > 5), "no mixture");
    }
    // Two that touch along an edge need to say which halves belong together.
    let mut touching = TETRAHEDRON.to_vec();
    touching.extend(TETRAHEDRON.map(|t| t.map(|k| if k < 2 { k } else { k + 5 })));
    assert!(matches!(Sheet::new(&touching), Err(Flaw::Edge { along: 2, against: 2, .. })));
    let one = Sheet::new(&TETRAHEDRON).unwrap();
    let twins = (0..24u32).map(|half| if half < 12 { one.twin(half) } else { one.twin(half - 12) + 12 }).collect();
    let sheet = Sheet::from_twins(&touching, twins).unwrap();
    assert_eq!(sheet.origin(), [0, 0, 1, 1, 2, 3, 7, 8]);
}
