//! Surfaces of shapes by dual contouring.
//!
//! `[JLSW02]` on a uniform grid: where the surface passes between the corners of a cell, the cell gets a
//! vertex that fits the tangent planes at the crossings, and every grid edge that the surface crosses joins
//! the vertices of the four cells around it. As in `[Nie04]` a cell gets one vertex for each sheet of surface
//! in it, so that sheets that pass through one cell stay apart.

use super::{Bounds, Shape, ShapeError, qef::fit_planes};
use crate::mesh::TriangleMesh;
use glam::Vec3;
use phyxel::{Real, parallel};

/// Largest number of cells of a grid.
const LIMIT: usize = 50_000_000;
/// The grid starts this part of a cell below the bounds, so that flat faces rarely fall onto grid points.
const MARGIN: Real = 1.382;
/// Normals with a larger product belong to one face.
const SAME: Real = 0.8;
/// Cells and vertices handled by one task.
const GRAIN: usize = 1024;

/// Start and end corner of the 12 edges of a cell, four for each axis; corner `i` has `x = i & 1`,
/// `y = i >> 1 & 1` and `z = i >> 2`.
const EDGES: [[usize; 2]; 12] =
    [[0, 1], [2, 3], [4, 5], [6, 7], [0, 2], [1, 3], [4, 6], [5, 7], [0, 4], [1, 5], [2, 6], [3, 7]];
/// Corners of the six faces, in order around each, and the edges from each corner to the next.
const FACES: [([usize; 4], [usize; 4]); 6] = [
    ([0, 2, 6, 4], [4, 10, 6, 8]),
    ([1, 3, 7, 5], [5, 11, 7, 9]),
    ([0, 1, 5, 4], [0, 9, 2, 8]),
    ([2, 3, 7, 6], [1, 11, 3, 10]),
    ([0, 1, 3, 2], [0, 5, 1, 4]),
    ([4, 5, 7, 6], [2, 7, 3, 6]),
];

/// Distances at the corners of a uniform grid of cells.
struct Field<'a> {
    shape: &'a Shape,
    origin: Vec3,
    cell: Real,
    /// Number of grid points along each axis.
    counts: [usize; 3],
    values: Vec<Real>,
}

/// Where the surface crosses an edge, and its normal there.
type Crossing = (Vec3, Vec3);

/// The cells that the surface passes through, in order, and the crossings of the three edges that start at the
/// lowest corner of each.
struct Crossings {
    cells: Vec<usize>,
    edges: Vec<[Option<Crossing>; 3]>,
}

impl Crossings {
    fn find(field: &Field) -> Self {
        let cells = field.crossed_cells();
        let edges = parallel::map(cells.len(), GRAIN, |i| {
            std::array::from_fn(|axis| {
                let (from, to) = (cells[i], field.neighbour(cells[i], 1 << axis));
                let is_crossed = field.inside(from) != field.inside(to);
                is_crossed.then(|| field.crossing(from, to))
            })
        });
        Self { cells, edges }
    }

    /// The crossing of the edge that starts at the lowest corner of a cell.
    fn get(&self, cell: usize, axis: usize) -> Option<Crossing> {
        let place = self.cells.binary_search(&cell).ok()?;
        self.edges[place][axis]
    }
}

/// The vertices of a cell that the surface passes through.
struct Crossed {
    cell: usize,
    /// Sheet that crosses each edge; meaningless for edges that are not crossed.
    sheets: [u8; 12],
    vertices: Vec<Vec3>,
}

impl<'a> Field<'a> {
    fn new(shape: &'a Shape, bounds: &Bounds, cell: Real) -> Result<Self, ShapeError> {
        let points = bounds.size().as_dvec3() / f64::from(cell) + 2.0 * f64::from(MARGIN);
        let counts = points.ceil() + 1.0;
        let cells = counts.element_product();
        if cells.is_nan() || cells > LIMIT as f64 {
            // Margins count for little in so large a grid.
            let enough = 1.01 * cell * libm::cbrt(cells / LIMIT as f64) as Real;
            return Err(ShapeError::TooManyCells { cell, cells, limit: LIMIT, enough });
        }
        let counts = counts.to_array().map(|count| count as usize);
        let origin = bounds.min - MARGIN * cell;
        let mut field = Self { shape, origin, cell, counts, values: Vec::new() };
        field.values = field.evaluate();
        Ok(field)
    }

    /// The corner with the given coordinates, m.
    fn corner(&self, at: [usize; 3]) -> Vec3 {
        self.origin + self.cell * Vec3::from_array(at.map(|i| i as Real))
    }

    fn coordinates(&self, index: usize) -> [usize; 3] {
        let [x, y, _] = self.counts;
        [index % x, index / x % y, index / x / y]
    }

    /// Index of the grid point at an offset in 0..=1 along each axis.
    fn neighbour(&self, index: usize, corner: usize) -> usize {
        let [x, y, _] = self.counts;
        index + (corner & 1) + x * (corner >> 1 & 1) + x * y * (corner >> 2)
    }

    fn inside(&self, index: usize) -> bool {
        self.values[index] < 0.0
    }

    fn evaluate(&self) -> Vec<Real> {
        let [x, y, z] = self.counts;
        // Everything is outside on the border, whatever the shape says: the surface is closed.
        let mut values = vec![self.cell; x * y * z];
        let leap = if self.shape.is_continuous() { 1.0 } else { 0.0 };
        parallel::for_each_chunk(&mut values, x, |first, row| {
            let [_, y, z] = self.coordinates(first);
            let border = y == 0 || z == 0 || y + 1 == self.counts[1] || z + 1 == self.counts[2];
            if !border {
                self.fill(self.corner([0, y, z]), leap, 1, &mut row[1..x - 1]);
            }
        });
        values
    }

    /// Fills the values of points `first..` of a row; a half that is farther from the surface than it is
    /// long gets one value for all.
    fn fill(&self, start: Vec3, leap: Real, first: usize, values: &mut [Real]) {
        let middle = values.len() / 2;
        if values.is_empty() {
            return;
        }
        let distance = self.shape.distance(start + Vec3::X * (self.cell * (first + middle) as Real));
        values[middle] = distance;
        let (low, rest) = values.split_at_mut(middle);
        let high = &mut rest[1..];
        if leap * distance.abs() > self.cell * (middle as Real + 1.01) {
            low.fill(distance);
            high.fill(distance);
            return;
        }
        self.fill(start, leap, first, low);
        self.fill(start, leap, first + middle + 1, high);
    }

    /// Indices of the cells (by their lowest corner) whose corners are not all on one side.
    fn crossed_cells(&self) -> Vec<usize> {
        let [x, y, z] = self.counts;
        let cells = parallel::map_ranges((y - 1) * (z - 1), 64, |rows| {
            let starts = rows.map(|row| x * (row % (y - 1) + y * (row / (y - 1))));
            let cells = starts.flat_map(|start| start..start + x - 1);
            cells.filter(|cell| self.is_crossed(*cell)).collect::<Vec<_>>()
        });
        cells.concat()
    }

    fn is_crossed(&self, cell: usize) -> bool {
        let first = self.inside(cell);
        (1..8).any(|corner| self.inside(self.neighbour(cell, corner)) != first)
    }

    /// Where the surface crosses the edge between two grid points of different sides, m, and its normal.
    ///
    /// Regula falsi with the Illinois rule; a sign without a zero is found by the same bracketing.
    fn crossing(&self, from: usize, to: usize) -> Crossing {
        let (a, b) = (self.corner(self.coordinates(from)), self.corner(self.coordinates(to)));
        let (mut low, mut high) = (0.0, 1.0);
        let (mut at_low, mut at_high) = (self.values[from], self.values[to]);
        let mut part = 0.5;
        for round in 0..24 {
            let secant = (low * at_high - high * at_low) / (at_high - at_low);
            let usable = round % 4 != 3 && secant > low && secant < high;
            part = if usable { secant } else { 0.5 * (low + high) };
            let value = self.shape.distance(a.lerp(b, part));
            if value.abs() < 1e-5 * self.cell || high - low < 1e-5 {
                break;
            }
            if (value < 0.0) == (at_low < 0.0) {
                (low, at_low, at_high) = (part, value, 0.5 * at_high);
            } else {
                (high, at_high, at_low) = (part, value, 0.5 * at_low);
            }
        }
        let point = a.lerp(b, part);
        (point, self.shape.gradient(point))
    }

    /// The vertices of a crossed cell, one for each sheet.
    fn cross(&self, cell: usize, crossings: &Crossings) -> Crossed {
        let sides: [bool; 8] = std::array::from_fn(|corner| self.inside(self.neighbour(cell, corner)));
        let (sheets, count) = separate_sheets(&sides);
        let mut planes = vec![(Vec::new(), Vec::new()); count];
        for (edge, [from, _]) in EDGES.iter().enumerate().filter(|(_, [from, to])| sides[*from] != sides[*to]) {
            if let Some((point, normal)) = crossings.get(self.neighbour(cell, *from), edge / 4) {
                let (points, normals) = &mut planes[sheets[edge] as usize];
                points.push(point);
                normals.push(normal);
            }
        }
        let low = self.corner(self.coordinates(cell));
        let vertices = planes.iter().map(|(points, normals)| self.place_vertex(low, points, normals)).collect();
        Crossed { cell, sheets, vertices }
    }

    /// A vertex that fits the planes, in the cell above `low` and on the surface as far as possible, m.
    fn place_vertex(&self, low: Vec3, points: &[Vec3], normals: &[Vec3]) -> Vec3 {
        let fit = fit_planes(points, normals);
        if let Some(tip) = self.find_tip(low, fit, points, normals) {
            return tip;
        }
        let low = self.free_cell(low, fit).unwrap_or(low);
        let clamp = |point: Vec3| point.clamp(low, low + self.cell);
        let mut vertex = clamp(fit);
        let mut distance = self.shape.distance(vertex);
        for _ in 0..4 {
            if distance.abs() < 1e-4 * self.cell {
                break;
            }
            let nearer = clamp(vertex - distance * self.shape.gradient(vertex));
            let left = self.shape.distance(nearer);
            if left.abs() >= distance.abs() {
                break;
            }
            (vertex, distance) = (nearer, left);
        }
        vertex
    }

    /// A corner or edge in the cell, or a free one beside it, that not all of its faces cross the edges of.
    ///
    /// Looks for faces with other normals from points below the surface around `fit`. There is a tip where
    /// all planes together meet on the surface.
    fn find_tip(&self, low: Vec3, fit: Vec3, points: &[Vec3], normals: &[Vec3]) -> Option<Vec3> {
        let (mut points, mut normals) = (points.to_vec(), normals.to_vec());
        let inner = fit - 0.5 * self.cell * normals.iter().sum::<Vec3>().normalize_or_zero();
        let known = normals.len();
        for way in [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z] {
            let probe = inner + 0.75 * self.cell * way;
            let (distance, normal) = self.shape.sense(probe);
            if distance.abs() < self.cell && normals.iter().all(|other| other.dot(normal) < SAME) {
                points.push(probe - distance * normal);
                normals.push(normal);
            }
        }
        let tip = if normals.len() > known { fit_planes(&points, &normals) } else { return None };
        let in_cell = tip.cmpge(low).all() && tip.cmple(low + self.cell).all();
        let is_tip = if in_cell { self.is_on_surface(tip) } else { self.free_cell(low, tip).is_some() };
        is_tip.then_some(tip)
    }

    fn is_on_surface(&self, point: Vec3) -> bool {
        self.shape.distance(point).abs() < 1e-3 * self.cell
    }

    /// The lowest corner of the cell with `fit` in it, if that is next to the cell above `low`, no surface
    /// passes between its corners, and `fit` is on the surface.
    ///
    /// Tips of edges and corners may reach into a cell without touching its corners. Such a cell has no
    /// vertex of its own, so that a neighbour's may go there.
    fn free_cell(&self, low: Vec3, fit: Vec3) -> Option<Vec3> {
        let step = ((fit - low) / self.cell).floor();
        if step == Vec3::ZERO || step.abs().max_element() > 1.0 {
            return None;
        }
        let place = ((fit - self.origin) / self.cell).floor();
        let at = place.to_array().map(|i| i as usize);
        let inner = place.cmpge(Vec3::ZERO).all() && (0..3).all(|axis| at[axis] + 1 < self.counts[axis]);
        let index = at[0] + self.counts[0] * (at[1] + self.counts[1] * at[2]);
        (inner && !self.is_crossed(index) && self.is_on_surface(fit)).then(|| self.corner(at))
    }

    /// The four cells around the edge from a grid point along `axis`, counter-clockwise seen from its end,
    /// and the number of the edge in each.
    fn around(&self, index: usize, axis: usize) -> [(usize, usize); 4] {
        let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
        [0, u, u | v, v].map(|corner| {
            let cell = index - (self.neighbour(index, corner) - index);
            let edge = (0..4).map(|i| 4 * axis + i).find(|edge| EDGES[*edge][0] == corner);
            (cell, edge.unwrap_or(4 * axis))
        })
    }
}

/// Groups the crossed edges of a cell by the sheets of surface that cross them; the number of each edge's
/// sheet and the number of sheets.
///
/// Edges of one face belong together. On a face with four crossings the inside corners are kept apart,
/// which the cell on the other side of the face decides in the same way.
fn separate_sheets(sides: &[bool; 8]) -> ([u8; 12], usize) {
    let mut group: [u8; 12] = std::array::from_fn(|edge| edge as u8);
    let mut join = |a: usize, b: usize| {
        let (keep, drop) = (group[a], group[b]);
        group.iter_mut().filter(|g| **g == drop).for_each(|g| *g = keep);
    };
    for (corners, edges) in &FACES {
        let crossed: Vec<usize> = (0..4).filter(|i| sides[corners[*i]] != sides[corners[(i + 1) % 4]]).collect();
        match crossed[..] {
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

/// The triangulated surface of a shape with details of about `cell`, m.
pub(super) fn contour(shape: &Shape, cell: Real) -> Result<TriangleMesh, ShapeError> {
    if !(cell.is_finite() && cell > 0.0) {
        return Err(ShapeError::BadCell { cell });
    }
    shape.check()?;
    let bounds = shape.bounds().ok_or(ShapeError::Unbounded)?;
    let field = Field::new(shape, &bounds, cell)?;
    let crossings = Crossings::find(&field);
    if crossings.cells.is_empty() {
        return Err(ShapeError::TooCoarse { cell });
    }
    let cells = &crossings.cells;
    let crossed = parallel::map(cells.len(), GRAIN, |i| field.cross(cells[i], &crossings));
    Ok(join_cells(&field, &crossed))
}

/// Joins the vertices around every crossed grid edge to two triangles.
fn join_cells(field: &Field, crossed: &[Crossed]) -> TriangleMesh {
    let mut first = Vec::with_capacity(crossed.len());
    let mut positions = Vec::with_capacity(crossed.len());
    for cell in crossed {
        first.push(positions.len());
        positions.extend(&cell.vertices);
    }
    let vertex = |(cell, edge): (usize, usize)| {
        // Every cell around a crossed edge is crossed; they are in order of their index.
        let place = crossed.binary_search_by_key(&cell, |crossed| crossed.cell).unwrap_or(0);
        (first[place] + crossed[place].sheets[edge] as usize) as u32
    };
    let triangles = parallel::map_ranges(crossed.len(), GRAIN, |range| {
        let mut triangles = Vec::new();
        for cell in range.map(|i| crossed[i].cell) {
            for axis in 0..3 {
                let (from, to) = (field.inside(cell), field.inside(field.neighbour(cell, 1 << axis)));
                if from != to {
                    let mut quad = field.around(cell, axis).map(vertex);
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
