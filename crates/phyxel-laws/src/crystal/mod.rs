//! Crystals without stored connections, after `[WHP06]`.
//!
//! A particle asks how a perfect crystal would lie among its present neighbours ([`match_lattice`]) and pulls them to the
//! sites they are nearest to ([`Lattice::force`]). No shape at rest is kept: a neighbour that has moved to another site
//! has flowed, and a melt is the same particles without the pull.
//!
//! Symbols of the source: `D` particle distance, `l` site, `r` way to a neighbour, `w` weight of a site, `A` shape (the best
//! linear map from lattice to neighbours), `R` its rotation, `lambda` rates.
//!
//! Corrections to the source:
//!
//! - `R` is that of `sum w r l^T`, not that of `A`, and the weights of the forces are those of the matching. Then torque
//!   vanishes by itself. Where forces are changed in other ways, [`balance`] takes it off, all of it; eq. 9 leaves a part.
//! - The angular velocity of damping has the inertia that eq. 11 lacks, and weights have masses in them. Then damping
//!   keeps both momenta by itself.
//! - A docked neighbour stays docked while it keeps its site. In the source it may be lost in every step, and a solid
//!   would be the softer the shorter the steps are.
