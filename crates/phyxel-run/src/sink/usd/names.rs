//! Valid and unique prim names, and the schemas of properties.

use super::crate_file::ValueType;
use super::track::{PrimType, Property};
use std::collections::HashSet;

/// Unique names below one prim.
#[derive(Debug)]
pub(super) struct UniqueNames {
    taken: HashSet<String>,
}

impl UniqueNames {
    /// Starts with reserved names.
    pub fn new(taken: &[&str]) -> Self {
        Self { taken: taken.iter().map(|name| (*name).to_string()).collect() }
    }

    /// Makes a name unique and valid: letters, digits and `_`.
    pub fn unique(&mut self, name: &str) -> String {
        let mut valid: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        if valid.is_empty() || valid.starts_with(|c: char| c.is_ascii_digit()) {
            valid.insert(0, '_');
        }
        let numbered_names = (2..).map(|number| format!("{valid}_{number}"));
        let unused = std::iter::once(valid.clone()).chain(numbered_names).find(|name| !self.taken.contains(name));
        let unused = unused.unwrap_or(valid);
        self.taken.insert(unused.clone());
        unused
    }
}

/// Schema of a property.
#[derive(Clone, Copy, Debug)]
pub(super) struct PropertySchema {
    pub name: &'static str,
    pub type_name: &'static str,
    /// Interpolation, for primvars and normals.
    pub interpolation: Option<&'static str>,
    /// Element type of an array with a value per point or face, which is empty while the prim is absent.
    pub array_type: Option<ValueType>,
}

impl Property {
    /// Returns the schema.
    pub fn schema(self) -> PropertySchema {
        let vertex = Some("vertex");
        let (name, type_name, interpolation) = match self {
            Self::Extent => ("extent", "float3[]", None),
            Self::FaceVertexCounts => ("faceVertexCounts", "int[]", None),
            Self::FaceVertexIndices => ("faceVertexIndices", "int[]", None),
            Self::Points => ("points", "point3f[]", None),
            Self::Normals => ("normals", "normal3f[]", vertex),
            Self::CornerNormals => ("normals", "normal3f[]", Some("faceVarying")),
            Self::Velocities => ("velocities", "vector3f[]", None),
            Self::Widths => ("widths", "float[]", vertex),
            Self::Color => ("primvars:displayColor", "color3f[]", Some("constant")),
            Self::Temperature => ("primvars:temperature", "float[]", vertex),
            Self::Strain => ("primvars:strain", "float[]", vertex),
            Self::Size => ("size", "double", None),
            Self::Radius => ("radius", "double", None),
            Self::Height => ("height", "double", None),
            Self::Transform => ("xformOp:transform", "matrix4d", None),
        };
        let array_type = match self {
            Self::FaceVertexCounts | Self::FaceVertexIndices => Some(ValueType::Int),
            Self::Points | Self::Normals | Self::CornerNormals | Self::Velocities => Some(ValueType::Vector),
            Self::Widths | Self::Temperature | Self::Strain => Some(ValueType::Float),
            _ => None,
        };
        PropertySchema { name, type_name, interpolation, array_type }
    }
}

impl PrimType {
    /// Name of the prim type.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Mesh => "Mesh",
            Self::Points => "Points",
            Self::Cube => "Cube",
            Self::Sphere => "Sphere",
            Self::Capsule => "Capsule",
            Self::Cylinder => "Cylinder",
            Self::Cone => "Cone",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_valid_and_stay_distinct() {
        let mut names = UniqueNames::new(&["Looks"]);
        let valid = ["soft cube", "soft-cube", "7up", "Looks", "", "käse"].map(|name| names.unique(name));
        assert_eq!(valid, ["soft_cube", "soft_cube_2", "_7up", "Looks_2", "_", "k_se"]);
    }
}
