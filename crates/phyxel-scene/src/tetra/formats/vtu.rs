//! VTK XML files with an unstructured grid: arrays as text or as inline base64, not compressed.

use super::super::TetraError;
use super::{
    TetraFormat,
    raw::RawTetra,
    scalar::VtkScalar,
    vtk::{add_cells, to_index},
};
use roxmltree::{Document, Node};

const REMEDY: &str = "save it with data as text (ASCII), or inline as binary without compression";

fn content_error(what: String) -> TetraError {
    TetraError::Content { format: TetraFormat::Vtu, what }
}

fn unsupported(what: &str) -> TetraError {
    TetraError::Unsupported { format: TetraFormat::Vtu, what: what.into(), remedy: REMEDY }
}

/// Encoding of numbers in base64.
#[derive(Clone, Copy)]
struct VtuEncoding {
    big_endian: bool,
    /// Type of the length that precedes each array.
    length: VtkScalar,
}

/// Reads the points and the tetrahedra of all pieces.
pub(super) fn parse(bytes: &[u8]) -> Result<RawTetra, TetraError> {
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
        length: if root.attribute("header_type") == Some("UInt64") { VtkScalar::U64 } else { VtkScalar::U32 },
    };
    let grid = child(root, "UnstructuredGrid")?;
    let mut raw = RawTetra::default();
    for piece in grid.children().filter(|node| node.has_tag_name("Piece")) {
        read_piece(piece, encoding, &mut raw)?;
    }
    Ok(raw)
}

fn child<'a>(parent: Node<'a, 'a>, name: &str) -> Result<Node<'a, 'a>, TetraError> {
    let found = parent.children().find(|node| node.has_tag_name(name));
    found.ok_or_else(|| content_error(format!("`{}` has no `{name}` in it", parent.tag_name().name())))
}

fn count(piece: Node, name: &str) -> Result<usize, TetraError> {
    let value = piece.attribute(name).unwrap_or("");
    value.trim().parse().map_err(|_| content_error(format!("`{name}` of a piece is `{value}`, which is not a number")))
}

fn read_piece(piece: Node, encoding: VtuEncoding, raw: &mut RawTetra) -> Result<(), TetraError> {
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
    add_cells(TetraFormat::Vtu, raw, first, &corners, (&ends, &kinds))
}

fn check_count(what: &str, found: usize, declared: usize) -> Result<(), TetraError> {
    match found == declared {
        true => Ok(()),
        false => Err(content_error(format!("there are {found} {what}, but the piece promises {declared}"))),
    }
}

/// The numbers of a `DataArray`.
fn numbers(array: Node, encoding: VtuEncoding) -> Result<Vec<f64>, TetraError> {
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
            let kind = VtkScalar::of_xml_name(kind)
                .ok_or_else(|| content_error(format!("`{kind}`, the type of `{name}`, is not a kind of number")))?;
            let data =
                decode_base64(&text).ok_or_else(|| content_error(format!("the data of `{name}` is not base64")))?;
            unpack(&data, kind, encoding).ok_or_else(|| TetraError::Truncated {
                format: TetraFormat::Vtu,
                within: format!("the array `{name}`"),
            })
        }
        "appended" => Err(unsupported("has appended data")),
        other => Err(content_error(format!("`{other}` is not a format of arrays"))),
    }
}

/// Decodes the numbers behind the length of the array in bytes.
fn unpack(data: &[u8], kind: VtkScalar, encoding: VtuEncoding) -> Option<Vec<f64>> {
    let (length, data) = data.split_at_checked(encoding.length.size())?;
    let length = to_index(encoding.length.decode(length, encoding.big_endian))?;
    let values = data.get(..length)?.chunks_exact(kind.size());
    Some(values.map(|bytes| kind.decode(bytes, encoding.big_endian)).collect())
}

/// Decodes base64. Some programs encode the length separately from the data, so that there is padding in between.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let symbols: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let mut bytes = Vec::with_capacity(symbols.len() / 4 * 3);
    for group in symbols.chunks(4) {
        let [a, b, c, d] = *group else { return None };
        let padding = usize::from(c == b'=') + usize::from(d == b'=');
        let digits = [
            base64_digit(a)?,
            base64_digit(b)?,
            if c == b'=' { 0 } else { base64_digit(c)? },
            if d == b'=' { 0 } else { base64_digit(d)? },
        ];
        let bits = digits.iter().fold(0, |bits, digit| bits << 6 | u32::from(*digit));
        bytes.extend(&bits.to_be_bytes()[1..4 - padding]);
    }
    Some(bytes)
}

fn base64_digit(symbol: u8) -> Option<u8> {
    match symbol {
        b'A'..=b'Z' => Some(symbol - b'A'),
        b'a'..=b'z' => Some(symbol - b'a' + 26),
        b'0'..=b'9' => Some(symbol - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded_with_padding_in_between() {
        assert_eq!(decode_base64("TWFu"), Some(b"Man".to_vec()));
        assert_eq!(decode_base64("TWE=\n TQ== TWFu"), Some(b"MaMMan".to_vec()));
        assert_eq!(decode_base64("TWF"), None);
        assert_eq!(decode_base64("T=Fu"), None);
    }
}
