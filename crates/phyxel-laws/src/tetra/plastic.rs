//! Permanent strain of eight elements.

use super::{Rest, State};
use crate::Real;
use crate::elastic::Hooke;
use crate::lanes::{Eight, Lanes, Numbers, Portable, WIDTH};
use crate::plasticity::{Volume, Yielding, bounded, creep};

/// Lets eight elements yield, and returns the work that became heat or structure in each, J.
///
/// `[Gis07]` section 3.2: where the elastic strain is beyond the yield strain, `dt creep` of it becomes plastic, never more than
/// all of it. Sizes of strains are 2-norms of matrices, as for phyxels, so a bar yields at the strain that is given whichever
/// way it is turned; the source takes that of six numbers in a row.
///
/// What comes back: strain below the yield strain, all of it, when the load goes. Plastic strain stays for good, but for what
/// is beyond the law's largest: it is scaled down to that in every step, yielding or not, so a law whose bound falls, as by
/// temperature, lets a shape return. With `keep_volume` only the part without trace flows; it keeps the volume as far as strains
/// are small. Each element has a law of its own, or none where it does not yield.
///
/// `elastic` is what [`exert`](super::exert) found; on return it is without what has flowed.
pub fn yield_eight(
    rest: &Rest,
    hooke: &Hooke,
    (law, dt): (impl Fn(usize) -> Option<Yielding>, Real),
    keep_volume: bool,
    elastic: &mut [Eight; 6],
    state: &mut State,
) -> Eight {
    let mut work = [0.0; WIDTH];
    let keep = keep_volume.then_some(Volume::OfStress);
    for lane in 0..WIDTH {
        let old: [Real; 6] = std::array::from_fn(|k| state.plastic[k][lane]);
        let strain = std::array::from_fn(|k| elastic[k][lane]);
        let Some(law) = law(lane) else { continue };
        let new = creep(old, strain, law, dt, keep).unwrap_or_else(|| bounded(old, law.max));
        if new == old {
            continue;
        }
        let stress = hooke.stress::<Portable>(strain.map(Portable::splat)).map(|s| s.to_array()[0]);
        let flowed: Real = (0..6).map(|k| stress[k] * (new[k] - old[k]) * if k < 3 { 1.0 } else { 2.0 }).sum();
        work[lane] = rest.volume[lane] * state.stiffness[lane] * flowed;
        for k in 0..6 {
            state.plastic[k][lane] = new[k];
            elastic[k][lane] -= new[k] - old[k];
        }
    }
    work
}
