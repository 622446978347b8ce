//! Commands from events.

use super::body::{BodyTemplate, samples_in};
use crate::scene::{Action, BodyDescription, Event};
use crate::shape::Shape;
use glam::Vec3;
use phyxel::commands::{Command, Drag, Region, Setting, Target};

/// Bodies of a scene and their templates, which events refer to.
pub(super) struct EventContext<'a> {
    pub bodies: &'a [BodyDescription],
    pub templates: &'a [BodyTemplate],
}

impl EventContext<'_> {
    fn find_body(&self, name: &str) -> Option<(&BodyDescription, &BodyTemplate)> {
        self.bodies.iter().zip(self.templates).find(|(body, _)| body.name == name)
    }

    /// Names of all copies of a body.
    pub fn names_of_copies(&self, name: &str) -> Vec<String> {
        self.find_body(name)
            .map_or_else(Vec::new, |(body, _)| (0..body.count()).map(|number| body.name_of(number)).collect())
    }

    /// Makes a command for each copy of a body.
    fn for_copies(&self, name: &str, command: impl Fn(String) -> Command) -> Vec<Command> {
        self.names_of_copies(name).into_iter().map(command).collect()
    }

    /// Scale of a body, which applies to points of its local frame too.
    fn scale(&self, name: &str) -> f32 {
        self.find_body(name).map_or(1.0, |(body, _)| body.place.scale)
    }
}

/// Commands of an event; an action on a body applies to all its copies.
pub(super) fn commands(event: &Event, context: &EventContext, warnings: &mut Vec<String>) -> Vec<Command> {
    let mut resolve = |body: &str, region: &Option<Shape>| {
        region_of(context, body, region.as_ref(), || format!("event at {} s", event.at), warnings)
    };
    match &event.action {
        Action::Set(settings) => {
            settings.iter().flat_map(|(target, setting)| set_commands(context, target, setting)).collect()
        }
        Action::Push { body, region, velocity } => {
            let region = resolve(body, region);
            context.for_copies(body, |body| Command::Push { body, region: region.clone(), velocity: *velocity })
        }
        Action::Warm { body, region, temperature } => {
            let region = resolve(body, region);
            context.for_copies(body, |body| Command::Warm { body, region: region.clone(), temperature: *temperature })
        }
        Action::Hold { body, region, on } => {
            let region = resolve(body, region);
            context.for_copies(body, |body| Command::Hold { body, region: region.clone(), on: *on })
        }
        Action::Drag { body, point, to, tau, limit } => {
            let samples = context.find_body(body).map_or(&[][..], |(_, template)| &template.samples);
            let sample = nearest_sample(samples, *point * context.scale(body));
            context.for_copies(body, |body| {
                Command::Drag(Drag { body, particle: sample, target: *to, tau: *tau, max_force: *limit })
            })
        }
        Action::Release { body } => context.for_copies(body, |body| Command::Release { body }),
        Action::Cut { body, point, normal } => {
            let point = *point * context.scale(body);
            context.for_copies(body, |body| Command::Cut { body, point, normal: *normal })
        }
        Action::Remove { body } => context.for_copies(body, |body| Command::Remove { body }),
    }
}

fn set_commands(context: &EventContext, target: &Target, setting: &Setting) -> Vec<Command> {
    match target {
        Target::Body(name) => {
            context.for_copies(name, |body| Command::Set { target: Target::Body(body), setting: setting.clone() })
        }
        other => vec![Command::Set { target: other.clone(), setting: setting.clone() }],
    }
}

/// Samples in a region; an empty one gives a warning that begins with its owner.
pub(super) fn region_of(
    context: &EventContext,
    name: &str,
    region: Option<&Shape>,
    owner: impl FnOnce() -> String,
    warnings: &mut Vec<String>,
) -> Region {
    let (Some(shape), Some((body, template))) = (region, context.find_body(name)) else { return Region::All };
    let samples = samples_in(&template.samples, std::slice::from_ref(shape), body.place.scale);
    if samples.is_empty() {
        warnings.push(format!(
            "{}: no particle of body \"{name}\" lies in its region, which is in the body's own frame",
            owner()
        ));
    }
    Region::Ids(samples)
}

/// Index of the sample nearest to a point.
fn nearest_sample(samples: &[Vec3], point: Vec3) -> u32 {
    let distance = |index: &usize| samples[*index].distance_squared(point);
    (0..samples.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0) as u32
}
