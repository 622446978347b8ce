//! Heating and cooling from outside: what happens at the surface of a body, or inside it, in a region and in time.

use crate::Real;
use crate::command::Region;
use glam::Vec3;
use serde::{Deserialize, Serialize};

/// Heat given to bodies, or taken from them, over their surface or inside. All conditions that are given act at once.
///
/// Surface conditions act on the area that the particles of the region expose; a covered part of the surface is not
/// taken off. Temperatures are in the scene's scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heating {
    /// Unique name.
    pub name: String,
    /// Names of the bodies; those that are no longer there are passed over.
    pub bodies: Vec<String>,
    /// Which of their particles, in the body's own frame at rest.
    pub region: Region,
    /// Which way the faces look, outward, in the body's own frame at rest, unit length: those within 60 degrees of it
    /// take part in conditions at the surface. `None` means all.
    pub facing: Option<Vec3>,
    /// When it begins, s.
    pub from: f64,
    /// When it ends, s; `None` goes on for ever.
    pub until: Option<f64>,
    /// Whether it works at the moment.
    pub active: bool,
    /// Temperature at which the particles are kept, whatever else flows into them.
    pub temperature: Option<Real>,
    /// Heat that flows in through the surface, W/m2.
    pub flux: Real,
    /// Exchange with surrounding air or water.
    pub exchange: Option<Exchange>,
    /// Exchange by radiation with distant surroundings.
    pub radiation: Option<Radiation>,
    /// Heat that arises inside, W/m3.
    pub power: Real,
}

/// Newton's law: heat leaves the surface by `coefficient (T - ambient)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// W/(m2 K).
    pub coefficient: Real,
    /// Temperature of the surroundings.
    pub ambient: Real,
}

/// Heat leaves the surface by `emissivity sigma (T^4 - ambient^4)`, both temperatures counted from absolute zero.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Radiation {
    /// Part of the radiation of a black body, 0 to 1.
    pub emissivity: Real,
    /// Temperature of the surroundings.
    pub ambient: Real,
}

impl Heating {
    /// Does nothing yet, to all particles of a body, for ever.
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

    /// The part of a step from `start` to `end` (s) in which it works, 0 to 1.
    pub fn share(&self, start: f64, end: f64) -> f64 {
        let (begin, last) = (start.max(self.from), self.until.map_or(end, |until| until.min(end)));
        if self.active && end > start { ((last - begin) / (end - start)).clamp(0.0, 1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_counts_by_the_part_that_lies_in_the_window() {
        let heating = Heating { from: 1.0, until: Some(2.0), ..Heating::new("torch", "slab") };
        assert_eq!(heating.share(0.0, 1.0), 0.0);
        assert_eq!(heating.share(0.5, 1.5), 0.5);
        assert_eq!(heating.share(1.2, 1.4), 1.0);
        assert_eq!(heating.share(0.0, 4.0), 0.25);
        assert_eq!(heating.share(2.0, 3.0), 0.0);
        assert_eq!(Heating { active: false, ..heating }.share(1.2, 1.4), 0.0);
    }
}
