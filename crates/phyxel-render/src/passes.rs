//! From rays to pixels.
//!
//! A pass looks through every pixel once, takes few rays to the sun and to the surroundings, and makes their sum
//! smooth over neighbouring pixels of the same surface. A preview is one pass, with more looks where surfaces end. A
//! picture of high quality is the mean of many passes, each through other points of the pixels.

use crate::colour::to_bytes;
use crate::light::{develop, sky};
use crate::picture::Picture;
use crate::sampling::{Dice, spread_pair};
use crate::shade::{Parts, Surface};
use crate::stage::Stage;
use crate::view::{Quality, View};
use glam::{Vec2, Vec3, Vec3A};
use phyxel::parallel;

/// Passes of a picture of high quality.
const PASSES: u32 = 32;
/// Looks through a pixel in which a surface ends, beside the first through its middle: no two in a row or a column, so
/// that steep and flat edges come out in even steps.
const MORE_LOOKS: [Vec2; 4] = [Vec2::new(0.1, 0.7), Vec2::new(0.3, 0.1), Vec2::new(0.7, 0.9), Vec2::new(0.9, 0.3)];
/// Pixels to each side over which light is made smooth.
const SMOOTH: i32 = 2;

/// What is seen through a pixel.
#[derive(Clone, Copy, Debug, Default)]
struct Pixel {
    parts: Parts,
    normal: Vec3A,
    point: Vec3A,
    distance: f32,
    /// Number of the object and 1; 0 is the sky.
    object: u32,
    view: Vec3A,
}

/// A pass: its number and how many rays it takes.
#[derive(Clone, Copy)]
struct Pass {
    number: u32,
    rays: u32,
    jitter: bool,
}

/// Draws a stage.
pub(crate) fn draw(stage: &Stage, view: &View) -> Picture {
    let (width, height) = (view.width.max(1), view.height.max(1));
    let canvas = Canvas { stage, width, height };
    let shown = match view.quality {
        Quality::Preview => canvas.preview(),
        Quality::High => canvas.many_passes(),
    };
    let mut rgb = vec![0; 3 * shown.len()];
    parallel::for_each_chunk(&mut rgb, 3 * width as usize, |first, row| {
        for (bytes, light) in row.chunks_exact_mut(3).zip(&shown[first / 3..]) {
            bytes.copy_from_slice(&to_bytes(*light));
        }
    });
    Picture { width, height, rgb }
}

struct Canvas<'a> {
    stage: &'a Stage,
    width: u32,
    height: u32,
}

impl Canvas<'_> {
    fn count(&self) -> usize {
        self.width as usize * self.height as usize
    }

    fn preview(&self) -> Vec<Vec3> {
        let pass = Pass { number: 0, rays: 1, jitter: false };
        let seen = self.smooth(&self.look(pass));
        self.map_pixels(|x, y| {
            let own = self.light_of(&seen[self.place(x, y)]);
            if !self.is_edge(&seen, x, y) {
                return develop(own);
            }
            let more: Vec3 = (0..MORE_LOOKS.len()).map(|k| develop(self.look_again(&seen, x, y, k))).sum();
            (develop(own) + more) / (1 + MORE_LOOKS.len()) as f32
        })
    }

    fn many_passes(&self) -> Vec<Vec3> {
        let mut sum = vec![Vec3::ZERO; self.count()];
        for number in 0..PASSES {
            let seen = self.smooth(&self.look(Pass { number, rays: 3, jitter: true }));
            parallel::for_each_chunk(&mut sum, self.width as usize, |first, row| {
                row.iter_mut().zip(&seen[first..]).for_each(|(sum, pixel)| *sum += develop(self.light_of(pixel)));
            });
        }
        sum.iter_mut().for_each(|light| *light /= PASSES as f32);
        sum
    }

    fn place(&self, x: u32, y: u32) -> usize {
        y as usize * self.width as usize + x as usize
    }

    /// The values of `work` for all pixels.
    fn map_pixels<T: Default + Clone + Send>(&self, work: impl Fn(u32, u32) -> T + Sync) -> Vec<T> {
        let mut values = vec![T::default(); self.count()];
        parallel::for_each_chunk(&mut values, self.width as usize, |first, row| {
            let y = (first / self.width as usize) as u32;
            row.iter_mut().zip(0..).for_each(|(value, x)| *value = work(x, y));
        });
        values
    }

    /// Looks once through every pixel.
    fn look(&self, pass: Pass) -> Vec<Pixel> {
        self.map_pixels(|x, y| {
            let mut dice = Dice::new(x, y, pass.number);
            let offset = if pass.jitter { dice.pair() } else { Vec2::splat(0.5) };
            let view = self.stage.lens.direction(x as f32 + offset.x, y as f32 + offset.y);
            let Some(surface) = self.stage.look(self.stage.lens.eye, view, 0.0) else {
                return Pixel { view, parts: Parts { other: sky(view), ..Parts::default() }, ..Pixel::default() };
            };
            // Tiles are shifted at random, but all pixels of a tile alike, so that together they are even.
            let mut tile = Dice::new(x / 4, y / 4, pass.number ^ 0x5bd1);
            let shift = tile.pair();
            let place = |k: u32| spread_pair(x, y, k, shift + Vec2::splat(0.37 * k as f32));
            let parts = self.stage.shade(&surface, view, pass.rays, place, &mut dice);
            self.pixel(&surface, view, parts)
        })
    }

    fn pixel(&self, surface: &Surface, view: Vec3A, parts: Parts) -> Pixel {
        let Surface { normal, point, distance, object, .. } = *surface;
        Pixel { parts, normal, point, distance, object: object + 1, view }
    }

    fn light_of(&self, pixel: &Pixel) -> Vec3 {
        let light = pixel.parts.total();
        if pixel.object == 0 { light } else { self.stage.haze(light, pixel.view, pixel.distance) }
    }

    /// Light from sun and surroundings made smooth over pixels that show the same surface.
    fn smooth(&self, seen: &[Pixel]) -> Vec<Pixel> {
        self.map_pixels(|x, y| {
            let mut pixel = seen[self.place(x, y)];
            if pixel.object == 0 {
                return pixel;
            }
            let reach = self.stage.lens.pixel * pixel.distance;
            let (mut sun, mut around, mut other_light, mut total) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO, 0.0);
            self.for_neighbours(x, y, SMOOTH, |place| {
                let other = &seen[place];
                let off = (other.point - pixel.point).dot(pixel.normal).abs() / reach;
                let turned = other.normal.dot(pixel.normal);
                if other.object == pixel.object && turned > 0.8 && off < 3.0 {
                    let weight = turned * turned * turned * turned;
                    sun += other.parts.sun * weight;
                    around += other.parts.around * weight;
                    other_light += other.parts.other * weight;
                    total += weight;
                }
            });
            (pixel.parts.sun, pixel.parts.around) = (sun / total, around / total);
            // What rough surfaces mirror is blurred anyway.
            if self.stage.finishes[pixel.object as usize - 1].roughness() > 0.2 {
                pixel.parts.other = other_light / total;
            }
            pixel
        })
    }

    fn for_neighbours(&self, x: u32, y: u32, reach: i32, mut work: impl FnMut(usize)) {
        let span = |at: u32, most: u32| (at as i32 - reach).max(0)..=(at as i32 + reach).min(most as i32 - 1);
        for v in span(y, self.height) {
            for u in span(x, self.width) {
                work(self.place(u as u32, v as u32));
            }
        }
    }

    /// Whether a surface ends or bends within a pixel.
    fn is_edge(&self, seen: &[Pixel], x: u32, y: u32) -> bool {
        let own = &seen[self.place(x, y)];
        let mut edge = false;
        self.for_neighbours(x, y, 1, |place| {
            let other = &seen[place];
            let jump = (other.point - own.point).dot(own.normal).abs();
            edge |= other.object != own.object
                || (own.object != 0
                    && (other.normal.dot(own.normal) < 0.85 || jump > 8.0 * self.stage.lens.pixel * own.distance));
        });
        edge
    }

    /// Light at another point of a pixel; sun and surroundings are taken from the nearest pixel of the same surface.
    fn look_again(&self, seen: &[Pixel], x: u32, y: u32, number: usize) -> Vec3 {
        let offset = MORE_LOOKS[number];
        let view = self.stage.lens.direction(x as f32 + offset.x, y as f32 + offset.y);
        let Some(surface) = self.stage.look(self.stage.lens.eye, view, 0.0) else { return sky(view) };
        let mut best: Option<(f32, &Pixel)> = None;
        self.for_neighbours(x, y, 1, |place| {
            let other = &seen[place];
            let likeness = other.normal.dot(surface.normal);
            if other.object == surface.object + 1 && best.is_none_or(|(known, _)| likeness > known) {
                best = Some((likeness, other));
            }
        });
        let parts = match best.filter(|(likeness, _)| *likeness > 0.7) {
            Some((_, other)) => Parts { colour: self.stage.body_colour(&surface), ..other.parts },
            None => {
                let mut dice = Dice::new(x, y, 977 + number as u32);
                let shift = dice.pair();
                self.stage.shade(&surface, view, 3, |k| spread_pair(x, y, k, shift), &mut dice)
            }
        };
        self.light_of(&self.pixel(&surface, view, parts))
    }
}
