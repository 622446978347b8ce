//! Scene for ray tracing: primitives, finishes and camera, built from a frame.

use crate::bvh::PrimitiveBvh;
use crate::camera::{Camera, PinholeCamera};
use crate::colour::{self, ColourRange, body_colour, srgb_to_linear};
use crate::obstacle_mesh;
use crate::primitives::{Disc, Primitives, Sphere};
use crate::settings::{Colouring, RenderSettings};
use glam::{Vec3, Vec3A};
use phyxel::Frame;
use phyxel::frame::{FrameBody, FrameObstacle};
use phyxel::material::Finish;
use phyxel::obstacle;
use phyxel::store::Phase;

/// Colour of obstacles where colours show a scalar.
const NEUTRAL_ALBEDO: Vec3 = Vec3::splat(0.42);
/// Fraction of the colour of their temperature in that of obstacles.
const TINT: f32 = 0.45;
/// Radius of spheres of gas over that of the particles.
const GAS_RADIUS_FACTOR: f32 = 0.4;

/// Infinite plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane {
    pub point: Vec3A,
    pub normal: Vec3A,
    pub colour: Vec3,
    pub object: u32,
}

/// Frame prepared for ray tracing.
pub(crate) struct RenderScene {
    pub bvh: PrimitiveBvh,
    pub planes: Vec<Plane>,
    /// Finish of each object.
    pub finishes: Vec<Finish>,
    /// True if any object transmits light.
    pub has_transmissive: bool,
    pub camera: PinholeCamera,
    /// Half the diagonal of the visible scene, m.
    pub radius: f32,
    /// Spacing of the grid lines on level planes, m.
    pub grid_spacing: f32,
    /// Range of the colour map, if there is one.
    pub range: Option<ColourRange>,
}

impl RenderScene {
    /// Converts a frame.
    pub fn new(frame: &Frame, settings: &RenderSettings) -> Self {
        let colouring = settings.colouring;
        let range = colouring.is_scalar().then(|| settings.range.unwrap_or_else(|| value_range(frame, colouring)));
        let mut builder =
            SceneBuilder { primitives: Primitives::default(), planes: vec![], finishes: vec![], settings, range };
        for (index, body) in frame.bodies.iter().enumerate() {
            builder.add_body(frame, index, body);
            builder.add_gas(frame, body);
        }
        frame.obstacles.iter().filter(|obstacle| obstacle.visible).for_each(|obstacle| builder.add_obstacle(obstacle));
        let SceneBuilder { primitives, planes, finishes, .. } = builder;
        let camera = settings.camera.unwrap_or_else(|| Camera::around(frame));
        let distance = camera.eye.distance(camera.target).max(1e-6);
        let visible_radius = distance * (0.5 * camera.field_of_view.to_radians()).tan();
        let bvh = PrimitiveBvh::new(primitives);
        let radius =
            bvh.bounds().map_or(visible_radius, |(min, max)| (0.5 * (max - min).length()).min(2.0 * visible_radius));
        Self {
            bvh,
            planes,
            has_transmissive: finishes.iter().any(|finish| finish.transmission() > 0.3),
            finishes,
            camera: PinholeCamera::new(&camera, settings.width, settings.height),
            radius: radius.max(1e-6),
            grid_spacing: round_spacing(0.25 * visible_radius),
            range,
        }
    }
}

/// Largest of 1, 2 and 5 times a power of ten up to a length.
fn round_spacing(length: f32) -> f32 {
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

/// Range of a scalar over the particles of a frame; that of strain and speed begins at 0.
fn value_range(frame: &Frame, colouring: Colouring) -> ColourRange {
    let particles = &frame.particles;
    match colouring {
        Colouring::Temperature => ColourRange::of_values(particles.temperature.iter().copied()),
        Colouring::Strain => ColourRange { low: 0.0, ..ColourRange::of_values(particles.strain.iter().copied()) },
        _ => ColourRange {
            low: 0.0,
            ..ColourRange::of_values(particles.velocity.iter().map(|velocity| velocity.length()))
        },
    }
}

/// Collects the primitives of a frame.
struct SceneBuilder<'a> {
    primitives: Primitives,
    planes: Vec<Plane>,
    finishes: Vec<Finish>,
    settings: &'a RenderSettings,
    range: Option<ColourRange>,
}

impl SceneBuilder<'_> {
    fn add_object(&mut self, finish: Finish) -> u32 {
        self.finishes.push(finish);
        self.finishes.len() as u32 - 1
    }

    /// Adds the skin of a body, or its particles as spheres.
    fn add_body(&mut self, frame: &Frame, index: usize, body: &FrameBody) {
        let finish = if self.settings.colouring == Colouring::Material { body.finish } else { Finish::Matte };
        let object = self.add_object(finish);
        let plain_colour = match self.settings.colouring {
            Colouring::Body => body_colour(index),
            _ => srgb_to_linear(body.color),
        };
        let map_colour = |value: f32| match self.range {
            Some(range) => colour::colour_map(self.settings.colouring, range.normalise(value)),
            None => plain_colour,
        };
        if let Some(skin) = &body.skin {
            let value = |v: usize| match self.settings.colouring {
                Colouring::Temperature => skin.temperatures.get(v).copied(),
                Colouring::Strain => skin.strains.get(v).copied(),
                _ => skin.velocities.get(v).map(|velocity| velocity.length()),
            };
            let colour = |v: usize| map_colour(value(v).unwrap_or(0.0));
            let surfels = skin.axes.iter().zip(&skin.positions).zip(&skin.normals).enumerate();
            self.primitives.discs.extend(surfels.map(|(v, ((axes, centre), normal))| Disc {
                centre: (*centre).into(),
                axes: axes.map(Vec3A::from),
                normal: (*normal).into(),
                colour: colour(v),
                object,
            }));
            self.primitives.add_skin(skin, colour, object);
        } else {
            let particles = &frame.particles;
            let value = |i: usize| match self.settings.colouring {
                Colouring::Temperature => particles.temperature[i],
                Colouring::Strain => particles.strain[i],
                _ => particles.velocity[i].length(),
            };
            let condensed = body.particles.clone().filter(|&i| particles.phase[i] != Phase::Gas);
            self.primitives.spheres.extend(condensed.map(|i| Sphere {
                centre: particles.position[i].into(),
                radius: particles.radius[i],
                colour: map_colour(value(i)),
                object,
            }));
        }
    }

    /// Adds the gas of a body as small spheres: it has no surface.
    fn add_gas(&mut self, frame: &Frame, body: &FrameBody) {
        let particles = &frame.particles;
        let is_gas = |i: &usize| particles.phase[*i] == Phase::Gas;
        if !body.particles.clone().any(|i| is_gas(&i)) {
            return;
        }
        let object = self.add_object(Finish::Matte);
        let range = self.range.filter(|_| self.settings.colouring == Colouring::Temperature);
        let map_colour =
            |value: f32| range.map(|range| colour::colour_map(Colouring::Temperature, range.normalise(value)));
        self.primitives.spheres.extend(body.particles.clone().filter(is_gas).map(|i| Sphere {
            centre: particles.position[i].into(),
            radius: GAS_RADIUS_FACTOR * particles.radius[i],
            colour: map_colour(particles.temperature[i]).unwrap_or(NEUTRAL_ALBEDO),
            object,
        }));
    }

    /// Adds an obstacle: an infinite plane, a sphere or triangles.
    fn add_obstacle(&mut self, obstacle: &FrameObstacle) {
        let object = self.add_object(Finish::Matte);
        let is_ground = matches!(obstacle.geometry, obstacle::Geometry::HalfSpace { .. });
        let colour = match (self.range, self.settings.colouring, obstacle.temperature.filter(|_| !is_ground)) {
            (Some(range), Colouring::Temperature, Some(temperature)) => {
                // Tinted only, so that obstacles and bodies of one temperature can be distinguished.
                NEUTRAL_ALBEDO.lerp(colour::colour_map(self.settings.colouring, range.normalise(temperature)), TINT)
            }
            (Some(_), ..) => NEUTRAL_ALBEDO,
            (None, ..) => srgb_to_linear(obstacle.color),
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
                self.primitives.spheres.push(Sphere { centre: pose.position.into(), radius: *radius, colour, object });
            }
            geometry => {
                let Some(mesh) = obstacle_mesh::tessellate(geometry) else { return };
                let vertices = &mut self.primitives.vertices;
                let first = vertices.positions.len() as u32;
                vertices.positions.extend(mesh.positions.iter().map(|&point| pose.transform_point(point)));
                vertices.normals.extend(mesh.normals.iter().map(|&normal| pose.transform_vector(normal)));
                vertices.colours.resize(vertices.positions.len(), colour);
                let triangles = mesh.triangles.iter().map(|corners| (corners.map(|corner| first + corner), object));
                self.primitives.triangles.extend(triangles);
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
    fn surfels_cover_a_sphere_without_holes() {
        let text = "version = 1\nduration = 1\n[[bodies]]\nname = 'ball'\nmodel = 'continuum'\nmaterial = 'rubber'\n\
                    shape = { kind = 'sphere', radius = 0.5 }\nspacing = 0.1\nskin = { kind = 'surfels' }\n";
        let scene = Scene::read(text, "x.toml", Path::new(".")).unwrap();
        let frame = scene.build(&BuildOptions::default()).unwrap().world.frame();
        let scene = RenderScene::new(&frame, &RenderSettings::default());
        for k in 0..40_000 {
            let (x, y) = ((k % 200) as f32 / 200.0 - 0.5, (k / 200) as f32 / 200.0 - 0.5);
            let square = 0.25 - x * x - y * y;
            // Nine tenths of the radius; nearer to the rim the angle of incidence is too large.
            if square < 0.25 * 0.19 {
                continue;
            }
            let hit = scene.bvh.closest_hit(Vec3A::new(x, y, 3.0), Vec3A::NEG_Z, 0.0, 9.0);
            let error = 3.0 - square.sqrt() - hit.map_or(f32::INFINITY, |hit| hit.distance);
            // Discs of 0.053 m stick out by 0.053^2/(2 0.5) = 3 mm at their rims, 6 mm along a ray at this slope;
            // through a hole the other side is visible, at least 0.4 m behind.
            assert!(error.abs() < 0.012, "{x} {y}: {error}");
        }
    }

    #[test]
    fn grid_spacings_are_round() {
        for (length, step) in [(0.7, 0.5), (1.0, 1.0), (3.0, 2.0), (49.0, 20.0), (0.0123, 0.01)] {
            assert!((round_spacing(length) / step - 1.0).abs() < 1e-4, "{length}");
        }
    }
}
