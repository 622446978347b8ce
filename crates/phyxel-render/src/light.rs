//! Sun, sky and tone mapping.

use glam::{Vec3, Vec3A};

/// Tangent of the angular radius of the sun; larger than in nature, for soft shadows.
pub(crate) const SUN_TAN_HALF_ANGLE: f32 = 0.045;

/// Direction to the centre of the sun.
pub(crate) fn sun_direction() -> Vec3A {
    Vec3A::new(0.42, 0.78, 0.46).normalize()
}

/// Irradiance by the sun at normal incidence, relative to white in the picture.
pub(crate) const SUN_IRRADIANCE: Vec3 = Vec3::new(2.05, 1.90, 1.64);

/// Radiance of the sky; below the horizon that of a distant bright ground.
pub(crate) fn sky_radiance(direction: Vec3A) -> Vec3 {
    const HORIZON: Vec3 = Vec3::new(0.74, 0.79, 0.87);
    const ZENITH: Vec3 = Vec3::new(0.27, 0.39, 0.62);
    const FLOOR: Vec3 = Vec3::new(0.40, 0.39, 0.38);
    let up = direction.y;
    if up >= 0.0 { HORIZON.lerp(ZENITH, up.sqrt().min(1.0)) } else { HORIZON.lerp(FLOOR, (-3.0 * up).min(1.0)) }
}

/// Approximate irradiance by the unoccluded sky on a surface with this normal.
pub(crate) fn sky_irradiance(normal: Vec3A) -> Vec3 {
    const UP: Vec3 = Vec3::new(0.44, 0.52, 0.67);
    const DOWN: Vec3 = Vec3::new(0.40, 0.39, 0.38);
    DOWN.lerp(UP, 0.5 + 0.5 * normal.y)
}

/// Tone mapping: compresses highlights to the range of a display.
pub(crate) fn tone_map(radiance: Vec3) -> Vec3 {
    // The operator of `[RSSF02]` with white point 4, times 1.25, of the largest channel, which preserves hues. Very
    // bright colours fade to white.
    let peak = radiance.max_element().max(1e-6);
    let mapped = (peak * (1.0 + peak / 16.0) / (1.0 + peak)).min(1.0) * 1.25;
    let colour = radiance * (mapped.min(1.0) / peak);
    let whiteness = ((peak - 1.0) / 6.0).clamp(0.0, 1.0);
    colour.lerp(Vec3::splat(mapped.min(1.0)), whiteness)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tone_mapping_is_monotonic_and_bounded() {
        let mapped: Vec<f32> = (0..400).map(|k| tone_map(Vec3::splat(k as f32 * 0.02)).x).collect();
        assert!(mapped.windows(2).all(|pair| pair[0] <= pair[1] + 1e-6));
        assert!(mapped.iter().all(|value| (0.0..=1.0).contains(value)));
        assert!(mapped[0] < 1e-4 && mapped[399] > 0.98);
    }

    #[test]
    fn the_sky_is_continuous_at_the_horizon() {
        let at = |y: f32| sky_radiance(Vec3A::new((1.0 - y * y).sqrt(), y, 0.0));
        assert!(at(1e-6).distance(at(-1e-6)) < 5e-3);
    }
}
