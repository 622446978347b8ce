use super::*;
use crate::mesh::fixtures;
use crate::sample::SequentialRng;
use std::f64::consts::PI;

fn primitives() -> Vec<Shape> {
    vec![
        Shape::Box { size: Vec3::new(1.0, 0.6, 1.4) },
        Shape::Sphere { radius: 0.7 },
        Shape::Ellipsoid { radii: Vec3::new(0.9, 0.5, 0.6) },
        Shape::Cylinder { radius: 0.4, height: 1.2 },
        Shape::Cone { radius: 0.6, top_radius: 0.0, height: 1.1 },
        Shape::Cone { radius: 0.6, top_radius: 0.3, height: 1.1 },
        Shape::Capsule { radius: 0.3, height: 0.8 },
        Shape::Torus { radius: 0.6, tube: 0.25 },
    ]
}

fn head() -> Shape {
    let at = |x: Real, y: Real, z: Real| Placement::at(Vec3::new(x, y, z));
    Shape::Union(vec![
        Shape::Sphere { radius: 0.5 },
        Shape::Cylinder { radius: 0.2, height: 1.0 }.placed(at(0.0, -0.5, 0.0)),
        Shape::Sphere { radius: 0.1 }.placed(at(0.0, 0.0, 2.0)),
    ])
}

fn rotated() -> Placement {
    Placement { at: Vec3::new(0.3, -0.2, 0.5), turn: Vec3::new(30.0, 50.0, -20.0), scale: 1.3 }
}

/// Primitives, placed primitives and combinations of them.
fn shapes() -> Vec<Shape> {
    let placed = primitives().into_iter().map(|shape| shape.placed(rotated()));
    let cut = Shape::Difference {
        base: Box::new(Shape::Box { size: Vec3::ONE }),
        cuts: vec![Shape::Cylinder { radius: 0.3, height: 2.0 }],
    };
    let bowl = Shape::Intersection(vec![
        Shape::Difference { base: Box::new(Shape::Sphere { radius: 0.8 }), cuts: vec![Shape::Sphere { radius: 0.6 }] },
        Shape::Plane { normal: Vec3::Y },
    ]);
    let blended = Shape::SmoothUnion {
        parts: vec![Shape::Sphere { radius: 0.5 }, Shape::Sphere { radius: 0.4 }.placed(Placement::at(Vec3::X * 0.7))],
        blend: 0.2,
    };
    primitives().into_iter().chain(placed).chain([head(), cut, bowl, blended]).collect()
}

fn random_point(random: &mut SequentialRng, reach: Real) -> Vec3 {
    (random.uniform_vec3() * 2.0 - 1.0) * reach
}

#[test]
fn distances_are_lipschitz_continuous_with_constant_one() {
    let mut random = SequentialRng::new(1);
    for shape in shapes() {
        for _ in 0..500 {
            let a = random_point(&mut random, 2.0);
            let b = a + random_point(&mut random, 0.3);
            let change = (shape.distance(a) - shape.distance(b)).abs();
            assert!(change <= a.distance(b) + 1e-5, "{shape:?} from {a} to {b}");
        }
    }
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let mut random = SequentialRng::new(2);
    for shape in shapes() {
        let mut differing = 0;
        for _ in 0..300 {
            let point = random_point(&mut random, 1.5);
            let gradient = shape.gradient(point);
            assert!((gradient.length() - 1.0).abs() < 1e-5);
            // On ridges, within a step of which few points are, there is no gradient.
            differing += usize::from(gradient.distance(shape.difference_gradient(point)) > 0.02);
        }
        assert!(differing <= 3, "{differing} in {shape:?}");
    }
}

#[test]
fn walking_down_the_distance_of_a_primitive_ends_on_its_surface() {
    let mut random = SequentialRng::new(3);
    for shape in primitives() {
        for _ in 0..200 {
            let point = random_point(&mut random, 1.5);
            let foot = point - shape.distance(point) * shape.gradient(point);
            // Gradients by differences are exact to a thousandth, over distances of up to two metres.
            assert!(shape.distance(foot).abs() < 4e-3, "{shape:?} from {point} to {foot}");
        }
    }
}

#[test]
fn bounds_hold_every_point_and_touch_the_surface() {
    let mut random = SequentialRng::new(4);
    for shape in shapes() {
        let bounds = shape.bounds().unwrap_or_else(|| panic!("{shape:?} has no bounds"));
        let mut covered = Aabb { min: bounds.centre(), max: bounds.centre() };
        for _ in 0..100_000 {
            let point = random_point(&mut random, 2.2);
            if shape.contains(point) {
                assert!(bounds.inflated(1e-5).contains(point), "{shape:?} at {point}");
                covered = covered.including(point);
            }
        }
        // Tips are thin: few of the points are near them. Bounds of blends are loose by 0.05.
        let gap = (bounds.extent() - covered.extent()).max_element();
        assert!(gap < 0.35, "{shape:?}: {gap}");
    }
}

#[test]
fn unbounded_shapes_have_no_bounds_until_they_are_cut() {
    let plane = Shape::Plane { normal: Vec3::new(0.0, 2.0, 0.0) };
    assert_eq!(plane.bounds(), None);
    assert_eq!(plane.volume(), f64::INFINITY);
    assert_eq!(Shape::Union(vec![plane.clone(), Shape::Sphere { radius: 1.0 }]).bounds(), None);
    let half = Shape::Intersection(vec![plane, Shape::Sphere { radius: 1.0 }]);
    assert_eq!(half.bounds(), Some(Aabb { min: Vec3::NEG_ONE, max: Vec3::new(1.0, 0.0, 1.0) }));
    let nothing = Shape::Union(vec![]);
    assert_eq!((nothing.volume(), nothing.contains(Vec3::ZERO)), (0.0, false));
}

#[test]
fn combinations_contain_what_logic_says() {
    let (a, b) = (Shape::Sphere { radius: 1.0 }, Shape::Box { size: Vec3::new(3.0, 1.0, 1.0) });
    let union = Shape::Union(vec![a.clone(), b.clone()]);
    let intersection = Shape::Intersection(vec![a.clone(), b.clone()]);
    let difference = Shape::Difference { base: Box::new(a.clone()), cuts: vec![b.clone()] };
    let smooth = Shape::SmoothUnion { parts: vec![a.clone(), b.clone()], blend: 0.1 };
    let mut random = SequentialRng::new(5);
    for _ in 0..1000 {
        let point = random_point(&mut random, 2.0);
        let (in_a, in_b) = (a.contains(point), b.contains(point));
        assert_eq!(union.contains(point), in_a || in_b);
        assert_eq!(intersection.contains(point), in_a && in_b);
        assert_eq!(difference.contains(point), in_a && !in_b);
        assert!(smooth.contains(point) || !union.contains(point));
        assert!(smooth.distance(point) <= union.distance(point));
        assert!(smooth.distance(point) >= union.distance(point) - 0.025 - 1e-6);
        for shape in [&union, &intersection, &difference] {
            assert_eq!(shape.contains(point), shape.distance(point) <= 0.0);
        }
    }
}

#[test]
fn a_placed_shape_is_the_shape_seen_from_elsewhere() {
    let mut random = SequentialRng::new(6);
    for shape in primitives() {
        let placed = shape.clone().placed(rotated());
        for _ in 0..100 {
            let point = random_point(&mut random, 1.0);
            let error = placed.distance(rotated().point(point)) - 1.3 * shape.distance(point);
            assert!(error.abs() < 1e-5, "{shape:?}");
        }
    }
}

#[test]
fn primitives_have_the_volumes_that_counting_finds() {
    let mut random = SequentialRng::new(7);
    for shape in primitives() {
        let hits = (0..200_000).filter(|_| shape.contains(random_point(&mut random, 1.0))).count();
        let counted = 8.0 * hits as f64 / 200_000.0;
        // The standard deviation of the count is below 0.009 m3; this is four of them.
        assert!((shape.volume() - counted).abs() < 0.036, "{shape:?}: {} {counted}", shape.volume());
        assert!((shape.clone().placed(rotated()).volume() / shape.volume() - 1.3f64.powi(3)).abs() < 1e-4);
    }
}

#[test]
fn measured_volumes_of_combinations_are_within_half_a_percent() {
    let ball = |r: f64| 4.0 / 3.0 * PI * r * r * r;
    // A ball, a neck that leaves it where 0.5^2 = 0.2^2 + y^2, the cap between, and a far ball.
    let y = (0.25f64 - 0.04).sqrt();
    let cap = PI * (0.5 - y).powi(2) * (3.0 * 0.5 - (0.5 - y)) / 3.0;
    let neck = PI * 0.04 * (1.0 - y) - cap;
    let expected = ball(0.5) + neck + ball(0.1);
    assert!((head().volume() / expected - 1.0).abs() < 0.005, "{} {expected}", head().volume());
    let shell =
        Shape::Difference { base: Box::new(Shape::Sphere { radius: 0.5 }), cuts: vec![Shape::Sphere { radius: 0.48 }] };
    assert!((shell.volume() / (ball(0.5) - ball(0.48)) - 1.0).abs() < 0.005);
    let boxes = Shape::Intersection(vec![
        Shape::Box { size: Vec3::ONE },
        Shape::Box { size: Vec3::ONE }.placed(Placement::at(Vec3::splat(0.3))),
    ]);
    assert!((boxes.volume() / 0.343 - 1.0).abs() < 0.005);
}

#[test]
fn surfaces_are_closed_and_hold_the_volume() -> Result<(), ShapeError> {
    for shape in shapes() {
        let mesh = shape.surface(0.05)?;
        assert_eq!(mesh.open_edges(), 0, "{shape:?}");
        let ratio = mesh.volume() / shape.volume();
        // Chords of 0.05 m on radii of 0.25 m and more cut off less than a percent.
        assert!((ratio - 1.0).abs() < 0.01, "{shape:?}: {ratio}");
        for vertex in &mesh.positions {
            assert!(shape.distance(*vertex).abs() < 0.1 * 0.05, "{shape:?} at {vertex}");
        }
    }
    Ok(())
}

#[test]
fn surfaces_have_the_handles_of_their_shapes() -> Result<(), ShapeError> {
    assert_eq!(Shape::Sphere { radius: 0.5 }.surface(0.05)?.genus(), Some(0));
    assert_eq!(Shape::Torus { radius: 0.6, tube: 0.2 }.surface(0.05)?.genus(), Some(1));
    let mesh = head().surface(0.04)?;
    assert_eq!((mesh.genus(), mesh.components()), (Some(0), 2));
    Ok(())
}

/// Distances from the corners of a placed box to the nearest vertices of its surface, in cells.
fn corner_errors(size: Vec3, placement: Placement, cell: Real) -> Result<Vec<Real>, ShapeError> {
    let mesh = Shape::Box { size }.placed(placement).surface(cell)?;
    let error = |corner: u32| {
        let sign = Vec3::new((corner & 1) as Real, (corner >> 1 & 1) as Real, (corner >> 2) as Real) * 2.0 - 1.0;
        let corner = placement.point(0.5 * size * sign);
        mesh.positions.iter().map(|p| p.distance(corner)).fold(Real::INFINITY, Real::min) / cell
    };
    Ok((0..8).map(error).collect())
}

#[test]
fn the_corners_of_a_box_stay_sharp() -> Result<(), ShapeError> {
    let size = Vec3::new(1.0, 0.6, 1.4);
    // Crossings are found to a hundred-thousandth of a cell; planes at right angles keep that.
    for placement in [Placement::default(), rotated()] {
        assert!(corner_errors(size, placement, 0.07)?.iter().all(|error| *error < 0.01));
    }
    let mut random = SequentialRng::new(8);
    let mut missed = 0;
    for _ in 0..25 {
        let turn = random_point(&mut random, 180.0);
        let placement = Placement { at: random_point(&mut random, 1.0), turn, scale: 1.0 };
        missed += corner_errors(size, placement, 0.07)?.iter().filter(|error| **error > 0.01).count();
    }
    // A corner between grid points may escape all probes: five of 480 do. This is of 200.
    assert!(missed <= 6, "{missed}");
    Ok(())
}

#[test]
fn surfaces_do_not_depend_on_the_threads() {
    let on = |threads| phyxel::parallel::with_threads(Some(threads), || head().surface(0.03));
    assert_eq!(on(1), on(4));
}

#[test]
fn a_mesh_is_its_own_surface() -> Result<(), Box<dyn std::error::Error>> {
    let cube = fixtures::cube(Vec3::ZERO);
    let solid = Shape::Mesh(Arc::new(MeshSolid::new(cube.clone())?));
    assert_eq!(solid.surface(0.1)?, cube);
    assert!((solid.volume() - 1.0).abs() < 1e-6);
    let cut = Shape::Difference { base: Box::new(solid.clone()), cuts: vec![Shape::Sphere { radius: 0.6 }] };
    let mesh = cut.surface(0.05)?;
    assert_eq!(mesh.open_edges(), 0);
    assert!((mesh.volume() / cut.volume() - 1.0).abs() < 0.02);
    let moved = solid.placed(Placement::at(Vec3::Y)).surface(0.1)?;
    assert_eq!(moved.positions, fixtures::cube(Vec3::Y).positions);
    Ok(())
}

#[test]
fn surfaces_that_cannot_be_made_say_why() {
    let ball = Shape::Sphere { radius: 1.0 };
    assert_eq!(Shape::Plane { normal: Vec3::Y }.surface(0.1), Err(ShapeError::Unbounded));
    assert_eq!(ball.surface(0.0), Err(ShapeError::BadCell { cell: 0.0 }));
    assert!(matches!(Shape::Sphere { radius: Real::NAN }.surface(0.1), Err(ShapeError::NotPositive { .. })));
    assert_eq!(ball.surface(1e3), Err(ShapeError::TooCoarse { cell: 1e3 }));
    let Err(error @ ShapeError::TooManyCells { enough, .. }) = ball.surface(1e-4) else {
        panic!("8e12 cells were made");
    };
    assert!(error.to_string().contains("would take 80"), "{error}");
    assert!(enough > 5e-3 && enough < 6e-3);
}
