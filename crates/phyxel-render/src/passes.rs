//! Render passes: one camera ray per pixel, and denoising.
//!
//! A pass traces one camera ray through every pixel, with few shadow and ambient rays, and denoises direct and ambient
//! light by a cross-bilateral filter over pixels of the same surface. A preview is one pass, with more camera rays in
//! pixels at edges. A picture of high quality is the mean of many passes with jittered camera rays.

use crate::colour::linear_to_srgb;
use crate::light::{sky_radiance, tone_map};
use crate::picture::Picture;
use crate::sampling::{PixelRng, r2_tile_sample};
use crate::scene::RenderScene;
use crate::settings::{Quality, RenderSettings};
use crate::shade::{LightTerms, SurfacePoint};
use glam::{Vec2, Vec3, Vec3A};
use phyxel::parallel;

/// Passes of a picture of high quality.
const PASSES: u32 = 32;
/// Sample points of a pixel at an edge, beside its centre: no two in a row or a column (N-rooks), so that steep and
/// flat edges have equal steps.
const EDGE_SAMPLES: [Vec2; 4] = [Vec2::new(0.1, 0.7), Vec2::new(0.3, 0.1), Vec2::new(0.7, 0.9), Vec2::new(0.9, 0.3)];
/// Radius of the denoising filter, pixels.
const FILTER_RADIUS: i32 = 2;

/// First hit of a camera ray, with its light.
#[derive(Clone, Copy, Debug, Default)]
struct PixelSample {
    light: LightTerms,
    normal: Vec3A,
    position: Vec3A,
    distance: f32,
    /// Index of the object plus 1; 0 is the sky.
    object: u32,
    /// Direction of the camera ray.
    direction: Vec3A,
}

/// Index and sampling of a pass.
#[derive(Clone, Copy)]
struct Pass {
    index: u32,
    ambient_rays: u32,
    jitter: bool,
}

/// Renders a scene.
pub(crate) fn render_pixels(scene: &RenderScene, settings: &RenderSettings) -> Picture {
    let (width, height) = (settings.width.max(1), settings.height.max(1));
    let renderer = PassRenderer { scene, width, height };
    let pixels = match settings.quality {
        Quality::Preview => renderer.render_preview(),
        Quality::High => renderer.accumulate_passes(),
    };
    let mut rgb = vec![0; 3 * pixels.len()];
    parallel::for_each_chunk(&mut rgb, 3 * width as usize, |first, row| {
        for (bytes, colour) in row.chunks_exact_mut(3).zip(&pixels[first / 3..]) {
            bytes.copy_from_slice(&linear_to_srgb(*colour));
        }
    });
    Picture { width, height, rgb }
}

/// Renderer of passes of one size.
struct PassRenderer<'a> {
    scene: &'a RenderScene,
    width: u32,
    height: u32,
}

impl PassRenderer<'_> {
    fn pixel_count(&self) -> usize {
        self.width as usize * self.height as usize
    }

    fn render_preview(&self) -> Vec<Vec3> {
        let pass = Pass { index: 0, ambient_rays: 1, jitter: false };
        let samples = self.filter_light(&self.trace_pass(pass));
        self.map_pixels(|x, y| {
            let centre = self.radiance(&samples[self.pixel_index(x, y)]);
            if !self.is_edge(&samples, x, y) {
                return tone_map(centre);
            }
            let others: Vec3 = (0..EDGE_SAMPLES.len()).map(|k| tone_map(self.sample_edge(&samples, x, y, k))).sum();
            (tone_map(centre) + others) / (1 + EDGE_SAMPLES.len()) as f32
        })
    }

    fn accumulate_passes(&self) -> Vec<Vec3> {
        let mut sum = vec![Vec3::ZERO; self.pixel_count()];
        for index in 0..PASSES {
            let samples = self.filter_light(&self.trace_pass(Pass { index, ambient_rays: 3, jitter: true }));
            parallel::for_each_chunk(&mut sum, self.width as usize, |first, row| {
                row.iter_mut().zip(&samples[first..]).for_each(|(sum, sample)| *sum += tone_map(self.radiance(sample)));
            });
        }
        sum.iter_mut().for_each(|colour| *colour /= PASSES as f32);
        sum
    }

    fn pixel_index(&self, x: u32, y: u32) -> usize {
        y as usize * self.width as usize + x as usize
    }

    /// Evaluates `work` for all pixels, in parallel.
    fn map_pixels<T: Default + Clone + Send>(&self, work: impl Fn(u32, u32) -> T + Sync) -> Vec<T> {
        let mut values = vec![T::default(); self.pixel_count()];
        parallel::for_each_chunk(&mut values, self.width as usize, |first, row| {
            let y = (first / self.width as usize) as u32;
            row.iter_mut().zip(0..).for_each(|(value, x)| *value = work(x, y));
        });
        values
    }

    /// Traces one camera ray through every pixel.
    fn trace_pass(&self, pass: Pass) -> Vec<PixelSample> {
        self.map_pixels(|x, y| {
            let mut rng = PixelRng::new(x, y, pass.index);
            let offset = if pass.jitter { rng.uniform_pair() } else { Vec2::splat(0.5) };
            let direction = self.scene.camera.ray_direction(x as f32 + offset.x, y as f32 + offset.y);
            let Some(surface) = self.scene.trace(self.scene.camera.eye, direction, 0.0) else {
                return PixelSample {
                    direction,
                    light: LightTerms { secondary: sky_radiance(direction), ..LightTerms::default() },
                    ..PixelSample::default()
                };
            };
            // One random shift per tile, so that the samples of its pixels remain stratified.
            let mut tile_rng = PixelRng::new(x / 4, y / 4, pass.index ^ 0x5bd1);
            let shift = tile_rng.uniform_pair();
            let sample = |k: u32| r2_tile_sample(x, y, k, shift + Vec2::splat(0.37 * k as f32));
            let light = self.scene.shade(&surface, direction, pass.ambient_rays, sample, &mut rng);
            self.pixel_sample(&surface, direction, light)
        })
    }

    fn pixel_sample(&self, surface: &SurfacePoint, direction: Vec3A, light: LightTerms) -> PixelSample {
        let SurfacePoint { normal, position, distance, object, .. } = *surface;
        PixelSample { light, normal, position, distance, object: object + 1, direction }
    }

    /// Radiance that reaches the camera.
    fn radiance(&self, sample: &PixelSample) -> Vec3 {
        let light = sample.light.total();
        if sample.object == 0 { light } else { self.scene.apply_fog(light, sample.direction, sample.distance) }
    }

    /// Cross-bilateral filter of direct and ambient light over neighbouring pixels of the same surface: weights are
    /// powers of the cosine between normals; pixels off the tangent plane are rejected.
    fn filter_light(&self, samples: &[PixelSample]) -> Vec<PixelSample> {
        self.map_pixels(|x, y| {
            let mut sample = samples[self.pixel_index(x, y)];
            if sample.object == 0 {
                return sample;
            }
            let footprint = self.scene.camera.pixel_size * sample.distance;
            let (mut sun, mut ambient, mut secondary, mut total_weight) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO, 0.0);
            self.for_neighbours(x, y, FILTER_RADIUS, |index| {
                let other = &samples[index];
                let plane_distance = (other.position - sample.position).dot(sample.normal).abs() / footprint;
                let cosine = other.normal.dot(sample.normal);
                if other.object == sample.object && cosine > 0.8 && plane_distance < 3.0 {
                    let weight = cosine * cosine * cosine * cosine;
                    sun += other.light.sun_irradiance * weight;
                    ambient += other.light.ambient * weight;
                    secondary += other.light.secondary * weight;
                    total_weight += weight;
                }
            });
            (sample.light.sun_irradiance, sample.light.ambient) = (sun / total_weight, ambient / total_weight);
            // Reflections on rough surfaces are blurred anyway.
            if self.scene.finishes[sample.object as usize - 1].roughness() > 0.2 {
                sample.light.secondary = secondary / total_weight;
            }
            sample
        })
    }

    /// Calls `work` with the indices of the pixels in a square.
    fn for_neighbours(&self, x: u32, y: u32, radius: i32, mut work: impl FnMut(usize)) {
        let span = |at: u32, size: u32| (at as i32 - radius).max(0)..=(at as i32 + radius).min(size as i32 - 1);
        for v in span(y, self.height) {
            for u in span(x, self.width) {
                work(self.pixel_index(u as u32, v as u32));
            }
        }
    }

    /// Returns true if object, normal or depth are discontinuous at a pixel.
    fn is_edge(&self, samples: &[PixelSample], x: u32, y: u32) -> bool {
        let centre = &samples[self.pixel_index(x, y)];
        let mut is_edge = false;
        self.for_neighbours(x, y, 1, |index| {
            let other = &samples[index];
            let plane_distance = (other.position - centre.position).dot(centre.normal).abs();
            is_edge |= other.object != centre.object
                || (centre.object != 0
                    && (other.normal.dot(centre.normal) < 0.85
                        || plane_distance > 8.0 * self.scene.camera.pixel_size * centre.distance));
        });
        is_edge
    }

    /// Radiance through the `k`-th sample point of a pixel at an edge. Light is reused from the neighbouring pixel of
    /// the same object whose normal is most similar.
    fn sample_edge(&self, samples: &[PixelSample], x: u32, y: u32, k: usize) -> Vec3 {
        let offset = EDGE_SAMPLES[k];
        let direction = self.scene.camera.ray_direction(x as f32 + offset.x, y as f32 + offset.y);
        let Some(surface) = self.scene.trace(self.scene.camera.eye, direction, 0.0) else {
            return sky_radiance(direction);
        };
        let mut best: Option<(f32, &PixelSample)> = None;
        self.for_neighbours(x, y, 1, |index| {
            let other = &samples[index];
            let cosine = other.normal.dot(surface.normal);
            if other.object == surface.object + 1 && best.is_none_or(|(best_cosine, _)| cosine > best_cosine) {
                best = Some((cosine, other));
            }
        });
        let light = match best.filter(|(cosine, _)| *cosine > 0.7) {
            Some((_, other)) => LightTerms { albedo: self.scene.diffuse_albedo(&surface), ..other.light },
            None => {
                let mut rng = PixelRng::new(x, y, 977 + k as u32);
                let shift = rng.uniform_pair();
                self.scene.shade(&surface, direction, 3, |k| r2_tile_sample(x, y, k, shift), &mut rng)
            }
        };
        self.radiance(&self.pixel_sample(&surface, direction, light))
    }
}
