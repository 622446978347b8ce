//! The same two tetrahedra in every format, and corrupted copies of them.
//!
//! There are six nodes, of which one is unused, and a triangle beside the tetrahedra; the second tetrahedron is
//! inverted.

use super::*;
use crate::import::base64;
use crate::import::fuzz::{corrupted, noise};
use crate::sample::SequentialRng;

const POINTS: [[f64; 3]; 6] =
    [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [9.0, 9.0, 9.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]];
const CELLS: [(&[usize], u8); 3] = [(&[0, 1, 3, 4], 10), (&[0, 1, 2], 5), (&[1, 3, 5, 4], 10)];

/// A file in memory.
pub struct SampleFile {
    pub name: &'static str,
    /// The file, or the `.node` file.
    first: Vec<u8>,
    /// The `.ele` file.
    second: Vec<u8>,
    format: TetraFormat,
}

impl SampleFile {
    pub fn source(&self) -> TetraSource<'_> {
        self.damaged(&self.first, &self.second)
    }

    fn damaged<'a>(&self, first: &'a [u8], second: &'a [u8]) -> TetraSource<'a> {
        match self.format {
            TetraFormat::Msh => TetraSource::Msh(first),
            TetraFormat::Vtk => TetraSource::Vtk(first),
            TetraFormat::Vtu => TetraSource::Vtu(first),
            TetraFormat::Node | TetraFormat::Ele => TetraSource::Tetgen { nodes: first, elements: second },
        }
    }
}

pub fn samples() -> Vec<SampleFile> {
    let single = |name, format, first: Vec<u8>| SampleFile { name, first, second: Vec::new(), format };
    let pair = |name, base| SampleFile { name, first: node(base), second: ele(base), format: TetraFormat::Ele };
    vec![
        single("msh 2.2", TetraFormat::Msh, msh_two()),
        single("msh 4.1", TetraFormat::Msh, msh_four()),
        single("vtk text", TetraFormat::Vtk, vtk_three(false)),
        single("vtk binary", TetraFormat::Vtk, vtk_three(true)),
        single("vtk 5 text", TetraFormat::Vtk, vtk_five(false)),
        single("vtk 5 binary", TetraFormat::Vtk, vtk_five(true)),
        single("vtu text", TetraFormat::Vtu, vtu(false).into_bytes()),
        single("vtu base64", TetraFormat::Vtu, vtu(true).into_bytes()),
        pair("tetgen from 0", 0),
        pair("tetgen from 1", 1),
    ]
}

fn words<T: ToString>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join(" ")
}

fn msh_two() -> Vec<u8> {
    let mut text =
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"all\"\n$EndPhysicalNames\n".to_string();
    text += "$Nodes\n6\n";
    // Numbers may have gaps.
    for (index, point) in POINTS.iter().enumerate() {
        text += &format!("{} {}\n", 10 * index + 5, words(point));
    }
    text += "$EndNodes\n$Elements\n3\n";
    for (label, (corners, kind)) in CELLS.iter().enumerate() {
        let kind = if *kind == 10 { 4 } else { 2 };
        text += &format!("{} {kind} 2 1 1 {}\n", label + 1, words(corners.iter().map(|corner| 10 * corner + 5)));
    }
    (text + "$EndElements\n").into_bytes()
}

fn msh_four() -> Vec<u8> {
    let mut text = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n2 6 1 6\n2 1 0 4\n1\n2\n3\n4\n".to_string();
    POINTS[..4].iter().for_each(|point| text += &format!("{}\n", words(point)));
    text += "3 1 1 2\n5\n6\n";
    POINTS[4..].iter().for_each(|point| text += &format!("{} 0.5 0.5 0.5\n", words(point)));
    text += "$EndNodes\n$Elements\n3 3 1 3\n3 1 4 1\n1 1 2 4 5\n2 1 2 1\n2 1 2 3\n3 1 4 1\n3 2 4 6 5\n$EndElements\n";
    text.into_bytes()
}

/// Numbers as VTK writes them.
fn numbers<const N: usize>(values: &[f64], binary: bool, code: impl Fn(f64) -> [u8; N]) -> Vec<u8> {
    let mut bytes = match binary {
        true => values.iter().flat_map(|value| code(*value)).collect(),
        false => words(values).into_bytes(),
    };
    bytes.push(b'\n');
    bytes
}

fn int(value: f64) -> [u8; 4] {
    (value as i32).to_be_bytes()
}

fn kinds() -> Vec<f64> {
    CELLS.iter().map(|(_, kind)| f64::from(*kind)).collect()
}

fn corners() -> Vec<f64> {
    CELLS.iter().flat_map(|(corners, _)| corners.iter().map(|corner| *corner as f64)).collect()
}

fn vtk_start(version: &str, binary: bool) -> Vec<u8> {
    let encoding = if binary { "BINARY" } else { "ASCII" };
    let mut bytes = format!("# vtk DataFile Version {version}\n\n{encoding}\nDATASET UNSTRUCTURED_GRID\n").into_bytes();
    bytes.extend(b"FIELD FieldData 1\nTIME 1 1 double\n");
    bytes.extend(numbers(&[0.5], binary, f64::to_be_bytes));
    bytes.extend(b"POINTS 6 float\n");
    bytes.extend(numbers(&POINTS.concat(), binary, |value| (value as f32).to_be_bytes()));
    bytes.extend(b"METADATA\nINFORMATION 1\nNAME x LOCATION y\n\n");
    bytes
}

fn vtk_end(binary: bool) -> Vec<u8> {
    let mut bytes = b"CELL_TYPES 3\n".to_vec();
    bytes.extend(numbers(&kinds(), binary, int));
    bytes.extend(b"POINT_DATA 6\nSCALARS a float\n");
    bytes
}

fn vtk_three(binary: bool) -> Vec<u8> {
    let mut bytes = vtk_start("3.0", binary);
    bytes.extend(b"CELLS 3 14\n");
    let list: Vec<f64> = CELLS
        .iter()
        .flat_map(|(corners, _)| [corners.len()].into_iter().chain(corners.iter().copied()))
        .map(|value| value as f64)
        .collect();
    bytes.extend(numbers(&list, binary, int));
    [bytes, vtk_end(binary)].concat()
}

fn vtk_five(binary: bool) -> Vec<u8> {
    let mut bytes = vtk_start("5.1", binary);
    let long = |value: f64| (value as i64).to_be_bytes();
    bytes.extend(b"CELLS 4 11\nOFFSETS vtktypeint64\n");
    bytes.extend(numbers(&[0.0, 4.0, 7.0, 11.0], binary, long));
    bytes.extend(b"CONNECTIVITY vtktypeint64\n");
    bytes.extend(numbers(&corners(), binary, long));
    [bytes, vtk_end(binary)].concat()
}

/// An array of XML, with the length coded apart from the data where that has padding.
fn array(name: &str, kind: &str, values: &[f64], code: Option<&dyn Fn(f64) -> Vec<u8>>) -> String {
    let (format, data) = match code {
        None => ("ascii", words(values)),
        Some(code) => {
            let data: Vec<u8> = values.iter().flat_map(|value| code(*value)).collect();
            let length = (data.len() as u32).to_le_bytes();
            let whole = base64::encode(&[&length[..], &data[..]].concat());
            let apart = base64::encode(&length) + &base64::encode(&data);
            ("binary", if name == "types" { apart } else { whole })
        }
    };
    format!("<DataArray type=\"{kind}\" Name=\"{name}\" format=\"{format}\">{data}<InformationKey/></DataArray>\n")
}

/// A file of XML with two pieces, as text or base64.
pub fn vtu(binary: bool) -> String {
    let double: &dyn Fn(f64) -> Vec<u8> = &|value| value.to_le_bytes().to_vec();
    let long: &dyn Fn(f64) -> Vec<u8> = &|value| (value as i64).to_le_bytes().to_vec();
    let byte: &dyn Fn(f64) -> Vec<u8> = &|value| vec![value as u8];
    let code = |code| Some(code).filter(|_| binary);
    let mut text =
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\">".to_string();
    text += "<UnstructuredGrid>\n";
    let none = array("types", "UInt8", &[], code(byte));
    let no_points = array("Points", "Float64", &[], code(double));
    let (no_corners, no_offsets) =
        (array("connectivity", "Int64", &[], code(long)), array("offsets", "Int64", &[], code(long)));
    text += &format!("<Piece NumberOfPoints=\"0\" NumberOfCells=\"0\"><Points>{no_points}</Points>");
    text += &format!("<Cells>{no_corners}{no_offsets}{none}</Cells></Piece>\n");
    let points = array("Points", "Float64", &POINTS.concat(), code(double));
    text += &format!("<Piece NumberOfPoints=\"6\" NumberOfCells=\"3\"><PointData/><Points>{points}</Points><Cells>\n");
    text += &array("connectivity", "Int64", &corners(), code(long));
    text += &array("offsets", "Int64", &[4.0, 7.0, 11.0], code(long));
    text += &array("types", "UInt8", &kinds(), code(byte));
    text + "</Cells></Piece></UnstructuredGrid></VTKFile>\n"
}

fn node(base: usize) -> Vec<u8> {
    let mut text = "# nodes\n6 3 1 1\n".to_string();
    for (index, point) in POINTS.iter().enumerate() {
        text += &format!("  {} {} 0.5 1 # attribute and marker\n", index + base, words(point));
    }
    text.into_bytes()
}

fn ele(base: usize) -> Vec<u8> {
    let mut text = "2 4 1\n\n".to_string();
    for (label, (corners, _)) in CELLS.iter().filter(|(_, kind)| *kind == 10).enumerate() {
        text += &format!("{} {} 7\n", label + base, words(corners.iter().map(|corner| corner + base)));
    }
    text.into_bytes()
}

/// Reads a file; any mesh that results must be sound.
fn read_and_check(source: TetraSource) {
    if let Ok(TetraImport { mesh, quality }) = read_bytes(source) {
        assert!(mesh.elements.iter().flatten().all(|node| (*node as usize) < mesh.positions.len()));
        assert!((0..mesh.elements.len()).all(|element| mesh.element_volume(element) > 0.0));
        assert!(quality.elements > 0 && quality.volume > 0.0);
    }
}

#[test]
fn files_cut_off_anywhere_never_panic() {
    for sample in samples() {
        for end in 0..sample.first.len() {
            read_and_check(sample.damaged(&sample.first[..end], &sample.second));
        }
        for end in 0..sample.second.len() {
            read_and_check(sample.damaged(&sample.first, &sample.second[..end]));
        }
    }
}

#[test]
fn files_with_wrong_bytes_never_panic() {
    let mut random = SequentialRng::new(7);
    let mut corrupt = |bytes: &[u8]| corrupted(bytes, &mut random);
    for sample in samples() {
        for trial in 0..3000 {
            let first =
                if trial % 2 == 0 || sample.second.is_empty() { corrupt(&sample.first) } else { sample.first.clone() };
            let second = if trial % 2 == 1 { corrupt(&sample.second) } else { sample.second.clone() };
            read_and_check(sample.damaged(&first, &second));
        }
    }
}

#[test]
fn noise_is_refused_in_every_format() {
    let mut random = SequentialRng::new(1);
    for length in 0..300 {
        let noise = noise(length, &mut random);
        for sample in samples() {
            assert!(read_bytes(sample.damaged(&noise, &noise)).is_err());
        }
    }
}
