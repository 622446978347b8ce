//! Events to commands.

use super::body::{Mould, samples_in};
use crate::scene::{Action, BodyDescription, Event};
use crate::shape::Shape;
use glam::Vec3;
use phyxel::command::{Command, Drag, Region, Setting, Target};

/// The bodies of a scene and what they are made from.
pub(super) struct Cast<'a> {
    pub bodies: &'a [BodyDescription],
    pub moulds: &'a [Mould],
}

impl Cast<'_> {
    fn find(&self, name: &str) -> Option<(&BodyDescription, &Mould)> {
        self.bodies.iter().zip(self.moulds).find(|(body, _)| body.name == name)
    }

    /// Names of all copies of a body.
    pub fn names(&self, name: &str) -> Vec<String> {
        self.find(name)
            .map_or_else(Vec::new, |(body, _)| (0..body.count()).map(|number| body.name_of(number)).collect())
    }

    /// A command for each copy of a body.
    fn for_copies(&self, name: &str, command: impl Fn(String) -> Command) -> Vec<Command> {
        self.names(name).into_iter().map(command).collect()
    }

    /// The scale of a body, which holds for points of its own frame too.
    fn scale(&self, name: &str) -> f32 {
        self.find(name).map_or(1.0, |(body, _)| body.place.scale)
    }
}

/// Everything an event does; what happens to a body happens to all its copies.
pub(super) fn commands(event: &Event, cast: &Cast, warnings: &mut Vec<String>) -> Vec<Command> {
    match &event.action {
        Action::Set(settings) => {
            settings.iter().flat_map(|(target, setting)| set_commands(cast, target, setting)).collect()
        }
        Action::Push { body, region, velocity } => {
            let region = region_of(cast, body, region.as_ref(), || format!("event at {} s", event.at), warnings);
            cast.for_copies(body, |body| Command::Push { body, region: region.clone(), velocity: *velocity })
        }
        Action::Warm { body, region, temperature } => {
            let region = region_of(cast, body, region.as_ref(), || format!("event at {} s", event.at), warnings);
            cast.for_copies(body, |body| Command::Warm { body, region: region.clone(), temperature: *temperature })
        }
        Action::Hold { body, region, on } => {
            let region = region_of(cast, body, region.as_ref(), || format!("event at {} s", event.at), warnings);
            cast.for_copies(body, |body| Command::Hold { body, region: region.clone(), on: *on })
        }
        Action::Drag { body, point, to, tau, limit } => {
            let samples = cast.find(body).map_or(&[][..], |(_, mould)| &mould.samples);
            let sample = nearest_sample(samples, *point * cast.scale(body));
            cast.for_copies(body, |body| Command::Drag(Drag { body, sample, to: *to, tau: *tau, limit: *limit }))
        }
        Action::Release { body } => cast.for_copies(body, |body| Command::Release { body }),
        Action::Cut { body, point, normal } => {
            let point = *point * cast.scale(body);
            cast.for_copies(body, |body| Command::Cut { body, point, normal: *normal })
        }
        Action::Remove { body } => cast.for_copies(body, |body| Command::Remove { body }),
    }
}

fn set_commands(cast: &Cast, target: &Target, setting: &Setting) -> Vec<Command> {
    match target {
        Target::Body(name) => {
            cast.for_copies(name, |body| Command::Set { target: Target::Body(body), setting: setting.clone() })
        }
        other => vec![Command::Set { target: other.clone(), setting: setting.clone() }],
    }
}

/// The samples in a region; a warning if there are none, which begins with what needs them.
pub(super) fn region_of(
    cast: &Cast,
    name: &str,
    region: Option<&Shape>,
    owner: impl FnOnce() -> String,
    warnings: &mut Vec<String>,
) -> Region {
    let (Some(shape), Some((body, mould))) = (region, cast.find(name)) else { return Region::All };
    let samples = samples_in(&mould.samples, std::slice::from_ref(shape), body.place.scale);
    if samples.is_empty() {
        warnings.push(format!(
            "{}: no particle of body \"{name}\" lies in its region, which is in the body's own frame",
            owner()
        ));
    }
    Region::Samples(samples)
}

/// Number of the sample nearest to a point.
fn nearest_sample(samples: &[Vec3], point: Vec3) -> u32 {
    let distance = |number: &usize| samples[*number].distance_squared(point);
    (0..samples.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0) as u32
}
