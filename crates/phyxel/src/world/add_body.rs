//! Creation of bodies: checks that need the world, and initial particles.

use super::World;
use crate::body::{Body, BodyId, NewBody};
use crate::error::WorldError;
use crate::material::Material;
use crate::model::continuum::count_degenerate;
use crate::model::crystal::{is_close_packed, spacings_match};
use crate::model::{ModelKind, ModelSettings, OwnRepulsion};
use crate::store::{Flags, Particle, Phase};
use glam::Vec3;

/// Maximum number of particles: indices have 32 bits, and some tables have several entries per particle.
const PARTICLE_LIMIT: u64 = 1 << 28;

impl World {
    /// Adds a body.
    pub fn add_body(&mut self, body: NewBody) -> Result<BodyId, WorldError> {
        if self.bodies.iter().any(|other| !other.removed && other.name == body.name) {
            return Err(WorldError::DuplicateName { kind: "bodies", name: body.name });
        }
        let material = self.material_named(&body.material)?;
        body.validate()?;
        check_continuum(&body, &self.materials[material.0 as usize])?;
        check_tetra(&body, &self.materials[material.0 as usize])?;
        self.check_crystal(&body, &self.materials[material.0 as usize])?;
        let count = self.particles.len() as u64 + body.samples.len() as u64;
        if count > PARTICLE_LIMIT {
            return Err(WorldError::TooManyParticles { count, limit: PARTICLE_LIMIT });
        }
        let id = BodyId(self.bodies.len() as u32);
        let particles: Vec<Particle> = new_particles(&body, &self.materials[material.0 as usize], id).collect();
        self.check_bounds(&body, &particles)?;
        let first = self.particles.len() as u32;
        self.grow_extent(particles.iter().map(|particle| particle.position));
        self.particles.append(particles);
        let template = body.particle_template(&self.materials[material.0 as usize]);
        self.bodies.push(Body {
            name: body.name,
            model: body.model.kind(),
            material,
            particles: first..self.particles.len() as u32,
            removed: false,
            next_id: body.samples.len() as u32,
            template,
            spacing: body.spacing,
            rest_temperature: body.temperature,
            self_contact: body.self_contact,
            skin: body.skin,
        });
        self.models.add_body(id, &self.bodies[id.0 as usize], &self.particles, body.model);
        self.initial_heat += self.heat_of(self.bodies[id.0 as usize].range());
        Ok(id)
    }

    /// Checks that particles which the bounds would remove start inside.
    fn check_bounds(&self, body: &NewBody, particles: &[Particle]) -> Result<(), WorldError> {
        let Some(bounds) = self.settings.bounds.filter(|_| body.model.kind().traits().exchanges_particles) else {
            return Ok(());
        };
        let count = particles.iter().filter(|particle| !bounds.contains(particle.position)).count();
        if count > 0 { Err(WorldError::OutOfBounds { body: body.name.clone(), count }) } else { Ok(()) }
    }

    /// Checks that a crystal has a lattice and stiffness, and that all crystals and fluids of the world share
    /// one spacing.
    fn check_crystal(&self, body: &NewBody, material: &Material) -> Result<(), WorldError> {
        let ModelSettings::Crystal(settings) = &body.model else { return Ok(()) };
        let owner = || format!("body \"{}\"", body.name);
        if settings.phase == Phase::Solid {
            let is_packed = is_close_packed(&body.samples, body.spacing);
            WorldError::require(is_packed, owner, "samples", "others", "a closest packing (sampler = \"ccp\")")?;
            let owner = || format!("material \"{}\" of the crystal \"{}\"", material.name, body.name);
            let young = material.max_young_modulus();
            WorldError::require(young > 0.0, owner, "young_modulus", young, "positive")?;
            let ratio = material.poisson_ratio;
            WorldError::require(ratio >= 0.0, owner, "poisson_ratio", ratio, "at least 0, as crystals have no less")?;
        }
        let melts = material.heat.melting.is_some();
        let temperatures = (settings.change.freezing_point, material.heat.melting);
        let is_ordered = !matches!(temperatures, (Some(freezing), Some(melting)) if freezing > melting);
        let rule = "at or below the melting point of its material";
        WorldError::require(is_ordered, owner, "crystal.change.freezing_point", temperatures.0, rule)?;
        let may_freeze = !melts || material.max_young_modulus() > 0.0;
        let rule = "positive for a material with a melting point, as it may freeze";
        WorldError::require(may_freeze, owner, "young_modulus", material.max_young_modulus(), rule)?;
        let mut others = self.bodies.iter().filter(|other| !other.removed && has_pressure(other.model));
        match others.find(|other| !spacings_match(other.spacing, body.spacing)) {
            Some(other) => Err(WorldError::SpacingMismatch {
                body: body.name.clone(),
                spacing: body.spacing,
                other: other.name.clone(),
                needed: other.spacing,
            }),
            None => Ok(()),
        }
    }
}

/// Returns true if the bodies of a model share one pressure.
fn has_pressure(model: ModelKind) -> bool {
    model.traits().own_repulsion == OwnRepulsion::Pressure
}

/// Checks that a body of phyxels has stiffness, and neighbours that span space for at least half of its phyxels.
fn check_continuum(body: &NewBody, material: &Material) -> Result<(), WorldError> {
    let ModelSettings::Continuum(settings) = &body.model else { return Ok(()) };
    let owner = || format!("material \"{}\" of the body of phyxels \"{}\"", material.name, body.name);
    let young = material.max_young_modulus();
    WorldError::require(young > 0.0, owner, "young_modulus", young, "positive")?;
    let (degenerate, tried) = count_degenerate(&body.samples, body.spacing, settings.support);
    if 2 * degenerate > tried {
        return Err(WorldError::TooCoarse { body: body.name.clone(), degenerate, tried, spacing: body.spacing });
    }
    Ok(())
}

/// Checks that a body of tetrahedra has stiffness.
fn check_tetra(body: &NewBody, material: &Material) -> Result<(), WorldError> {
    let ModelSettings::Tetra(_) = &body.model else { return Ok(()) };
    let owner = || format!("material \"{}\" of the body of tetrahedra \"{}\"", material.name, body.name);
    let young = material.max_young_modulus();
    WorldError::require(young > 0.0, owner, "young_modulus", young, "positive")
}

/// Initial particles of a body.
fn new_particles<'a>(body: &'a NewBody, material: &Material, body_id: BodyId) -> impl Iterator<Item = Particle> + 'a {
    let masses = body.particle_masses(material);
    let enthalpy = material.heat.enthalpy(body.temperature);
    let radius = body.contact_radius();
    let mut is_held = vec![false; body.samples.len()];
    body.held.iter().for_each(|&sample| is_held[sample as usize] = true);
    let phase = if let ModelSettings::Crystal(settings) = &body.model { settings.phase } else { Phase::Solid };
    let start = body.start.as_ref().unwrap_or(&body.samples);
    let samples = (0..).zip(&body.samples);
    samples.zip(start).zip(is_held).zip(masses).map(move |((((id, &rest), &start), held), mass)| {
        let arm = body.pose.transform_vector(start);
        let velocity = if held { Vec3::ZERO } else { body.velocity + body.spin.cross(arm) };
        Particle {
            position: body.pose.position + arm,
            velocity,
            rest,
            mass,
            radius,
            enthalpy,
            phase,
            body: body_id,
            id,
            flags: Flags::default().with(Flags::FIXED, held),
        }
    })
}
