//! Subdivision surfaces.

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

/// Torus of triangles whose vertices are all regular.
fn torus(n: u32) -> Vec<[u32; 3]> {
    let at = |x: u32, y: u32| (y % n) * n + x % n;
    let cell =
        |x: u32, y: u32| [[at(x, y), at(x + 1, y), at(x + 1, y + 1)], [at(x, y), at(x + 1, y + 1), at(x, y + 1)]];
    (0..n).flat_map(|y| (0..n).flat_map(move |x| cell(x, y))).collect()
}

/// Bipyramid: two vertices of valence `n`, the others of valence four.
fn bipyramid(n: u32) -> Vec<[u32; 3]> {
    (0..n).flat_map(|k| [[0, 2 + k, 2 + (k + 1) % n], [1, 2 + (k + 1) % n, 2 + k]]).collect()
}

fn meshes() -> Vec<Vec<[u32; 3]>> {
    let mut meshes = vec![TETRAHEDRON.to_vec(), OCTAHEDRON.to_vec(), icosahedron().1, torus(6)];
    meshes.extend([3, 5, 7, 12].map(bipyramid));
    meshes
}

pub(crate) const SCHEMES: [SubdivisionScheme; 2] = [SubdivisionScheme::Loop, SubdivisionScheme::Butterfly];

fn edge_terms(mesh: &HalfEdgeMesh, scheme: SubdivisionScheme, half: u32) -> Vec<(u32, f64)> {
    let mut terms = Vec::new();
    scheme.edge_mask(mesh, half, &mut |vertex, weight| terms.push((vertex, weight)));
    terms
}

#[test]
fn weights_sum_to_one_at_every_level() {
    for triangles in meshes() {
        let mesh = HalfEdgeMesh::new(&triangles).unwrap();
        for (scheme, levels) in SCHEMES.into_iter().flat_map(|scheme| (0..4).map(move |levels| (scheme, levels))) {
            let fine = refine(&mesh, scheme, levels);
            for vertex in 0..fine.weights.len() {
                let sum: f64 = fine.weights.terms(vertex).iter().map(|(_, weight)| f64::from(*weight)).sum();
                // A dozen weights, rounded to f32 at each level.
                assert!((sum - 1.0).abs() < 1e-6, "{sum}");
                assert!(fine.weights.terms(vertex).windows(2).all(|pair| pair[0].0 < pair[1].0));
            }
        }
    }
}

#[test]
fn surfaces_stay_closed_and_keep_their_euler_characteristic() {
    for triangles in meshes() {
        let mesh = HalfEdgeMesh::new(&triangles).unwrap();
        let euler = |vertices: usize, triangles: usize| vertices as i64 - triangles as i64 / 2;
        let characteristic = euler(mesh.vertex_count() as usize, triangles.len());
        for levels in 1..4 {
            let fine = refine(&mesh, SubdivisionScheme::Loop, levels);
            assert_eq!(fine.triangles.len(), triangles.len() << (2 * levels));
            // Rebuilt from triangles: each edge occurs once in each direction, and no vertex has two fans.
            let rebuilt = HalfEdgeMesh::new(&fine.triangles).unwrap();
            assert_eq!(rebuilt.vertex_count() as usize, fine.weights.len());
            assert_eq!(euler(fine.weights.len(), fine.triangles.len()), characteristic);
            assert_eq!(rebuilt.triangles(), &fine.triangles);
        }
        assert_eq!(refine(&mesh, SubdivisionScheme::Loop, 0).triangles, triangles);
    }
}

#[test]
fn regular_masks_are_the_published_ones() {
    let mesh = HalfEdgeMesh::new(&torus(8)).unwrap();
    let half = mesh.half_edge_from(27);
    let mut mask = Vec::new();
    SubdivisionScheme::Loop.vertex_mask(&mesh, 27, &mut |vertex, weight| mask.push((vertex, weight)));
    assert!((mask[0].1 - 0.625).abs() < 1e-12 && mask.len() == 7);
    assert!(mask[1..].iter().all(|(_, weight)| (weight - 0.0625).abs() < 1e-12));
    let sorted = |mut terms: Vec<(u32, f64)>| {
        terms.sort_by(|a, b| a.1.total_cmp(&b.1));
        terms.into_iter().map(|(_, weight)| weight).collect::<Vec<f64>>()
    };
    assert_eq!(sorted(edge_terms(&mesh, SubdivisionScheme::Loop, half)), [0.125, 0.125, 0.375, 0.375]);
    let terms = edge_terms(&mesh, SubdivisionScheme::Butterfly, half);
    assert_eq!(sorted(terms.clone()), [-0.0625, -0.0625, -0.0625, -0.0625, 0.125, 0.125, 0.5, 0.5]);
    // Applied to the points of a torus of 8 x 8: the edge goes from 27 = (3, 3) to one of six neighbours.
    let point = |vertex: u32| [(vertex % 8) as f64, (vertex / 8) as f64];
    let middle: [f64; 2] = [0, 1].map(|k| terms.iter().map(|(v, w)| point(*v)[k] * w).sum());
    let expected: [f64; 2] = [0, 1].map(|k| 0.5 * (point(27)[k] + point(mesh.end(half))[k]));
    assert_eq!(middle, expected);
    assert_eq!(terms.iter().map(|(v, _)| *v).collect::<std::collections::HashSet<_>>().len(), 8);
    // Loop's weight for valence three: 3/16.
    let three = HalfEdgeMesh::new(&TETRAHEDRON).unwrap();
    let mut ring = Vec::new();
    SubdivisionScheme::Loop.vertex_mask(&three, 0, &mut |_, weight| ring.push(weight));
    assert!((ring[1] - 0.1875).abs() < 1e-12 && (ring[0] - 0.4375).abs() < 1e-12);
}

#[test]
fn irregular_masks_are_the_published_ones() {
    // [ZSS96]: 3/4 for the vertex; 5/12 and -1/12 for three; 3/8, 0, -1/8, 0 for four; (1/4 + cos +
    // cos/2)/n from five on.
    let mesh = HalfEdgeMesh::new(&bipyramid(7)).unwrap();
    let spoke = mesh.half_edge_from(0);
    let mut expected: std::collections::BTreeMap<u32, f64> = Default::default();
    *expected.entry(0).or_default() += 0.5 * 0.75;
    for (k, half) in mesh.one_ring(spoke).enumerate() {
        let angle = std::f64::consts::TAU * k as f64 / 7.0;
        *expected.entry(mesh.end(half)).or_default() += 0.5 * (0.25 + angle.cos() + 0.5 * (2.0 * angle).cos()) / 7.0;
    }
    let twin = mesh.twin(spoke);
    *expected.entry(mesh.end(spoke)).or_default() += 0.5 * 0.75;
    for (half, weight) in mesh.one_ring(twin).zip([0.375, 0.0, -0.125, 0.0]) {
        *expected.entry(mesh.end(half)).or_default() += 0.5 * weight;
    }
    let mut found: std::collections::BTreeMap<u32, f64> = Default::default();
    edge_terms(&mesh, SubdivisionScheme::Butterfly, spoke).iter().for_each(|(v, w)| *found.entry(*v).or_default() += w);
    for (vertex, weight) in &expected {
        assert!((found[vertex] - weight).abs() < 1e-12);
    }
    let three = HalfEdgeMesh::new(&TETRAHEDRON).unwrap();
    let mut ends = [0.0; 4];
    edge_terms(&three, SubdivisionScheme::Butterfly, 0).iter().for_each(|(v, w)| ends[*v as usize] += w);
    let [a, b] = [three.start(0) as usize, three.end(0) as usize];
    for k in 0..4 {
        let exact = if k == a || k == b { 0.5 * (0.75 + 5.0 / 12.0) } else { -1.0 / 12.0 };
        assert!((ends[k] - exact).abs() < 1e-12, "{ends:?}");
    }
}

#[test]
fn butterfly_interpolates_and_loop_converges_to_its_limit() {
    let (nodes, triangles) = icosahedron();
    let mesh = HalfEdgeMesh::new(&triangles).unwrap();
    let fine = refine(&mesh, SubdivisionScheme::Butterfly, 3);
    (0..12).for_each(|k| assert_eq!(fine.weights.position(k, &nodes), nodes[k]));
    // Vertices of the previous level stay too.
    let previous = refine(&mesh, SubdivisionScheme::Butterfly, 2);
    (0..previous.weights.len()).for_each(|k| assert_eq!(fine.weights.terms(k), previous.weights.terms(k)));
    // Loop: the limit of a vertex is (w v + sum of neighbours)/(w + n) with w = 3/(8 beta). Each level
    // reduces the distance to it by 5/8 - n beta, 0.205 for five neighbours.
    let beta = (0.625 - (0.375 + 0.25 * (std::f32::consts::TAU / 5.0).cos()).powi(2)) / 5.0;
    let weight = 0.375 / beta;
    let fine = refine(&mesh, SubdivisionScheme::Loop, 6);
    for vertex in 0..12 {
        let ring: Vec3 = mesh.one_ring(mesh.half_edge_from(vertex)).map(|half| nodes[mesh.end(half) as usize]).sum();
        let limit = (weight * nodes[vertex as usize] + ring) / (weight + 5.0);
        let distance = fine.weights.position(vertex as usize, &nodes).distance(limit);
        assert!(distance < 0.205f32.powi(6) + 1e-6, "{distance}");
    }
}

/// Largest angle between adjacent triangles, rad.
fn max_dihedral_bend(triangles: &[[u32; 3]], nodes: &[Vec3]) -> Real {
    let mesh = HalfEdgeMesh::new(triangles).unwrap();
    let normal = |half: u32| {
        let [a, b, c] = triangles[half as usize / 3].map(|k| nodes[k as usize]);
        (b - a).cross(c - a).normalize()
    };
    mesh.edges().map(|half| normal(half).angle_between(normal(mesh.twin(half)))).fold(0.0, Real::max)
}

#[test]
fn an_icosahedron_becomes_smooth_and_nearly_spherical() {
    let (nodes, triangles) = icosahedron();
    let mesh = HalfEdgeMesh::new(&triangles).unwrap();
    for scheme in SCHEMES {
        let mut largest_angle = max_dihedral_bend(&triangles, &nodes);
        for levels in 1..5 {
            let fine = refine(&mesh, scheme, levels);
            let positions: Vec<Vec3> = (0..fine.weights.len()).map(|k| fine.weights.position(k, &nodes)).collect();
            // On a smooth surface, triangles of half the size bend half as much; a crease would keep its angle.
            let angle = max_dihedral_bend(&fine.triangles, &positions);
            assert!(angle < 0.7 * largest_angle, "{scheme:?}, level {levels}: {angle} after {largest_angle}");
            largest_angle = angle;
            let radii = positions.iter().map(|p| p.length());
            let (min, max) = (radii.clone().fold(9.0, Real::min), radii.fold(0.0, Real::max));
            // The faces of the icosahedron are at 0.795 of its circumradius. No limit surface of its
            // symmetry is a sphere, but less than half of the deviation must remain.
            assert!(max - min < 0.1 * max, "{scheme:?}: {min} to {max}");
        }
    }
}

#[test]
fn open_surfaces_are_refused_and_fans_are_separated() {
    assert_eq!(
        HalfEdgeMesh::new(&TETRAHEDRON[..3]),
        Err(InvalidSurface::UnpairedEdge { from: 1, to: 3, along: 1, against: 0 }),
        "{}",
        HalfEdgeMesh::new(&TETRAHEDRON[..3]).unwrap_err()
    );
    assert_eq!(HalfEdgeMesh::new(&[[0, 1, 1]]), Err(InvalidSurface::RepeatedNode { triangle: 0 }));
    let flipped = [TETRAHEDRON[0], TETRAHEDRON[1], TETRAHEDRON[2], [1, 3, 2]];
    let error = HalfEdgeMesh::new(&flipped).unwrap_err();
    assert!(
        matches!(
            error,
            InvalidSurface::UnpairedEdge { along: 2, .. } | InvalidSurface::UnpairedEdge { along: 1, against: 0, .. }
        ),
        "{error}"
    );
    assert_eq!(HalfEdgeMesh::from_twins(&TETRAHEDRON, vec![0; 12]), Err(InvalidSurface::InvalidTwin { half: 0 }));
    assert_eq!(HalfEdgeMesh::from_twins(&TETRAHEDRON, vec![]), Err(InvalidSurface::InvalidTwin { half: 0 }));
    assert!(error.to_string().contains("close the surface"));
    // Two tetrahedra that touch in node 0 have two vertices there; unused nodes have none.
    let mut two = TETRAHEDRON.to_vec();
    two.extend(TETRAHEDRON.map(|t| t.map(|k| if k == 0 { 0 } else { k + 5 })));
    let mesh = HalfEdgeMesh::new(&two).unwrap();
    assert_eq!(mesh.vertex_nodes(), [0, 0, 1, 2, 3, 6, 7, 8]);
    let fine = refine(&mesh, SubdivisionScheme::Loop, 1);
    for vertex in 0..fine.weights.len() {
        let nodes = fine.weights.terms(vertex);
        assert!(nodes.iter().all(|(k, _)| *k < 5) || nodes.iter().all(|(k, _)| *k == 0 || *k > 5), "no mixing");
    }
    // Two that touch along an edge need explicit twins.
    let mut touching = TETRAHEDRON.to_vec();
    touching.extend(TETRAHEDRON.map(|t| t.map(|k| if k < 2 { k } else { k + 5 })));
    assert!(matches!(HalfEdgeMesh::new(&touching), Err(InvalidSurface::UnpairedEdge { along: 2, against: 2, .. })));
    let one = HalfEdgeMesh::new(&TETRAHEDRON).unwrap();
    let twins = (0..24u32).map(|half| if half < 12 { one.twin(half) } else { one.twin(half - 12) + 12 }).collect();
    let mesh = HalfEdgeMesh::from_twins(&touching, twins).unwrap();
    assert_eq!(mesh.vertex_nodes(), [0, 0, 1, 1, 2, 3, 7, 8]);
}
