//! Neighbour search on uniform grids.
//!
//! Small sets are compared by brute force. Large ones are sorted into the cells of a uniform grid, one grid
//! per class of radii, so that a boulder does not enlarge the cells of sand. All results are in index order.

mod grid;
mod pairs;
mod radius_search;
mod table;
#[cfg(test)]
mod test_clouds;

pub(crate) use pairs::{QuerySphere, close_pairs, close_pairs_within};
pub(crate) use radius_search::RadiusSearch;
pub(crate) use table::NeighbourTable;
