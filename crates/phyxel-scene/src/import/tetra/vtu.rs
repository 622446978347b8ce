//! VTK XML files with an unstructured grid: arrays as text or as inline base64, not compressed.

use super::{raw::RawTetra, vtk::add_cells};
use crate::import::scalar::{Scalar, to_index};
use crate::import::{ImportError, base64};
use roxmltree::{Document, Node};

const FORMAT: &str = "VTU";
const REMEDY: &str = "save it with data as text (ASCII), or inline as binary without compression";

fn content_error(what: String) -> ImportError {
    ImportError::Content { format: FORMAT, what }
}

fn unsupported(what: &str) -> ImportError {
    ImportError::Unsupported { format: FORMAT, what: what.into(), remedy: REMEDY }
}

/// Encoding of numbers in base64.
#[derive(Clone, Copy)]
struct VtuEncoding {
    big_endian: bool,
    /// Type of the length that precedes each array.
    length: Scalar,
}

/// Reads the points and the tetrahedra of all pieces.
pub(super) fn parse(bytes: &[u8]) -> Result<RawTetra, ImportError> {
    // Bytes after this mark need not be text, which no XML reader accepts.
    if bytes.windows(13).any(|window| window == b"<AppendedData") {
        return Err(unsupported("has appended data"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| content_error(format!("it is not text ({error})")))?;
    let document = Document::parse(text).map_err(|error| content_error(format!("it is not XML: {error}")))?;
    let root = document.root_element();
    if !root.has_tag_name("VTKFile") {
        return Err(content_error(format!("its first element is `{}`, not `VTKFile`", root.tag_name().name())));
    }
    if root.attribute("compressor").is_some_and(|name| !name.is_empty()) {
        return Err(unsupported("is compressed"));
    }
    let encoding = VtuEncoding {
        big_endian: root.attribute("byte_order") == Some("BigEndian"),
        length: if root.attribute("header_type") == Some("UInt64") { Scalar::U64 } else { Scalar::U32 },
    };
    let grid = child(root, "UnstructuredGrid")?;
    let mut raw = RawTetra::default();
    for piece in grid.children().filter(|node| node.has_tag_name("Piece")) {
        read_piece(piece, encoding, &mut raw)?;
    }
    Ok(raw)
}

fn child<'a>(parent: Node<'a, 'a>, name: &str) -> Result<Node<'a, 'a>, ImportError> {
    let found = parent.children().find(|node| node.has_tag_name(name));
    found.ok_or_else(|| content_error(format!("`{}` has no `{name}` in it", parent.tag_name().name())))
}

fn count(piece: Node, name: &str) -> Result<usize, ImportError> {
    let value = piece.attribute(name).unwrap_or("");
    value.trim().parse().map_err(|_| content_error(format!("`{name}` of a piece is `{value}`, which is not a number")))
}

fn read_piece(piece: Node, encoding: VtuEncoding, raw: &mut RawTetra) -> Result<(), ImportError> {
    let (points, cells) = (count(piece, "NumberOfPoints")?, count(piece, "NumberOfCells")?);
    let first = raw.node_count();
    let positions = numbers(child(child(piece, "Points")?, "DataArray")?, encoding)?;
    check_count("coordinates", positions.len(), points.saturating_mul(3))?;
    for point in positions.chunks_exact(3) {
        raw.add_node(raw.node_count() as u64, [point[0], point[1], point[2]])?;
    }
    let arrays = child(piece, "Cells")?;
    let array = |name: &str| {
        let found = arrays.children().find(|node| node.attribute("Name") == Some(name));
        numbers(found.ok_or_else(|| content_error(format!("`Cells` has no array `{name}`")))?, encoding)
    };
    let (corners, offsets, kinds) = (array("connectivity")?, array("offsets")?, array("types")?);
    check_count("offsets of cells", offsets.len(), cells)?;
    let ends: Option<Vec<usize>> = offsets.iter().map(|end| to_index(*end)).collect();
    let ends = ends.ok_or_else(|| content_error("an offset of a cell is no count".into()))?;
    add_cells(FORMAT, raw, first, &corners, (&ends, &kinds))
}

fn check_count(what: &str, found: usize, declared: usize) -> Result<(), ImportError> {
    match found == declared {
        true => Ok(()),
        false => Err(content_error(format!("there are {found} {what}, but the piece promises {declared}"))),
    }
}

/// The numbers of a `DataArray`.
fn numbers(array: Node, encoding: VtuEncoding) -> Result<Vec<f64>, ImportError> {
    let name = array.attribute("Name").unwrap_or("Points");
    // Some programs put further elements among the numbers.
    let text: String = array.children().filter(Node::is_text).filter_map(|node| node.text()).collect();
    match array.attribute("format").unwrap_or("ascii") {
        "ascii" => {
            let number =
                |word: &str| word.parse().map_err(|_| content_error(format!("`{word}` in `{name}` is not a number")));
            text.split_ascii_whitespace().map(number).collect()
        }
        "binary" => {
            let kind = array.attribute("type").unwrap_or("");
            let kind = Scalar::of_name(kind)
                .ok_or_else(|| content_error(format!("`{kind}`, the type of `{name}`, is not a kind of number")))?;
            let data =
                base64::decode(&text).ok_or_else(|| content_error(format!("the data of `{name}` is not base64")))?;
            unpack(&data, kind, encoding)
                .ok_or_else(|| ImportError::Truncated { format: FORMAT, within: format!("the array `{name}`") })
        }
        "appended" => Err(unsupported("has appended data")),
        other => Err(content_error(format!("`{other}` is not a format of arrays"))),
    }
}

/// Decodes the numbers behind the length of the array in bytes.
fn unpack(data: &[u8], kind: Scalar, encoding: VtuEncoding) -> Option<Vec<f64>> {
    let (length, data) = data.split_at_checked(encoding.length.size())?;
    let length = to_index(encoding.length.decode(length, encoding.big_endian))?;
    let values = data.get(..length)?.chunks_exact(kind.size());
    Some(values.map(|bytes| kind.decode(bytes, encoding.big_endian)).collect())
}
