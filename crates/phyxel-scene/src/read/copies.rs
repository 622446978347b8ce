//! How bodies are repeated.

use super::cursor::{Field, Reader};
use super::quantity::Quantity;
use super::shape::{Files, read_shape};
use crate::document::Value;
use crate::scene::Copies;
use glam::Vec3;

/// Most copies of one body.
const LIMIT: u64 = 1_000_000;

/// `{ grid = [4, 1, 4], step = [0.3, 0.3, 0.3] }`, `{ stack = 5, step = 0.2 }` or
/// `{ random = 20, in = { kind = "box", ... }, turn = true }`.
pub(super) fn read_copies(field: &Field, files: &mut Files) -> Option<Copies> {
    let mut reader = field.table()?;
    let ways = ["grid", "stack", "random"].map(|key| reader.has(key));
    if ways.iter().filter(|way| **way).count() > 1 {
        field.object("says more than one of \"grid\", \"stack\" and \"random\"; say one");
        return None;
    }
    let copies = match ways {
        [true, ..] => read_grid(&mut reader),
        [_, true, _] => read_stack(&mut reader),
        [.., true] => read_random(&mut reader, files),
        _ => {
            let keys = ["step", "jitter", "in", "turn"];
            keys.iter().for_each(|key| drop(reader.field(key)));
            field.object("is missing \"grid\", \"stack\" or \"random\"; say one of them");
            None
        }
    };
    reader.finish();
    copies
}

fn read_grid(reader: &mut Reader) -> Option<Copies> {
    let field = reader.field("grid")?;
    let counts = field.counts(1).filter(|counts| {
        let total = counts.iter().fold(1_u64, |total, count| total.saturating_mul(u64::from(*count)));
        within_limit(&field, total)
    });
    let step = reader.need_vector("step", Quantity::any("m"));
    let jitter = reader.number("jitter", Quantity::not_negative("m"));
    Some(Copies::Grid { counts: counts?, step: step?, jitter: jitter.unwrap_or(0.0) })
}

fn read_stack(reader: &mut Reader) -> Option<Copies> {
    let field = reader.field("stack")?;
    let count = field.count(1).filter(|count| within_limit(&field, u64::from(*count)));
    let step = reader.need("step", || "a height (m) or three numbers (m)".into());
    let step = step.and_then(|step| match step.node.value {
        Value::List(_) => step.vector(Quantity::any("m")),
        _ => step.number(Quantity::any("m")).map(|height| Vec3::Y * height as f32),
    });
    let jitter = reader.number("jitter", Quantity::not_negative("m"));
    Some(Copies::Stack { count: count?, step: step?, jitter: jitter.unwrap_or(0.0) })
}

fn read_random(reader: &mut Reader, files: &mut Files) -> Option<Copies> {
    let field = reader.field("random")?;
    let count = field.count(1).filter(|count| within_limit(&field, u64::from(*count)));
    let place = reader.need("in", || "a shape, where the copies may be".into());
    let region = place.as_ref().and_then(|place| read_shape(place, files));
    let turn = reader.flag("turn");
    let region = region?;
    if region.bounds().is_none() {
        place?.object("has no end; copies need a region with an end, such as a box");
        return None;
    }
    Some(Copies::Random { count: count?, region: Box::new(region), turn: turn.unwrap_or(false) })
}

fn within_limit(field: &Field, count: u64) -> bool {
    if count > LIMIT {
        field.object(format!("makes {count} copies, but there may be at most {LIMIT}"));
    }
    count <= LIMIT
}
