//! Fine surfaces that follow changes of their coarse ones.

use super::{Fine, Scheme, Sheet, Sum, Weights};
use std::ops::Range;

/// Stands for what was not there before.
const NONE: u32 = u32::MAX;

/// A fine surface, with the levels that it was made by.
///
/// When the coarse surface changes, what is far from the change is taken over: a vertex is made anew only if triangles around the
/// vertices that its rule looks at have changed, or if these are made anew themselves. What comes out does not depend on the way
/// there, to the bit.
#[derive(Clone, Debug)]
pub struct Layers {
    scheme: Scheme,
    /// A number for each coarse triangle, rising.
    keys: Vec<u32>,
    /// All levels but the last.
    sheets: Vec<Sheet>,
    /// For the same levels, the vertex of the next level on each half edge.
    middles: Vec<Vec<u32>>,
    /// Vertices of all levels.
    weights: Vec<Weights>,
    /// Triangles of the last level.
    triangles: Vec<[u32; 3]>,
    /// Room for the next weights, level by level.
    room: Vec<Weights>,
}

impl Layers {
    /// Of nothing, to be divided as often as `levels` says.
    pub fn new(scheme: Scheme, levels: u32) -> Self {
        let count = levels as usize;
        Self {
            scheme,
            keys: Vec::new(),
            sheets: vec![Sheet::default(); count],
            middles: vec![Vec::new(); count],
            weights: vec![Weights::default(); count + 1],
            triangles: Vec::new(),
            room: vec![Weights::default(); count],
        }
    }

    /// Triangles of fine vertices, as closed as the coarse surface. Those of coarse triangle `t` are the `4^levels` that begin at
    /// `4^levels t`.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Where the fine vertices are. The first are those of the sheet.
    pub fn weights(&self) -> &Weights {
        &self.weights[self.weights.len() - 1]
    }

    /// Follows the coarse surface to what it is now, and returns how many fine vertices were made anew.
    ///
    /// `keys` has a rising number for each triangle of the sheet, which stays the same from one call to the next while the triangle
    /// does: the faces of a [`Surface`](crate::tetra::Surface). A triangle with other nodes than before has changed.
    pub fn follow(&mut self, sheet: Sheet, keys: &[u32]) -> usize {
        let mut first = Weights::default();
        sheet.origin().iter().for_each(|&node| first.push([(node, 1.0)]));
        let mut anew = first.len();
        let mut kept = match self.sheets.first() {
            Some(old) => Kept::find((old, &self.keys), (&sheet, keys)),
            None => Kept::nothing(&sheet),
        };
        self.weights[0] = first;
        self.keys = keys.to_vec();
        let mut sum = Sum::new(&sheet);
        let mut now = sheet;
        for level in 0..self.sheets.len() {
            let middles = now.middles();
            let same = kept.next_vertices(&now, &self.middles[level]);
            let old = &self.weights[level + 1];
            let mut finer = std::mem::take(&mut self.room[level]).cleared();
            anew = renew((&now, self.scheme), &self.weights[level], (old, &same), &mut sum, &mut finer);
            self.room[level] = std::mem::replace(&mut self.weights[level + 1], finer);
            let divided = if level + 1 == self.sheets.len() {
                Sheet::of_triangles(now.quartered(&middles, std::mem::take(&mut self.triangles)))
            } else {
                kept = kept.divided(same);
                now.divided(&middles)
            };
            self.middles[level] = middles;
            self.sheets[level] = std::mem::replace(&mut now, divided);
        }
        self.triangles = now.into_triangles();
        anew
    }

    /// Follows new numbers of nodes: node `k` gets `numbers[k]`; those without one are gone. Vertices are in the order of nodes again when the layers have
    /// followed their sheet the next time.
    pub fn renumber(&mut self, numbers: &[u32]) {
        if let Some(sheet) = self.sheets.first_mut() {
            sheet.renumber(numbers);
        }
        self.weights.iter_mut().for_each(|weights| weights.renumber(numbers));
    }

    /// The fine surface alone.
    pub fn into_fine(mut self) -> Fine {
        Fine { triangles: self.triangles, weights: self.weights.pop().unwrap_or_default() }
    }
}

/// Writes the vertices of the next level of a sheet with weights `now`: those that are the `same` as old ones are taken over.
/// Returns how many are made anew.
fn renew(
    (sheet, scheme): (&Sheet, Scheme),
    now: &Weights,
    (old, same): (&Weights, &[u32]),
    sum: &mut Sum,
    finer: &mut Weights,
) -> usize {
    let edges: Vec<u32> = sheet.edges().collect();
    let mut anew = 0;
    while finer.len() < same.len() {
        let vertex = finer.len();
        let run = run_from(same, vertex);
        if !run.is_empty() {
            finer.copy(old, run);
            continue;
        }
        match vertex.checked_sub(sheet.vertices() as usize) {
            None => sum.take(now, |add| scheme.vertex(sheet, vertex as u32, add)),
            Some(edge) => sum.take(now, |add| scheme.edge(sheet, edges[edge], add)),
        }
        finer.push(sum.drain());
        anew += 1;
    }
    anew
}

/// What one level has in common with the same level before a change.
struct Kept {
    /// For each triangle, what it was.
    triangles: Vec<u32>,
    /// For each half edge, whether its triangle and the one beside it were beside each other.
    halves: Vec<bool>,
    /// For each vertex, one that had the same weights.
    vertices: Vec<u32>,
}

impl Kept {
    fn nothing(sheet: &Sheet) -> Self {
        let triangles = sheet.triangles().len();
        Self {
            triangles: vec![NONE; triangles],
            halves: vec![false; 3 * triangles],
            vertices: vec![NONE; sheet.vertices() as usize],
        }
    }

    /// What two coarse surfaces have in common: triangles with the same key over the same nodes.
    fn find((old, old_keys): (&Sheet, &[u32]), (new, keys): (&Sheet, &[u32])) -> Self {
        let mut kept = Self::nothing(new);
        let nodes = |sheet: &Sheet, t: usize| sheet.triangles()[t].map(|vertex| sheet.origin()[vertex as usize]);
        let mut was = 0;
        for (t, key) in keys.iter().enumerate().take(new.triangles().len()) {
            while was < old_keys.len() && old_keys[was] < *key {
                was += 1;
            }
            if was < old_keys.len() && old_keys[was] == *key && nodes(old, was) == nodes(new, t) {
                kept.triangles[t] = was as u32;
                for k in 0..3 {
                    kept.vertices[new.triangles()[t][k] as usize] = old.triangles()[was][k];
                }
            }
        }
        for half in 0..kept.halves.len() as u32 {
            let (one, other) = (kept.old_half(half), kept.old_half(new.twin(half)));
            kept.halves[half as usize] = one != NONE && other != NONE && old.twin(one) == other;
        }
        kept
    }

    fn old_half(&self, half: u32) -> u32 {
        match self.triangles[half as usize / 3] {
            NONE => NONE,
            old => 3 * old + half % 3,
        }
    }

    /// For each vertex of the next level, one that had the same weights, given the vertices that the old level had on half edges.
    ///
    /// Every rule for a vertex or an edge looks no farther than at the triangles around the vertex, or around the ends of the edge.
    fn next_vertices(&self, sheet: &Sheet, old_middles: &[u32]) -> Vec<u32> {
        // Vertices around which nothing has changed.
        let mut is_calm = vec![true; self.vertices.len()];
        for (half, _) in self.halves.iter().enumerate().filter(|(_, kept)| !**kept) {
            is_calm[sheet.start(half as u32) as usize] = false;
        }
        for triangle in sheet.triangles() {
            if triangle.iter().any(|vertex| self.vertices[*vertex as usize] == NONE) {
                triangle.iter().for_each(|vertex| is_calm[*vertex as usize] = false);
            }
        }
        let mut vertices: Vec<u32> =
            self.vertices.iter().zip(&is_calm).map(|(old, calm)| if *calm { *old } else { NONE }).collect();
        vertices.extend(sheet.edges().map(|half| {
            let is_kept =
                self.halves[half as usize] && is_calm[sheet.start(half) as usize] && is_calm[sheet.end(half) as usize];
            if is_kept { old_middles[self.old_half(half) as usize] } else { NONE }
        }));
        vertices
    }

    /// What the next level has in common, given its vertices.
    fn divided(&self, vertices: Vec<u32>) -> Self {
        let mut triangles = Vec::with_capacity(4 * self.triangles.len());
        let mut halves = vec![true; 4 * self.halves.len()];
        for (t, &old) in self.triangles.iter().enumerate() {
            triangles.extend((0..4).map(|k| if old == NONE { NONE } else { 4 * old + k }));
            if old == NONE {
                halves[12 * t..12 * t + 12].fill(false);
            }
        }
        for half in (0..self.halves.len() as u32).filter(|half| !self.halves[*half as usize]) {
            Sheet::parts(half).iter().for_each(|part| halves[*part as usize] = false);
        }
        Self { triangles, halves, vertices }
    }
}

/// The vertices that those from one on had the same weights as, as long as these follow each other; none where it is new.
fn run_from(same: &[u32], vertex: usize) -> Range<usize> {
    let first = same[vertex];
    let is_next = |(old, k): &(&u32, u32)| first != NONE && **old == first + k;
    let count = same[vertex..].iter().zip(0..).take_while(is_next).count();
    first as usize..first as usize + count
}
