//! A frame as rays see it.

use crate::camera::{Camera, Lens};
use crate::colour::{self, Range, of_body, to_light};
use crate::forms;
use crate::geometry::{Ball, Disc, Geometry, Things};
use crate::view::{Colouring, View};
use glam::{Vec3, Vec3A};
use phyxel::Frame;
use phyxel::frame::{FrameBody, FrameObstacle};
use phyxel::material::Finish;
use phyxel::obstacle;
use phyxel::store::Phase;

/// Colour of obstacles where colours mean numbers.
const NEUTRAL: Vec3 = Vec3::splat(0.42);
/// How much of the colour of their temperature obstacles take.
const TINT: f32 = 0.45;
/// Size of balls of gas over the radius of particles.
const GAS_SIZE: f32 = 0.4;

/// An endless plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane {
    pub point: Vec3A,
    pub normal: Vec3A,
    pub colour: Vec3,
    pub object: u32,
}

/// A frame as rays see it.
pub(crate) struct Stage {
    pub geometry: Geometry,
    pub planes: Vec<Plane>,
    /// Finish of each object.
    pub finishes: Vec<Finish>,
    /// Whether any object lets light through.
    pub has_clear: bool,
    pub lens: Lens,
    /// Half the size of what is to be seen, m.
    pub size: f32,
    /// Distance of the lines of the grid on floors, m.
    pub grid: f32,
    /// Ends of the colour scale, if there is one.
    pub range: Option<Range>,
}

impl Stage {
    pub fn new(frame: &Frame, view: &View) -> Self {
        let range = view.colouring.is_scale().then(|| view.range.unwrap_or_else(|| find_range(frame, view.colouring)));
        let mut builder = Builder { things: Things::default(), planes: vec![], finishes: vec![], view, range };
        for (number, body) in frame.bodies.iter().enumerate() {
            builder.add_body(frame, number, body);
            builder.add_gas(frame, body);
        }
        frame.obstacles.iter().filter(|obstacle| obstacle.visible).for_each(|obstacle| builder.add_obstacle(obstacle));
        let Builder { things, planes, finishes, .. } = builder;
        let camera = view.camera.unwrap_or_else(|| Camera::around(frame));
        let away = camera.eye.distance(camera.target).max(1e-6);
        let seen = away * (0.5 * camera.field_of_view.to_radians()).tan();
        let geometry = Geometry::new(things);
        let size = geometry.bounds().map_or(seen, |(min, max)| (0.5 * (max - min).length()).min(2.0 * seen));
        Self {
            geometry,
            planes,
            has_clear: finishes.iter().any(|finish| finish.transmission() > 0.3),
            finishes,
            lens: Lens::new(&camera, view.width, view.height),
            size: size.max(1e-6),
            grid: round_step(0.25 * seen),
            range,
        }
    }
}

/// The nearest of 1, 2, 5, 10, .. below a length.
fn round_step(length: f32) -> f32 {
    let power = libm::powf(10.0, libm::log10f(length.max(1e-30)).floor());
    let factor = length / power;
    power
        * if factor >= 5.0 {
            5.0
        } else if factor >= 2.0 {
            2.0
        } else {
            1.0
        }
}

/// Smallest and largest value of a frame.
fn find_range(frame: &Frame, colouring: Colouring) -> Range {
    let columns = &frame.particles;
    match colouring {
        Colouring::Temperature => Range::of(columns.temperature.iter().copied()),
        Colouring::Strain => Range { low: 0.0, ..Range::of(columns.strain.iter().copied()) },
        _ => Range { low: 0.0, ..Range::of(columns.velocity.iter().map(|velocity| velocity.length())) },
    }
}

struct Builder<'a> {
    things: Things,
    planes: Vec<Plane>,
    finishes: Vec<Finish>,
    view: &'a View,
    range: Option<Range>,
}

impl Builder<'_> {
    fn add_object(&mut self, finish: Finish) -> u32 {
        self.finishes.push(finish);
        self.finishes.len() as u32 - 1
    }

    fn add_body(&mut self, frame: &Frame, number: usize, body: &FrameBody) {
        let finish = if self.view.colouring == Colouring::Material { body.finish } else { Finish::Matte };
        let object = self.add_object(finish);
        let plain = match self.view.colouring {
            Colouring::Body => of_body(number),
            _ => to_light(body.color),
        };
        let paint = |value: f32| match self.range {
            Some(range) => colour::scale(self.view.colouring, range.place(value)),
            None => plain,
        };
        if let Some(skin) = &body.skin {
            let value = |v: usize| match self.view.colouring {
                Colouring::Temperature => skin.temperatures.get(v).copied(),
                Colouring::Strain => skin.strains.get(v).copied(),
                _ => skin.velocities.get(v).map(|velocity| velocity.length()),
            };
            let colour = |v: usize| paint(value(v).unwrap_or(0.0));
            let surfels = skin.axes.iter().zip(&skin.positions).zip(&skin.normals).enumerate();
            self.things.discs.extend(surfels.map(|(v, ((axes, centre), normal))| Disc {
                centre: (*centre).into(),
                axes: axes.map(Vec3A::from),
                normal: (*normal).into(),
                colour: colour(v),
                object,
            }));
            self.things.add_skin(skin, colour, object);
        } else {
            let columns = &frame.particles;
            let value = |i: usize| match self.view.colouring {
                Colouring::Temperature => columns.temperature[i],
                Colouring::Strain => columns.strain[i],
                _ => columns.velocity[i].length(),
            };
            let shown = body.particles.clone().filter(|&i| columns.phase[i] != Phase::Gas);
            self.things.balls.extend(shown.map(|i| Ball {
                centre: columns.position[i].into(),
                radius: columns.radius[i],
                colour: paint(value(i)),
                object,
            }));
        }
    }

    /// Gas, as small balls: it has no surface.
    fn add_gas(&mut self, frame: &Frame, body: &FrameBody) {
        let columns = &frame.particles;
        let is_gas = |i: &usize| columns.phase[*i] == Phase::Gas;
        if !body.particles.clone().any(|i| is_gas(&i)) {
            return;
        }
        let object = self.add_object(Finish::Matte);
        let range = self.range.filter(|_| self.view.colouring == Colouring::Temperature);
        let paint = |value: f32| range.map(|range| colour::scale(Colouring::Temperature, range.place(value)));
        self.things.balls.extend(body.particles.clone().filter(is_gas).map(|i| Ball {
            centre: columns.position[i].into(),
            radius: GAS_SIZE * columns.radius[i],
            colour: paint(columns.temperature[i]).unwrap_or(NEUTRAL),
            object,
        }));
    }

    fn add_obstacle(&mut self, obstacle: &FrameObstacle) {
        let object = self.add_object(Finish::Matte);
        let is_ground = matches!(obstacle.geometry, obstacle::Geometry::HalfSpace { .. });
        let colour = match (self.range, self.view.colouring, obstacle.temperature.filter(|_| !is_ground)) {
            (Some(range), Colouring::Temperature, Some(temperature)) => {
                // Tinted, so that what is warmed and what warms it can be told apart.
                NEUTRAL.lerp(colour::scale(self.view.colouring, range.place(temperature)), TINT)
            }
            (Some(_), ..) => NEUTRAL,
            (None, ..) => to_light(obstacle.color),
        };
        let pose = &obstacle.pose;
        match &obstacle.geometry {
            obstacle::Geometry::HalfSpace { normal } => self.planes.push(Plane {
                point: pose.position.into(),
                normal: pose.transform_vector(*normal).into(),
                colour,
                object,
            }),
            obstacle::Geometry::Sphere { radius } => {
                self.things.balls.push(Ball { centre: pose.position.into(), radius: *radius, colour, object });
            }
            geometry => {
                let Some(form) = forms::surface(geometry) else { return };
                let vertices = &mut self.things.vertices;
                let first = vertices.positions.len() as u32;
                vertices.positions.extend(form.positions.iter().map(|&point| pose.transform_point(point)));
                vertices.normals.extend(form.normals.iter().map(|&normal| pose.transform_vector(normal)));
                vertices.colours.resize(vertices.positions.len(), colour);
                let placed = form.triangles.iter().map(|corners| (corners.map(|corner| first + corner), object));
                self.things.triangles.extend(placed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phyxel_scene::{BuildOptions, Scene};
    use std::path::Path;

    #[test]
    fn surfels_cover_a_ball_without_holes() {
        let text = "version = 1\nduration = 1\n[[bodies]]\nname = 'ball'\nmodel = 'continuum'\nmaterial = 'rubber'\n\
                    shape = { kind = 'sphere', radius = 0.5 }\nspacing = 0.1\nskin = { kind = 'surfels' }\n";
        let scene = Scene::read(text, "x.toml", Path::new(".")).unwrap();
        let frame = scene.build(&BuildOptions::default()).unwrap().world.frame();
        let stage = Stage::new(&frame, &View::default());
        for k in 0..40_000 {
            let (x, y) = ((k % 200) as f32 / 200.0 - 0.5, (k / 200) as f32 / 200.0 - 0.5);
            let square = 0.25 - x * x - y * y;
            // Nine tenths of the radius; nearer to the rim the surface is all but seen from the side.
            if square < 0.25 * 0.19 {
                continue;
            }
            let met = stage.geometry.first(Vec3A::new(x, y, 3.0), Vec3A::NEG_Z, 0.0, 9.0);
            let off = 3.0 - square.sqrt() - met.map_or(f32::INFINITY, |met| met.distance);
            // Discs of 0.053 m stick out by 0.053^2/(2 0.5) = 3 mm at their rims, 6 mm along a ray at this slope; through a
            // hole the other side is seen, at least 0.4 m behind.
            assert!(off.abs() < 0.012, "{x} {y}: {off}");
        }
    }

    #[test]
    fn steps_of_the_grid_are_round() {
        for (length, step) in [(0.7, 0.5), (1.0, 1.0), (3.0, 2.0), (49.0, 20.0), (0.0123, 0.01)] {
            assert!((round_step(length) / step - 1.0).abs() < 1e-4, "{length}");
        }
    }
}
