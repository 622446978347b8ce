//! Copies of bodies in files.

use super::cursor::{Field, TableReader};
use super::quantity::Quantity;
use super::shape::{Files, read_shape};
use crate::document::Value;
use crate::scene::Copies;
use glam::Vec3;

/// Largest number of copies of one body.
const MAX_COPIES: u64 = 1_000_000;

/// Reads `{ grid = [4, 1, 4], step = [0.3, 0.3, 0.3] }`, `{ stack = 5, step = 0.2 }` or
/// `{ random = 20, in = { kind = "box", ... }, turn = true }`.
pub(super) fn read_copies(field: &Field, files: &mut Files) -> Option<Copies> {
    let mut reader = field.table()?;
    let forms = ["grid", "stack", "random"].map(|key| reader.has(key));
    if forms.iter().filter(|form| **form).count() > 1 {
        field.reject("says more than one of \"grid\", \"stack\" and \"random\"; say one");
        return None;
    }
    let copies = match forms {
        [true, ..] => read_grid(&mut reader),
        [_, true, _] => read_stack(&mut reader),
        [.., true] => read_random(&mut reader, files),
        _ => {
            let keys = ["step", "jitter", "in", "turn"];
            keys.iter().for_each(|key| drop(reader.field(key)));
            field.reject("is missing \"grid\", \"stack\" or \"random\"; say one of them");
            None
        }
    };
    reader.finish();
    copies
}

fn read_grid(reader: &mut TableReader) -> Option<Copies> {
    let field = reader.field("grid")?;
    let counts = field.counts(1).filter(|counts| {
        let total = counts.iter().fold(1_u64, |total, count| total.saturating_mul(u64::from(*count)));
        within_limit(&field, total)
    });
    let step = reader.require_vector("step", Quantity::any("m"));
    let jitter = reader.number("jitter", Quantity::not_negative("m"));
    Some(Copies::Grid { counts: counts?, step: step?, jitter: jitter.unwrap_or(0.0) })
}

fn read_stack(reader: &mut TableReader) -> Option<Copies> {
    let field = reader.field("stack")?;
    let count = field.count(1).filter(|count| within_limit(&field, u64::from(*count)));
    let step = reader.read_required("step", "a height (m) or three numbers (m)", |step| match step.node.value {
        Value::List(_) => step.vector(Quantity::any("m")),
        _ => step.number(Quantity::any("m")).map(|height| Vec3::Y * height),
    });
    let jitter = reader.number("jitter", Quantity::not_negative("m"));
    Some(Copies::Stack { count: count?, step: step?, jitter: jitter.unwrap_or(0.0) })
}

fn read_random(reader: &mut TableReader, files: &mut Files) -> Option<Copies> {
    let field = reader.field("random")?;
    let count = field.count(1).filter(|count| within_limit(&field, u64::from(*count)));
    let region_field = reader.require("in", "a shape, where the copies may be");
    let region = region_field.as_ref().and_then(|field| read_shape(field, files));
    let rotate = reader.flag("turn");
    let region = region?;
    if region.bounds().is_none() {
        region_field?.reject("has no end; copies need a region with an end, such as a box");
        return None;
    }
    Some(Copies::Random { count: count?, region: Box::new(region), rotate: rotate.unwrap_or(false) })
}

fn within_limit(field: &Field, count: u64) -> bool {
    if count > MAX_COPIES {
        field.reject(format!("makes {count} copies, but there may be at most {MAX_COPIES}"));
    }
    count <= MAX_COPIES
}
