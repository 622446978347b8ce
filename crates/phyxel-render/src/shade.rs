//! Shading: radiance along rays.
//!
//! Direct sunlight with soft shadows, ambient light by one bounce, reflection and refraction by recursive ray tracing
//! `[Whi80]`, highlights by the GGX microfacet distribution. `incident` is the direction of the arriving ray.

use crate::bvh::SurfaceAttributes;
use crate::light::{SUN_IRRADIANCE, SUN_TAN_HALF_ANGLE, sky_irradiance, sky_radiance, sun_direction};
use crate::sampling::{PixelRng, sample_cone, sample_cosine_hemisphere};
use crate::scene::{Plane, RenderScene};
use glam::{Vec2, Vec3, Vec3A};
use phyxel::material::Finish;

/// Fresnel reflectance of dielectrics at normal incidence.
const DIELECTRIC_F0: f32 = 0.04;
/// Refractive index of water, nearly that of jelly.
const REFRACTIVE_INDEX: f32 = 1.33;
/// Largest number of reflections and refractions along a path.
const MAX_DEPTH: u32 = 4;
/// Range of ambient rays, as a fraction of the radius of the scene; beyond it nothing occludes the sky.
const OCCLUSION_RANGE: f32 = 0.8;
/// Largest number of transmissive surfaces that a shadow ray passes.
const MAX_TRANSMISSIONS: usize = 8;

/// Point of a surface that a ray hits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SurfacePoint {
    pub position: Vec3A,
    /// Interpolated (shading) normal on the side of the ray, a unit vector.
    pub normal: Vec3A,
    /// Normal of the primitive on the side of the ray, a unit vector.
    geometric_normal: Vec3A,
    pub colour: Vec3,
    pub object: u32,
    pub distance: f32,
    /// True if the ray arrives from inside the body.
    is_inside: bool,
}

/// Terms of the light of a point; those with noise are filtered before they are summed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LightTerms {
    /// Diffuse albedo.
    pub albedo: Vec3,
    /// Irradiance by the sun as a fraction of [`SUN_IRRADIANCE`]: transmittance of the shadow ray times cosine.
    pub sun_irradiance: Vec3,
    /// Irradiance by sky and surroundings.
    pub ambient: Vec3,
    /// Specular highlight of the sun, without shadows.
    pub specular: Vec3,
    /// Reflected and refracted light.
    pub secondary: Vec3,
}

impl LightTerms {
    /// Total radiance.
    pub fn total(&self) -> Vec3 {
        self.albedo * (SUN_IRRADIANCE * self.sun_irradiance + self.ambient)
            + self.specular * self.sun_irradiance
            + self.secondary
    }
}

impl RenderScene {
    /// Finds the closest surface along a ray from distance `t_min` on.
    pub fn trace(&self, origin: Vec3A, direction: Vec3A, t_min: f32) -> Option<SurfacePoint> {
        self.trace_segment(origin, direction, t_min, f32::INFINITY)
    }

    /// Finds the closest surface along a ray between two distances.
    fn trace_segment(&self, origin: Vec3A, direction: Vec3A, t_min: f32, t_max: f32) -> Option<SurfacePoint> {
        let mut nearest = t_max;
        let mut nearest_plane: Option<&Plane> = None;
        for plane in &self.planes {
            let distance = (plane.point - origin).dot(plane.normal) / direction.dot(plane.normal);
            if distance > t_min && distance < nearest {
                (nearest, nearest_plane) = (distance, Some(plane));
            }
        }
        let (distance, attributes) = match self.bvh.closest_hit(origin, direction, t_min, nearest) {
            Some(hit) => (hit.distance, self.bvh.attributes(&hit, origin + direction * hit.distance)),
            None => (nearest, self.plane_attributes(nearest_plane?, origin + direction * nearest, nearest)),
        };
        let is_inside = attributes.geometric_normal.dot(direction) > 0.0;
        let side = if is_inside { -1.0 } else { 1.0 };
        // At silhouettes the interpolated normal may face away from the ray; then the geometric one is taken.
        let normal = attributes.normal * side;
        let normal = if normal.dot(direction) < 0.0 { normal } else { attributes.geometric_normal * side };
        Some(SurfacePoint {
            position: origin + direction * distance,
            normal,
            geometric_normal: attributes.geometric_normal * side,
            colour: attributes.colour,
            object: attributes.object,
            distance,
            is_inside,
        })
    }

    /// Attributes of a plane. Level ones carry a grid of thin lines that fade where they are finer than a pixel.
    fn plane_attributes(&self, plane: &Plane, point: Vec3A, distance: f32) -> SurfaceAttributes {
        let mut colour = plane.colour;
        if plane.normal.y > 0.99 {
            let width = self.camera.pixel_size * distance / self.grid_spacing;
            let line = |x: f32| {
                let distance_to_line = (x / self.grid_spacing - (x / self.grid_spacing).round()).abs();
                (1.0 - (distance_to_line - 0.004) / width.max(0.004)).clamp(0.0, 1.0)
            };
            let fade = (1.0 - 7.0 * width).clamp(0.0, 1.0);
            colour *= 1.0 - 0.22 * fade * line(point.x).max(line(point.z));
        }
        SurfaceAttributes { object: plane.object, colour, normal: plane.normal, geometric_normal: plane.normal }
    }

    /// Offset of secondary rays from their surface, against self-intersection, m.
    fn ray_offset(&self, surface: &SurfacePoint) -> f32 {
        2e-4 * self.radius + 1e-5 * surface.distance
    }

    /// Returns true if a ray hits nothing between two distances.
    fn is_unoccluded(&self, origin: Vec3A, direction: Vec3A, t_min: f32, t_max: f32) -> bool {
        self.bvh.is_unoccluded(origin, direction, t_min, t_max)
            && self.planes.iter().all(|plane| {
                let distance = (plane.point - origin).dot(plane.normal) / direction.dot(plane.normal);
                !(distance > t_min && distance < t_max)
            })
    }

    /// Transmittance of a shadow ray towards the sun, by colour.
    fn sun_transmittance(&self, surface: &SurfacePoint, direction: Vec3A) -> Vec3 {
        let origin = surface.position + surface.geometric_normal * self.ray_offset(surface);
        if !self.has_transmissive {
            return if self.is_unoccluded(origin, direction, 0.0, f32::INFINITY) { Vec3::ONE } else { Vec3::ZERO };
        }
        let (mut transmittance, mut t_min) = (Vec3::ONE, 0.0);
        for _ in 0..MAX_TRANSMISSIONS {
            let Some(hit) = self.trace(origin, direction, t_min) else { return transmittance };
            let transmission = self.finishes[hit.object as usize].transmission();
            if transmission < 0.3 {
                return Vec3::ZERO;
            }
            transmittance *= Vec3::ONE.lerp(hit.colour, 0.5) * transmission.sqrt();
            t_min = hit.distance + self.ray_offset(surface);
        }
        transmittance
    }

    /// Radiance that arrives from the sky or a near surface, by one ray.
    fn ambient_radiance(&self, surface: &SurfacePoint, direction: Vec3A) -> Vec3 {
        let origin = surface.position + surface.geometric_normal * self.ray_offset(surface);
        match self.trace_segment(origin, direction, 0.0, OCCLUSION_RANGE * self.radius) {
            None => sky_radiance(direction),
            // Approximate second bounce, weaker in narrow gaps.
            Some(hit) => {
                let openness = 0.55 * (hit.distance / (0.2 * self.radius)).min(1.0);
                hit.colour * sky_irradiance(hit.normal) * (0.15 + openness)
            }
        }
    }

    /// Light terms of a surface, by one shadow ray and `ambient_rays` ambient rays; `sample(k)` are points of the unit
    /// square for the k-th ray, stratified over neighbouring pixels.
    pub fn shade(
        &self,
        surface: &SurfacePoint,
        incident: Vec3A,
        ambient_rays: u32,
        sample: impl Fn(u32) -> Vec2,
        rng: &mut PixelRng,
    ) -> LightTerms {
        let finish = self.finishes[surface.object as usize];
        let (transmission, metalness) = (finish.transmission(), finish.metalness());
        let mut light = self.direct_light(surface, incident, finish, sample(0));
        if metalness < 1.0 && transmission < 0.9 {
            let direction = |k: u32| sample_cosine_hemisphere(surface.normal, sample(k + 1));
            let sum: Vec3 = (0..ambient_rays).map(|k| self.ambient_radiance(surface, direction(k))).sum();
            light.ambient = sum / ambient_rays.max(1) as f32;
        }
        light.secondary = self.secondary_radiance(surface, incident, finish, MAX_DEPTH, rng);
        light
    }

    /// Diffuse albedo of a surface: zero for metals, reduced by transmission.
    pub fn diffuse_albedo(&self, surface: &SurfacePoint) -> Vec3 {
        let finish = self.finishes[surface.object as usize];
        surface.colour * ((1.0 - finish.metalness()) * (1.0 - finish.transmission()))
    }

    /// Light terms of the sun, by one shadow ray to the point `sample` of its disc.
    fn direct_light(&self, surface: &SurfacePoint, incident: Vec3A, finish: Finish, sample: Vec2) -> LightTerms {
        let sun = sample_cone(sun_direction(), SUN_TAN_HALF_ANGLE, sample);
        let cosine = surface.normal.dot(sun);
        let transmittance = if surface.geometric_normal.dot(sun) > 0.0 && cosine > 0.0 {
            self.sun_transmittance(surface, sun)
        } else {
            Vec3::ZERO
        };
        let mut light = LightTerms { albedo: self.diffuse_albedo(surface), ..LightTerms::default() };
        light.sun_irradiance = transmittance * cosine.max(0.0);
        let f0 = Vec3::splat(DIELECTRIC_F0).lerp(surface.colour, finish.metalness());
        light.specular = SUN_IRRADIANCE * ggx_specular(surface.normal, -incident, sun, f0, finish.roughness());
        if matches!(finish, Finish::Wax | Finish::Jelly) {
            light.ambient += self.subsurface(surface, sun, finish);
        }
        light
    }

    /// Subsurface scattering: sunlight that enters a translucent body on its other side and leaves it here.
    fn subsurface(&self, surface: &SurfacePoint, sun: Vec3A, finish: Finish) -> Vec3 {
        let origin = surface.position - surface.geometric_normal * self.ray_offset(surface);
        let mean_free_path = if finish == Finish::Wax { 0.12 } else { 0.5 } * self.radius;
        let thickness = self
            .bvh
            .closest_hit(origin, sun, 0.0, 8.0 * mean_free_path)
            .map_or(8.0 * mean_free_path, |hit| hit.distance);
        // Wrap lighting: the terminator of translucent bodies is not sharp.
        let wrap = (0.5 + 0.5 * surface.normal.dot(sun)).max(0.0);
        SUN_IRRADIANCE * (0.35 * (-thickness / mean_free_path).exp() + 0.12 * wrap)
    }

    /// Radiance of reflected and refracted rays.
    fn secondary_radiance(
        &self,
        surface: &SurfacePoint,
        incident: Vec3A,
        finish: Finish,
        depth: u32,
        rng: &mut PixelRng,
    ) -> Vec3 {
        let cosine = (-incident.dot(surface.normal)).clamp(0.0, 1.0);
        let (metalness, transmission) = (finish.metalness(), finish.transmission());
        if finish == Finish::Matte || depth == 0 {
            return Vec3::ZERO;
        }
        let f0 = Vec3::splat(DIELECTRIC_F0).lerp(surface.colour, metalness);
        let grazing = libm::powf(1.0 - cosine, 5.0) * (1.0 - 0.7 * finish.roughness());
        let reflectance = f0 + (Vec3::ONE - f0) * grazing;
        let mut light = Vec3::ZERO;
        if !surface.is_inside {
            let reflected = incident - surface.normal * (2.0 * incident.dot(surface.normal));
            let tan_half_angle = finish.roughness() * finish.roughness();
            let direction = sample_cone(reflected, tan_half_angle, rng.uniform_pair());
            let is_outside = direction.dot(surface.geometric_normal) > 0.0;
            let origin = surface.position + surface.geometric_normal * self.ray_offset(surface);
            light += reflectance
                * if is_outside {
                    self.ray_radiance(origin, direction, depth - 1, rng)
                } else {
                    sky_radiance(reflected)
                };
        }
        if transmission > 0.3 {
            light += (Vec3::ONE - reflectance)
                * transmission
                * self.transmitted_radiance(surface, incident, finish, depth, rng);
        }
        light
    }

    /// Radiance through a body: refracted where the ray enters and leaves it, absorbed between.
    fn transmitted_radiance(
        &self,
        surface: &SurfacePoint,
        incident: Vec3A,
        finish: Finish,
        depth: u32,
        rng: &mut PixelRng,
    ) -> Vec3 {
        let inward = refract(incident, surface.normal, 1.0 / REFRACTIVE_INDEX).unwrap_or(incident);
        let origin = surface.position - surface.geometric_normal * self.ray_offset(surface);
        let Some(exit) = self.trace(origin, inward, 0.0) else { return sky_radiance(inward) };
        // Thickness in units of that at which a body shows its colour in full.
        let thickness = exit.distance / (0.35 * self.radius);
        let absorption = if finish == Finish::Clear { 0.2 } else { 0.6 };
        let transmittance = Vec3::from_array(
            surface.colour.to_array().map(|channel| libm::powf(channel.max(0.02), absorption * thickness)),
        );
        let radiance = if exit.object == surface.object {
            let outward = refract(inward, exit.normal, REFRACTIVE_INDEX).unwrap_or(inward);
            self.ray_radiance(exit.position - exit.geometric_normal * self.ray_offset(&exit), outward, depth - 1, rng)
        } else {
            self.surface_radiance(&exit, inward, depth - 1, rng)
        };
        radiance * transmittance
    }

    /// Radiance along a ray that has been reflected or refracted.
    fn ray_radiance(&self, origin: Vec3A, direction: Vec3A, depth: u32, rng: &mut PixelRng) -> Vec3 {
        match self.trace(origin, direction, 0.0) {
            Some(surface) => self.surface_radiance(&surface, direction, depth, rng),
            None => sky_radiance(direction),
        }
    }

    /// Radiance of a surface that a secondary ray hits, without ambient rays.
    fn surface_radiance(&self, surface: &SurfacePoint, incident: Vec3A, depth: u32, rng: &mut PixelRng) -> Vec3 {
        let finish = self.finishes[surface.object as usize];
        let mut light = self.direct_light(surface, incident, finish, rng.uniform_pair());
        light.ambient += 0.75 * sky_irradiance(surface.normal);
        // Reflections of opaque dielectrics are too weak to be traced a second time.
        if finish.metalness() > 0.0 || finish.transmission() > 0.3 {
            light.secondary = self.secondary_radiance(surface, incident, finish, depth, rng);
        }
        self.apply_fog(light.total(), incident, surface.distance)
    }

    /// Blends radiance into that of the horizon with distance (fog), so that infinite planes end in the sky.
    pub fn apply_fog(&self, radiance: Vec3, incident: Vec3A, distance: f32) -> Vec3 {
        let far = (distance / (40.0 * self.radius) - 0.15).clamp(0.0, 1.0);
        let level = Vec3A::new(incident.x, incident.y.max(0.0), incident.z).normalize_or(incident);
        radiance.lerp(sky_radiance(level), far * far * (3.0 - 2.0 * far))
    }
}

/// Refracted direction by Snell's law; `None` for total internal reflection. `ratio` is the refractive index on the
/// side of the incident ray over that on the other side.
fn refract(incident: Vec3A, normal: Vec3A, ratio: f32) -> Option<Vec3A> {
    let cosine = -incident.dot(normal);
    let cosine_squared = 1.0 - ratio * ratio * (1.0 - cosine * cosine);
    (cosine_squared >= 0.0).then(|| (incident * ratio + normal * (ratio * cosine - cosine_squared.sqrt())).normalize())
}

/// Specular highlight: GGX microfacet distribution `[WMLT07]` with Schlick's Fresnel term `[Sch94]`.
///
/// `n_h`, `n_v` and `h_v` are the cosines between normal n, half vector h and view direction v; `f0` is the
/// reflectance at normal incidence.
fn ggx_specular(normal: Vec3A, viewer: Vec3A, light: Vec3A, f0: Vec3, roughness: f32) -> Vec3 {
    let half = (viewer + light).normalize_or(normal);
    let (n_h, n_v, h_v) = (normal.dot(half).max(0.0), normal.dot(viewer).max(1e-3), half.dot(viewer).max(0.0));
    let a = (roughness * roughness).max(0.02);
    let a2 = a * a;
    let d = n_h * n_h * (a2 - 1.0) + 1.0;
    let distribution = a2 / (std::f32::consts::PI * d * d);
    let fresnel = f0 + (Vec3::ONE - f0) * libm::powf(1.0 - h_v, 5.0);
    let shadowing = 1.0 / (n_v * (2.0 - a) + a);
    (fresnel * distribution * shadowing * 0.5).min(Vec3::splat(6.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn light_is_refracted_towards_the_normal_in_water_and_back_out_of_it() {
        let incident = Vec3A::new(0.6, -0.8, 0.0);
        let inside = refract(incident, Vec3A::Y, 1.0 / REFRACTIVE_INDEX).unwrap();
        assert!((inside.x - 0.6 / REFRACTIVE_INDEX).abs() < 1e-6 && inside.y < -0.8);
        let out = refract(inside, Vec3A::Y, REFRACTIVE_INDEX).unwrap();
        assert!(out.distance(incident) < 1e-6);
        let grazing = refract(Vec3A::new(0.9, -0.436, 0.0), Vec3A::Y, REFRACTIVE_INDEX);
        assert!(grazing.is_none(), "total internal reflection");
    }

    #[test]
    fn highlights_are_strongest_in_the_mirror_direction() {
        let viewer = Vec3A::new(0.5, 0.8, 0.0).normalize();
        let light = Vec3A::new(-0.5, 0.8, 0.0).normalize();
        let at = |normal: Vec3A| ggx_specular(normal.normalize(), viewer, light, Vec3::splat(0.04), 0.3).x;
        assert!(at(Vec3A::Y) > 5.0 * at(Vec3A::new(0.4, 1.0, 0.0)));
    }
}
