//! Settings of shape matching in files.

use crate::document::Value;
use crate::read::cursor::Field;
use crate::read::quantity::Quantity;
use crate::scene::{ClusterPlan, ModelDescription};
use phyxel::model::shape_matching::{MatchingMode, ShapeMatchingSettings};

/// Modes of deformation, by name.
const MODES: [(&str, MatchingMode); 3] =
    [("rigid", MatchingMode::Rigid), ("linear", MatchingMode::Linear), ("quadratic", MatchingMode::Quadratic)];

/// Largest number of clusters along one side of a body.
const MAX_CLUSTERS_PER_SIDE: u32 = 1024;
/// Reads the table `shape_matching` of a body.
pub(super) fn read_shape_matching(field: &Field) -> Option<ModelDescription> {
    let default = ShapeMatchingSettings::default();
    let mut reader = field.table()?;
    let clusters = reader.read("clusters", read_clusters).unwrap_or_default();
    let settings = ShapeMatchingSettings {
        mode: reader.read("mode", read_mode).unwrap_or(default.mode),
        beta: reader.number("beta", Quantity::fraction()).unwrap_or(default.beta),
        overlap: reader.number("overlap", Quantity::fraction()).unwrap_or(default.overlap),
        tau: reader.number("tau", Quantity::not_negative("s")).or(default.tau),
        damping_rate: reader.number("damping_rate", Quantity::not_negative("1/s")).or(default.damping_rate),
        keep_volume: reader.flag("keep_volume").unwrap_or(default.keep_volume),
        ..default
    };
    reader.finish();
    Some(ModelDescription::ShapeMatching { clusters, settings: Box::new(settings) })
}

/// Reads the name of a mode of deformation.
pub(in crate::read) fn read_mode(field: &Field) -> Option<MatchingMode> {
    field.choice("mode", &MODES)
}

/// Reads `[2, 3, 2]`, `4` (along the longest side) or `{ size = 0.1 }`.
fn read_clusters(field: &Field) -> Option<ClusterPlan> {
    let within_limit = |count: u32| {
        if count > MAX_CLUSTERS_PER_SIDE {
            field.reject(format!(
                "makes {count} clusters along one side, but there may be at most {MAX_CLUSTERS_PER_SIDE}"
            ));
        }
        count <= MAX_CLUSTERS_PER_SIDE
    };
    match field.node.value {
        Value::List(_) => {
            let counts = field.counts(1).filter(|counts| within_limit(counts.iter().copied().max().unwrap_or(1)));
            counts.map(ClusterPlan::Counts)
        }
        Value::Table(_) => {
            let mut reader = field.table()?;
            let size = reader.require_number("size", Quantity::positive("m"));
            reader.finish();
            size.map(ClusterPlan::Size)
        }
        Value::Integer(_) => field.count(1).filter(|count| within_limit(*count)).map(ClusterPlan::Longest),
        _ => {
            let found = field.node.describe();
            field.reject(format!(
                "is {found}, but must be a number (along the longest side), [2, 2, 2] (along x, y, z) or {{ size = \
                 0.1 }} (m)"
            ));
            None
        }
    }
}
