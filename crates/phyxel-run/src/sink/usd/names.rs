//! Names that the format allows, and what its properties are called.

use super::track::{Form, Property};
use super::value::Kind;
use std::collections::HashSet;

/// Names that were given out below one prim.
#[derive(Debug)]
pub(super) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// With names that are taken already.
    pub fn new(taken: &[&str]) -> Self {
        Self { taken: taken.iter().map(|name| (*name).to_string()).collect() }
    }

    /// A name of letters, digits and `_` that no other has.
    pub fn unique(&mut self, name: &str) -> String {
        let mut plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        if plain.is_empty() || plain.starts_with(|c: char| c.is_ascii_digit()) {
            plain.insert(0, '_');
        }
        let numbered = (2..).map(|number| format!("{plain}_{number}"));
        let free = std::iter::once(plain.clone()).chain(numbered).find(|name| !self.taken.contains(name));
        let free = free.unwrap_or(plain);
        self.taken.insert(free.clone());
        free
    }
}

/// What the format calls a property.
#[derive(Clone, Copy, Debug)]
pub(super) struct Description {
    pub name: &'static str,
    pub kind: &'static str,
    /// How values belong to points, where that has to be said.
    pub interpolation: Option<&'static str>,
    /// For lists with a value per point or triangle, what they are lists of: they are empty where there is nothing.
    pub nothing: Option<Kind>,
}

impl Property {
    /// What the format calls it.
    pub fn describe(self) -> Description {
        let vertex = Some("vertex");
        let (name, kind, interpolation) = match self {
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
        let nothing = match self {
            Self::FaceVertexCounts | Self::FaceVertexIndices => Some(Kind::Int),
            Self::Points | Self::Normals | Self::CornerNormals | Self::Velocities => Some(Kind::Vector),
            Self::Widths | Self::Temperature | Self::Strain => Some(Kind::Float),
            _ => None,
        };
        Description { name, kind, interpolation, nothing }
    }
}

impl Form {
    /// The type of its prim.
    pub fn kind(self) -> &'static str {
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
    fn names_become_allowed_and_stay_different() {
        let mut names = Names::new(&["Looks"]);
        let given = ["soft cube", "soft-cube", "7up", "Looks", "", "käse"].map(|name| names.unique(name));
        assert_eq!(given, ["soft_cube", "soft_cube_2", "_7up", "Looks_2", "_", "k_se"]);
    }
}
