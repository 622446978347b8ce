//! How much light comes along a ray.

use crate::geometry::Spot;
use crate::light::{SUN, SUN_WIDTH, ambient, sky, sun_direction};
use crate::sampling::{Dice, cone_direction, cosine_direction};
use crate::stage::{Plane, Stage};
use glam::{Vec2, Vec3, Vec3A};
use phyxel::material::Finish;

/// What a smooth surface that is no metal throws back when looked at straight.
const MIRROR: f32 = 0.04;
/// Refractive index of water, nearly that of jelly.
const INDEX: f32 = 1.33;
/// Times that light is followed through and off things.
const DEPTH: u32 = 4;
/// Things farther than this do not dim the sky, in sizes of the picture's things.
const NEAR: f32 = 0.8;
/// Most things that a ray to the sun passes.
const PANES: usize = 8;

/// A point on a surface, seen from a side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surface {
    pub point: Vec3A,
    /// Towards the viewer.
    pub normal: Vec3A,
    flat: Vec3A,
    pub colour: Vec3,
    pub object: u32,
    pub distance: f32,
    /// Whether it is seen from inside.
    inside: bool,
}

/// Light of one point, in parts that are made smooth before they are put together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parts {
    /// What the matter throws back of light from everywhere.
    pub colour: Vec3,
    /// Sunlight that falls on it, 0 to 1 times the cosine.
    pub sun: Vec3,
    /// Light from sky and surroundings.
    pub around: Vec3,
    /// Highlight of the sun, for full sunlight.
    pub glint: Vec3,
    /// Mirrored and let through.
    pub other: Vec3,
}

impl Parts {
    /// All light together.
    pub fn total(&self) -> Vec3 {
        self.colour * (SUN * self.sun + self.around) + self.glint * self.sun + self.other
    }
}

impl Stage {
    /// The first surface on a ray.
    pub fn look(&self, origin: Vec3A, direction: Vec3A, from: f32) -> Option<Surface> {
        self.look_within(origin, direction, from, f32::INFINITY)
    }

    /// The first surface on a ray between two distances.
    fn look_within(&self, origin: Vec3A, direction: Vec3A, from: f32, to: f32) -> Option<Surface> {
        let mut nearest = to;
        let mut floor: Option<&Plane> = None;
        for plane in &self.planes {
            let distance = (plane.point - origin).dot(plane.normal) / direction.dot(plane.normal);
            if distance > from && distance < nearest {
                (nearest, floor) = (distance, Some(plane));
            }
        }
        let (distance, spot) = match self.geometry.first(origin, direction, from, nearest) {
            Some(meeting) => (meeting.distance, self.geometry.spot(&meeting, origin + direction * meeting.distance)),
            None => (nearest, self.floor_spot(floor?, origin + direction * nearest, nearest)),
        };
        let inside = spot.flat.dot(direction) > 0.0;
        let side = if inside { -1.0 } else { 1.0 };
        // A smooth normal may lean away from the viewer at the rim; then the flat one stands in.
        let normal = spot.normal * side;
        let normal = if normal.dot(direction) < 0.0 { normal } else { spot.flat * side };
        Some(Surface {
            point: origin + direction * distance,
            normal,
            flat: spot.flat * side,
            colour: spot.colour,
            object: spot.object,
            distance,
            inside,
        })
    }

    /// A floor with a grid of thin lines that fade where they would be finer than a pixel.
    fn floor_spot(&self, plane: &Plane, point: Vec3A, distance: f32) -> Spot {
        let mut colour = plane.colour;
        if plane.normal.y > 0.99 {
            let width = self.lens.pixel * distance / self.grid;
            let line = |x: f32| {
                let away = (x / self.grid - (x / self.grid).round()).abs();
                (1.0 - (away - 0.004) / width.max(0.004)).clamp(0.0, 1.0)
            };
            let fade = (1.0 - 7.0 * width).clamp(0.0, 1.0);
            colour *= 1.0 - 0.22 * fade * line(point.x).max(line(point.z));
        }
        Spot { object: plane.object, colour, normal: plane.normal, flat: plane.normal }
    }

    /// How far rays start from a surface, so that they do not meet it again.
    fn skip(&self, surface: &Surface) -> f32 {
        2e-4 * self.size + 1e-5 * surface.distance
    }

    fn is_open(&self, origin: Vec3A, direction: Vec3A, from: f32, to: f32) -> bool {
        self.geometry.is_free(origin, direction, from, to)
            && self.planes.iter().all(|plane| {
                let distance = (plane.point - origin).dot(plane.normal) / direction.dot(plane.normal);
                !(distance > from && distance < to)
            })
    }

    /// Part of the sunlight that comes along a direction, by colour.
    fn sunlight(&self, surface: &Surface, direction: Vec3A) -> Vec3 {
        let start = surface.point + surface.flat * self.skip(surface);
        if !self.has_clear {
            return if self.is_open(start, direction, 0.0, f32::INFINITY) { Vec3::ONE } else { Vec3::ZERO };
        }
        let (mut light, mut from) = (Vec3::ONE, 0.0);
        for _ in 0..PANES {
            let Some(met) = self.look(start, direction, from) else { return light };
            let through = self.finishes[met.object as usize].transmission();
            if through < 0.3 {
                return Vec3::ZERO;
            }
            light *= Vec3::ONE.lerp(met.colour, 0.5) * through.sqrt();
            from = met.distance + self.skip(surface);
        }
        light
    }

    /// Light that comes to a point from the sky and from what is near, by one ray.
    fn surroundings(&self, surface: &Surface, direction: Vec3A) -> Vec3 {
        let start = surface.point + surface.flat * self.skip(surface);
        match self.look_within(start, direction, 0.0, NEAR * self.size) {
            None => sky(direction),
            // Light that has been thrown back once more, about; less in narrow places.
            Some(met) => {
                let lit = 0.55 * (met.distance / (0.2 * self.size)).min(1.0);
                met.colour * ambient(met.normal) * (0.15 + lit)
            }
        }
    }

    /// The parts of the light of a surface, by one ray to the sun and `rays` to the surroundings. `place` spreads rays
    /// over neighbouring pixels.
    pub fn shade(
        &self,
        surface: &Surface,
        view: Vec3A,
        rays: u32,
        place: impl Fn(u32) -> Vec2,
        dice: &mut Dice,
    ) -> Parts {
        let finish = self.finishes[surface.object as usize];
        let (through, metal) = (finish.transmission(), finish.metalness());
        let mut parts = self.sun_on(surface, view, finish, place(0));
        if metal < 1.0 && through < 0.9 {
            let normal = surface.normal;
            let sum: Vec3 = (0..rays).map(|k| self.surroundings(surface, cosine_direction(normal, place(k + 1)))).sum();
            parts.around = sum / rays.max(1) as f32;
        }
        parts.other = self.mirrored_and_through(surface, view, finish, DEPTH, dice);
        parts
    }

    /// What the matter of a surface throws back of light from everywhere: nothing for metals, less for what lets light
    /// through.
    pub fn body_colour(&self, surface: &Surface) -> Vec3 {
        let finish = self.finishes[surface.object as usize];
        surface.colour * ((1.0 - finish.metalness()) * (1.0 - finish.transmission()))
    }

    /// Sunlight on a surface, with the colour that throws it back.
    fn sun_on(&self, surface: &Surface, view: Vec3A, finish: Finish, pair: Vec2) -> Parts {
        let sun = cone_direction(sun_direction(), SUN_WIDTH, pair);
        let facing = surface.normal.dot(sun);
        let reach = if surface.flat.dot(sun) > 0.0 && facing > 0.0 { self.sunlight(surface, sun) } else { Vec3::ZERO };
        let mut parts = Parts { colour: self.body_colour(surface), ..Parts::default() };
        parts.sun = reach * facing.max(0.0);
        let base = Vec3::splat(MIRROR).lerp(surface.colour, finish.metalness());
        parts.glint = SUN * glint(surface.normal, -view, sun, base, finish.roughness());
        if matches!(finish, Finish::Wax | Finish::Jelly) {
            parts.around += self.glow(surface, sun, finish);
        }
        parts
    }

    /// Sunlight that went into soft matter on the other side and comes out here.
    fn glow(&self, surface: &Surface, sun: Vec3A, finish: Finish) -> Vec3 {
        let start = surface.point - surface.flat * self.skip(surface);
        let deep = if finish == Finish::Wax { 0.12 } else { 0.5 } * self.size;
        let thick = self.geometry.first(start, sun, 0.0, 8.0 * deep).map_or(8.0 * deep, |met| met.distance);
        // Light from the side is bent round: soft matter has no sharp edge between day and night.
        let wrap = (0.5 + 0.5 * surface.normal.dot(sun)).max(0.0);
        SUN * (0.35 * (-thick / deep).exp() + 0.12 * wrap)
    }

    /// What a surface mirrors and lets through.
    fn mirrored_and_through(
        &self,
        surface: &Surface,
        view: Vec3A,
        finish: Finish,
        depth: u32,
        dice: &mut Dice,
    ) -> Vec3 {
        let cosine = (-view.dot(surface.normal)).clamp(0.0, 1.0);
        let (metal, through) = (finish.metalness(), finish.transmission());
        if finish == Finish::Matte || depth == 0 {
            return Vec3::ZERO;
        }
        let base = Vec3::splat(MIRROR).lerp(surface.colour, metal);
        let edge = libm::powf(1.0 - cosine, 5.0) * (1.0 - 0.7 * finish.roughness());
        let share = base + (Vec3::ONE - base) * edge;
        let mut light = Vec3::ZERO;
        if !surface.inside {
            let mirrored = view - surface.normal * (2.0 * view.dot(surface.normal));
            let spread = finish.roughness() * finish.roughness();
            let direction = cone_direction(mirrored, spread, dice.pair());
            let above = direction.dot(surface.flat) > 0.0;
            let start = surface.point + surface.flat * self.skip(surface);
            light += share * if above { self.far_light(start, direction, depth - 1, dice) } else { sky(mirrored) };
        }
        if through > 0.3 {
            light += (Vec3::ONE - share) * through * self.let_through(surface, view, finish, depth, dice);
        }
        light
    }

    /// Light that comes through a body: bent at the surface, coloured on the way, bent again where it leaves.
    fn let_through(&self, surface: &Surface, view: Vec3A, finish: Finish, depth: u32, dice: &mut Dice) -> Vec3 {
        let inward = bent(view, surface.normal, 1.0 / INDEX).unwrap_or(view);
        let start = surface.point - surface.flat * self.skip(surface);
        let Some(exit) = self.look(start, inward, 0.0) else { return sky(inward) };
        // As thick as the picture's things are large, matter shows its colour in full.
        let thick = exit.distance / (0.35 * self.size);
        let strength = if finish == Finish::Clear { 0.2 } else { 0.6 };
        let tint = Vec3::from_array(surface.colour.to_array().map(|part| libm::powf(part.max(0.02), strength * thick)));
        let light = if exit.object == surface.object {
            let outward = bent(inward, exit.normal, INDEX).unwrap_or(inward);
            self.far_light(exit.point - exit.flat * self.skip(&exit), outward, depth - 1, dice)
        } else {
            self.simple_light(&exit, inward, depth - 1, dice)
        };
        light * tint
    }

    /// Light along a ray that has already been mirrored or bent.
    fn far_light(&self, origin: Vec3A, direction: Vec3A, depth: u32, dice: &mut Dice) -> Vec3 {
        match self.look(origin, direction, 0.0) {
            Some(surface) => self.simple_light(&surface, direction, depth, dice),
            None => sky(direction),
        }
    }

    /// Light of a surface without rays to its surroundings.
    fn simple_light(&self, surface: &Surface, view: Vec3A, depth: u32, dice: &mut Dice) -> Vec3 {
        let finish = self.finishes[surface.object as usize];
        let mut parts = self.sun_on(surface, view, finish, dice.pair());
        parts.around += 0.75 * ambient(surface.normal);
        // What a coat of paint mirrors is too little to be followed a second time.
        if finish.metalness() > 0.0 || finish.transmission() > 0.3 {
            parts.other = self.mirrored_and_through(surface, view, finish, depth, dice);
        }
        self.haze(parts.total(), view, surface.distance)
    }

    /// Floors end in the sky: far away, light turns into that of the horizon.
    pub fn haze(&self, light: Vec3, view: Vec3A, distance: f32) -> Vec3 {
        let far = (distance / (40.0 * self.size) - 0.15).clamp(0.0, 1.0);
        light.lerp(sky(Vec3A::new(view.x, view.y.max(0.0), view.z).normalize_or(view)), far * far * (3.0 - 2.0 * far))
    }
}

/// The direction behind a surface; `None` if all light is mirrored. `ratio` is that of the indices on both sides.
fn bent(view: Vec3A, normal: Vec3A, ratio: f32) -> Option<Vec3A> {
    let cosine = -view.dot(normal);
    let rest = 1.0 - ratio * ratio * (1.0 - cosine * cosine);
    (rest >= 0.0).then(|| (view * ratio + normal * (ratio * cosine - rest.sqrt())).normalize())
}

/// The highlight of a light in a rough mirror (GGX, Walter et al. 2007).
fn glint(normal: Vec3A, viewer: Vec3A, light: Vec3A, base: Vec3, roughness: f32) -> Vec3 {
    let half = (viewer + light).normalize_or(normal);
    let (n_h, n_v, h_v) = (normal.dot(half).max(0.0), normal.dot(viewer).max(1e-3), half.dot(viewer).max(0.0));
    let a = (roughness * roughness).max(0.02);
    let a2 = a * a;
    let d = n_h * n_h * (a2 - 1.0) + 1.0;
    let spread = a2 / (std::f32::consts::PI * d * d);
    let fresnel = base + (Vec3::ONE - base) * libm::powf(1.0 - h_v, 5.0);
    let shadowing = 1.0 / (n_v * (2.0 - a) + a);
    (fresnel * spread * shadowing * 0.5).min(Vec3::splat(6.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn light_is_bent_towards_the_normal_in_water_and_back_out_of_it() {
        let view = Vec3A::new(0.6, -0.8, 0.0);
        let inside = bent(view, Vec3A::Y, 1.0 / INDEX).unwrap();
        assert!((inside.x - 0.6 / INDEX).abs() < 1e-6 && inside.y < -0.8);
        let outside = bent(inside, Vec3A::Y, INDEX).unwrap();
        assert!(outside.distance(view) < 1e-6);
        assert!(bent(Vec3A::new(0.9, -0.436, 0.0), Vec3A::Y, INDEX).is_none(), "all is mirrored inside");
    }

    #[test]
    fn a_highlight_is_where_the_mirror_shows_the_light() {
        let viewer = Vec3A::new(0.5, 0.8, 0.0).normalize();
        let light = Vec3A::new(-0.5, 0.8, 0.0).normalize();
        let at = |normal: Vec3A| glint(normal.normalize(), viewer, light, Vec3::splat(0.04), 0.3).x;
        assert!(at(Vec3A::Y) > 5.0 * at(Vec3A::new(0.4, 1.0, 0.0)));
    }
}
