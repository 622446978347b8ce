//! Where the copies of a body go.

use super::body::Mould;
use crate::error::BuildError;
use crate::sample::Random;
use crate::scene::{BodyDescription, Copies, pose_of};
use crate::shape::{Bounds, Shape};
use glam::{IVec3, Quat, Vec3};
use phyxel::body::Pose;
use std::collections::HashMap;

/// Tries to find a place that keeps clear of the other copies.
const TRIES: u32 = 200;
/// Tries to find a place in the region at all.
const REGION_TRIES: u32 = 100_000;

/// Places of all copies of a body, in the order of their numbers.
pub(super) fn place(
    body: &BodyDescription,
    mould: &Mould,
    random: &mut Random,
    warnings: &mut Vec<String>,
) -> Result<Vec<Pose>, BuildError> {
    let first = pose_of(&body.place);
    Ok(match &body.copies {
        None => vec![first],
        Some(Copies::Grid { counts: [nx, ny, nz], step, jitter }) => {
            let rows = (0..*nz).flat_map(|z| (0..*ny).map(move |y| (y, z)));
            let cells = rows.flat_map(|(y, z)| (0..*nx).map(move |x| Vec3::new(x as f32, y as f32, z as f32)));
            cells.map(|cell| moved(first, cell * *step + jittered(random, *jitter))).collect()
        }
        Some(Copies::Stack { count, step, jitter }) => {
            (0..*count).map(|number| moved(first, number as f32 * *step + jittered(random, *jitter))).collect()
        }
        Some(Copies::Random { count, region, turn }) => {
            let ball = Ball::around(mould, body);
            let mut scatter = Scatter { region, ball, turn: *turn, first, taken: Taken::new(ball.radius) };
            let poses = (0..*count).map(|_| scatter.next(random)).collect::<Option<Vec<Pose>>>();
            let poses = poses.ok_or_else(|| BuildError::NoPlace { body: body.name.clone(), tries: REGION_TRIES })?;
            if scatter.taken.crowded > 0 {
                warnings.push(format!(
                    "body \"{}\": {} of {count} copies found no place clear of the others; make the region larger or \
                     the copies fewer",
                    body.name, scatter.taken.crowded
                ));
            }
            poses
        }
    })
}

fn moved(pose: Pose, by: Vec3) -> Pose {
    Pose { at: pose.at + by, ..pose }
}

fn jittered(random: &mut Random, most: f32) -> Vec3 {
    if most == 0.0 {
        return Vec3::ZERO;
    }
    most * (2.0 * unit_vector3(random) - 1.0)
}

fn unit_vector3(random: &mut Random) -> Vec3 {
    Vec3::new(random.unit(), random.unit(), random.unit())
}

/// A turn, every one as likely as any other: three numbers on the sphere of unit quaternions (Shoemake 1992).
fn any_turn(random: &mut Random) -> Quat {
    let [u, a, b] = unit_vector3(random).to_array();
    let (sin_a, cos_a) = libm::sincosf(std::f32::consts::TAU * a);
    let (sin_b, cos_b) = libm::sincosf(std::f32::consts::TAU * b);
    let (near, far) = ((1.0 - u).sqrt(), u.sqrt());
    Quat::from_xyzw(near * sin_a, near * cos_a, far * sin_b, far * cos_b).normalize()
}

/// A ball around the samples of a body, in its own frame.
#[derive(Clone, Copy)]
struct Ball {
    centre: Vec3,
    radius: f32,
}

impl Ball {
    fn around(mould: &Mould, body: &BodyDescription) -> Self {
        let bounds = Bounds::of_points(mould.samples.iter().copied());
        let centre = bounds.map_or(Vec3::ZERO, |bounds| bounds.centre());
        let reach = mould.samples.iter().map(|sample| sample.distance(centre)).fold(0.0, f32::max);
        Self { centre, radius: reach + body.radius.unwrap_or(0.5 * body.spacing) }
    }
}

/// Copies thrown into a region.
struct Scatter<'a> {
    region: &'a Shape,
    ball: Ball,
    turn: bool,
    first: Pose,
    taken: Taken,
}

impl Scatter<'_> {
    /// The first place found that is clear, or the clearest of many.
    fn next(&mut self, random: &mut Random) -> Option<Pose> {
        let mut best: Option<(f32, Pose)> = None;
        for _ in 0..TRIES {
            let turn = if self.turn { any_turn(random) } else { self.first.turn };
            let pose = Pose { at: self.first.at + self.point(random)?, turn };
            let clearance = self.taken.clearance(pose.point(self.ball.centre));
            if best.is_none_or(|(most, _)| clearance > most) {
                best = Some((clearance, pose));
            }
            if clearance >= 2.0 * self.ball.radius {
                break;
            }
        }
        let (clearance, pose) = best?;
        self.taken.crowded += u32::from(clearance < 2.0 * self.ball.radius);
        self.taken.add(pose.point(self.ball.centre));
        Some(pose)
    }

    /// A point of the region, every one as likely as any other.
    fn point(&self, random: &mut Random) -> Option<Vec3> {
        let bounds = self.region.bounds()?;
        let any = |_| bounds.min + bounds.size() * unit_vector3(random);
        (0..REGION_TRIES).map(any).find(|point| self.region.contains(*point))
    }
}

/// Centres that are taken, by cells as wide as a ball.
struct Taken {
    width: f32,
    cells: HashMap<IVec3, Vec<Vec3>>,
    crowded: u32,
}

impl Taken {
    fn new(radius: f32) -> Self {
        Self { width: 2.0 * radius, cells: HashMap::new(), crowded: 0 }
    }

    fn cell(&self, centre: Vec3) -> IVec3 {
        (centre / self.width).floor().as_ivec3()
    }

    fn add(&mut self, centre: Vec3) {
        self.cells.entry(self.cell(centre)).or_default().push(centre);
    }

    /// Distance to the nearest centre, or a width if there is none so near.
    fn clearance(&self, centre: Vec3) -> f32 {
        let home = self.cell(centre);
        let around = (0..27).map(|n| home.saturating_add(IVec3::new(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1)));
        let near = around.filter_map(|cell| self.cells.get(&cell)).flatten();
        near.map(|other| other.distance(centre)).fold(self.width, f32::min)
    }
}
