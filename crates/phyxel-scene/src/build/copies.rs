//! Poses of the copies of a body.

use super::body::BodyTemplate;
use crate::error::BuildError;
use crate::hash_grid::HashGrid;
use crate::sample::SequentialRng;
use crate::scene::{BodyDescription, Copies, pose_of};
use crate::shape::Shape;
use glam::{Quat, Vec3};
use phyxel::body::Pose;
use phyxel_laws::geometry::Aabb;

/// Largest number of attempts to find a position clear of the other copies.
const MAX_TRIES: u32 = 200;
/// Largest number of attempts to find a position in the region.
const MAX_REGION_TRIES: u32 = 100_000;

/// Poses of all copies of a body, in the order of their numbers.
pub(super) fn place_copies(
    body: &BodyDescription,
    template: &BodyTemplate,
    random: &mut SequentialRng,
    warnings: &mut Vec<String>,
) -> Result<Vec<Pose>, BuildError> {
    let first = pose_of(&body.place);
    Ok(match &body.copies {
        None => vec![first],
        Some(Copies::Grid { counts: [nx, ny, nz], step, jitter }) => {
            let rows = (0..*nz).flat_map(|z| (0..*ny).map(move |y| (y, z)));
            let cells = rows.flat_map(|(y, z)| (0..*nx).map(move |x| Vec3::new(x as f32, y as f32, z as f32)));
            cells.map(|cell| moved(first, cell * *step + random_offset(random, *jitter))).collect()
        }
        Some(Copies::Stack { count, step, jitter }) => {
            (0..*count).map(|number| moved(first, number as f32 * *step + random_offset(random, *jitter))).collect()
        }
        Some(Copies::Random { count, region, rotate }) => {
            let bounds = BoundingSphere::of_body(template, body);
            let mut scatter = Scatter {
                region,
                bounds,
                rotate: *rotate,
                first,
                centres: HashGrid::new(2.0 * bounds.radius),
                overlapping: 0,
            };
            let poses = (0..*count).map(|_| scatter.next(random)).collect::<Option<Vec<Pose>>>();
            let poses =
                poses.ok_or_else(|| BuildError::NoPosition { body: body.name.clone(), tries: MAX_REGION_TRIES })?;
            if scatter.overlapping > 0 {
                warnings.push(format!(
                    "body \"{}\": {} of {count} copies found no position clear of the others; make the region larger \
                        or \
                     the copies fewer",
                    body.name, scatter.overlapping
                ));
            }
            poses
        }
    })
}

fn moved(pose: Pose, by: Vec3) -> Pose {
    Pose { position: pose.position + by, ..pose }
}

fn random_offset(random: &mut SequentialRng, amplitude: f32) -> Vec3 {
    if amplitude == 0.0 {
        return Vec3::ZERO;
    }
    amplitude * (2.0 * random.uniform_vec3() - 1.0)
}

/// Uniformly distributed random rotation, by Shoemake's subgroup method on unit quaternions (1992).
fn random_rotation(random: &mut SequentialRng) -> Quat {
    let [u, a, b] = random.uniform_vec3().to_array();
    let (sin_a, cos_a) = libm::sincosf(std::f32::consts::TAU * a);
    let (sin_b, cos_b) = libm::sincosf(std::f32::consts::TAU * b);
    let (near, far) = ((1.0 - u).sqrt(), u.sqrt());
    Quat::from_xyzw(near * sin_a, near * cos_a, far * sin_b, far * cos_b).normalize()
}

/// Bounding sphere of the samples of a body, in its local frame.
#[derive(Clone, Copy)]
struct BoundingSphere {
    centre: Vec3,
    radius: f32,
}

impl BoundingSphere {
    fn of_body(template: &BodyTemplate, body: &BodyDescription) -> Self {
        let bounds = Aabb::from_points(template.samples.iter().copied()).non_empty();
        let centre = bounds.map_or(Vec3::ZERO, |bounds| bounds.centre());
        let radius = template.samples.iter().map(|sample| sample.distance(centre)).fold(0.0, f32::max);
        Self { centre, radius: radius + body.radius.unwrap_or(0.5 * body.spacing) }
    }
}

/// Random placement of copies in a region.
struct Scatter<'a> {
    region: &'a Shape,
    bounds: BoundingSphere,
    rotate: bool,
    first: Pose,
    /// Centres of the bounding spheres of all copies so far.
    centres: HashGrid<Vec3>,
    /// Number of copies that overlap others.
    overlapping: u32,
}

impl Scatter<'_> {
    /// Draws the next pose: the first one found that is clear, or that with the largest clearance.
    fn next(&mut self, random: &mut SequentialRng) -> Option<Pose> {
        let mut best: Option<(f32, Pose)> = None;
        for _ in 0..MAX_TRIES {
            let rotation = if self.rotate { random_rotation(random) } else { self.first.rotation };
            let pose = Pose { position: self.first.position + self.point(random)?, rotation };
            let clearance = self.clearance(pose.transform_point(self.bounds.centre));
            if best.is_none_or(|(best_clearance, _)| clearance > best_clearance) {
                best = Some((clearance, pose));
            }
            if clearance >= 2.0 * self.bounds.radius {
                break;
            }
        }
        let (clearance, pose) = best?;
        self.overlapping += u32::from(clearance < 2.0 * self.bounds.radius);
        let centre = pose.transform_point(self.bounds.centre);
        self.centres.insert(centre, centre);
        Some(pose)
    }

    /// Distance to the nearest centre, at most that of touching spheres.
    fn clearance(&self, centre: Vec3) -> f32 {
        let touching = 2.0 * self.bounds.radius;
        self.centres.around(centre, touching).map(|other| other.distance(centre)).fold(touching, f32::min)
    }

    /// Draws a uniformly distributed point of the region by rejection.
    fn point(&self, random: &mut SequentialRng) -> Option<Vec3> {
        let bounds = self.region.bounds()?;
        let any = |_| bounds.min + bounds.extent() * random.uniform_vec3();
        (0..MAX_REGION_TRIES).map(any).find(|point| self.region.contains(*point))
    }
}
