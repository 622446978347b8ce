//! Sun and sky.

use glam::{Vec3, Vec3A};

/// Tangent of the half angle of the sun: a large one, for soft shadows.
pub(crate) const SUN_WIDTH: f32 = 0.045;

/// Direction to the middle of the sun.
pub(crate) fn sun_direction() -> Vec3A {
    Vec3A::new(0.42, 0.78, 0.46).normalize()
}

/// Light of the sun on a surface that faces it, relative to white in the picture.
pub(crate) const SUN: Vec3 = Vec3::new(2.05, 1.90, 1.64);

/// Light from a direction of the sky; below the horizon that of a bright floor far away.
pub(crate) fn sky(direction: Vec3A) -> Vec3 {
    const HORIZON: Vec3 = Vec3::new(0.74, 0.79, 0.87);
    const ZENITH: Vec3 = Vec3::new(0.27, 0.39, 0.62);
    const FLOOR: Vec3 = Vec3::new(0.40, 0.39, 0.38);
    let up = direction.y;
    if up >= 0.0 { HORIZON.lerp(ZENITH, up.sqrt().min(1.0)) } else { HORIZON.lerp(FLOOR, (-3.0 * up).min(1.0)) }
}

/// Light that a free surface with this normal gets from the whole sky, about.
pub(crate) fn ambient(normal: Vec3A) -> Vec3 {
    const UP: Vec3 = Vec3::new(0.44, 0.52, 0.67);
    const DOWN: Vec3 = Vec3::new(0.40, 0.39, 0.38);
    DOWN.lerp(UP, 0.5 + 0.5 * normal.y)
}

/// Brightness as a screen can show it: shadows as they are, highlights bent softly below white.
pub(crate) fn develop(light: Vec3) -> Vec3 {
    // A rational curve with slope 1 at 0 that reaches 1 at 4, applied to the largest part, so that hues stay; what is
    // very bright turns white.
    let peak = light.max_element().max(1e-6);
    let shown = (peak * (1.0 + peak / 16.0) / (1.0 + peak)).min(1.0) * 1.25;
    let kept = light * (shown.min(1.0) / peak);
    let white = ((peak - 1.0) / 6.0).clamp(0.0, 1.0);
    kept.lerp(Vec3::splat(shown.min(1.0)), white)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn developing_keeps_order_and_range() {
        let shown: Vec<f32> = (0..400).map(|k| develop(Vec3::splat(k as f32 * 0.02)).x).collect();
        assert!(shown.windows(2).all(|pair| pair[0] <= pair[1] + 1e-6));
        assert!(shown.iter().all(|value| (0.0..=1.0).contains(value)));
        assert!(shown[0] < 1e-4 && shown[399] > 0.98);
    }

    #[test]
    fn the_sky_has_no_seam_at_the_horizon() {
        let at = |y: f32| sky(Vec3A::new((1.0 - y * y).sqrt(), y, 0.0));
        assert!(at(1e-6).distance(at(-1e-6)) < 5e-3);
    }
}
