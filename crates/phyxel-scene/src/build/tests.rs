//! Worlds are what their scenes say.

use super::{BuildOptions, Built};
use crate::{BuildError, Scene};
use glam::Vec3;
use phyxel::model::ModelKind;
use phyxel::obstacle::Geometry;
use phyxel::skin::{Skin, Surfels};
use std::path::Path;

fn scene(text: &str) -> Scene {
    let text = format!("version = 1\nduration = 1.0\n{text}");
    Scene::read(&text, "x.toml", Path::new(".")).unwrap_or_else(|errors| panic!("{errors}"))
}

fn build(text: &str) -> Built {
    scene(text).build(&BuildOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn refuse(text: &str) -> String {
    scene(text).build(&BuildOptions::default()).unwrap_err().to_string()
}

/// A box of 8 x 4 x 4 particles of rubber.
const BODY: &str = "[[bodies]]\nname = 'a'\nmodel = 'shape_matching'\nmaterial = 'rubber'\nspacing = 0.25\n\
                    shape = { kind = 'box', size = [2, 1, 1] }\n";

fn centre_of(built: &Built, body: usize) -> Vec3 {
    let range = built.world.bodies()[body].range();
    let count = range.len() as f32;
    built.world.particles().position[range].iter().sum::<Vec3>() / count
}

#[test]
fn particles_share_the_mass_of_the_shape() {
    let built = build(&format!("{BODY}temperature = 30\nvelocity = [1, 2, 3]\nplace = {{ at = [5, 0, 0] }}\n"));
    let body = &built.world.bodies()[0];
    assert_eq!((body.len(), body.model, body.spacing), (128, ModelKind::ShapeMatching, 0.25));
    let mass: f64 = built.world.particles().mass.iter().map(|mass| f64::from(*mass)).sum();
    // Density times volume, summed over 128 rounded masses.
    assert!((mass - 930.0 * 2.0).abs() < 1.0e-3, "{mass}");
    assert!(built.world.particles().velocity.iter().all(|velocity| *velocity == Vec3::new(1.0, 2.0, 3.0)));
    assert!(centre_of(&built, 0).distance(Vec3::new(5.0, 0.0, 0.0)) < 1.0e-5);
    assert_eq!(built.warnings, [] as [&str; 0]);
}

#[test]
fn the_scale_of_a_place_holds_for_shape_skin_and_held_regions_not_for_the_spacing() {
    let built = build(&format!(
        "{BODY}place = {{ scale = 0.5 }}\nskin = {{ kind = 'mesh' }}\n\
         held = [{{ kind = 'box', size = [0.5, 9, 9], at = [0.75, 0, 0] }}]\n"
    ));
    let body = &built.world.bodies()[0];
    assert_eq!((body.len(), body.spacing), (16, 0.25));
    let held = (0..16).filter(|index| built.world.particles().is_fixed(*index)).count();
    assert_eq!(held, 4);
    let Skin::Mesh(mesh) = &body.skin else { panic!("a mesh") };
    let extent = mesh.positions.iter().map(|position| position.x).fold(0.0, f32::max);
    assert!((extent - 0.5).abs() < 0.02, "{extent}");
}

#[test]
fn copies_in_a_grid_stand_in_rows_and_have_numbers() {
    let built = build(&format!("{BODY}copies = {{ grid = [2, 1, 3], step = [3, 0, 2] }}\n"));
    let names: Vec<&str> = built.world.bodies().iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["a-1", "a-2", "a-3", "a-4", "a-5", "a-6"]);
    assert!(centre_of(&built, 5).distance(Vec3::new(3.0, 0.0, 4.0)) < 1.0e-5);
    assert_eq!(built.world.particles().len(), 6 * 128);
}

#[test]
fn copies_in_a_stack_go_up() {
    let built = build(&format!("{BODY}copies = {{ stack = 3, step = 1.5 }}\n"));
    assert!(centre_of(&built, 2).distance(Vec3::new(0.0, 3.0, 0.0)) < 1.0e-5);
}

#[test]
fn random_copies_keep_apart_stay_in_their_region_and_follow_the_seed() {
    let text = format!("{BODY}copies = {{ random = 20, in = {{ kind = 'box', size = [20, 20, 20] }}, turn = true }}\n");
    let centres = |seed: u64| {
        let options = BuildOptions { seed: Some(seed), ..BuildOptions::default() };
        let built = scene(&text).build(&options).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(built.warnings, [] as [&str; 0]);
        (0..20).map(|body| centre_of(&built, body)).collect::<Vec<Vec3>>()
    };
    let positions = centres(1);
    assert_eq!(positions, centres(1));
    assert_ne!(positions, centres(2));
    for (number, position) in positions.iter().enumerate() {
        assert!(position.abs().max_element() <= 10.001);
        // Twice the distance of the furthest sample, 1.01 m.
        assert!(positions[..number].iter().all(|other| other.distance(*position) > 2.0));
    }
}

#[test]
fn a_region_too_small_for_its_copies_is_warned_of() {
    let built = build(&format!("{BODY}copies = {{ random = 9, in = {{ kind = 'sphere', radius = 1 }} }}\n"));
    let expected = "copies found no position clear of the others; make the region larger or the copies fewer";
    assert!(
        built.warnings[0].starts_with("body \"a\": ") && built.warnings[0].ends_with(expected),
        "{:?}",
        built.warnings
    );
}

#[test]
fn too_many_particles_are_refused_before_they_are_made() {
    let fine = "[[bodies]]\nname = 'fine'\nmodel = 'shape_matching'\nmaterial = 'wax'\nspacing = 1e-6\n\
        shape = { kind = 'box', size = [1, 1, 1] }\n";
    let error = refuse(&format!("{BODY}copies = {{ stack = 10, step = 2 }}\n{fine}"));
    assert!(error.starts_with("the scene needs about 1000000"), "{error}");
    assert!(error.contains("more than the 10000000 allowed (a: 1280, fine: 1000000"), "{error}");
    let few = BuildOptions { max_particles: 100, seed: None };
    assert!(matches!(scene(BODY).build(&few), Err(BuildError::TooManyParticles { total: 128, limit: 100, .. })));
}

#[test]
fn a_body_that_cannot_be_filled_is_named() {
    let endless = "[[bodies]]\nname = 'e'\nmodel = 'shape_matching'\nmaterial = 'wax'\nspacing = 1\n\
                   shape = { kind = 'union', parts = [{ kind = 'plane' }] }\n";
    assert!(refuse(endless).starts_with("body \"e\": the shape has no end"));
    let thin = "[[bodies]]\nname = 't'\nmodel = 'shape_matching'\nmaterial = 'wax'\nspacing = 10\n\
        shape = { kind = 'torus', radius = 2, tube = 0.5 }\n";
    assert!(refuse(thin).starts_with("body \"t\": no sample falls inside the shape at spacing 10 m"));
}

#[test]
fn clusters_along_the_longest_side_are_near_cubes() {
    let built = build(&format!("{BODY}shape_matching = {{ clusters = 4 }}\n"));
    assert_eq!(built.world.bodies()[0].len(), 128);
    let bounds = scene(BODY).bodies[0].shape.as_ref().and_then(|shape| shape.bounds());
    let planned = super::body::cluster_counts(crate::ClusterPlan::Longest(4), bounds);
    assert_eq!(planned, phyxel::model::shape_matching::Clusters::Counts([4, 2, 2]));
}

fn geometry(shape: &str) -> phyxel::obstacle::Obstacle {
    let built = build(&format!("{BODY}[[obstacles]]\nname = 'o'\nactive = false\n{shape}\n"));
    built.world.obstacles()[0].clone()
}

#[test]
fn simple_obstacles_become_the_engines_own_geometry() {
    let box_ = geometry(
        "shape = { kind = 'box', size = [1, 2, 3], scale = 2, at = [1, 0, 0] }\n\
         place = { at = [0, 5, 0], scale = 3, turn = [0, 0, 90] }",
    );
    assert_eq!(box_.geometry, Geometry::Box { size: Vec3::new(6.0, 12.0, 18.0) });
    // Three metres along x, turned to y.
    assert!(box_.pose(0.0).position.distance(Vec3::new(0.0, 8.0, 0.0)) < 1.0e-5, "{}", box_.pose(0.0).position);
    assert_eq!(geometry("shape = { kind = 'sphere', radius = 2 }").geometry, Geometry::Sphere { radius: 2.0 });
    assert_eq!(
        geometry("shape = { kind = 'cone', radius = 2, height = 1 }").geometry,
        Geometry::Cone { radius: 2.0, height: 1.0 }
    );
    assert_eq!(
        geometry("shape = { kind = 'plane', normal = [0, 2, 0] }").geometry,
        Geometry::HalfSpace { normal: Vec3::Y }
    );
    assert_eq!(
        geometry("shape = { kind = 'capsule', radius = 2, height = 1 }").geometry,
        Geometry::Capsule { radius: 2.0, height: 1.0 }
    );
    assert_eq!(
        geometry("shape = { kind = 'cylinder', radius = 2, height = 1 }").geometry,
        Geometry::Cylinder { radius: 2.0, height: 1.0 }
    );
}

#[test]
fn combined_obstacles_become_grids_with_positive_borders() {
    let funnel = geometry(
        "shape = { kind = 'difference', base = { kind = 'cylinder', radius = 1, height = 1 }, cuts = [{ kind = \
         'cylinder', radius = 0.8, height = 2 }] }",
    );
    let Geometry::Grid(grid) = &funnel.geometry else { panic!("a grid") };
    assert_eq!(grid.cell, 2.0 / 64.0);
    let [nx, ny, nz] = grid.counts;
    assert_eq!(grid.values.len() as u32, nx * ny * nz);
    let mut inside = 0.0;
    for (corner, value) in grid.values.iter().enumerate() {
        let corner = corner as u32;
        let index = [corner % nx, corner / nx % ny, corner / (nx * ny)];
        let border = index.iter().zip(grid.counts).any(|(i, count)| *i == 0 || *i == count - 1);
        assert!(!border || *value > 0.0);
        inside += f64::from(u8::from(*value < 0.0)) * f64::from(grid.cell).powi(3);
    }
    // The volume of a ring, to the width of a cell.
    assert!((inside - std::f64::consts::PI * 0.36).abs() < 0.1, "{inside}");
}

#[test]
fn obstacles_that_cannot_be_sampled_are_named() {
    let obstacle = |lines: &str| format!("{BODY}[[obstacles]]\nname = 'o'\n{lines}\n");
    let endless = refuse(&obstacle("shape = { kind = 'union', parts = [{ kind = 'plane' }] }"));
    assert!(endless.starts_with("obstacle \"o\": its shape has no end"), "{endless}");
    let fine = refuse(&obstacle("shape = { kind = 'torus', radius = 2, tube = 0.5 }\ncell = 1e-30"));
    assert!(fine.contains("make `cell` larger"), "{fine}");
    let coarse = build(&obstacle("shape = { kind = 'torus', radius = 9, tube = 0.1 }\ncell = 1.55"));
    assert!(coarse.warnings[0].contains("make `cell` smaller than 1.55 m"), "{:?}", coarse.warnings);
}

#[test]
fn moving_obstacles_keep_their_keyframes() {
    let lift = geometry(
        "shape = { kind = 'sphere', radius = 1, at = [1, 0, 0] }\n\
         keyframes = [{ time = 0 }, { time = 2, at = [0, 4, 0] }]",
    );
    assert!(lift.pose(1.0).position.distance(Vec3::new(1.0, 2.0, 0.0)) < 1.0e-5);
}

#[test]
fn bodies_that_overlap_are_warned_of_by_name_and_number() {
    let second = BODY.replace("'a'", "'b'");
    let built = build(&format!("{BODY}{second}place = {{ at = [1.5, 0, 0] }}\n"));
    // Two layers of 4 x 4 of each body fall into the same places.
    assert_eq!(built.warnings, ["bodies \"a\" and \"b\" overlap at the start with 64 particles; move them apart"]);
    assert_eq!(build(&format!("{BODY}{second}place = {{ at = [2.0, 0, 0] }}\n")).warnings, [] as [&str; 0]);
    let many = build(&format!("{BODY}copies = {{ stack = 30, step = 0.75 }}\n")).warnings;
    assert_eq!((many.len(), many.last().map(String::as_str)), (11, Some("and 19 more warnings of this kind")));
}

#[test]
fn a_body_inside_an_obstacle_is_warned_of() {
    let floor = |height: f32| {
        build(&format!(
            "{BODY}[[obstacles]]\nname = 'floor'\nshape = {{ kind = 'plane' }}\nplace = {{ at = [0, {height}, 0] }}\n"
        ))
        .warnings
    };
    assert_eq!(floor(-0.5), [] as [&str; 0]);
    assert_eq!(
        floor(-0.2),
        ["body \"a\" starts inside obstacle \"floor\" with 32 of its 128 particles; move one of them"]
    );
}

#[test]
fn held_regions_without_particles_are_warned_of() {
    let built = build(&format!("{BODY}held = [{{ kind = 'sphere', radius = 0.1, at = [9, 9, 9] }}]\n"));
    assert!(built.warnings[0].starts_with("body \"a\": no particle lies in its held regions"), "{:?}", built.warnings);
}

#[test]
fn a_scene_without_bodies_is_warned_of() {
    assert_eq!(build("").warnings, ["the scene has no bodies; add [[bodies]]"]);
}

#[test]
fn the_example_becomes_a_world() {
    let text = include_str!("../read/tests/example.toml");
    let scene = Scene::read(text, "x.toml", Path::new(".")).unwrap_or_else(|errors| panic!("{errors}"));
    let built = scene.build(&BuildOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(built.world.bodies().len(), 7);
    assert_eq!(built.world.bodies()[0].len(), 4 * 4 * 9);
    assert_eq!(built.world.obstacles().len(), 3);
    assert_eq!(built.world.settings().substeps, Some(20));
    assert_eq!(built.warnings, [] as [&str; 0]);
}

#[test]
fn events_reach_every_copy_and_the_samples_they_mean() {
    let text = format!(
        "{BODY}copies = {{ stack = 2, step = 2 }}\n\
         [[events]]\nat = 1\ntarget = 'a'\nset = {{ beta = 0.5, temperature = 3 }}\n\
         [[events]]\nat = 1\ntarget = 'a'\ndo = 'hold'\n\
         region = {{ kind = 'box', size = [0.25, 9, 9], at = [0.875, 0, 0] }}\n\
         [[events]]\nat = 1\ntarget = 'a'\ndo = 'drag'\npoint = [9, 9, 9]\nto = [0, 0, 0]\ntau = 1\nlimit = 1\n"
    );
    let scene = scene(&text);
    let mut warnings = Vec::new();
    let random = crate::sample::SequentialRng::new(0);
    let templates =
        vec![super::body::make_template(&scene.bodies[0], &mut random.clone(), 1000, &mut warnings).unwrap()];
    let context = super::event::EventContext { bodies: &scene.bodies, templates: &templates };
    let counts: Vec<usize> =
        scene.events.iter().map(|event| super::event::commands(event, &context, &mut warnings).len()).collect();
    assert_eq!(counts, [4, 2, 2]);
    let hold = super::event::commands(&scene.events[1], &context, &mut warnings);
    let phyxel::commands::Command::Hold { body, region: phyxel::commands::Region::Ids(samples), on: true } = &hold[1]
    else {
        panic!("{hold:?}")
    };
    assert_eq!((body.as_str(), samples.len()), ("a-2", 16));
    let drag = super::event::commands(&scene.events[2], &context, &mut warnings);
    let phyxel::commands::Command::Drag(drag) = &drag[0] else { panic!("{drag:?}") };
    assert_eq!(templates[0].samples[drag.particle as usize], Vec3::new(0.875, 0.375, 0.375));
    assert_eq!(warnings, [] as [&str; 0]);
}

/// A cube of 2 m, as an OBJ file.
const CUBE: &str = "v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\n\
                    f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

#[test]
fn meshes_fill_bodies_make_skins_and_stand_in_the_way() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cube.obj"), CUBE).unwrap();
    let text = "version = 1\nduration = 1\n[[bodies]]\nname = 'a'\nmodel = 'shape_matching'\nmaterial = 'water'\n\
        spacing = 0.5\n\
                shape = { kind = 'mesh', path = 'cube.obj' }\nskin = { kind = 'mesh' }\n\
                place = { at = [0, 5, 0], scale = 0.5 }\n\
                [[bodies]]\nname = 'b'\nmodel = 'shape_matching'\nmaterial = 'water'\nspacing = 0.5\n\
                place = { at = [9, 0, 0] }\n\
                shape = { kind = 'sphere', radius = 1 }\nskin = { kind = 'mesh', path = 'cube.obj' }\n\
                [[obstacles]]\nname = 'o'\nshape = { kind = 'mesh', path = 'cube.obj', scale = 2 }\n";
    let scene = Scene::read(text, "x.toml", folder.path()).unwrap_or_else(|errors| panic!("{errors}"));
    let built = scene.build(&BuildOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(built.warnings, [] as [&str; 0]);
    assert_eq!(built.world.bodies()[0].len(), 8);
    let mass: f32 = built.world.particles().mass[..8].iter().sum();
    assert!((mass - 998.0).abs() < 0.1, "{mass}");
    let extent = |body: usize| {
        let Skin::Mesh(mesh) = &built.world.bodies()[body].skin else { panic!("a mesh") };
        assert_eq!(mesh.positions.len(), 8);
        mesh.positions.iter().map(|position| position.x).fold(0.0, f32::max)
    };
    assert_eq!((extent(0), extent(1)), (0.5, 1.0));
    let Geometry::Mesh { positions, triangles } = &built.world.obstacles()[0].geometry else { panic!("a mesh") };
    assert_eq!((positions[0], triangles.len()), (Vec3::splat(-2.0), 12));
}

/// A ball of phyxels, 1 m across and with particles 0.1 m apart, with more lines.
fn ball(lines: &str) -> String {
    format!(
        "version = 1\nduration = 1\n[[bodies]]\nname = 'a'\nmodel = 'continuum'\nmaterial = 'rubber'\nspacing = 0.1\n\
         shape = {{ kind = 'sphere', radius = 0.5 }}\n{lines}\n"
    )
}

#[test]
fn surfels_cover_the_shape_or_a_mesh_at_the_spacing_of_the_skin() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("cube.obj"), CUBE).unwrap();
    let surfels = |lines: &str| {
        let scene = Scene::read(&ball(lines), "x.toml", folder.path()).unwrap_or_else(|errors| panic!("{errors}"));
        let built = scene.build(&BuildOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        let Skin::Surfels(surfels) = &built.world.bodies()[0].skin else { panic!("surfels") };
        surfels.as_ref().clone()
    };
    let extent = |surfels: &Surfels| surfels.positions.iter().map(|x| x.length()).fold(0.0, f32::max);
    // Half the spacing of the particles: pi/0.05^2 = 1257 squares.
    let default = surfels("skin = { kind = 'surfels' }");
    assert!((default.positions.len() as f32 / 1257.0 - 1.0).abs() < 0.06, "{}", default.positions.len());
    assert!((extent(&default) - 0.5).abs() < 0.003, "{}", extent(&default));
    assert_eq!(default, surfels("skin = { kind = 'surfels', spacing = 0.05 }"));
    let small = surfels("skin = { kind = 'surfels', spacing = 0.05 }\nplace = { scale = 0.5 }");
    assert!((small.positions.len() as f32 / 314.0 - 1.0).abs() < 0.08, "{}", small.positions.len());
    // A cube of 2 m, and rims around its faces.
    let cube = surfels("skin = { kind = 'surfels', spacing = 0.1, path = 'cube.obj' }");
    let ratio = cube.positions.len() as f32 / 2400.0;
    assert!(ratio > 0.97 && ratio < 1.12, "{ratio}");
    assert!(cube.positions.iter().all(|x| (x.abs().max_element() - 1.0).abs() < 1e-6));
}

#[test]
fn surfels_that_are_too_many_or_on_nothing_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let line = "v 0 0 0\nv 1 0 0\nv 2 0 0\n";
    std::fs::write(folder.path().join("line.obj"), format!("{line}f 1 2 3\n")).unwrap();
    std::fs::write(folder.path().join("points.obj"), format!("{line}vn 0 1 0\np 1 2 3\n")).unwrap();
    std::fs::write(folder.path().join("cube.obj"), CUBE).unwrap();
    let read =
        |skin: &str| Scene::read(&ball(&format!("skin = {{ kind = 'surfels', {skin} }}")), "x.toml", folder.path());
    let refused = |skin: &str| read(skin).unwrap().build(&BuildOptions::default()).unwrap_err().to_string();
    let error = refused("path = 'cube.obj', spacing = 1e-4");
    assert!(error.contains("body \"a\": surfels 0.0001 m apart would be about 2400000"), "{error}");
    assert!(
        error.contains("limit of 10000000") && error.contains("raise `skin.spacing` to at least 1.565e-3 m"),
        "{error}"
    );
    let error = refused("spacing = 1e-4");
    assert!(error.contains("skin of body \"a\"") && error.contains("change `skin.spacing`"), "{error}");
    let error = refused("path = 'line.obj'");
    assert!(error.contains("body \"a\"") && error.contains("no area"), "{error}");
    let error = read("path = 'points.obj'").unwrap_err().to_string();
    assert!(error.contains("points.obj") && error.contains("export it with faces"), "{error}");
}
