//! Legacy VTK files with an unstructured grid, as text or binary, up to version 5.1.

use super::raw::RawTetra;
use crate::import::ImportError;
use crate::import::scalar::{Scalar, to_index};
use crate::import::scanner::{Encoding, LineScanner, Scanner};

const FORMAT: &str = "VTK";

fn content_error(what: String) -> ImportError {
    ImportError::Content { format: FORMAT, what }
}

/// Concatenated corners of all cells, and the end of each cell in that list.
#[derive(Default)]
struct CellList {
    corners: Vec<f64>,
    ends: Vec<usize>,
}

/// Sections of a file.
struct LegacyFile<'a> {
    scanner: Scanner<'a>,
    /// The first digit of the version.
    version: u32,
    encoding: Encoding,
    points: Vec<f64>,
    cells: CellList,
    kinds: Vec<f64>,
}

/// Reads the points and the tetrahedra.
pub(super) fn parse(bytes: &[u8]) -> Result<RawTetra, ImportError> {
    let mut file = parse_header(bytes)?;
    while let Some(mut line) = file.scanner.line() {
        match line.keyword().as_str() {
            "POINTS" => file.read_points(&mut line)?,
            "CELLS" => file.read_cells(&mut line)?,
            "CELL_TYPES" => file.read_kinds(&mut line)?,
            "FIELD" => file.skip_field(&mut line)?,
            "METADATA" => while file.scanner.any_line().is_some_and(|line| !line.text().is_empty()) {},
            "POINT_DATA" | "CELL_DATA" => break,
            _ => return Err(line.unexpected("POINTS, CELLS or CELL_TYPES")),
        }
    }
    file.finish()
}

fn parse_header(bytes: &[u8]) -> Result<LegacyFile<'_>, ImportError> {
    let mut scanner = Scanner::new(FORMAT, bytes);
    let first = scanner.any_line().ok_or_else(|| scanner.truncated("the header"))?;
    let start = b"# vtk DataFile Version ";
    let version = first.text().strip_prefix(start).and_then(|version| version.first()).copied();
    let version = version.and_then(|digit| char::from(digit).to_digit(10));
    let version = version.ok_or_else(|| content_error("it does not start with `# vtk DataFile Version`".into()))?;
    // The title may be anything.
    scanner.any_line().ok_or_else(|| scanner.truncated("the header"))?;
    let mut line = scanner.expect_line("the header")?;
    let encoding = match line.keyword().as_str() {
        "ASCII" => Encoding::Text,
        "BINARY" => Encoding::BigEndian,
        _ => return Err(line.unexpected("ASCII or BINARY")),
    };
    let mut line = scanner.expect_line("the header")?;
    match (line.keyword().as_str(), line.keyword().as_str()) {
        ("DATASET", "UNSTRUCTURED_GRID") => {}
        ("DATASET", other) => {
            let what = format!("has a dataset of kind `{other}`");
            let remedy = "save the tetrahedra as an unstructured grid";
            return Err(ImportError::Unsupported { format: FORMAT, what, remedy });
        }
        _ => return Err(line.unexpected("DATASET UNSTRUCTURED_GRID")),
    }
    Ok(LegacyFile { scanner, version, encoding, points: Vec::new(), cells: CellList::default(), kinds: Vec::new() })
}

fn read_scalar_type(line: &mut LineScanner) -> Result<Scalar, ImportError> {
    let word = String::from_utf8_lossy(line.word());
    Scalar::of_name(&word).ok_or_else(|| line.error(format!("`{word}` is not a kind of number of VTK")))
}

impl LegacyFile<'_> {
    fn numbers(&mut self, count: usize, kind: Scalar, within: &str) -> Result<Vec<f64>, ImportError> {
        self.scanner.numbers(count, kind, self.encoding, within)
    }

    fn read_points(&mut self, line: &mut LineScanner) -> Result<(), ImportError> {
        let count: usize = line.number("the number of points")?;
        let kind = read_scalar_type(line)?;
        self.points = self.numbers(count.saturating_mul(3), kind, &format!("{count} points"))?;
        Ok(())
    }

    fn read_cells(&mut self, line: &mut LineScanner) -> Result<(), ImportError> {
        let count: usize = line.number("the number of cells")?;
        let size: usize = line.number("the length of the list of cells")?;
        self.cells =
            if self.version >= 5 { self.cells_by_offsets(count, size)? } else { self.cells_by_lengths(count, size)? };
        Ok(())
    }

    /// Reads cells up to version 4: the number of corners, then these.
    fn cells_by_lengths(&mut self, count: usize, size: usize) -> Result<CellList, ImportError> {
        let list = self.numbers(size, Scalar::I32, &format!("{count} cells"))?;
        let mut cells = CellList::default();
        let mut rest = &list[..];
        for cell in 0..count {
            let (corners, after) =
                rest.split_first().and_then(|(length, after)| after.split_at_checked(to_index(*length)?)).ok_or_else(
                    || content_error(format!("cell {cell} does not fit into the list of {size} numbers of CELLS")),
                )?;
            rest = after;
            cells.corners.extend(corners);
            cells.ends.push(cells.corners.len());
        }
        Ok(cells)
    }

    /// Reads cells from version 5 on: a list of offsets and a list of corners.
    fn cells_by_offsets(&mut self, count: usize, size: usize) -> Result<CellList, ImportError> {
        let mut list = |name: &str, length: usize| {
            let mut line = self.scanner.expect_line("the cells")?;
            if line.keyword() != name {
                return Err(line.unexpected(name));
            }
            let kind = read_scalar_type(&mut line)?;
            self.scanner.numbers(length, kind, self.encoding, &format!("{name} of the cells"))
        };
        let offsets = list("OFFSETS", count)?;
        let corners = list("CONNECTIVITY", size)?;
        let mut ends = Vec::new();
        for (cell, end) in offsets.iter().enumerate().skip(1) {
            let wrong = || content_error(format!("cell {} ends at entry {end} of {size} in CONNECTIVITY", cell - 1));
            ends.push(to_index(*end).ok_or_else(wrong)?);
        }
        Ok(CellList { corners, ends })
    }

    fn read_kinds(&mut self, line: &mut LineScanner) -> Result<(), ImportError> {
        let count: usize = line.number("the number of cell types")?;
        self.kinds = self.numbers(count, Scalar::I32, &format!("{count} cell types"))?;
        Ok(())
    }

    fn skip_field(&mut self, line: &mut LineScanner) -> Result<(), ImportError> {
        line.word();
        let arrays: usize = line.number("the number of arrays of a field")?;
        for _ in 0..arrays {
            let mut line = self.scanner.expect_line("a field")?;
            line.word();
            let components: usize = line.number("the number of components of an array")?;
            let count: usize = line.number("the length of an array")?;
            let kind = read_scalar_type(&mut line)?;
            self.numbers(components.saturating_mul(count), kind, "a field")?;
        }
        Ok(())
    }

    fn finish(self) -> Result<RawTetra, ImportError> {
        let mut raw = RawTetra::default();
        for point in self.points.chunks_exact(3) {
            raw.add_node(raw.node_count() as u64, [point[0], point[1], point[2]])?;
        }
        add_cells(FORMAT, &mut raw, 0, &self.cells.corners, (&self.cells.ends, &self.kinds))?;
        Ok(raw)
    }
}

/// Adds cells from concatenated corners, their ends and types. Corners count from node `first`.
pub(super) fn add_cells(
    format: &'static str,
    raw: &mut RawTetra,
    first: usize,
    corners: &[f64],
    (ends, kinds): (&[usize], &[f64]),
) -> Result<(), ImportError> {
    let content_error = |what| ImportError::Content { format, what };
    if ends.len() != kinds.len() {
        return Err(content_error(format!("there are {} cells, but {} types of cells", ends.len(), kinds.len())));
    }
    if let Some(wrong) = corners.iter().find(|corner| to_index(**corner).is_none()) {
        return Err(content_error(format!("{wrong} is the number of a point of a cell; points count from 0")));
    }
    if let Some(wrong) = kinds.iter().find(|kind| to_index(**kind).is_none()) {
        return Err(content_error(format!("{wrong} is the type of a cell; tetrahedra have type 10")));
    }
    let mut start = 0;
    for (cell, (end, kind)) in ends.iter().zip(kinds).enumerate() {
        let range = corners.get(start..*end).ok_or_else(|| {
            content_error(format!("cell {cell} takes entries {start} to {end} of a list of {} corners", corners.len()))
        })?;
        let moved: Vec<f64> = range.iter().map(|corner| corner + first as f64).collect();
        raw.add_vtk_cell(format, cell as u64, *kind, &moved)?;
        start = *end;
    }
    Ok(())
}
