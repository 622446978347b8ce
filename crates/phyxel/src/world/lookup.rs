//! Look-up of items by name and of models by kind.

use super::World;
use crate::Real;
use crate::body::{BodyId, MaterialId, ObstacleId};
use crate::error::WorldError;
use crate::model::Models;

impl World {
    /// Index of the body with this name.
    pub fn body_named(&self, name: &str) -> Result<BodyId, WorldError> {
        let known = || self.bodies.iter().filter(|body| !body.removed).map(|body| body.name.as_str());
        let index = self.bodies.iter().position(|body| !body.removed && body.name == name);
        index.map(|i| BodyId(i as u32)).ok_or_else(|| unknown_name("body", name, known()))
    }

    /// Index of the material with this name.
    pub fn material_named(&self, name: &str) -> Result<MaterialId, WorldError> {
        let index = self.materials.iter().position(|material| material.name == name);
        let known = || self.materials.iter().map(|material| material.name.as_str());
        index.map(|i| MaterialId(i as u32)).ok_or_else(|| unknown_name("material", name, known()))
    }

    /// Index of the obstacle with this name.
    pub fn obstacle_named(&self, name: &str) -> Result<ObstacleId, WorldError> {
        let index = self.obstacles.iter().position(|obstacle| obstacle.name == name);
        let known = || self.obstacles.iter().map(|obstacle| obstacle.name.as_str());
        index.map(|i| ObstacleId(i as u32)).ok_or_else(|| unknown_name("obstacle", name, known()))
    }

    /// Index of the heating with this name.
    pub(crate) fn heating_named(&self, name: &str) -> Result<usize, WorldError> {
        let known = || self.heatings.iter().map(|heating| heating.name.as_str());
        self.heatings
            .iter()
            .position(|heating| heating.name == name)
            .ok_or_else(|| unknown_name("heating", name, known()))
    }

    /// All models, with the bodies that they move.
    pub fn models(&self) -> &Models {
        &self.models
    }

    /// Pressures of the particles of a crystal or fluid in the last step, Pa; empty for other bodies.
    pub fn pressures(&self, body: BodyId) -> Vec<Real> {
        self.models.crystal.pressures(body, &self.view())
    }
}

/// Error for a name that nothing has; lists up to 20 known names.
pub(crate) fn unknown_name<'a>(kind: &'static str, name: &str, known: impl Iterator<Item = &'a str>) -> WorldError {
    let names: Vec<&str> = known.take(20).collect();
    let known = if names.is_empty() { "none".to_string() } else { names.join(", ") };
    WorldError::Unknown { kind, name: name.to_string(), known }
}
