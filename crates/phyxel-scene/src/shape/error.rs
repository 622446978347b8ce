//! Errors of shapes.

use super::Shape;
use glam::Vec3;
use phyxel::Real;

/// Reason why a shape cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShapeError {
    /// Length that is not positive.
    #[error("the {what} of a {shape} is {value}; it must be a finite number greater than zero")]
    NotPositive {
        /// Name of the shape.
        shape: &'static str,
        /// Name of the length.
        what: &'static str,
        /// Its value, m.
        value: Real,
    },
    /// Number that is negative or not finite.
    #[error("the {what} of a {shape} is {value}; it must be a finite number that is not negative")]
    Negative {
        /// Name of the shape.
        shape: &'static str,
        /// Name of the number.
        what: &'static str,
        /// Its value.
        value: Real,
    },
    /// Vector with a component that is not finite.
    #[error("the {what} of a {shape} is {value}; all its numbers must be finite")]
    NotFinite {
        /// Name of the shape.
        shape: &'static str,
        /// Name of the vector.
        what: &'static str,
        /// Its value.
        value: Vec3,
    },
    /// Plane whose normal has no direction.
    #[error("the normal of a plane is {normal}; it must be finite and longer than zero")]
    NoDirection {
        /// The normal given.
        normal: Vec3,
    },
    /// Torus whose tube intersects its axis.
    #[error(
        "the tube of a torus is {tube} m, more than its radius of {radius} m; make the tube thinner or the ring wider"
    )]
    TubeTooThick {
        /// Radius of the ring, m.
        radius: Real,
        /// Radius of the tube, m.
        tube: Real,
    },
    /// Combination without parts.
    #[error("a {shape} has no parts; give it at least one")]
    NoParts {
        /// Name of the combination.
        shape: &'static str,
    },
    /// Unbounded shape.
    #[error(
        "the shape has no end, so it has no closed surface; intersect it with something that has bounds, such as a box"
    )]
    Unbounded,
    /// Invalid cell size of a surface.
    #[error("the cell size of a surface is {cell} m; it must be a finite number greater than zero")]
    BadCell {
        /// Requested size, m.
        cell: Real,
    },
    /// Surface that would need too many cells.
    #[error(
        "a surface with cells of {cell} m would take {cells:.0} cells, more than the limit of {limit}; \
         use cells of at least {enough} m"
    )]
    TooManyCells {
        /// Requested size, m.
        cell: Real,
        /// Number of cells required.
        cells: f64,
        /// Largest number of cells allowed.
        limit: usize,
        /// A sufficient size, m.
        enough: Real,
    },
    /// No grid point lies inside the shape.
    #[error("no part of the shape is as large as a cell of {cell} m; use smaller cells")]
    TooCoarse {
        /// Requested size, m.
        cell: Real,
    },
}

fn positive(shape: &'static str, what: &'static str, value: Real) -> Result<(), ShapeError> {
    if value.is_finite() && value > 0.0 { Ok(()) } else { Err(ShapeError::NotPositive { shape, what, value }) }
}

fn not_negative(shape: &'static str, what: &'static str, value: Real) -> Result<(), ShapeError> {
    if value.is_finite() && value >= 0.0 { Ok(()) } else { Err(ShapeError::Negative { shape, what, value }) }
}

fn finite(shape: &'static str, what: &'static str, value: Vec3) -> Result<(), ShapeError> {
    if value.is_finite() { Ok(()) } else { Err(ShapeError::NotFinite { shape, what, value }) }
}

fn check_parts(shape: &'static str, parts: &[Shape]) -> Result<(), ShapeError> {
    if parts.is_empty() {
        return Err(ShapeError::NoParts { shape });
    }
    parts.iter().try_for_each(Shape::check)
}

impl Shape {
    /// Validates the parameters of the shape.
    pub fn check(&self) -> Result<(), ShapeError> {
        match self {
            Self::Box { size } => size.to_array().iter().try_for_each(|edge| positive("box", "size", *edge)),
            Self::Sphere { radius } => positive("sphere", "radius", *radius),
            Self::Ellipsoid { radii } => {
                radii.to_array().iter().try_for_each(|radius| positive("ellipsoid", "radius", *radius))
            }
            Self::Cylinder { radius, height } => {
                positive("cylinder", "radius", *radius)?;
                positive("cylinder", "height", *height)
            }
            Self::Cone { radius, top_radius, height } => {
                not_negative("cone", "radius", *radius)?;
                not_negative("cone", "top radius", *top_radius)?;
                positive("cone", "larger radius", radius.max(*top_radius))?;
                positive("cone", "height", *height)
            }
            Self::Capsule { radius, height } => {
                positive("capsule", "radius", *radius)?;
                not_negative("capsule", "height", *height)
            }
            Self::Torus { radius, tube } => check_torus(*radius, *tube),
            Self::Plane { normal } if normal.try_normalize().is_none() => {
                Err(ShapeError::NoDirection { normal: *normal })
            }
            Self::Plane { .. } | Self::Mesh(_) => Ok(()),
            Self::Union(parts) => check_parts("union", parts),
            Self::Intersection(parts) => check_parts("intersection", parts),
            Self::Difference { base, cuts } => {
                base.check()?;
                cuts.iter().try_for_each(Shape::check)
            }
            Self::SmoothUnion { parts, blend } => {
                not_negative("smooth union", "blend", *blend)?;
                check_parts("smooth union", parts)
            }
            Self::Placed { shape, placement } => {
                finite("placed shape", "position", placement.at)?;
                finite("placed shape", "rotation (turn)", placement.turn)?;
                positive("placed shape", "scale", placement.scale)?;
                shape.check()
            }
        }
    }
}

fn check_torus(radius: Real, tube: Real) -> Result<(), ShapeError> {
    positive("torus", "radius", radius)?;
    positive("torus", "tube", tube)?;
    if tube > radius { Err(ShapeError::TubeTooThick { radius, tube }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Placement;

    #[test]
    fn numbers_that_make_no_shape_are_named() {
        let sphere = Shape::Sphere { radius: -1.0 };
        assert_eq!(
            sphere.check().map_err(|error| error.to_string()),
            Err("the radius of a sphere is -1; it must be a finite number greater than zero".into())
        );
        let placed = Shape::Union(vec![sphere.placed(Placement::default())]);
        assert!(matches!(placed.check(), Err(ShapeError::NotPositive { what: "radius", .. })));
        assert!(matches!(Shape::Union(vec![]).check(), Err(ShapeError::NoParts { shape: "union" })));
        assert!(Shape::Plane { normal: Vec3::ZERO }.check().is_err());
        assert!(Shape::Torus { radius: 0.1, tube: 0.2 }.check().is_err());
        assert!(Shape::Box { size: Vec3::new(1.0, Real::NAN, 1.0) }.check().is_err());
        assert!(Shape::Cone { radius: 0.0, top_radius: 0.0, height: 1.0 }.check().is_err());
        assert!(Shape::Cone { radius: 0.0, top_radius: 1.0, height: 1.0 }.check().is_ok());
        let scaled = Placement { scale: 0.0, ..Placement::default() };
        assert!(Shape::Sphere { radius: 1.0 }.placed(scaled).check().is_err());
    }
}
