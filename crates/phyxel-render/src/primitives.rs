//! Primitives of ray tracing and their intersection with rays.

use glam::{Vec3, Vec3A};
use phyxel::frame::FrameSkin;

/// Ray segment between two distances.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ray {
    pub origin: Vec3A,
    pub direction: Vec3A,
    pub t_min: f32,
    pub t_max: f32,
}

impl Ray {
    /// Converts to the ray of the crate `obvhs`, which may use another version of the vector type.
    pub fn to_bvh_ray(self) -> obvhs::ray::Ray {
        obvhs::ray::Ray::new(self.origin.to_array().into(), self.direction.to_array().into(), self.t_min, self.t_max)
    }

    /// Returns true if a distance is within the segment.
    fn contains(&self, distance: f32) -> bool {
        distance >= self.t_min && distance < self.t_max
    }
}

/// Triangle, by a corner and the edges from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Triangle {
    pub corner: Vec3A,
    pub edges: [Vec3A; 2],
}

impl Triangle {
    /// Distance along the ray and barycentric coordinates of the second and third corner `[MT97]`.
    pub fn intersect(&self, ray: &Ray) -> Option<(f32, f32, f32)> {
        let p = ray.direction.cross(self.edges[1]);
        let determinant = self.edges[0].dot(p);
        let inverse = 1.0 / determinant;
        let offset = ray.origin - self.corner;
        let u = offset.dot(p) * inverse;
        let q = offset.cross(self.edges[0]);
        let v = ray.direction.dot(q) * inverse;
        let t = self.edges[1].dot(q) * inverse;
        // Comparisons with NaN are false.
        (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && ray.contains(t)).then_some((t, u, v))
    }
}

/// Sphere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sphere {
    pub centre: Vec3A,
    pub radius: f32,
    pub colour: Vec3,
    pub object: u32,
}

impl Sphere {
    /// Distance along the ray, from outside or inside.
    pub fn intersect(&self, ray: &Ray) -> Option<f32> {
        let offset = ray.origin - self.centre;
        let along = offset.dot(ray.direction);
        let nearest = offset - ray.direction * along;
        let half_chord_squared = self.radius * self.radius - nearest.length_squared();
        if half_chord_squared < 0.0 {
            return None;
        }
        let half_chord = half_chord_squared.sqrt();
        [-along - half_chord, -along + half_chord].into_iter().find(|t| ray.contains(*t))
    }
}

/// Elliptic disc, by two conjugate semi-axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Disc {
    pub centre: Vec3A,
    pub axes: [Vec3A; 2],
    pub normal: Vec3A,
    pub colour: Vec3,
    pub object: u32,
}

impl Disc {
    /// Distance along the ray.
    pub fn intersect(&self, ray: &Ray) -> Option<f32> {
        let cosine = ray.direction.dot(self.normal);
        let t = (self.centre - ray.origin).dot(self.normal) / cosine;
        let offset = ray.origin + ray.direction * t - self.centre;
        // Cramer's rule: a and b are the coordinates of the offset in the semi-axes, times the determinant.
        let determinant = self.axes[0].cross(self.axes[1]).dot(self.normal);
        let a = offset.cross(self.axes[1]).dot(self.normal);
        let b = self.axes[0].cross(offset).dot(self.normal);
        (a * a + b * b < determinant * determinant && ray.contains(t)).then_some(t)
    }
}

/// Vertices of the triangles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vertices {
    pub positions: Vec<Vec3>,
    pub normals: Vec<Vec3>,
    pub colours: Vec<Vec3>,
}

/// Primitives from which the hierarchy is built.
#[derive(Default)]
pub(crate) struct Primitives {
    pub vertices: Vertices,
    /// Vertex indices and object.
    pub triangles: Vec<([u32; 3], u32)>,
    pub spheres: Vec<Sphere>,
    pub discs: Vec<Disc>,
}

impl Primitives {
    /// Adds the triangles of a skin, with a colour for each vertex.
    pub fn add_skin(&mut self, skin: &FrameSkin, colour: impl Fn(usize) -> Vec3, object: u32) {
        let Vertices { positions, normals, colours } = &mut self.vertices;
        let first = positions.len() as u32;
        let Some(corner_normals) = skin.corner_normals() else {
            positions.extend(&skin.positions);
            normals.extend(&skin.normals);
            colours.extend((0..skin.positions.len()).map(colour));
            let triangles = skin.triangles.iter().map(|corners| (corners.map(|corner| first + corner), object));
            return self.triangles.extend(triangles);
        };
        // With corner_normals edges, each corner is a separate vertex.
        let corners = skin.triangles.as_flattened();
        positions.extend(corners.iter().map(|&corner| skin.positions[corner as usize]));
        normals.extend(corner_normals.as_flattened());
        colours.extend(corners.iter().map(|&corner| colour(corner as usize)));
        self.triangles.extend((first..).step_by(3).zip(&corner_normals).map(|(a, _)| ([a, a + 1, a + 2], object)));
    }
}
