//! What rays can meet.

use glam::{Vec3, Vec3A};
use obvhs::BvhBuildParams;
use obvhs::aabb::Aabb;
use obvhs::cwbvh::CwBvh;
use obvhs::cwbvh::builder::build_cwbvh;
use obvhs::ray::{Ray, RayHit};
use phyxel::frame::FrameSkin;
use std::time::Duration;

/// A ray between two distances. The crate of the tree may have its own version of the vector type.
#[derive(Clone, Copy, Debug)]
struct Beam {
    origin: Vec3A,
    direction: Vec3A,
    from: f32,
    to: f32,
}

impl Beam {
    fn ray(&self) -> Ray {
        Ray::new(self.origin.to_array().into(), self.direction.to_array().into(), self.from, self.to)
    }

    fn holds(&self, distance: f32) -> bool {
        distance >= self.from && distance < self.to
    }
}

fn bounds(min: Vec3A, max: Vec3A) -> Aabb {
    Aabb::new(min.to_array().into(), max.to_array().into())
}

/// A triangle with two of its edges.
#[derive(Clone, Copy, Debug)]
struct Triangle {
    corner: Vec3A,
    edges: [Vec3A; 2],
}

impl Triangle {
    /// Distance along the ray and weights of the second and third corner (Moeller and Trumbore 1997).
    fn meet(&self, beam: &Beam) -> Option<(f32, f32, f32)> {
        let across = beam.direction.cross(self.edges[1]);
        let determinant = self.edges[0].dot(across);
        let inverse = 1.0 / determinant;
        let from = beam.origin - self.corner;
        let u = from.dot(across) * inverse;
        let turned = from.cross(self.edges[0]);
        let v = beam.direction.dot(turned) * inverse;
        let t = self.edges[1].dot(turned) * inverse;
        // Comparisons with what is no number are false.
        (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && beam.holds(t)).then_some((t, u, v))
    }
}

/// A ball.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ball {
    pub centre: Vec3A,
    pub radius: f32,
    pub colour: Vec3,
    pub object: u32,
}

impl Ball {
    /// Distance along the ray, from outside or inside.
    fn meet(&self, beam: &Beam) -> Option<f32> {
        let from = beam.origin - self.centre;
        let along = from.dot(beam.direction);
        let nearest = from - beam.direction * along;
        let rest = self.radius * self.radius - nearest.length_squared();
        if rest < 0.0 {
            return None;
        }
        let half = rest.sqrt();
        [-along - half, -along + half].into_iter().find(|t| beam.holds(*t))
    }
}

/// A flat ellipse with two conjugate half diameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Disc {
    pub centre: Vec3A,
    pub axes: [Vec3A; 2],
    pub normal: Vec3A,
    pub colour: Vec3,
    pub object: u32,
}

impl Disc {
    fn meet(&self, beam: &Beam) -> Option<f32> {
        let slope = beam.direction.dot(self.normal);
        let t = (self.centre - beam.origin).dot(self.normal) / slope;
        let offset = beam.origin + beam.direction * t - self.centre;
        // Parts of the axes that make up the way from the centre, times this.
        let scale = self.axes[0].cross(self.axes[1]).dot(self.normal);
        let a = offset.cross(self.axes[1]).dot(self.normal);
        let b = self.axes[0].cross(offset).dot(self.normal);
        (a * a + b * b < scale * scale && beam.holds(t)).then_some(t)
    }
}

/// Vertices that triangles share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vertices {
    pub positions: Vec<Vec3>,
    pub normals: Vec<Vec3>,
    pub colours: Vec<Vec3>,
}

/// All things of a picture but endless planes, sorted for rays.
pub(crate) struct Geometry {
    vertices: Vertices,
    corners: Vec<[u32; 3]>,
    owners: Vec<u32>,
    triangles: Vec<Triangle>,
    balls: Vec<Ball>,
    discs: Vec<Disc>,
    tree: CwBvh,
}

/// Things before they are sorted.
#[derive(Default)]
pub(crate) struct Things {
    pub vertices: Vertices,
    /// Corners and object.
    pub triangles: Vec<([u32; 3], u32)>,
    pub balls: Vec<Ball>,
    pub discs: Vec<Disc>,
}

impl Things {
    /// Adds the triangles of a skin, with colours by vertex.
    pub fn add_skin(&mut self, skin: &FrameSkin, colour: impl Fn(usize) -> Vec3, object: u32) {
        let Vertices { positions, normals, colours } = &mut self.vertices;
        let first = positions.len() as u32;
        let Some(sharp) = skin.corner_normals() else {
            positions.extend(&skin.positions);
            normals.extend(&skin.normals);
            colours.extend((0..skin.positions.len()).map(colour));
            let placed = skin.triangles.iter().map(|corners| (corners.map(|corner| first + corner), object));
            return self.triangles.extend(placed);
        };
        // Each corner is a vertex of its own.
        let corners = skin.triangles.as_flattened();
        positions.extend(corners.iter().map(|&corner| skin.positions[corner as usize]));
        normals.extend(sharp.as_flattened());
        colours.extend(corners.iter().map(|&corner| colour(corner as usize)));
        self.triangles.extend((first..).step_by(3).zip(&sharp).map(|(a, _)| ([a, a + 1, a + 2], object)));
    }
}

/// Where a ray meets something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meeting {
    pub distance: f32,
    primitive: u32,
    weights: [f32; 2],
}

/// What is where a ray meets something.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    pub object: u32,
    pub colour: Vec3,
    /// Of the smooth surface, a unit vector.
    pub normal: Vec3A,
    /// Of the flat triangle, a unit vector.
    pub flat: Vec3A,
}

impl Geometry {
    pub fn new(things: Things) -> Self {
        let Things { vertices, triangles, balls, discs } = things;
        let corner = |i: u32| Vec3A::from(vertices.positions[i as usize]);
        let made: Vec<Triangle> = triangles
            .iter()
            .map(|([a, b, c], _)| Triangle {
                corner: corner(*a),
                edges: [corner(*b) - corner(*a), corner(*c) - corner(*a)],
            })
            .collect();
        let mut boxes: Vec<Aabb> = Vec::with_capacity(made.len() + balls.len() + discs.len());
        boxes.extend(made.iter().map(|triangle| {
            let [b, c] = triangle.edges.map(|edge| triangle.corner + edge);
            bounds(triangle.corner.min(b).min(c), triangle.corner.max(b).max(c))
        }));
        boxes.extend(balls.iter().map(|ball| bounds(ball.centre - ball.radius, ball.centre + ball.radius)));
        boxes.extend(discs.iter().map(|disc| {
            let reach = disc.axes[0].abs() + disc.axes[1].abs();
            bounds(disc.centre - reach, disc.centre + reach)
        }));
        let tree = build_cwbvh(&boxes, BvhBuildParams::fast_build(), &mut Duration::default());
        let (corners, owners) = triangles.into_iter().unzip();
        Self { vertices, corners, owners, triangles: made, balls, discs, tree }
    }

    /// Smallest and largest corner of everything.
    pub fn bounds(&self) -> Option<(Vec3A, Vec3A)> {
        let bounds = self.tree.total_aabb;
        let empty = self.triangles.is_empty() && self.balls.is_empty() && self.discs.is_empty();
        let (min, max) = (Vec3A::from_array(bounds.min.to_array()), Vec3A::from_array(bounds.max.to_array()));
        (!empty && min.is_finite() && max.is_finite()).then_some((min, max))
    }

    fn meet(&self, beam: &Beam, primitive: usize) -> Option<(f32, [f32; 2])> {
        let (triangles, balls) = (self.triangles.len(), self.balls.len());
        if primitive < triangles {
            self.triangles[primitive].meet(beam).map(|(t, u, v)| (t, [u, v]))
        } else if primitive < triangles + balls {
            self.balls[primitive - triangles].meet(beam).map(|t| (t, [0.0; 2]))
        } else {
            self.discs[primitive - triangles - balls].meet(beam).map(|t| (t, [0.0; 2]))
        }
    }

    /// The first thing on a ray between two distances.
    pub fn first(&self, origin: Vec3A, direction: Vec3A, from: f32, to: f32) -> Option<Meeting> {
        let mut beam = Beam { origin, direction, from, to };
        let mut found = None;
        self.tree.ray_traverse(beam.ray(), &mut RayHit::none(), |_, place| {
            let primitive = self.tree.primitive_indices[place];
            match self.meet(&beam, primitive as usize) {
                Some((distance, weights)) => {
                    found = Some(Meeting { distance, primitive, weights });
                    beam.to = distance;
                    distance
                }
                None => f32::INFINITY,
            }
        });
        found
    }

    /// Whether nothing is on a ray between two distances.
    pub fn is_free(&self, origin: Vec3A, direction: Vec3A, from: f32, to: f32) -> bool {
        let beam = Beam { origin, direction, from, to };
        self.tree.ray_traverse_miss(beam.ray(), |_, place| {
            let primitive = self.tree.primitive_indices[place] as usize;
            self.meet(&beam, primitive).map_or(f32::INFINITY, |(distance, _)| distance)
        })
    }

    /// What is where a ray met something, at a point.
    pub fn spot(&self, meeting: &Meeting, point: Vec3A) -> Spot {
        let (primitive, triangles, balls) = (meeting.primitive as usize, self.triangles.len(), self.balls.len());
        if primitive < triangles {
            return self.triangle_spot(primitive, meeting.weights);
        }
        if primitive < triangles + balls {
            let ball = &self.balls[primitive - triangles];
            let normal = (point - ball.centre).normalize_or(Vec3A::Y);
            return Spot { object: ball.object, colour: ball.colour, normal, flat: normal };
        }
        let disc = &self.discs[primitive - triangles - balls];
        Spot { object: disc.object, colour: disc.colour, normal: disc.normal, flat: disc.normal }
    }

    fn triangle_spot(&self, number: usize, [u, v]: [f32; 2]) -> Spot {
        let [a, b, c] = self.corners[number].map(|i| i as usize);
        let mix = |values: &[Vec3]| values[a] * (1.0 - u - v) + values[b] * u + values[c] * v;
        let edges = self.triangles[number].edges;
        let flat = edges[0].cross(edges[1]).normalize_or(Vec3A::Y);
        let normal = Vec3A::from(mix(&self.vertices.normals)).normalize_or(flat);
        Spot { object: self.owners[number], colour: mix(&self.vertices.colours), normal, flat }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn things() -> Things {
        Things {
            vertices: Vertices {
                positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
                normals: vec![Vec3::Z; 3],
                colours: vec![Vec3::X, Vec3::Y, Vec3::Z],
            },
            triangles: vec![([0, 1, 2], 7)],
            balls: vec![Ball { centre: Vec3A::new(5.0, 0.0, 0.0), radius: 1.0, colour: Vec3::ONE, object: 8 }],
            discs: vec![Disc {
                centre: Vec3A::new(-5.0, 0.0, 0.0),
                axes: [Vec3A::X * 0.5, Vec3A::Y],
                normal: Vec3A::Z,
                colour: Vec3::ONE,
                object: 9,
            }],
        }
    }

    fn look(geometry: &Geometry, x: f32, y: f32) -> Option<(f32, Spot)> {
        let (origin, direction) = (Vec3A::new(x, y, 3.0), Vec3A::NEG_Z);
        let meeting = geometry.first(origin, direction, 0.0, f32::INFINITY)?;
        Some((meeting.distance, geometry.spot(&meeting, origin + direction * meeting.distance)))
    }

    #[test]
    fn rays_meet_what_is_there() {
        let geometry = Geometry::new(things());
        let (distance, spot) = look(&geometry, 0.25, 0.25).unwrap();
        assert_eq!((distance, spot.object), (3.0, 7));
        assert!((spot.colour - Vec3::new(0.5, 0.25, 0.25)).length() < 1e-6);
        assert!(look(&geometry, 0.8, 0.8).is_none());
        let (distance, spot) = look(&geometry, 5.0, 0.6).unwrap();
        assert!((distance - 2.2).abs() < 1e-5 && spot.object == 8);
        assert!((spot.normal - Vec3A::new(0.0, 0.6, 0.8)).length() < 1e-5);
        assert!(look(&geometry, -5.0, 0.9).is_some() && look(&geometry, -4.4, 0.0).is_none());
    }

    #[test]
    fn a_sheared_disc_is_the_ellipse_that_a_circle_becomes() {
        let shear = |x: f32, y: f32| Vec3A::new(x + 0.8 * y, y, 0.0);
        let axes = [shear(0.6, 0.8), shear(-0.8, 0.6)];
        let disc = Disc { centre: Vec3A::ZERO, axes, normal: Vec3A::Z, colour: Vec3::ONE, object: 0 };
        let geometry = Geometry::new(Things { discs: vec![disc], ..Things::default() });
        for k in 0..32 {
            let (sin, cos) = (k as f32 * 0.2).sin_cos();
            let is_met = |r: f32| {
                let at = shear(r * cos, r * sin);
                look(&geometry, at.x, at.y).is_some()
            };
            assert!(is_met(0.99) && !is_met(1.01), "{k}");
        }
    }

    #[test]
    fn shadows_end_where_asked() {
        let geometry = Geometry::new(things());
        let free = |to| geometry.is_free(Vec3A::new(5.0, 0.0, 4.0), Vec3A::NEG_Z, 0.0, to);
        assert!(free(2.9) && !free(3.1));
    }

    #[test]
    fn an_empty_picture_is_no_error() {
        let geometry = Geometry::new(Things::default());
        assert!(geometry.first(Vec3A::ZERO, Vec3A::X, 0.0, 9.0).is_none());
        assert!(geometry.is_free(Vec3A::ZERO, Vec3A::X, 0.0, 9.0) && geometry.bounds().is_none());
    }
}
