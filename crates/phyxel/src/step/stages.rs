//! The stages of the step and their timers.

use std::time::Instant;

/// Stage of the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Stage {
    ApplyCommands,
    FindNeighbours,
    ExertForces,
    AdvanceVelocities,
    ResolveContacts,
    AdvancePositions,
    ConductHeat,
    ChangePhase,
    ChangeTopology,
    Check,
    ExchangeMatter,
}

impl Stage {
    /// All stages, in the order of the step.
    pub const ALL: [Self; 11] = [
        Self::ApplyCommands,
        Self::FindNeighbours,
        Self::ExertForces,
        Self::AdvanceVelocities,
        Self::ResolveContacts,
        Self::AdvancePositions,
        Self::ConductHeat,
        Self::ChangePhase,
        Self::ChangeTopology,
        Self::Check,
        Self::ExchangeMatter,
    ];

    /// Name of the function that implements it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ApplyCommands => "apply_commands",
            Self::FindNeighbours => "find_neighbours",
            Self::ExertForces => "exert_forces",
            Self::AdvanceVelocities => "advance_velocities",
            Self::ResolveContacts => "resolve_contacts",
            Self::AdvancePositions => "advance_positions",
            Self::ConductHeat => "conduct_heat",
            Self::ChangePhase => "change_phase",
            Self::ChangeTopology => "change_topology",
            Self::Check => "check",
            Self::ExchangeMatter => "exchange_matter",
        }
    }
}

/// Wall-clock time of each stage, s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageTimes([f64; Stage::ALL.len()]);

impl StageTimes {
    /// Time of a stage, s.
    pub fn seconds(&self, stage: Stage) -> f64 {
        self.0[stage as usize]
    }

    /// Names and times (s) of all stages, in the order of the step.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        Stage::ALL.iter().map(|&stage| (stage.name(), self.seconds(stage)))
    }

    /// Adds the times of another step or frame.
    pub fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, time)| *sum += time);
    }
}

/// Stopwatch that assigns the time since its last reading to a stage.
pub(super) struct StageTimer<'a> {
    times: &'a mut StageTimes,
    last: Instant,
}

impl<'a> StageTimer<'a> {
    pub fn start(times: &'a mut StageTimes) -> Self {
        Self { times, last: Instant::now() }
    }

    pub fn record(&mut self, stage: Stage) {
        let now = Instant::now();
        self.times.0[stage as usize] += (now - self.last).as_secs_f64();
        self.last = now;
    }
}
