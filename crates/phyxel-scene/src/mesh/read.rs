//! Reading meshes from files and from memory.

use super::{MeshError, TriangleMesh, gltf, obj, ply, stl};
use glam::Vec3;
use std::{fmt, fs, io, path::Path};

/// Largest number of triangles or vertices of a mesh; a scan of a building has fewer.
pub(super) const LIMIT: usize = 1 << 27;

/// File formats of meshes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Wavefront OBJ.
    Obj,
    /// Stanford PLY, as text or binary of either byte order.
    Ply,
    /// Stereolithography STL, as text or binary.
    Stl,
    /// glTF 2.0, as `.gltf` text or `.glb` binary.
    Gltf,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Obj, Self::Ply, Self::Stl, Self::Gltf];

    /// The format that the ending of a file name says.
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "obj" => Some(Self::Obj),
            "ply" => Some(Self::Ply),
            "stl" => Some(Self::Stl),
            "glb" | "gltf" => Some(Self::Gltf),
            _ => None,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Obj => "OBJ",
            Self::Ply => "PLY",
            Self::Stl => "STL",
            Self::Gltf => "glTF",
        })
    }
}

/// Reads a mesh file; the ending of its name says the format.
///
/// Coincident vertices are made one. Lengths are taken as metres.
pub fn read(path: &Path) -> Result<TriangleMesh, MeshError> {
    let format = Format::of_path(path).ok_or_else(|| MeshError::UnknownFormat { path: path.into() })?;
    let bytes = read_file(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let beside = |uri: &str| match fs::read(folder.join(uri)) {
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(MeshError::Resource { uri: uri.into(), why: format!("cannot be read ({error})") }),
    };
    parse(format, &bytes, &beside).map_err(|source| MeshError::File { path: path.into(), source: Box::new(source) })
}

/// Reads a mesh from the bytes of a file. A glTF file must hold all its data itself.
pub fn read_bytes(format: Format, bytes: &[u8]) -> Result<TriangleMesh, MeshError> {
    parse(format, bytes, &|uri| Err(MeshError::Resource { uri: uri.into(), why: "is not part of it".into() }))
}

fn read_file(path: &Path) -> Result<Vec<u8>, MeshError> {
    fs::read(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => MeshError::Missing { path: path.into() },
        _ => MeshError::Unreadable { path: path.into(), source },
    })
}

fn parse(
    format: Format,
    bytes: &[u8],
    resource: &dyn Fn(&str) -> Result<Vec<u8>, MeshError>,
) -> Result<TriangleMesh, MeshError> {
    let mesh = match format {
        Format::Obj => obj::parse(bytes)?,
        Format::Ply => ply::parse(bytes)?,
        Format::Stl => stl::parse(bytes)?,
        Format::Gltf => gltf::parse(bytes, resource)?,
    };
    mesh.check()?;
    let welded = mesh.welded();
    welded.check()?;
    Ok(welded)
}

/// Vertices and polygons on their way from a file to a mesh.
#[derive(Default)]
pub(super) struct Builder {
    mesh: TriangleMesh,
}

impl Builder {
    pub fn vertices(&self) -> usize {
        self.mesh.positions.len()
    }

    pub fn vertex(&mut self, position: Vec3) -> Result<(), MeshError> {
        if self.mesh.positions.len() >= LIMIT {
            return Err(MeshError::TooLarge { limit: LIMIT });
        }
        self.mesh.positions.push(position);
        Ok(())
    }

    /// Adds a polygon as a fan of triangles around its first corner; fewer than three corners add nothing.
    pub fn polygon(&mut self, indices: &[i64]) -> Result<(), MeshError> {
        let triangle = self.mesh.triangles.len();
        if triangle >= LIMIT {
            return Err(MeshError::TooLarge { limit: LIMIT });
        }
        let vertices = self.mesh.positions.len();
        let narrow = |index: i64| u32::try_from(index).map_err(|_| MeshError::BadIndex { triangle, index, vertices });
        let [first, rest @ ..] = indices else { return Ok(()) };
        for pair in rest.windows(2) {
            self.mesh.triangles.push([narrow(*first)?, narrow(pair[0])?, narrow(pair[1])?]);
        }
        Ok(())
    }

    pub fn finish(self) -> TriangleMesh {
        self.mesh
    }
}

#[cfg(test)]
pub(super) mod fuzz {
    use super::*;
    use crate::sample::Random;

    /// Feeds every prefix of `bytes` and many damaged copies to the reader. Passes unless the reader panics.
    pub fn torture(format: Format, bytes: &[u8]) {
        for end in 0..bytes.len() {
            let _ = read_bytes(format, &bytes[..end]);
        }
        let mut random = Random::new(5);
        for _ in 0..2000 {
            let mut copy = bytes.to_vec();
            for _ in 0..=random.below(3) {
                let place = random.below(copy.len() as u64) as usize;
                copy[place] = [0, 0xff, b'-', b'9', random.next_u64() as u8][random.below(5) as usize];
            }
            let _ = read_bytes(format, &copy);
        }
    }

    #[test]
    fn noise_is_refused_in_every_format() {
        let mut random = Random::new(1);
        for length in 0..400 {
            let noise: Vec<u8> = (0..length).map(|_| random.next_u64() as u8).collect();
            for format in Format::ALL {
                assert!(read_bytes(format, &noise).is_err());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error;

    #[test]
    fn a_file_is_read_by_its_ending() -> Result<(), Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("triangle.OBJ");
        fs::write(&path, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")?;
        assert_eq!(read(&path)?.triangles.len(), 1);
        Ok(())
    }

    #[test]
    fn what_cannot_be_read_is_named() -> Result<(), Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let missing = read(&folder.path().join("none.ply"));
        assert!(matches!(&missing, Err(MeshError::Missing { path }) if path.ends_with("none.ply")));
        let unknown = read(Path::new("model.fbx")).map_err(|error| error.to_string());
        assert_eq!(
            unknown,
            Err("`model.fbx` does not end like a mesh file; known endings are .obj, .ply, .stl, .glb and .gltf".into())
        );
        let path = folder.path().join("bad.obj");
        fs::write(&path, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 7\n")?;
        let Err(error) = read(&path) else { return Err("an index out of range was taken".into()) };
        assert!(error.to_string().contains("bad.obj"));
        assert!(error.to_string().contains("triangle 0 uses vertex 6, but the mesh has 3 vertices"));
        Ok(())
    }
}
