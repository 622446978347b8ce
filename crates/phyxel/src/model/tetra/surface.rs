//! The surface of a body.

use super::body::Tetras;
use phyxel_laws::tetra::Surface;
use std::ops::Range;

impl Tetras {
    /// Its surface, by the numbers of nodes in the body, whose particles are `run`.
    pub fn surface(&self, run: Range<usize>) -> Surface {
        match &self.ties {
            Some(ties) => ties.surface(),
            None => self.find_ties(run).surface(),
        }
    }
}
