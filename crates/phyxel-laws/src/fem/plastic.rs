//! Plastic flow of eight elements.

use super::{ReferencePack, StatePack};
use crate::Real;
use crate::material::hooke::Hooke;
use crate::material::plasticity::{Isochoric, YieldLaw, limit_norm, update_plastic_strain};
use crate::simd::{F32x8, Portable, SimdF32x8, SimdFloat, WIDTH};

/// Advances the plastic strain of eight elements, and returns the plastic work of each, J, which is
/// dissipated or stored as cold work.
///
/// `[Gis07]` section 3.2: where the elastic strain exceeds the yield strain, a fraction `dt creep` of it,
/// at most all, becomes plastic. Strains are measured by the spectral norm, as for phyxels, so a bar yields
/// at the given strain in any orientation; the source takes the norm of the vector of six components.
///
/// Strain below the yield strain is recovered on unloading. Plastic strain is permanent, but never beyond
/// the law's maximum: it is scaled down to that in every step, yielding or not, so a law whose bound falls,
/// as with temperature, lets a shape recover. With `isochoric` only the deviatoric strain flows, which
/// preserves volume for small strains. `law` returns the law of an element, `None` where it does not yield.
///
/// `elastic` is the strain of [`internal_forces`](super::internal_forces); on return it is reduced by the
/// plastic increment.
pub fn plastic_flow(
    reference: &ReferencePack,
    hooke: &Hooke,
    (law, dt): (impl Fn(usize) -> Option<YieldLaw>, Real),
    isochoric: bool,
    elastic: &mut [F32x8; 6],
    state: &mut StatePack,
) -> F32x8 {
    let mut work = [0.0; WIDTH];
    let keep = isochoric.then_some(Isochoric::Trace);
    for lane in 0..WIDTH {
        let old: [Real; 6] = std::array::from_fn(|k| state.plastic_strain[k][lane]);
        let strain = std::array::from_fn(|k| elastic[k][lane]);
        let Some(law) = law(lane) else { continue };
        let new = update_plastic_strain(old, strain, law, dt, keep).unwrap_or_else(|| limit_norm(old, law.max_strain));
        if new == old {
            continue;
        }
        let stress = hooke.stress::<Portable>(strain.map(Portable::splat)).map(|s| s.to_array()[0]);
        let plastic_work: Real = (0..6).map(|k| stress[k] * (new[k] - old[k]) * if k < 3 { 1.0 } else { 2.0 }).sum();
        work[lane] = reference.volume[lane] * state.stiffness_scale[lane] * plastic_work;
        for k in 0..6 {
            state.plastic_strain[k][lane] = new[k];
            elastic[k][lane] -= new[k] - old[k];
        }
    }
    work
}
