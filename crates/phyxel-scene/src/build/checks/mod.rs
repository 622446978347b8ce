//! Warnings of probable mistakes in a scene.

mod inside;
mod overlap;

use super::body::BodyTemplate;
use crate::scene::{Action, BodyDescription, Event, Scene};
use inside::find_bodies_in_obstacles;
use overlap::find_overlapping_bodies;
use phyxel::World;
use phyxel::material::Material;
use phyxel::model::ModelKind;
use phyxel::model::mass_spring::POISSON_RATIO;

/// Largest number of warnings of one kind.
const MAX_WARNINGS: usize = 10;

/// Adds all warnings of a scene and its world.
pub(super) fn warn(scene: &Scene, world: &mut World, warnings: &mut Vec<String>) {
    if scene.bodies.is_empty() {
        warnings.push("the scene has no bodies; add [[bodies]]".to_string());
    }
    warnings.extend(scene.bodies.iter().filter_map(|body| poisson_ratio_warning(scene, body)));
    warnings.extend(step_warning(world));
    warnings.extend(truncated(find_overlapping_bodies(world)));
    warnings.extend(truncated(find_bodies_in_obstacles(world, &scene.obstacles)));
    warnings.extend(truncated(world.free_fall_warnings()));
}

/// Warnings of bodies that are fixed as a whole and never released.
pub(super) fn held_warnings(scene: &Scene, templates: &[BodyTemplate]) -> impl Iterator<Item = String> {
    scene.bodies.iter().zip(templates).filter_map(|(body, template)| held_warning(scene, body, template))
}

fn held_warning(scene: &Scene, body: &BodyDescription, template: &BodyTemplate) -> Option<String> {
    let releases =
        |event: &Event| matches!(&event.action, Action::Hold { body: name, on: false, .. } if *name == body.name);
    (template.is_held() && !scene.events.iter().any(releases)).then(|| {
        format!(
            "body \"{}\": all of its particles lie in its held regions and are never let go, so it does not move; make \
             the regions smaller",
            body.name
        )
    })
}

/// Warning of a Poisson's ratio that a mass-spring lattice cannot have.
fn poisson_ratio_warning(scene: &Scene, body: &BodyDescription) -> Option<String> {
    let material = scene.materials.iter().find(|material| material.name == body.material)?;
    let requested = material.poisson_ratio;
    let is_requested = requested != Material::default().poisson_ratio && requested != POISSON_RATIO;
    (body.model.kind() == ModelKind::MassSpring && is_requested).then(|| {
        format!(
            "body \"{}\": a lattice of springs has Poisson's ratio {POISSON_RATIO}, whatever its material \"{}\" says \
             ({requested})",
            body.name, material.name
        )
    })
}

/// Warning of a fixed number of sub-steps that makes steps longer than is stable.
fn step_warning(world: &mut World) -> Option<String> {
    let (rate, substeps) = (world.settings().frame_rate, world.settings().substeps?);
    let (step, stable) = (1.0 / (rate * f64::from(substeps)), world.stable_step());
    (step > stable).then(|| {
        format!(
            "step.substeps = {substeps} makes steps of {step:.2e} s, but the longest stable one is {stable:.2e} s at \
             the \
             start; leave it out, or give {} or more",
            (1.0 / (rate * stable)).ceil()
        )
    })
}

/// The first warnings of many, and the number of those omitted.
fn truncated(mut warnings: Vec<String>) -> Vec<String> {
    if warnings.len() > MAX_WARNINGS {
        let more = warnings.len() - MAX_WARNINGS;
        warnings.truncate(MAX_WARNINGS);
        warnings.push(format!("and {more} more warnings of this kind"));
    }
    warnings
}
