//! Frames: adaptive sub-stepping by stability and displacement limits.

use super::{StageTimes, StepContext, step};
use crate::Real;
use crate::commands::apply_commands;
use crate::contact::{self, compute_bounds, find_body_pairs};
use crate::error::StepError;
use crate::model::BodyModel;
use crate::world::World;

/// Factor by which a step may exceed the stable step if the number of sub-steps is limited.
///
/// The stable step of the models has a safety margin of a fifth.
const STABILITY_RESERVE: f64 = 1.2;

/// Cost of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameReport {
    /// Number of sub-steps.
    pub steps: u32,
    /// Time by stage.
    pub stages: StageTimes,
}

impl World {
    /// Advances to the next frame, in as many sub-steps as needed.
    ///
    /// On error the world is in the state after the last successful step.
    pub fn advance_frame(&mut self) -> Result<FrameReport, StepError> {
        let end = f64::from(self.frame + 1) / self.settings.frame_rate;
        let mut report = FrameReport::default();
        loop {
            // Commands first: the admissible step depends on what they change.
            let context = StepContext { dt: 0.0, time: self.time, gravity: self.settings.gravity };
            apply_commands(self, &context)?;
            let remaining = end - self.time;
            let count = self.remaining_steps(remaining, report.steps)?;
            step(self, (remaining / f64::from(count)) as Real, &mut report.stages)?;
            report.steps += 1;
            if count == 1 {
                // Frame times are exact, whatever the rounded sum of the steps.
                self.time = end;
                self.frame += 1;
                return Ok(report);
            }
        }
    }

    /// Longest stable step at present, s; infinite if there is no limit.
    pub fn stable_step(&mut self) -> f64 {
        self.prepare_models();
        let models = self.models.each().map(BodyModel::stable_step).fold(f64::INFINITY, f64::min);
        models.min(self.max_emitter_step())
    }

    /// Number of steps for the remaining time of a frame (s), of which some are `taken` already.
    fn remaining_steps(&mut self, remaining: f64, taken: u32) -> Result<u32, StepError> {
        let stable = self.stable_step().min(self.settings.max_step);
        let limit = self.settings.substeps.unwrap_or(self.settings.max_substeps);
        let allowed = limit.saturating_sub(taken).max(1);
        if remaining / stable > STABILITY_RESERVE * f64::from(allowed) && stable < self.settings.max_step {
            return Err(self.too_stiff(stable, taken));
        }
        if self.settings.substeps.is_some() {
            return Ok(allowed);
        }
        let needed = (remaining / self.displacement_limited_step(remaining, stable) - 1e-6).ceil();
        Ok(if needed < f64::from(allowed) { (needed as u32).max(1) } else { allowed })
    }

    /// Error for a stable step that the limit on the number of sub-steps does not allow.
    fn too_stiff(&self, stable: f64, taken: u32) -> StepError {
        let frame = 1.0 / self.settings.frame_rate;
        let needed = (frame / stable).ceil().min(f64::from(u32::MAX)) as u32;
        let allowed = self.settings.substeps.unwrap_or(self.settings.max_substeps);
        StepError::TooStiff { time: self.time, stable, needed: needed.max(taken.saturating_add(1)), allowed }
    }

    /// Longest stable step in which no two bodies approach each other by more than the contact thickness, s.
    ///
    /// The contact thickness is the least over all bodies of their largest particle radius. Fixed obstacles
    /// need no such bound: the paths of particles are traced to them.
    fn displacement_limited_step(&mut self, remaining: f64, stable: f64) -> f64 {
        let horizon = remaining.min(stable) as Real;
        self.scratch.prepare_colliders(&self.obstacles);
        self.scratch.bounds = compute_bounds(self);
        find_body_pairs(&mut self.scratch, horizon);
        self.scratch.bounds_are_current = true;
        let bounds = &self.scratch.bounds;
        let present = || bounds.iter().filter(|bounds| bounds.max_radius > 0.0);
        let thickness = present().map(|bounds| bounds.max_radius).fold(Real::INFINITY, Real::min);
        let approach = contact::max_approach_speed(&self.bodies, &self.scratch, horizon);
        let speed = approach.max(contact::max_obstacle_speed(self, self.time, horizon));
        if speed > 0.0 { stable.min(f64::from(thickness) / f64::from(speed)) } else { stable }
    }
}
