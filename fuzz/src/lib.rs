//! Bodies of the fuzz targets. `xtask/tests/replay.rs` runs the same in ordinary tests.

pub mod numbers;
pub mod readers;
