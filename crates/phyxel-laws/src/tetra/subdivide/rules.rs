//! Masks: which vertices make a vertex of the next level.

use super::Sheet;
use std::f64::consts::TAU;

/// How a surface is made finer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Smooths: vertices move, and a strongly curved surface shrinks. Twice differentiable where six triangles meet.
    Loop,
    /// Interpolates: vertices stay.
    Butterfly,
}

impl Scheme {
    /// What the next level has in place of a vertex: `add` is called with vertices and weights that add up to 1.
    pub fn vertex(self, sheet: &Sheet, vertex: u32, add: &mut dyn FnMut(u32, f64)) {
        match self {
            Self::Butterfly => add(vertex, 1.0),
            Self::Loop => {
                let valence = f64::from(sheet.valence(vertex));
                let weight = loop_weight(valence);
                add(vertex, 1.0 - valence * weight);
                sheet.ring(sheet.first(vertex)).for_each(|half| add(sheet.end(half), weight));
            }
        }
    }

    /// What the next level has on an edge, given by one of its halves: `add` is called with vertices and weights that add up to 1.
    /// A vertex may come more than once.
    pub fn edge(self, sheet: &Sheet, half: u32, add: &mut dyn FnMut(u32, f64)) {
        let other = sheet.twin(half);
        match self {
            Self::Loop => {
                // [Loop87]: 3/8 for the ends, 1/8 for what lies across.
                for half in [half, other] {
                    add(sheet.end(half), 0.375);
                    add(sheet.across(half), 0.125);
                }
            }
            Self::Butterfly => {
                let regular = [half, other].map(|half| sheet.valence(sheet.start(half)) == 6);
                match regular {
                    [true, true] => [half, other].iter().for_each(|&half| butterfly(sheet, half, add)),
                    // [ZSS96] section 3: one end that is not regular decides, two take the mean.
                    [false, true] => around(sheet, half, 1.0, add),
                    [true, false] => around(sheet, other, 1.0, add),
                    [false, false] => [half, other].iter().for_each(|&half| around(sheet, half, 0.5, add)),
                }
            }
        }
    }
}

/// Weight of each neighbour of a vertex, `[Loop87]`: `(5/8 - (3/8 + cos(2 pi/n)/4)^2)/n`.
fn loop_weight(valence: f64) -> f64 {
    let middle = 0.375 + 0.25 * libm::cos(TAU / valence);
    (0.625 - middle * middle) / valence
}

/// Half of the mask of eight points with tension 0: 1/2 for the ends, 1/8 for what lies across, -1/16 for the four wings.
fn butterfly(sheet: &Sheet, half: u32, add: &mut dyn FnMut(u32, f64)) {
    add(sheet.end(half), 0.5);
    add(sheet.across(half), 0.125);
    let [after, before] = [sheet.next(half), sheet.next(sheet.next(half))];
    [after, before].iter().for_each(|&side| add(sheet.across(sheet.twin(side)), -0.0625));
}

/// Mask around the start of a half edge that has not six neighbours.
fn around(sheet: &Sheet, half: u32, scale: f64, add: &mut dyn FnMut(u32, f64)) {
    let count = sheet.valence(sheet.start(half));
    if count < 3 {
        // Two triangles back to back have no inside to be round about.
        add(sheet.start(half), 0.5 * scale);
        add(sheet.end(half), 0.5 * scale);
        return;
    }
    add(sheet.start(half), 0.75 * scale);
    for (k, spoke) in sheet.ring(half).enumerate() {
        let weight = match (count, k) {
            (3, 0) => 5.0 / 12.0,
            (3, _) => -1.0 / 12.0,
            (4, 0) => 0.375,
            (4, 2) => -0.125,
            (4, _) => 0.0,
            _ => {
                let angle = TAU * k as f64 / f64::from(count);
                (0.25 + libm::cos(angle) + 0.5 * libm::cos(2.0 * angle)) / f64::from(count)
            }
        };
        add(sheet.end(spoke), weight * scale);
    }
}
