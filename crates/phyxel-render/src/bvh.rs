//! Bounding volume hierarchy of the primitives of a scene.

use crate::primitives::{Disc, Primitives, Ray, Sphere, Triangle, Vertices};
use glam::{Vec3, Vec3A};
use obvhs::BvhBuildParams;
use obvhs::aabb::Aabb;
use obvhs::cwbvh::CwBvh;
use obvhs::cwbvh::builder::build_cwbvh;
use obvhs::ray::RayHit;
use std::time::Duration;

/// All primitives of a scene but its planes, in a bounding volume hierarchy.
pub(crate) struct PrimitiveBvh {
    vertices: Vertices,
    indices: Vec<[u32; 3]>,
    triangle_objects: Vec<u32>,
    triangles: Vec<Triangle>,
    spheres: Vec<Sphere>,
    discs: Vec<Disc>,
    bvh: CwBvh,
}

/// Hit of a ray.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    pub distance: f32,
    primitive: u32,
    barycentric: [f32; 2],
}

/// Attributes of a surface at a hit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SurfaceAttributes {
    pub object: u32,
    pub colour: Vec3,
    /// Interpolated (shading) normal, a unit vector.
    pub normal: Vec3A,
    /// Normal of the primitive, a unit vector.
    pub geometric_normal: Vec3A,
}

impl PrimitiveBvh {
    /// Builds the hierarchy.
    pub fn new(primitives: Primitives) -> Self {
        let Primitives { vertices, triangles, spheres, discs } = primitives;
        let corner = |i: u32| Vec3A::from(vertices.positions[i as usize]);
        let prepared: Vec<Triangle> = triangles
            .iter()
            .map(|([a, b, c], _)| Triangle {
                corner: corner(*a),
                edges: [corner(*b) - corner(*a), corner(*c) - corner(*a)],
            })
            .collect();
        let mut boxes: Vec<Aabb> = Vec::with_capacity(prepared.len() + spheres.len() + discs.len());
        boxes.extend(prepared.iter().map(|triangle| {
            let [b, c] = triangle.edges.map(|edge| triangle.corner + edge);
            aabb(triangle.corner.min(b).min(c), triangle.corner.max(b).max(c))
        }));
        boxes.extend(spheres.iter().map(|sphere| aabb(sphere.centre - sphere.radius, sphere.centre + sphere.radius)));
        boxes.extend(discs.iter().map(|disc| {
            let extent = disc.axes[0].abs() + disc.axes[1].abs();
            aabb(disc.centre - extent, disc.centre + extent)
        }));
        let bvh = build_cwbvh(&boxes, BvhBuildParams::fast_build(), &mut Duration::default());
        let (indices, triangle_objects) = triangles.into_iter().unzip();
        Self { vertices, indices, triangle_objects, triangles: prepared, spheres, discs, bvh }
    }

    /// Bounding box of all primitives, by its lower and upper corner.
    pub fn bounds(&self) -> Option<(Vec3A, Vec3A)> {
        let bounds = self.bvh.total_aabb;
        let empty = self.triangles.is_empty() && self.spheres.is_empty() && self.discs.is_empty();
        let (min, max) = (Vec3A::from_array(bounds.min.to_array()), Vec3A::from_array(bounds.max.to_array()));
        (!empty && min.is_finite() && max.is_finite()).then_some((min, max))
    }

    /// Distance along the ray and barycentric coordinates on a primitive.
    fn intersect(&self, ray: &Ray, primitive: usize) -> Option<(f32, [f32; 2])> {
        let (triangles, spheres) = (self.triangles.len(), self.spheres.len());
        if primitive < triangles {
            self.triangles[primitive].intersect(ray).map(|(t, u, v)| (t, [u, v]))
        } else if primitive < triangles + spheres {
            self.spheres[primitive - triangles].intersect(ray).map(|t| (t, [0.0; 2]))
        } else {
            self.discs[primitive - triangles - spheres].intersect(ray).map(|t| (t, [0.0; 2]))
        }
    }

    /// Closest hit of a ray between two distances.
    pub fn closest_hit(&self, origin: Vec3A, direction: Vec3A, t_min: f32, t_max: f32) -> Option<Hit> {
        let mut ray = Ray { origin, direction, t_min, t_max };
        let mut closest = None;
        self.bvh.ray_traverse(ray.to_bvh_ray(), &mut RayHit::none(), |_, slot| {
            let primitive = self.bvh.primitive_indices[slot];
            match self.intersect(&ray, primitive as usize) {
                Some((distance, barycentric)) => {
                    closest = Some(Hit { distance, primitive, barycentric });
                    ray.t_max = distance;
                    distance
                }
                None => f32::INFINITY,
            }
        });
        closest
    }

    /// Returns true if a ray has no hit between two distances.
    pub fn is_unoccluded(&self, origin: Vec3A, direction: Vec3A, t_min: f32, t_max: f32) -> bool {
        let ray = Ray { origin, direction, t_min, t_max };
        self.bvh.ray_traverse_miss(ray.to_bvh_ray(), |_, slot| {
            let primitive = self.bvh.primitive_indices[slot] as usize;
            self.intersect(&ray, primitive).map_or(f32::INFINITY, |(distance, _)| distance)
        })
    }

    /// Attributes of the surface at a hit, whose position is given.
    pub fn attributes(&self, hit: &Hit, position: Vec3A) -> SurfaceAttributes {
        let (primitive, triangles, spheres) = (hit.primitive as usize, self.triangles.len(), self.spheres.len());
        if primitive < triangles {
            return self.triangle_attributes(primitive, hit.barycentric);
        }
        if primitive < triangles + spheres {
            let sphere = &self.spheres[primitive - triangles];
            let normal = (position - sphere.centre).normalize_or(Vec3A::Y);
            return SurfaceAttributes {
                object: sphere.object,
                colour: sphere.colour,
                normal,
                geometric_normal: normal,
            };
        }
        let disc = &self.discs[primitive - triangles - spheres];
        SurfaceAttributes {
            object: disc.object,
            colour: disc.colour,
            normal: disc.normal,
            geometric_normal: disc.normal,
        }
    }

    /// Interpolates the attributes of a triangle.
    fn triangle_attributes(&self, index: usize, [u, v]: [f32; 2]) -> SurfaceAttributes {
        let [a, b, c] = self.indices[index].map(|i| i as usize);
        let interpolate = |values: &[Vec3]| values[a] * (1.0 - u - v) + values[b] * u + values[c] * v;
        let edges = self.triangles[index].edges;
        let geometric_normal = edges[0].cross(edges[1]).normalize_or(Vec3A::Y);
        let normal = Vec3A::from(interpolate(&self.vertices.normals)).normalize_or(geometric_normal);
        SurfaceAttributes {
            object: self.triangle_objects[index],
            colour: interpolate(&self.vertices.colours),
            normal,
            geometric_normal,
        }
    }
}

fn aabb(min: Vec3A, max: Vec3A) -> Aabb {
    Aabb::new(min.to_array().into(), max.to_array().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn primitives() -> Primitives {
        Primitives {
            vertices: Vertices {
                positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
                normals: vec![Vec3::Z; 3],
                colours: vec![Vec3::X, Vec3::Y, Vec3::Z],
            },
            triangles: vec![([0, 1, 2], 7)],
            spheres: vec![Sphere { centre: Vec3A::new(5.0, 0.0, 0.0), radius: 1.0, colour: Vec3::ONE, object: 8 }],
            discs: vec![Disc {
                centre: Vec3A::new(-5.0, 0.0, 0.0),
                axes: [Vec3A::X * 0.5, Vec3A::Y],
                normal: Vec3A::Z,
                colour: Vec3::ONE,
                object: 9,
            }],
        }
    }

    /// First hit of a ray along the negative z axis.
    fn trace_down(bvh: &PrimitiveBvh, x: f32, y: f32) -> Option<(f32, SurfaceAttributes)> {
        let (origin, direction) = (Vec3A::new(x, y, 3.0), Vec3A::NEG_Z);
        let hit = bvh.closest_hit(origin, direction, 0.0, f32::INFINITY)?;
        Some((hit.distance, bvh.attributes(&hit, origin + direction * hit.distance)))
    }

    #[test]
    fn rays_hit_triangles_spheres_and_discs() {
        let bvh = PrimitiveBvh::new(primitives());
        let (distance, attributes) = trace_down(&bvh, 0.25, 0.25).unwrap();
        assert_eq!((distance, attributes.object), (3.0, 7));
        assert!((attributes.colour - Vec3::new(0.5, 0.25, 0.25)).length() < 1e-6);
        assert!(trace_down(&bvh, 0.8, 0.8).is_none());
        let (distance, attributes) = trace_down(&bvh, 5.0, 0.6).unwrap();
        assert!((distance - 2.2).abs() < 1e-5 && attributes.object == 8);
        assert!((attributes.normal - Vec3A::new(0.0, 0.6, 0.8)).length() < 1e-5);
        assert!(trace_down(&bvh, -5.0, 0.9).is_some() && trace_down(&bvh, -4.4, 0.0).is_none());
    }

    #[test]
    fn a_sheared_disc_is_the_ellipse_that_a_circle_becomes() {
        let shear = |x: f32, y: f32| Vec3A::new(x + 0.8 * y, y, 0.0);
        let axes = [shear(0.6, 0.8), shear(-0.8, 0.6)];
        let disc = Disc { centre: Vec3A::ZERO, axes, normal: Vec3A::Z, colour: Vec3::ONE, object: 0 };
        let bvh = PrimitiveBvh::new(Primitives { discs: vec![disc], ..Primitives::default() });
        for k in 0..32 {
            let (sin, cos) = (k as f32 * 0.2).sin_cos();
            let is_hit = |r: f32| {
                let at = shear(r * cos, r * sin);
                trace_down(&bvh, at.x, at.y).is_some()
            };
            assert!(is_hit(0.99) && !is_hit(1.01), "{k}");
        }
    }

    #[test]
    fn shadow_rays_end_at_their_largest_distance() {
        let bvh = PrimitiveBvh::new(primitives());
        let is_free = |t_max| bvh.is_unoccluded(Vec3A::new(5.0, 0.0, 4.0), Vec3A::NEG_Z, 0.0, t_max);
        assert!(is_free(2.9) && !is_free(3.1));
    }

    #[test]
    fn an_empty_scene_is_valid() {
        let bvh = PrimitiveBvh::new(Primitives::default());
        assert!(bvh.closest_hit(Vec3A::ZERO, Vec3A::X, 0.0, 9.0).is_none());
        assert!(bvh.is_unoccluded(Vec3A::ZERO, Vec3A::X, 0.0, 9.0) && bvh.bounds().is_none());
    }
}
