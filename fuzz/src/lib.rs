//! What the targets do with bytes. `xtask/tests/replay.rs` does the same in ordinary tests.

pub mod numbers;
pub mod readers;
