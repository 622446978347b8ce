//! The surface of a body, and finer ones that follow it when nodes part and unite.

use super::body::Tetras;
use crate::frame::Topology;
use crate::skin::{Smooth, SmoothScheme};
use phyxel_laws::tetra::{Layers, Scheme, Surface};
use std::ops::Range;

/// Stands for a node that has no number any more.
const NONE: u32 = u32::MAX;

impl Tetras {
    /// Its surface, by the numbers of nodes in the body, whose particles are `run`.
    pub fn surface(&self, run: Range<usize>) -> Surface {
        match &self.ties {
            Some(ties) => ties.surface(),
            None => self.find_ties(run).surface(),
        }
    }
}

/// Outer faces, or the finer surface that is made from them.
///
/// Parts that touch in a node or along an edge have vertices of their own there, so that all is closed.
#[derive(Debug)]
pub(super) struct Shell {
    pub layers: Layers,
}

impl Shell {
    /// Of nothing.
    pub fn new(smooth: Option<&Smooth>) -> Self {
        // Outer faces are a surface that is never divided; no rule counts then.
        let (scheme, levels) = smooth.map_or((Scheme::Loop, 0), |smooth| (scheme_of(smooth.scheme), smooth.levels));
        Self { layers: Layers::new(scheme, levels) }
    }

    /// Follows the surface to what it is now. Only what is near a change is made anew.
    pub fn follow(&mut self, surface: Surface) -> Topology {
        // A net has a closed surface. Where a crack ends, four faces may have the same edge: two by two they are halves of one.
        let (sheet, faces) = surface.sheet().map_or_else(|_| Default::default(), |sheet| (sheet, surface.faces));
        let sheets = sheet.eulers();
        let genus = if let [euler] = sheets[..] { Some((2 - euler) / 2) } else { None };
        self.layers.follow(sheet, &faces);
        Topology { closed: !sheets.is_empty(), pieces: sheets.len() as u32, genus }
    }

    /// Follows nodes to other numbers, which the elements had before and have now. Nodes come from those that had their first corner;
    /// what has parted or united beside is made anew.
    pub fn renumber(&mut self, old: &[[u32; 4]], new: &[[u32; 4]]) {
        // Every node has a corner, so no number is larger than that of corners.
        let corners = old.as_flattened().len();
        let (mut numbers, mut sources) = (vec![NONE; corners], vec![NONE; corners]);
        for (&was, &is) in old.as_flattened().iter().zip(new.as_flattened()) {
            let (Some(number), Some(source)) = (numbers.get_mut(was as usize), sources.get_mut(is as usize)) else {
                continue;
            };
            if *number == NONE {
                *number = is;
            }
            if *source == NONE {
                *source = was;
            }
        }
        let mut has_moved = false;
        for (was, number) in (0..).zip(&mut numbers).filter(|(_, number)| **number != NONE) {
            if sources[*number as usize] == was {
                has_moved |= *number != was;
            } else {
                *number = NONE;
            }
        }
        // A node that is gone matches nothing, whatever its number.
        if has_moved {
            self.layers.renumber(&numbers);
        }
    }
}

fn scheme_of(scheme: SmoothScheme) -> Scheme {
    match scheme {
        SmoothScheme::Loop => Scheme::Loop,
        SmoothScheme::Butterfly => Scheme::Butterfly,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phyxel_laws::tetra::Net;

    /// A bar of so many cells along x in six elements each.
    fn bar(cells: u32) -> Net {
        let node = |[x, y, z]: [u32; 3]| x + (cells + 1) * (y + 2 * z);
        let elements = (0..cells).flat_map(|x| {
            [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]].map(|axes: [usize; 3]| {
                let mut place = [x, 0, 0];
                let [b, c, d] = axes.map(|axis| {
                    place[axis] += 1;
                    node(place)
                });
                if (axes[0] + 1) % 3 == axes[1] { [node([x, 0, 0]), b, c, d] } else { [node([x, 0, 0]), c, b, d] }
            })
        });
        Net::new(elements.collect(), 4 * (cells as usize + 1)).unwrap()
    }

    /// Follows a net that has changed; how many fine vertices were made anew, which must be as if all were.
    fn follow(shell: &mut Shell, old: &[[u32; 4]], net: &Net) -> usize {
        let smooth = Smooth { scheme: SmoothScheme::Loop, levels: 2 };
        shell.renumber(old, net.elements());
        let anew = shell.layers.follow(net.surface().sheet().unwrap(), &net.surface().faces);
        let mut fresh = Shell::new(Some(&smooth));
        fresh.follow(net.surface());
        assert_eq!(shell.layers.triangles(), fresh.layers.triangles());
        assert_eq!(shell.layers.weights(), fresh.layers.weights());
        anew
    }

    #[test]
    fn nodes_with_other_numbers_are_known_again() {
        let smooth = Smooth { scheme: SmoothScheme::Loop, levels: 2 };
        let (mut net, mut shell) = (bar(20), Shell::new(Some(&smooth)));
        let topology = shell.follow(net.surface());
        assert_eq!(topology, Topology { closed: true, pieces: 1, genus: Some(0) });
        let all = shell.layers.weights().len();
        let old = net.elements().to_vec();
        assert_eq!(follow(&mut shell, &old, &net), 0, "nothing has changed");
        // A node parts, and all get other numbers at once, backwards.
        let groups: Vec<u32> = net.corners(10).iter().map(|&corner| u32::from(corner >= 4 * 60)).collect();
        let born = net.split(10, &groups).unwrap().born;
        let count = net.nodes() as u32;
        let backwards: Vec<u32> = (0..count).rev().collect();
        net.renumber(&backwards, count as usize).unwrap();
        let made = follow(&mut shell, &old, &net);
        assert!(made > 0 && 2 * made < all, "{made} of {all}");
        // It unites again; the number of the node that is gone goes to the last.
        let old = net.elements().to_vec();
        let [kept, gone] = [10, born[0]].map(|node| count - 1 - node);
        net.join(kept, gone).unwrap();
        let numbers: Vec<u32> = (0..count).map(|node| if node == count - 1 { gone } else { node }).collect();
        net.renumber(&numbers, count as usize).unwrap();
        let made = follow(&mut shell, &old, &net);
        assert!(made > 0 && 2 * made < all, "{made} of {all}");
    }
}
