//! Volumes of shapes, in closed form where possible, else by octree integration.

use super::{Shape, primitive};
use glam::Vec3;
use phyxel::{Real, parallel};
use phyxel_laws::geometry::Aabb;

/// Root cells along the longest side of the bounds.
const ROOT_CELLS: Real = 8.0;
/// Relative difference of two successive refinements that counts as converged.
const TOLERANCE: f64 = 1e-3;
/// Safety factor on distances to meshes with holes, whose sign may change within the distance.
const SAFETY: Real = 0.25;
/// Half the diagonal of a unit cube.
const HALF_DIAGONAL: Real = 0.866_025_4;

impl Shape {
    /// Volume, m3, infinite for unbounded shapes.
    ///
    /// Closed form for primitives, the divergence theorem for sound meshes. Combined shapes are integrated on an
    /// octree, refined at the surface until two successive results agree to a thousandth.
    pub fn volume(&self) -> f64 {
        match self {
            Self::Box { size } => size.as_dvec3().element_product(),
            Self::Sphere { radius } => primitive::ellipsoid_volume(Vec3::splat(*radius)),
            Self::Ellipsoid { radii } => primitive::ellipsoid_volume(*radii),
            Self::Cylinder { radius, height } => primitive::cone_volume(*radius, *radius, *height),
            Self::Cone { radius, top_radius, height } => primitive::cone_volume(*radius, *top_radius, *height),
            Self::Capsule { radius, height } => primitive::capsule_volume(*radius, *height),
            Self::Torus { radius, tube } => primitive::torus_volume(*radius, *tube),
            Self::Plane { .. } => f64::INFINITY,
            Self::Mesh(solid) => solid.volume(|levels| self.octree_volume(&solid.bounds(), levels)),
            Self::Placed { shape, placement } => f64::from(placement.scale).powi(3) * shape.volume(),
            Self::Union(parts) | Self::Intersection(parts) if parts.len() == 1 => parts[0].volume(),
            _ => self.refined_volume(),
        }
    }

    /// Volume by successive octree refinement, m3.
    fn refined_volume(&self) -> f64 {
        let Some(bounds) = self.bounds() else { return f64::INFINITY };
        let levels = if self.has_mesh() { 2..=4 } else { 3..=6 };
        let mut last = f64::NAN;
        for level in levels {
            let volume = self.octree_volume(&bounds, level);
            if (volume - last).abs() <= TOLERANCE * volume {
                return volume;
            }
            last = volume;
        }
        last
    }

    /// Volume by an octree with root cells of an eighth of the bounds, refined `levels` times at the surface, m3.
    fn octree_volume(&self, bounds: &Aabb, levels: u32) -> f64 {
        let size = bounds.extent();
        let cell = size.max_element() / ROOT_CELLS;
        if !(cell > 0.0 && cell.is_finite()) {
            return 0.0;
        }
        let counts = (size / cell).ceil().max(Vec3::ONE).to_array().map(|count| count as usize);
        let clearance = if self.is_continuous() { HALF_DIAGONAL } else { HALF_DIAGONAL / SAFETY };
        let volumes = parallel::map(counts.iter().product(), 1, |index| {
            let [x, y, z] = [index % counts[0], index / counts[0] % counts[1], index / counts[0] / counts[1]];
            let centre = bounds.min + cell * (Vec3::new(x as Real, y as Real, z as Real) + 0.5);
            self.cell_volume(centre, cell, clearance, levels)
        });
        volumes.iter().sum()
    }

    /// Inside volume of a cubic cell, m3.
    ///
    /// In leaf cells the covered fraction is linear in the distance of the centre. That is odd about the surface,
    /// so that the errors of cells in front of it and behind it cancel.
    fn cell_volume(&self, centre: Vec3, cell: Real, clearance: Real, levels: u32) -> f64 {
        let distance = self.distance(centre);
        let full = f64::from(cell).powi(3);
        if distance.abs() >= clearance * cell {
            return if distance < 0.0 { full } else { 0.0 };
        }
        if levels == 0 {
            return full * f64::from((0.5 - distance / cell).clamp(0.0, 1.0));
        }
        let half = 0.5 * cell;
        let corner = |i: u32| Vec3::new((i & 1) as Real, (i >> 1 & 1) as Real, (i >> 2) as Real) - 0.5;
        (0..8).map(|i| self.cell_volume(centre + half * corner(i), half, clearance, levels - 1)).sum()
    }
}
