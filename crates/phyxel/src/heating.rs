//! Heatings: thermal boundary conditions and heat sources of bodies, limited in region and time.

use crate::Real;
use crate::commands::Region;
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// Thermal boundary conditions and heat sources of bodies; all that are set act at once.
///
/// Surface conditions act on the exposed area of the particles in the region, also where another body covers
/// it. Temperatures are in the scene's scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heating {
    /// Unique name.
    pub name: String,
    /// Names of the bodies; removed ones are skipped.
    pub bodies: Vec<String>,
    /// Region of their particles, in the rest frame of the body.
    pub region: Region,
    /// Unit vector in the rest frame of the body: surface conditions act on faces whose outward normals are
    /// within 60 degrees of it. `None` means all faces.
    pub facing: Option<Vec3>,
    /// Start time, s.
    pub from: f64,
    /// End time, s; `None` has no end.
    pub until: Option<f64>,
    /// True if it is switched on.
    pub active: bool,
    /// Prescribed temperature of the particles (Dirichlet condition).
    pub temperature: Option<Real>,
    /// Heat flux into the surface, W/m2 (Neumann condition).
    pub flux: Real,
    /// Convective exchange with surrounding air or water (Robin condition).
    pub exchange: Option<Exchange>,
    /// Radiative exchange with distant surroundings.
    pub radiation: Option<Radiation>,
    /// Volumetric heat source, W/m3.
    pub power: Real,
}

/// Newton's law of cooling: outward heat flux `coefficient (T - ambient)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// Heat transfer coefficient, W/(m2 K).
    pub coefficient: Real,
    /// Temperature of the surroundings.
    pub ambient: Real,
}

/// Stefan-Boltzmann law: outward heat flux `emissivity sigma (T^4 - ambient^4)`, with absolute temperatures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Radiation {
    /// Emissivity, 0 to 1.
    pub emissivity: Real,
    /// Temperature of the surroundings.
    pub ambient: Real,
}

impl Heating {
    /// Heating without conditions, on all particles of a body, without an end.
    pub fn new(name: impl Into<String>, body: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            bodies: vec![body.into()],
            region: Region::All,
            facing: None,
            from: 0.0,
            until: None,
            active: true,
            temperature: None,
            flux: 0.0,
            exchange: None,
            radiation: None,
            power: 0.0,
        }
    }

    /// Fraction of a step from `start` to `end` (s) in which it is active, 0 to 1.
    pub fn active_fraction(&self, start: f64, end: f64) -> f64 {
        let (first, last) = (start.max(self.from), self.until.map_or(end, |until| until.min(end)));
        if self.active && end > start { ((last - first) / (end - start)).clamp(0.0, 1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_counts_by_its_fraction_in_the_window() {
        let heating = Heating { from: 1.0, until: Some(2.0), ..Heating::new("torch", "slab") };
        assert_eq!(heating.active_fraction(0.0, 1.0), 0.0);
        assert_eq!(heating.active_fraction(0.5, 1.5), 0.5);
        assert_eq!(heating.active_fraction(1.2, 1.4), 1.0);
        assert_eq!(heating.active_fraction(0.0, 4.0), 0.25);
        assert_eq!(heating.active_fraction(2.0, 3.0), 0.0);
        assert_eq!(Heating { active: false, ..heating }.active_fraction(1.2, 1.4), 0.0);
    }
}
