//! Melting of scanned meshes, which are not part of the repository; skipped where they are missing.

use phyxel_run::{Ending, MemoryOptions, run_scene_in_memory};
use phyxel_scene::Scene;
use std::path::Path;

/// Scan of a rabbit, two metres tall, on a hot plate. Long tests use about the number of particles of `[WHP06]`
/// figure 7, 9,871, others an eighth of it.
#[test]
#[allow(clippy::print_stderr)]
fn the_bunny_melts() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/models/stanford-bunny.obj");
    if !path.exists() {
        eprintln!("skipped: stanford-bunny.obj is missing");
        return;
    }
    // A tenth melts within a second.
    let (spacing, molten) = if std::env::var_os("PHYXEL_LONG").is_some() { (0.0618, 987) } else { (0.1236, 125) };
    let text = format!(
        "version = 1\nduration = 1.0\nframe_rate = 30\ncontact_conductance = 1.0e6\n\
         [materials.sugar]\ndensity = 1000.0\nyoung_modulus = 1.6e5\npoisson_ratio = 0.45\ndamping = 0.1\n\
         heat = {{ conductivity = 2700.0, specific_heat = 100.0, melting = 40.0, latent = 1500.0 }}\n\
         fluid = {{ viscosity = 8.0, surface_tension = 1.0 }}\n\
         [[bodies]]\nname = \"bunny\"\nmodel = \"crystal\"\nmaterial = \"sugar\"\nspacing = {spacing}\n\
         temperature = 20.0\n\
         shape = {{ kind = \"mesh\", path = {path:?} }}\nplace = {{ at = [0.0, -0.38, 0.0], scale = 13.0 }}\n\
         [[obstacles]]\nname = \"plate\"\nshape = {{ kind = \"plane\" }}\ntemperature = 140.0\n\
         [[expect]]\nat = 0.0\nwhat = \"totals.particles.fluid\"\nequal = 0\n\
         [[expect]]\nwhat = \"totals.particles.fluid\"\nabove = {molten}\n\
         [[expect]]\nalways = true\nwhat = \"totals.balance_error\"\nnear = 0.0\nwithin = 1e-9\n\
         [[expect]]\nalways = true\nwhat = \"bodies.bunny.bounds.0.1\"\nabove = 0.0\n"
    );
    let scene = Scene::read(&text, "bunny.toml", Path::new(".")).unwrap();
    let outcome = run_scene_in_memory(&scene, MemoryOptions::default()).unwrap();
    assert_eq!(outcome.ending, Ending::Done);
    let unmet: Vec<&str> =
        outcome.report.expectations.iter().filter(|f| f.passed != Some(true)).map(|f| f.message.as_str()).collect();
    assert!(unmet.is_empty(), "{unmet:?}");
}
