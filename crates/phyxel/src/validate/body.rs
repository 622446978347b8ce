//! Validation of new bodies.

use super::{FieldCheck, MAX_COORDINATE, positive};
use crate::body::NewBody;
use crate::error::WorldError;
use crate::model::ModelSettings;
use crate::skin::{Skin, SmoothSurface, Surfels};
use crate::store::Phase;
use glam::Vec3;

impl NewBody {
    /// Validates all values.
    pub fn validate(&self) -> Result<(), WorldError> {
        let may_be_empty = matches!(&self.model, ModelSettings::Crystal(settings) if settings.phase == Phase::Fluid);
        if self.samples.is_empty() && !may_be_empty {
            return Err(WorldError::EmptyBody { body: self.name.clone() });
        }
        let owner = || format!("body \"{}\"", self.name);
        let check = FieldCheck { owner: &owner };
        let good = self.volume.is_finite() && (self.volume > 0.0 || self.samples.is_empty());
        check.require(good, "volume", self.volume, "positive")?;
        check.require(positive(self.spacing), "spacing", self.spacing, "positive")?;
        check.require(self.radius.is_none_or(positive), "radius", self.radius, "positive")?;
        let in_range = |x: Vec3| x.is_finite() && x.abs().max_element() <= MAX_COORDINATE;
        check.require(
            in_range(self.pose.position),
            "place.at",
            self.pose.position,
            "finite and within 1e7 m of the origin",
        )?;
        check.require(self.pose.rotation.is_normalized(), "place.turn", self.pose.rotation, "a normalised rotation")?;
        let bad = self.samples.iter().find(|&&x| !in_range(x));
        check.require(bad.is_none(), "samples", bad, "finite and within 1e7 m of the body's origin")?;
        if let Some(start) = &self.start {
            check.require(start.len() == self.samples.len(), "start", start.len(), "one position for each sample")?;
            let bad = start.iter().find(|&&x| !in_range(x));
            check.require(bad.is_none(), "start", bad, "finite and within 1e7 m of the body's origin")?;
        }
        check.require(in_range(self.velocity), "velocity", self.velocity, "finite and below 1e7 m/s")?;
        check.require(in_range(self.spin), "spin", self.spin, "finite and below 1e7 rad/s")?;
        check.require(self.temperature.is_finite(), "temperature", self.temperature, "finite")?;
        let unknown = self.held.iter().find(|&&sample| sample as usize >= self.samples.len());
        check.require(unknown.is_none(), "held", unknown, "indices of the body's samples")?;
        self.check_skin(&check)?;
        match &self.model {
            ModelSettings::Continuum(settings) => settings.check(&check),
            ModelSettings::Crystal(settings) => settings.check(&check),
            ModelSettings::ShapeMatching(settings) => settings.check(&check, &self.samples),
            ModelSettings::MassSpring(settings) => settings.check(&check, &self.samples),
            ModelSettings::Tetra(settings) => settings.check(&check, &self.samples),
        }
    }

    /// Checks that the model supports the skin.
    fn check_skin(&self, check: &FieldCheck) -> Result<(), WorldError> {
        let is_tetra = matches!(&self.model, ModelSettings::Tetra(_));
        let has_faces = !matches!(self.skin, Skin::Faces | Skin::Smooth(_)) || is_tetra;
        check.require(
            has_faces,
            "skin",
            self.skin.name(),
            "of another kind, as only bodies of tetrahedra have faces",
        )?;
        if let Skin::Smooth(smooth) = &self.skin {
            let levels = (1..=SmoothSurface::MAX_LEVELS).contains(&smooth.levels);
            check.require(levels, "skin.levels", smooth.levels, "1, 2 or 3")?;
        }
        let (mesh, surfels) = (matches!(self.skin, Skin::Mesh(_)), matches!(self.skin, Skin::Surfels(_)));
        let (supported, rule) = match &self.model {
            ModelSettings::Continuum(_) => {
                return if let Skin::Surfels(surfels) = &self.skin { surfels.check(check) } else { Ok(()) };
            }
            ModelSettings::Crystal(_) => {
                (!mesh && !surfels, "particles or isosurface, as crystals change their neighbours")
            }
            ModelSettings::ShapeMatching(_) => {
                (!surfels, "particles, mesh or isosurface, as only phyxels carry surfels")
            }
            ModelSettings::MassSpring(_) => {
                (!mesh && !surfels, "particles or isosurface, as a body of springs may melt")
            }
            ModelSettings::Tetra(_) => {
                (!surfels, "particles, faces, smooth, mesh or isosurface, as only phyxels carry surfels")
            }
        };
        check.require(supported, "skin", self.skin.name(), rule)
    }
}

impl Surfels {
    fn check(&self, check: &FieldCheck) -> Result<(), WorldError> {
        let (points, axes) = (self.positions.len(), self.axes.len());
        check.require(points == axes, "skin.axes", axes, "as many as there are positions of surfels")?;
        let in_range = |x: &Vec3| x.is_finite() && x.abs().max_element() <= MAX_COORDINATE;
        let bad = self.positions.iter().find(|x| !in_range(x));
        check.require(bad.is_none(), "skin.positions", bad, "finite and within 1e7 m of the body's origin")?;
        let bad = self.axes.iter().find(|axes| !axes.iter().all(in_range));
        check.require(bad.is_none(), "skin.axes", bad, "finite and within 1e7 m")
    }
}
