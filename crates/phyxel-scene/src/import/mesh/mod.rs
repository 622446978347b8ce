//! Import of triangle meshes.

mod gltf;
mod obj;
mod ply;
mod stl;

use super::{FileKind, ImportError};
use crate::mesh::{MeshError, TriangleMesh};
use glam::Vec3;
use std::{fs, path::Path};

/// Largest number of triangles or vertices of a mesh; the scan of a building has fewer.
const MAX_ELEMENTS: usize = 1 << 27;

/// File formats of meshes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MeshFormat {
    /// Wavefront OBJ.
    Obj,
    /// Stanford PLY, as text or binary of either byte order.
    Ply,
    /// Stereolithography STL, as text or binary.
    Stl,
    /// glTF 2.0, as `.gltf` text or `.glb` binary.
    Gltf,
}

impl MeshFormat {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Obj, Self::Ply, Self::Stl, Self::Gltf];

    /// Returns the format for the extension of a file name.
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

/// Reads a mesh file, by the extension of its name.
///
/// Coincident vertices are welded. Lengths are taken as metres.
pub fn read(path: &Path) -> Result<TriangleMesh, ImportError> {
    let kind = FileKind::Mesh;
    let format = MeshFormat::of_path(path).ok_or_else(|| ImportError::UnknownFormat { kind, path: path.into() })?;
    let bytes = kind.read(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let sibling = |uri: &str| match fs::read(folder.join(uri)) {
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(ImportError::Resource { uri: uri.into(), why: format!("cannot be read ({error})") }),
    };
    let mesh = parse(format, &bytes, &sibling);
    mesh.map_err(|source| ImportError::File { kind, path: path.into(), source: Box::new(source) })
}

/// Reads a mesh from the bytes of a file. A glTF file must embed all its data.
pub fn read_bytes(format: MeshFormat, bytes: &[u8]) -> Result<TriangleMesh, ImportError> {
    parse(format, bytes, &|uri| Err(ImportError::Resource { uri: uri.into(), why: "is not part of it".into() }))
}

fn parse(
    format: MeshFormat,
    bytes: &[u8],
    resource: &dyn Fn(&str) -> Result<Vec<u8>, ImportError>,
) -> Result<TriangleMesh, ImportError> {
    let mesh = match format {
        MeshFormat::Obj => obj::parse(bytes)?,
        MeshFormat::Ply => ply::parse(bytes)?,
        MeshFormat::Stl => stl::parse(bytes)?,
        MeshFormat::Gltf => gltf::parse(bytes, resource)?,
    };
    mesh.check()?;
    let welded = mesh.welded();
    welded.check()?;
    Ok(welded)
}

/// Builder of a mesh from the vertices and polygons of a file.
#[derive(Default)]
struct MeshBuilder {
    mesh: TriangleMesh,
}

impl MeshBuilder {
    pub fn vertex_count(&self) -> usize {
        self.mesh.positions.len()
    }

    pub fn add_vertex(&mut self, position: Vec3) -> Result<(), MeshError> {
        if self.mesh.positions.len() >= MAX_ELEMENTS {
            return Err(MeshError::TooLarge { limit: MAX_ELEMENTS });
        }
        self.mesh.positions.push(position);
        Ok(())
    }

    /// Adds a polygon as a triangle fan around its first corner; fewer than three corners add nothing.
    pub fn add_polygon(&mut self, indices: &[i64]) -> Result<(), MeshError> {
        let triangle = self.mesh.triangles.len();
        if triangle >= MAX_ELEMENTS {
            return Err(MeshError::TooLarge { limit: MAX_ELEMENTS });
        }
        let vertices = self.mesh.positions.len();
        let to_u32 = |index: i64| u32::try_from(index).map_err(|_| MeshError::BadIndex { triangle, index, vertices });
        let [first, rest @ ..] = indices else { return Ok(()) };
        for pair in rest.windows(2) {
            self.mesh.triangles.push([to_u32(*first)?, to_u32(pair[0])?, to_u32(pair[1])?]);
        }
        Ok(())
    }

    pub fn finish(self) -> TriangleMesh {
        self.mesh
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::fuzz::noise;
    use crate::sample::SequentialRng;
    use std::error::Error;

    #[test]
    fn noise_is_refused_in_every_format() {
        let mut random = SequentialRng::new(1);
        for length in 0..400 {
            let noise = noise(length, &mut random);
            for format in MeshFormat::ALL {
                assert!(read_bytes(format, &noise).is_err());
            }
        }
    }

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
        assert!(matches!(&missing, Err(ImportError::Missing { path, .. }) if path.ends_with("none.ply")));
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
