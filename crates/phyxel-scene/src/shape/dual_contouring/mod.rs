//! Dual contouring of signed distance fields on a uniform grid `[JLSW02]`.
//!
//! Every cell with a sign change gets a vertex that minimises the quadratic error function of the tangent planes
//! at its edge intersections, and every grid edge with a sign change connects the vertices of the four cells
//! around it. As in `[Nie04]` a cell gets one vertex for each sheet of surface in it, so that separate sheets in
//! one cell stay separate.

mod qef;

use super::{Shape, ShapeError};
use crate::mesh::TriangleMesh;
use glam::Vec3;
use phyxel::{Real, parallel};
use phyxel_laws::geometry::Aabb;
use qef::minimize_qef;

/// Largest number of cells of a grid.
const MAX_CELLS: usize = 50_000_000;
/// Offset of the grid below the bounds, in cells, chosen so that flat faces rarely coincide with grid points.
const MARGIN: Real = 1.382;
/// Cosine above which two normals belong to one face.
const SAME_FACE_COS: Real = 0.8;
/// Cells and vertices handled by one task.
const GRAIN: usize = 1024;

/// Start and end corner of the 12 edges of a cell, four per axis; corner `i` has `x = i & 1`,
/// `y = i >> 1 & 1` and `z = i >> 2`.
const EDGES: [[usize; 2]; 12] =
    [[0, 1], [2, 3], [4, 5], [6, 7], [0, 2], [1, 3], [4, 6], [5, 7], [0, 4], [1, 5], [2, 6], [3, 7]];
/// Corners of the six faces in cyclic order, and the edges from each corner to the next.
const FACES: [([usize; 4], [usize; 4]); 6] = [
    ([0, 2, 6, 4], [4, 10, 6, 8]),
    ([1, 3, 7, 5], [5, 11, 7, 9]),
    ([0, 1, 5, 4], [0, 9, 2, 8]),
    ([2, 3, 7, 6], [1, 11, 3, 10]),
    ([0, 1, 3, 2], [0, 5, 1, 4]),
    ([4, 5, 7, 6], [2, 7, 3, 6]),
];

/// Signed distance field sampled at the corners of a uniform grid.
struct DistanceField<'a> {
    shape: &'a Shape,
    origin: Vec3,
    cell: Real,
    /// Number of grid points along each axis.
    counts: [usize; 3],
    values: Vec<Real>,
}

/// Hermite sample: intersection of the surface with a grid edge, m, and the unit normal there.
type Hermite = (Vec3, Vec3);

/// Hermite data: the cells with a sign change, in order, and the intersections of the three edges that start at
/// the lowest corner of each.
struct HermiteData {
    cells: Vec<usize>,
    edges: Vec<[Option<Hermite>; 3]>,
}

impl HermiteData {
    fn sample(field: &DistanceField) -> Self {
        let cells = field.cells_with_sign_change();
        let edges = parallel::map(cells.len(), GRAIN, |i| {
            std::array::from_fn(|axis| {
                let (from, to) = (cells[i], field.neighbour(cells[i], 1 << axis));
                let changes_sign = field.inside(from) != field.inside(to);
                changes_sign.then(|| field.intersect_edge(from, to))
            })
        });
        Self { cells, edges }
    }

    /// Returns the sample of the edge that starts at the lowest corner of a cell.
    fn get(&self, cell: usize, axis: usize) -> Option<Hermite> {
        let row = self.cells.binary_search(&cell).ok()?;
        self.edges[row][axis]
    }
}

/// Vertices of a cell with a sign change, one per sheet.
struct CellVertices {
    cell: usize,
    /// Sheet that intersects each edge; undefined for edges without an intersection.
    sheets: [u8; 12],
    vertices: Vec<Vec3>,
}

impl<'a> DistanceField<'a> {
    fn new(shape: &'a Shape, bounds: &Aabb, cell: Real) -> Result<Self, ShapeError> {
        let points = bounds.extent().as_dvec3() / f64::from(cell) + 2.0 * f64::from(MARGIN);
        let counts = points.ceil() + 1.0;
        let cells = counts.element_product();
        if cells.is_nan() || cells > MAX_CELLS as f64 {
            // Margins are negligible in so large a grid.
            let enough = 1.01 * cell * libm::cbrt(cells / MAX_CELLS as f64) as Real;
            return Err(ShapeError::TooManyCells { cell, cells, limit: MAX_CELLS, enough });
        }
        let counts = counts.to_array().map(|count| count as usize);
        let origin = bounds.min - MARGIN * cell;
        let mut field = Self { shape, origin, cell, counts, values: Vec::new() };
        field.values = field.evaluate();
        Ok(field)
    }

    /// Position of a grid point, m.
    fn corner(&self, at: [usize; 3]) -> Vec3 {
        self.origin + self.cell * Vec3::from_array(at.map(|i| i as Real))
    }

    fn coordinates(&self, index: usize) -> [usize; 3] {
        let [x, y, _] = self.counts;
        [index % x, index / x % y, index / x / y]
    }

    /// Index of the grid point at offset 0 or 1 along each axis.
    fn neighbour(&self, index: usize, corner: usize) -> usize {
        let [x, y, _] = self.counts;
        index + (corner & 1) + x * (corner >> 1 & 1) + x * y * (corner >> 2)
    }

    fn inside(&self, index: usize) -> bool {
        self.values[index] < 0.0
    }

    fn evaluate(&self) -> Vec<Real> {
        let [x, y, z] = self.counts;
        // Everything is outside on the border, whatever the shape: the surface is closed.
        let mut values = vec![self.cell; x * y * z];
        // Values of a discontinuous field bound nothing around them.
        let lipschitz = if self.shape.is_continuous() { 1.0 } else { 0.0 };
        parallel::for_each_chunk(&mut values, x, |first, row| {
            let [_, y, z] = self.coordinates(first);
            let border = y == 0 || z == 0 || y + 1 == self.counts[1] || z + 1 == self.counts[2];
            if !border {
                self.fill_row(self.corner([0, y, z]), lipschitz, 1, &mut row[1..x - 1]);
            }
        });
        values
    }

    /// Evaluates points `first..` of a row by bisection; a half that the Lipschitz bound shows to be clear of the
    /// surface gets one value for all.
    fn fill_row(&self, start: Vec3, lipschitz: Real, first: usize, values: &mut [Real]) {
        let middle = values.len() / 2;
        if values.is_empty() {
            return;
        }
        let distance = self.shape.distance(start + Vec3::X * (self.cell * (first + middle) as Real));
        values[middle] = distance;
        let (low, rest) = values.split_at_mut(middle);
        let high = &mut rest[1..];
        if lipschitz * distance.abs() > self.cell * (middle as Real + 1.01) {
            low.fill(distance);
            high.fill(distance);
            return;
        }
        self.fill_row(start, lipschitz, first, low);
        self.fill_row(start, lipschitz, first + middle + 1, high);
    }

    /// Indices (of the lowest corner) of the cells with a sign change.
    fn cells_with_sign_change(&self) -> Vec<usize> {
        let [x, y, z] = self.counts;
        let cells = parallel::map_ranges((y - 1) * (z - 1), 64, |rows| {
            let starts = rows.map(|row| x * (row % (y - 1) + y * (row / (y - 1))));
            let cells = starts.flat_map(|start| start..start + x - 1);
            cells.filter(|cell| self.has_sign_change(*cell)).collect::<Vec<_>>()
        });
        cells.concat()
    }

    fn has_sign_change(&self, cell: usize) -> bool {
        let first = self.inside(cell);
        (1..8).any(|corner| self.inside(self.neighbour(cell, corner)) != first)
    }

    /// Intersects the surface with the edge between two grid points of opposite sign.
    ///
    /// Regula falsi with the Illinois rule and bisection in every fourth iteration; a jump of sign is bracketed
    /// too.
    fn intersect_edge(&self, from: usize, to: usize) -> Hermite {
        let (a, b) = (self.corner(self.coordinates(from)), self.corner(self.coordinates(to)));
        let (mut low, mut high) = (0.0, 1.0);
        let (mut at_low, mut at_high) = (self.values[from], self.values[to]);
        let mut t = 0.5;
        for iteration in 0..24 {
            let secant = (low * at_high - high * at_low) / (at_high - at_low);
            let usable = iteration % 4 != 3 && secant > low && secant < high;
            t = if usable { secant } else { 0.5 * (low + high) };
            let value = self.shape.distance(a.lerp(b, t));
            if value.abs() < 1e-5 * self.cell || high - low < 1e-5 {
                break;
            }
            if (value < 0.0) == (at_low < 0.0) {
                (low, at_low, at_high) = (t, value, 0.5 * at_high);
            } else {
                (high, at_high, at_low) = (t, value, 0.5 * at_low);
            }
        }
        let point = a.lerp(b, t);
        (point, self.shape.gradient(point))
    }

    /// Places the vertices of a cell with a sign change, one per sheet.
    fn solve_cell(&self, cell: usize, hermite: &HermiteData) -> CellVertices {
        let sides: [bool; 8] = std::array::from_fn(|corner| self.inside(self.neighbour(cell, corner)));
        let (sheets, count) = separate_sheets(&sides);
        let mut planes = vec![(Vec::new(), Vec::new()); count];
        for (edge, [from, _]) in EDGES.iter().enumerate().filter(|(_, [from, to])| sides[*from] != sides[*to]) {
            if let Some((point, normal)) = hermite.get(self.neighbour(cell, *from), edge / 4) {
                let (points, normals) = &mut planes[sheets[edge] as usize];
                points.push(point);
                normals.push(normal);
            }
        }
        let low = self.corner(self.coordinates(cell));
        let vertices = planes.iter().map(|(points, normals)| self.place_vertex(low, points, normals)).collect();
        CellVertices { cell, sheets, vertices }
    }

    /// Vertex that minimises the quadratic error function, in the cell above `low` and projected onto the surface, m.
    fn place_vertex(&self, low: Vec3, points: &[Vec3], normals: &[Vec3]) -> Vec3 {
        let fit = minimize_qef(points, normals);
        if let Some(feature) = self.find_feature(low, fit, points, normals) {
            return feature;
        }
        let low = self.vacant_cell(low, fit).unwrap_or(low);
        let clamp = |point: Vec3| point.clamp(low, low + self.cell);
        let mut vertex = clamp(fit);
        let mut distance = self.shape.distance(vertex);
        for _ in 0..4 {
            if distance.abs() < 1e-4 * self.cell {
                break;
            }
            let projected = clamp(vertex - distance * self.shape.gradient(vertex));
            let residual = self.shape.distance(projected);
            if residual.abs() >= distance.abs() {
                break;
            }
            (vertex, distance) = (projected, residual);
        }
        vertex
    }

    /// Sharp feature (edge or corner) in the cell, or in a vacant one beside it, of which not all faces intersect
    /// the edges of the cell.
    ///
    /// Probes below the surface around `fit` find faces with other normals. The feature is where all planes
    /// together meet on the surface.
    fn find_feature(&self, low: Vec3, fit: Vec3, points: &[Vec3], normals: &[Vec3]) -> Option<Vec3> {
        let (mut points, mut normals) = (points.to_vec(), normals.to_vec());
        let interior = fit - 0.5 * self.cell * normals.iter().sum::<Vec3>().normalize_or_zero();
        let known = normals.len();
        for direction in [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z] {
            let probe = interior + 0.75 * self.cell * direction;
            let (distance, normal) = self.shape.distance_and_gradient(probe);
            if distance.abs() < self.cell && normals.iter().all(|other| other.dot(normal) < SAME_FACE_COS) {
                points.push(probe - distance * normal);
                normals.push(normal);
            }
        }
        let feature = if normals.len() > known { minimize_qef(&points, &normals) } else { return None };
        let in_cell = feature.cmpge(low).all() && feature.cmple(low + self.cell).all();
        let is_feature = if in_cell { self.is_on_surface(feature) } else { self.vacant_cell(low, feature).is_some() };
        is_feature.then_some(feature)
    }

    fn is_on_surface(&self, point: Vec3) -> bool {
        self.shape.distance(point).abs() < 1e-3 * self.cell
    }

    /// Lowest corner of the cell that contains `fit`, if that cell neighbours the one above `low`, has no sign
    /// change, and `fit` is on the surface.
    ///
    /// Edges and corners may reach into a cell without enclosing one of its corners. Such a cell has no vertex
    /// of its own, so that a neighbour's may be placed there.
    fn vacant_cell(&self, low: Vec3, fit: Vec3) -> Option<Vec3> {
        let step = ((fit - low) / self.cell).floor();
        if step == Vec3::ZERO || step.abs().max_element() > 1.0 {
            return None;
        }
        let index = ((fit - self.origin) / self.cell).floor();
        let at = index.to_array().map(|i| i as usize);
        let in_grid = index.cmpge(Vec3::ZERO).all() && (0..3).all(|axis| at[axis] + 1 < self.counts[axis]);
        let cell = at[0] + self.counts[0] * (at[1] + self.counts[1] * at[2]);
        (in_grid && !self.has_sign_change(cell) && self.is_on_surface(fit)).then(|| self.corner(at))
    }

    /// The four cells around the edge from a grid point along `axis`, counter-clockwise seen from its end,
    /// and the local index of the edge in each.
    fn cells_around(&self, index: usize, axis: usize) -> [(usize, usize); 4] {
        let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
        [0, u, u | v, v].map(|corner| {
            let cell = index - (self.neighbour(index, corner) - index);
            let edge = (0..4).map(|i| 4 * axis + i).find(|edge| EDGES[*edge][0] == corner);
            (cell, edge.unwrap_or(4 * axis))
        })
    }
}

/// Groups the intersected edges of a cell by sheet; returns the sheet of each edge and the number of sheets.
///
/// Edges of one face belong together. On an ambiguous face (four intersections) the inside corners are
/// separated, which the cell on the other side of the face decides in the same way.
fn separate_sheets(sides: &[bool; 8]) -> ([u8; 12], usize) {
    let mut group: [u8; 12] = std::array::from_fn(|edge| edge as u8);
    let mut join = |a: usize, b: usize| {
        let (keep, drop) = (group[a], group[b]);
        group.iter_mut().filter(|g| **g == drop).for_each(|g| *g = keep);
    };
    for (corners, edges) in &FACES {
        let cut: Vec<usize> = (0..4).filter(|i| sides[corners[*i]] != sides[corners[(i + 1) % 4]]).collect();
        match cut[..] {
            [a, b] => join(edges[a], edges[b]),
            [_, _, _, _] => {
                let inside = (0..4).filter(|i| sides[corners[*i]]);
                inside.for_each(|i| join(edges[(i + 3) % 4], edges[i]));
            }
            _ => {}
        }
    }
    let mut seen: Vec<u8> = Vec::new();
    for (edge, [from, to]) in EDGES.iter().enumerate() {
        if sides[*from] != sides[*to] && !seen.contains(&group[edge]) {
            seen.push(group[edge]);
        }
    }
    let sheets = group.map(|g| seen.iter().position(|s| *s == g).unwrap_or(0) as u8);
    (sheets, seen.len())
}

/// Extracts the triangulated surface of a shape on cells of edge `cell`, m.
pub(super) fn contour(shape: &Shape, cell: Real) -> Result<TriangleMesh, ShapeError> {
    if !(cell.is_finite() && cell > 0.0) {
        return Err(ShapeError::BadCell { cell });
    }
    shape.check()?;
    let bounds = shape.bounds().ok_or(ShapeError::Unbounded)?;
    let field = DistanceField::new(shape, &bounds, cell)?;
    let hermite = HermiteData::sample(&field);
    if hermite.cells.is_empty() {
        return Err(ShapeError::TooCoarse { cell });
    }
    let cells = &hermite.cells;
    let solved = parallel::map(cells.len(), GRAIN, |i| field.solve_cell(cells[i], &hermite));
    Ok(connect_vertices(&field, &solved))
}

/// Connects the vertices around every grid edge with a sign change by two triangles.
fn connect_vertices(field: &DistanceField, solved: &[CellVertices]) -> TriangleMesh {
    let mut first = Vec::with_capacity(solved.len());
    let mut positions = Vec::with_capacity(solved.len());
    for cell in solved {
        first.push(positions.len());
        positions.extend(&cell.vertices);
    }
    let vertex = |(cell, edge): (usize, usize)| {
        // Every cell around such an edge has vertices; they are sorted by index.
        let row = solved.binary_search_by_key(&cell, |crossed| crossed.cell).unwrap_or(0);
        (first[row] + solved[row].sheets[edge] as usize) as u32
    };
    let triangles = parallel::map_ranges(solved.len(), GRAIN, |range| {
        let mut triangles = Vec::new();
        for cell in range.map(|i| solved[i].cell) {
            for axis in 0..3 {
                let (from, to) = (field.inside(cell), field.inside(field.neighbour(cell, 1 << axis)));
                if from != to {
                    let mut quad = field.cells_around(cell, axis).map(vertex);
                    if to {
                        quad.reverse();
                    }
                    triangles.extend(split_quad(quad, &positions));
                }
            }
        }
        triangles
    });
    TriangleMesh { triangles: triangles.concat(), positions }
}

/// Two triangles, split along the shorter diagonal.
fn split_quad([a, b, c, d]: [u32; 4], positions: &[Vec3]) -> [[u32; 3]; 2] {
    let length = |a: u32, b: u32| positions[a as usize].distance_squared(positions[b as usize]);
    if length(a, c) <= length(b, d) { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] }
}
