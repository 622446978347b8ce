use super::*;
use crate::import::fuzz::read_damaged;
use crate::import::mesh::{MeshFormat, read, read_bytes};
use crate::mesh::fixtures;
use std::{error::Error, fs};

/// Positions of a cube, then its 16-bit indices.
fn cube_buffer() -> Vec<u8> {
    let cube = fixtures::cube(Vec3::ZERO);
    let mut bytes: Vec<u8> = cube.positions.iter().flat_map(|p| p.to_array()).flat_map(f32::to_le_bytes).collect();
    bytes.extend(cube.triangles.iter().flatten().flat_map(|index| (*index as u16).to_le_bytes()));
    bytes
}

/// A cube of edge 2 around (1, 2, 3), and a mirrored one of edge 1 around (4, 2, 3), which is its child.
fn document(buffer: &str) -> String {
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],
        "nodes":[{{"mesh":0,"translation":[1,2,3],"scale":[2,2,2],
          "rotation":[0,0.70710677,0,0.70710677],"children":[1]}},
          {{"mesh":0,"matrix":[0.5,0,0,0, 0,-0.5,0,0, 0,0,0.5,0, 0,0,1.5,1]}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1}},
          {{"attributes":{{"POSITION":0}},"mode":0}}]}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":8,"type":"VEC3"}},
          {{"bufferView":1,"componentType":5123,"count":36,"type":"SCALAR"}}],
        "bufferViews":[{{"buffer":0,"byteOffset":0,"byteLength":96}},{{"buffer":0,"byteOffset":96,"byteLength":72}}],
        "buffers":[{{{buffer}"byteLength":168}}]}}"#
    )
}

fn embedded() -> String {
    document(&format!(r#""uri":"data:application/octet-stream;base64,{}","#, base64::encode(&cube_buffer())))
}

fn binary() -> Vec<u8> {
    let mut text = document("").into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let buffer = cube_buffer();
    let total = 28 + text.len() + buffer.len();
    let mut bytes = b"glTF".to_vec();
    bytes.extend([2u32, total as u32, text.len() as u32].iter().flat_map(|number| number.to_le_bytes()));
    bytes.extend(b"JSON");
    bytes.extend(text);
    bytes.extend((buffer.len() as u32).to_le_bytes());
    bytes.extend(b"BIN\0");
    bytes.extend(buffer);
    bytes
}

fn assert_cubes(mesh: &TriangleMesh) {
    assert_eq!((mesh.positions.len(), mesh.triangles.len()), (16, 24));
    assert_eq!((mesh.open_edges(), mesh.components()), (0, 2));
    // 8 m3 and 1 m3, both facing outwards; the rotation is given to seven digits.
    assert!((mesh.volume() - 9.0).abs() < 1e-5);
    let centre = mesh.positions[8..].iter().sum::<Vec3>() / 8.0;
    assert!(centre.distance(Vec3::new(4.0, 2.0, 3.0)) < 1e-5, "{centre}");
}

#[test]
fn nodes_place_and_mirror_their_meshes() -> Result<(), ImportError> {
    assert_cubes(&read_bytes(MeshFormat::Gltf, embedded().as_bytes())?);
    assert_cubes(&read_bytes(MeshFormat::Gltf, &binary())?);
    Ok(())
}

#[test]
fn a_buffer_beside_the_file_is_found() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let text = document(r#""uri":"the%20cube.bin","#);
    fs::write(folder.path().join("cube.gltf"), &text)?;
    fs::write(folder.path().join("the cube.bin"), cube_buffer())?;
    assert_cubes(&read(&folder.path().join("cube.gltf"))?);
    assert!(matches!(read_bytes(MeshFormat::Gltf, text.as_bytes()), Err(ImportError::Resource { .. })));
    fs::remove_file(folder.path().join("the cube.bin"))?;
    let missing = read(&folder.path().join("cube.gltf")).map_err(|error| error.to_string());
    assert!(missing.is_err_and(|message| message.contains("`the cube.bin`")));
    Ok(())
}

#[test]
fn strips_and_fans_keep_their_orientation() {
    assert_eq!((triangle_count(5, 4), triangle_count(6, 5), triangle_count(4, 7)), (2, 3, 2));
    assert_eq!([corners_of(5, 0), corners_of(5, 1), corners_of(6, 2)], [[0, 1, 2], [1, 3, 2], [0, 3, 4]]);
}

#[test]
fn damaged_files_never_panic() {
    read_damaged(MeshFormat::Gltf, &binary());
    read_damaged(MeshFormat::Gltf, embedded().as_bytes());
}

#[test]
fn lies_in_the_text_are_refused() {
    let refused = |from: &str, to: &str| {
        let text = embedded();
        assert!(text.contains(from), "{from}");
        match read_bytes(MeshFormat::Gltf, text.replace(from, to).as_bytes()) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    };
    assert!(refused(r#""count":8"#, r#""count":1000000000000"#).contains("beyond its data"));
    assert!(refused(r#""byteOffset":96"#, r#""byteOffset":18446744073709551615"#).contains("beyond its data"));
    assert!(refused(r#""byteLength":96"#, r#""byteLength":96,"byteStride":0"#).contains("overlap"));
    assert!(refused(r#""children":[1]"#, r#""children":[0]"#).contains("node 0 has more than one parent"));
    assert!(refused(r#""indices":1"#, r#""indices":7"#).contains("no accessor 7"));
    assert!(refused(r#""mesh":0,"m"#, r#""mesh":3,"m"#).contains("no mesh 3"));
    assert!(refused(r#""scene":0"#, r#""scene":4"#).contains("scene does not exist"));
    assert!(refused("base64,", "base64,*").contains("broken base64"));
    assert!(refused("5123", "5126").contains("not whole numbers"));
    let packed = r#""extensionsRequired":["KHR_draco_mesh_compression"],"scene":0"#;
    assert!(refused(r#""scene":0"#, packed).contains("export it without compression"));
}
