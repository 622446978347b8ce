use super::lattice::{BccLattice, MAX_NODES};
use super::surface::CutSurface;
use super::*;
use crate::mesh::{MeshSolid, fixtures};
use crate::sample::SequentialRng;
use crate::shape::{Placement, Shape};
use phyxel::Real;
use phyxel_laws::geometry::Aabb;
use std::error::Error;
use std::sync::Arc;

/// Guaranteed range of dihedral angles, degrees.
const ANGLES: std::ops::RangeInclusive<f64> = 10.7..=164.8;

fn assert_sound(filling: &TetraFill) {
    let quality = &filling.quality;
    assert!(ANGLES.contains(&quality.min_dihedral), "{quality}");
    assert!(ANGLES.contains(&quality.max_dihedral), "{quality}");
    assert!((0..filling.mesh.elements.len()).all(|element| filling.mesh.element_volume(element) > 0.0));
    let boundary = filling.mesh.boundary();
    assert_eq!(boundary.open_edges(), 0);
    // Both sum the same tetrahedra, in different orders.
    assert!((boundary.volume() - quality.volume).abs() < 1e-6 * quality.volume);
    assert_eq!((quality.nodes, quality.elements), (filling.mesh.positions.len(), filling.mesh.elements.len()));
}

/// Smallest and largest dihedral angle for random inside nodes and random cut points.
fn random_dihedrals(seed: u64, share: Real) -> Result<(f64, f64), TetraError> {
    let bounds = Aabb { min: Vec3::ZERO, max: Vec3::splat(24.0) };
    let lattice = BccLattice::new(&bounds, 1.0, MAX_NODES)?;
    let mut random = SequentialRng::new(seed);
    let counts = lattice.grids()[0].counts;
    let clear = |node: &usize| lattice.index(*node).iter().zip(counts).all(|(i, count)| (2..count - 2).contains(i));
    let inside: Vec<usize> = (0..2 * lattice.sites()).filter(clear).filter(|_| random.uniform() < share).collect();
    let cross = |from: Vec3, to: Vec3| {
        let bits = (from + 2.0 * to).to_array().map(|value| u64::from(value.to_bits()));
        let mut random = SequentialRng::new(seed ^ bits[0] ^ bits[1] << 20 ^ bits[2] << 40);
        // Angles are worst just within and just beyond the warp threshold. A node has up to 14 cut points; were more of
        // them within it, every node would be warped.
        let alpha = if from.distance(to) > 0.95 { 0.2851 } else { 0.3991 };
        match random.below(24) {
            0 => alpha - 2e-4,
            1 => 1.0 - alpha + 2e-4,
            2 => random.uniform(),
            3..13 => alpha,
            _ => 1.0 - alpha,
        }
    };
    let mesh = super::isosurface_stuffing(&CutSurface::new(&lattice, &inside, cross));
    let quality = TetraQuality::of(&mesh);
    assert!(quality.elements > 50_000, "{quality}");
    Ok((quality.min_dihedral, quality.max_dihedral))
}

#[test]
fn any_cut_points_keep_the_guaranteed_angles() -> Result<(), TetraError> {
    let (mut min, mut max) = (180.0f64, 0.0f64);
    // From small things to small hollows.
    for (seed, share) in [0.3, 0.5, 0.6, 0.7, 0.8, 0.9].into_iter().enumerate() {
        let (low, high) = random_dihedrals(seed as u64, share)?;
        min = min.min(low);
        max = max.max(high);
    }
    assert!(ANGLES.contains(&min) && ANGLES.contains(&max), "{min} {max}");
    // So many tries come close to the worst case.
    assert!(min < 11.0 && max > 160.0, "{min} {max}");
    Ok(())
}

#[test]
fn a_ball_is_one_closed_component_of_genus_zero() -> Result<(), TetraError> {
    let ball = fill(&Shape::Sphere { radius: 1.0 }, 0.2)?;
    assert_sound(&ball);
    let boundary = ball.mesh.boundary();
    assert_eq!((boundary.components(), boundary.genus()), (1, Some(0)));
    // All boundary nodes are on the sphere, to the tolerance of cut points and of single precision.
    assert!(boundary.positions.iter().all(|position| (position.length() - 1.0).abs() < 1e-5));
    Ok(())
}

#[test]
fn a_ring_keeps_its_hole() -> Result<(), TetraError> {
    let ring = fill(&Shape::Torus { radius: 1.0, tube: 0.4 }, 0.15)?;
    assert_sound(&ring);
    assert_eq!((ring.mesh.boundary().components(), ring.mesh.boundary().genus()), (1, Some(1)));
    Ok(())
}

/// A box, rotated against the lattice.
fn rotated_box() -> Shape {
    let turn = Placement { at: Vec3::new(0.3, -0.2, 0.5), turn: Vec3::new(30.0, 50.0, -20.0), scale: 1.0 };
    Shape::Box { size: Vec3::new(1.0, 1.5, 2.0) }.placed(turn)
}

#[test]
fn boxes_and_unions_are_closed() -> Result<(), TetraError> {
    let beside = Shape::Sphere { radius: 0.5 }.placed(Placement::at(Vec3::new(0.9, 0.0, 0.0)));
    let far = Shape::Sphere { radius: 0.5 }.placed(Placement::at(Vec3::new(4.0, 0.0, 0.0)));
    let union = Shape::Union(vec![Shape::Box { size: Vec3::ONE }, beside, far]);
    let hollow =
        Shape::Difference { base: Box::new(Shape::Sphere { radius: 1.0 }), cuts: vec![Shape::Sphere { radius: 0.5 }] };
    // Surfaces, not bodies, are counted: a hollow ball has two.
    for (shape, pieces) in [(rotated_box(), 1), (union, 2), (hollow, 2)] {
        let filling = fill(&shape, 0.12)?;
        assert_sound(&filling);
        assert_eq!((filling.mesh.boundary().components(), filling.mesh.boundary().genus()), (pieces, Some(0)));
    }
    Ok(())
}

#[test]
fn a_box_along_the_lattice_is_filled_to_its_faces() -> Result<(), TetraError> {
    for size in [Vec3::new(1.0, 0.5, 0.75), Vec3::ONE] {
        let filling = fill(&Shape::Box { size }, 0.125)?;
        assert_sound(&filling);
        let volume = f64::from(size.element_product());
        // Faces are met; along edges about an eighth of the square of a spacing is cut off, of four edges along
        // each axis.
        let cut = 4.0 * f64::from(size.element_sum()) * 0.125 * 0.125 * 0.125;
        let missing = volume - filling.quality.volume;
        assert!((-1e-6..cut).contains(&missing), "{missing} of {volume}");
    }
    Ok(())
}

/// Relative volume that is missing at three spacings, each half the previous one.
fn volume_errors(shape: &Shape, volume: f64, spacing: Real) -> Result<[f64; 3], TetraError> {
    let mut errors = [0.0; 3];
    for (error, factor) in errors.iter_mut().zip([1.0, 0.5, 0.25]) {
        *error = 1.0 - fill(shape, factor * spacing)?.quality.volume / volume;
    }
    Ok(errors)
}

#[test]
fn volumes_approach_those_of_shapes_with_second_order() -> Result<(), TetraError> {
    let ball = Shape::Sphere { radius: 1.0 };
    let ring = Shape::Torus { radius: 1.0, tube: 0.5 };
    for (shape, spacing) in [(ball, 0.3), (ring, 0.25)] {
        let [first, second, third] = volume_errors(&shape, shape.volume(), spacing)?;
        // Four for second order; how triangles lie on the surface differs a little from one spacing to the next.
        assert!((3.2..5.0).contains(&(first / second)), "{first} {second}");
        assert!((3.2..5.0).contains(&(second / third)), "{second} {third}");
    }
    // What edges lose goes with the square too, but depends on how they lie in the lattice, so over two halvings only.
    let [first, _, third] = volume_errors(&rotated_box(), 3.0, 0.25)?;
    assert!((9.0..28.0).contains(&(first / third)), "{first} {third}");
    Ok(())
}

#[test]
fn meshes_with_holes_and_cuts_through_themselves_are_filled() -> Result<(), Box<dyn Error>> {
    let cube = fixtures::cube(Vec3::ZERO);
    let mut open = fixtures::both(&cube, &fixtures::cube(Vec3::new(0.5, 0.25, 0.2)));
    open.triangles.remove(3);
    let filling = fill(&Shape::Mesh(Arc::new(MeshSolid::new(open)?)), 0.1)?;
    assert_sound(&filling);
    assert_eq!(filling.defects, MeshDefects { holes: 1, non_manifold_edges: 0 });
    // Two cubes less what they share. The hole is half a face: there the surface sinks in by less than a quarter of
    // its width, and the edges lose as in the test of boxes.
    let whole = 2.0 - 0.5 * 0.75 * 0.8;
    assert!((0.9 * whole..1.01 * whole).contains(&filling.quality.volume), "{}", filling.quality);
    Ok(())
}

#[test]
fn fillings_are_the_same_on_any_number_of_threads() {
    let shape = Shape::Union(vec![rotated_box(), Shape::Torus { radius: 1.0, tube: 0.3 }]);
    let on = |threads| parallel::with_threads(Some(threads), || fill(&shape, 0.07).ok());
    let one = on(1);
    assert!(one.as_ref().is_some_and(|filling| filling.quality.elements > 50_000));
    assert!(one == on(2) && one == on(5));
}

#[test]
fn a_spacing_that_leaves_nothing_is_refused_with_one_that_works() -> Result<(), TetraError> {
    for shape in [Shape::Box { size: Vec3::new(1.0, 0.05, 1.0) }, Shape::Torus { radius: 1.0, tube: 0.02 }] {
        let Err(TetraError::TooCoarse { spacing, largest }) = fill(&shape, 0.9) else {
            return Err(TetraError::Unbounded);
        };
        assert!(spacing == 0.9 && largest < 0.9);
        assert!(fill(&shape, largest)?.quality.elements > 0);
    }
    // The node in the middle of a ball stays until the sphere is within its reach on its short edges, 0.399 times
    // sqrt(3)/2 spacings; three digits are given.
    let Err(error) = fill(&Shape::Sphere { radius: 0.01 }, 7.0) else { return Err(TetraError::Unbounded) };
    assert_eq!(
        error.to_string(),
        "at a spacing of 7 m nothing of the shape is left in tetrahedra; the largest spacing that works is 0.0289 m"
    );
    Ok(())
}

#[test]
fn what_cannot_be_filled_is_named() {
    let ball = Shape::Sphere { radius: 1.0 };
    for spacing in [0.0, -1.0, Real::NAN, Real::INFINITY] {
        assert!(matches!(fill(&ball, spacing), Err(TetraError::BadSpacing { .. })));
    }
    assert!(matches!(fill(&ball, 1e-5), Err(TetraError::TooFine { .. })));
    assert!(matches!(fill(&Shape::Plane { normal: Vec3::Y }, 0.1), Err(TetraError::Unbounded)));
    assert!(matches!(fill(&Shape::Sphere { radius: -1.0 }, 0.1), Err(TetraError::Shape(_))));
    let apart = Shape::Intersection(vec![ball.clone(), ball.placed(Placement::at(Vec3::new(1.99, 1.0, 0.0)))]);
    assert!(matches!(fill(&apart, 0.1), Err(TetraError::Empty { .. })));
}
