//! Sources and sinks of particles: emitters, drains and the bounds of the world.

mod drain;
mod emitter;
mod exchange;
mod lost_matter;

pub(crate) use drain::DrainState;
pub use drain::{Bounds, Drain};
pub(crate) use emitter::EmitterState;
pub use emitter::{Emitter, Mouth};
pub(crate) use exchange::{check_emitter_speeds, exchange_matter};
