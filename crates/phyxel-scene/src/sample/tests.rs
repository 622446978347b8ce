use super::*;
use crate::shape::Placement;
use phyxel::parallel;

const ALL: [Sampler; 3] = [Sampler::Lattice, Sampler::Ccp, Sampler::Poisson];

fn head() -> Shape {
    let at = |x: Real, y: Real, z: Real| Placement::at(Vec3::new(x, y, z));
    Shape::Union(vec![
        Shape::Ellipsoid { radii: Vec3::new(0.4, 0.5, 0.45) },
        Shape::Cylinder { radius: 0.2, height: 0.5 }.placed(at(0.0, -0.5, 0.0)),
        Shape::Sphere { radius: 0.1 }.placed(at(0.0, 0.0, 0.45)),
    ])
}

/// Smallest distance of two points, by brute force.
fn min_distance(points: &[Vec3]) -> Real {
    let mut min_squared = Real::INFINITY;
    for (i, a) in points.iter().enumerate() {
        for b in &points[i + 1..] {
            min_squared = min_squared.min(a.distance_squared(*b));
        }
    }
    min_squared.sqrt()
}

#[test]
fn a_box_gets_its_points_at_the_centres_of_cells() -> Result<(), SampleError> {
    let shape = Shape::Box { size: Vec3::new(0.4, 0.3, 0.9) };
    let samples = sample(&shape, Sampler::Lattice, 0.1, 0, 1000)?;
    assert_eq!(samples.positions.len(), 4 * 3 * 9);
    // 0.05 m from every face, up to rounding of the coordinates.
    assert!(samples.positions[0].distance(Vec3::new(-0.15, -0.1, -0.4)) < 1e-6);
    assert!(samples.positions[107].distance(Vec3::new(0.15, 0.1, 0.4)) < 1e-6);
    assert!((samples.volume - 0.108).abs() < 1e-6);
    let middle = samples.positions.iter().sum::<Vec3>();
    assert!(middle.length() < 1e-4, "{middle}");
    Ok(())
}

#[test]
fn a_lattice_has_one_point_per_cell_and_is_symmetrical() -> Result<(), SampleError> {
    let shape = Shape::Sphere { radius: 0.5 };
    let samples = sample(&shape, Sampler::Lattice, 0.05, 0, 10_000)?;
    let expected = estimate(&shape, Sampler::Lattice, 0.05);
    // The error of counting lattice points in a ball of ten spacings is below two percent.
    assert!((samples.positions.len() as f64 / expected - 1.0).abs() < 0.02);
    assert!((samples.positions.iter().sum::<Vec3>() / samples.positions.len() as Real).length() < 1e-6);
    assert!((min_distance(&samples.positions) - 0.05).abs() < 1e-6);
    Ok(())
}

#[test]
fn closest_packing_has_twelve_neighbours_one_spacing_away() -> Result<(), SampleError> {
    let shape = Shape::Sphere { radius: 0.5 };
    let spacing = 0.1;
    let samples = sample(&shape, Sampler::Ccp, spacing, 0, 10_000)?;
    assert!((min_distance(&samples.positions) - spacing).abs() < 1e-6);
    let near = |point: &Vec3| samples.positions.iter().filter(|p| p.distance(*point) < 1.01 * spacing).count() - 1;
    for point in samples.positions.iter().filter(|point| point.length() < 0.35) {
        assert_eq!(near(point), 12);
    }
    let expected = estimate(&shape, Sampler::Ccp, spacing);
    // A ball of five spacings, some of them in shells: five percent.
    assert!((samples.positions.len() as f64 / expected - 1.0).abs() < 0.05, "{}", samples.positions.len());
    Ok(())
}

#[test]
fn blue_noise_has_the_density_of_a_lattice_and_keeps_its_distance() -> Result<(), SampleError> {
    let block = Shape::Box { size: Vec3::new(1.0, 0.8, 0.6) };
    for (shape, spacing) in [(block.clone(), 0.06), (block, 0.15), (head(), 0.05)] {
        for seed in 0..3 {
            let samples = sample(&shape, Sampler::Poisson, spacing, seed, 10_000)?;
            let ratio = samples.positions.len() as f64 / estimate(&shape, Sampler::Poisson, spacing);
            assert!((ratio - 1.0).abs() < 0.15, "{ratio}");
            assert!(min_distance(&samples.positions) >= 0.7 * spacing);
            assert!(samples.positions.iter().all(|point| shape.contains(*point)));
        }
    }
    Ok(())
}

#[test]
fn blue_noise_leaves_no_hole_larger_than_its_distance() -> Result<(), SampleError> {
    let shape = Shape::Box { size: Vec3::ONE };
    let samples = sample(&shape, Sampler::Poisson, 0.1, 3, 10_000)?;
    let mut random = SequentialRng::new(11);
    for _ in 0..2000 {
        let point = (random.uniform_vec3() - 0.5) * 0.999;
        let nearest = samples.positions.iter().map(|p| p.distance(point)).fold(Real::INFINITY, Real::min);
        // Thirty darts a cell leave few holes, and none much wider than the distance of 0.09.
        assert!(nearest < 0.11, "{nearest} at {point}");
    }
    Ok(())
}

#[test]
fn samples_depend_on_the_seed_and_not_on_the_threads() -> Result<(), SampleError> {
    for sampler in ALL {
        let with = |threads, seed| parallel::with_threads(Some(threads), || sample(&head(), sampler, 0.05, seed, 9999));
        assert_eq!(with(1, 5)?, with(4, 5)?);
        if sampler == Sampler::Poisson {
            assert_ne!(with(1, 5)?, with(1, 6)?);
        }
    }
    Ok(())
}

#[test]
fn neighbours_in_the_list_are_near_in_space() -> Result<(), SampleError> {
    for sampler in ALL {
        let samples = sample(&head(), sampler, 0.05, 1, 10_000)?;
        let steps = samples.positions.windows(2).filter(|pair| pair[0].distance(pair[1]) > 0.5).count();
        // Jumps longer than half the head happen at the ends of rows only, about 300 of thousands.
        assert!(steps * 5 < samples.positions.len(), "{steps} of {}", samples.positions.len());
    }
    Ok(())
}

#[test]
fn too_many_particles_are_refused_with_a_spacing_that_works() -> Result<(), SampleError> {
    let shape = Shape::Box { size: Vec3::ONE };
    for sampler in ALL {
        let Err(SampleError::TooMany { expected, limit: 500, enough, .. }) = sample(&shape, sampler, 0.001, 0, 500)
        else {
            panic!("a billion particles were taken for fewer than 500");
        };
        assert!((expected / (1e9 * sampler.density()) - 1.0).abs() < 1e-5);
        // A little more for the walls of so small a number.
        assert!(sample(&shape, sampler, 1.1 * enough, 0, 500)?.positions.len() <= 500);
    }
    let message = sample(&shape, Sampler::Lattice, 0.1, 0, 500).map_err(|error| error.to_string());
    let expected = "a spacing of 0.1 m would take about 1000 particles, more than the limit of 500; \
        raise the spacing to at least 1.273e-1 m or the limit with --max-particles";
    assert_eq!(message, Err(expected.into()));
    Ok(())
}

#[test]
fn an_empty_result_names_a_spacing_that_works() -> Result<(), SampleError> {
    // A thin ring: no lattice point of a coarse lattice is in it.
    let shape = Shape::Torus { radius: 0.5, tube: 0.02 };
    for sampler in [Sampler::Lattice, Sampler::Ccp] {
        let Err(SampleError::Empty { spacing, largest }) = sample(&shape, sampler, 0.47, 0, 1_000_000) else {
            panic!("there is a sample in the ring");
        };
        assert!(largest < spacing);
        assert!(!sample(&shape, sampler, largest, 0, 1_000_000)?.positions.is_empty());
    }
    Ok(())
}

#[test]
fn what_cannot_be_filled_is_refused() {
    let shape = Shape::Sphere { radius: 1.0 };
    for spacing in [0.0, -1.0, Real::NAN, Real::INFINITY] {
        assert!(matches!(sample(&shape, Sampler::Lattice, spacing, 0, 10), Err(SampleError::BadSpacing { .. })));
    }
    let nowhere = shape.clone().placed(Placement::at(Vec3::NAN));
    assert!(matches!(sample(&nowhere, Sampler::Lattice, 0.1, 0, 10), Err(SampleError::Shape(_))));
    let plane = Shape::Plane { normal: Vec3::Y };
    assert_eq!(sample(&plane, Sampler::Lattice, 0.1, 0, 10), Err(SampleError::Unbounded));
    let apart = Shape::Intersection(vec![shape.clone(), shape.placed(Placement::at(Vec3::X * 3.0))]);
    assert_eq!(sample(&apart, Sampler::Lattice, 0.1, 0, 10), Err(SampleError::NoInside));
    // No volume to speak of, and a hundred million cells around it.
    let thread = Shape::Torus { radius: 1e-3, tube: 1e-45 };
    assert_eq!(sample(&thread, Sampler::Poisson, 1e-9, 0, 1000), Err(SampleError::NoInside));
}

#[test]
fn two_small_parts_far_apart_take_little_time() -> Result<(), SampleError> {
    let grain = || Shape::Sphere { radius: 0.05 };
    let far = Shape::Union(vec![grain(), grain().placed(Placement::at(Vec3::splat(20.0)))]);
    for sampler in ALL {
        let samples = sample(&far, sampler, 0.02, 0, 1000)?;
        let near = samples.positions.iter().filter(|point| point.length() < 1.0).count();
        assert!(near > 30 && samples.positions.len() - near > 30);
    }
    Ok(())
}

#[test]
fn a_sheet_thinner_than_the_spacing_counts_as_a_layer_of_particles() {
    let sheet = Shape::Box { size: Vec3::new(0.2, 1e-45, 1024.0) };
    let refused = sample(&sheet, Sampler::Lattice, 1e-3, 0, 1_000_000);
    let Err(SampleError::TooMany { expected, .. }) = refused else { panic!("{refused:?}") };
    // 200 rows of 1,024,000, but for the digits of 1e-3.
    assert!((expected / 204.8e6 - 1.0).abs() < 1e-3, "{expected}");
    let few = sample(&sheet, Sampler::Lattice, 0.1, 0, 100_000).map(|samples| samples.positions.len());
    assert_eq!(few, Ok(2 * 10240));
}
