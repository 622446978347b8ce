//! Expectations in files.

use super::cursor::{Field, TableReader};
use super::quantity::Quantity;
use super::wording::{did_you_mean, list};
use crate::document::Value;
use crate::scene::{BodyDescription, Expectation, ExpectedTime, ExpectedValue, Subject};

/// Schema of a line of `frames.jsonl`.
enum Schema {
    Leaf,
    /// List of fixed length.
    List(usize, &'static Schema),
    Table(&'static [(&'static str, Schema)]),
    /// Table with one entry per name of the scene.
    Named(&'static Schema),
}

const VECTOR: Schema = Schema::List(3, &Schema::Leaf);
const PHASES: Schema = Schema::Table(&[("solid", Schema::Leaf), ("fluid", Schema::Leaf), ("gas", Schema::Leaf)]);

const AMOUNT: Schema = Schema::Table(&[("particles", Schema::Leaf), ("mass", Schema::Leaf), ("heat", Schema::Leaf)]);
const EXCHANGED: Schema = Schema::Table(&[
    ("particles", Schema::Leaf),
    ("mass", Schema::Leaf),
    ("heat", Schema::Leaf),
    ("by", Schema::Named(&AMOUNT)),
]);

const TOTALS: Schema = Schema::Table(&[
    ("particles", PHASES),
    ("mass", Schema::Leaf),
    ("momentum", VECTOR),
    ("angular_momentum", VECTOR),
    (
        "energy",
        Schema::Table(&[
            ("kinetic", Schema::Leaf),
            ("elastic", Schema::Leaf),
            ("gravity", Schema::Leaf),
            ("heat", Schema::Leaf),
        ]),
    ),
    ("heat_in", Schema::Leaf),
    ("emitted", EXCHANGED),
    ("removed", EXCHANGED),
    ("balance_error", Schema::Leaf),
]);

const BODY: Schema = Schema::Table(&[
    ("model", Schema::Leaf),
    ("particles", PHASES),
    ("pieces", Schema::Leaf),
    ("centre", VECTOR),
    ("bounds", Schema::List(2, &VECTOR)),
    ("velocity", VECTOR),
    ("temperature", Schema::Table(&[("min", Schema::Leaf), ("mean", Schema::Leaf), ("max", Schema::Leaf)])),
    ("strain_max", Schema::Leaf),
    ("solver_iterations", Schema::Leaf),
    ("degenerate", Schema::Leaf),
    (
        "tetrahedra",
        Schema::Table(&[
            ("count", Schema::Leaf),
            ("min_dihedral", Schema::Leaf),
            ("max_dihedral", Schema::Leaf),
            ("inverted", Schema::Leaf),
            ("largest_fraction", Schema::Leaf),
        ]),
    ),
    ("broken", Schema::Leaf),
    ("merged", Schema::Leaf),
    (
        "skin",
        Schema::Table(&[
            ("kind", Schema::Leaf),
            ("vertices", Schema::Leaf),
            ("triangles", Schema::Leaf),
            ("closed", Schema::Leaf),
            ("pieces", Schema::Leaf),
            ("genus", Schema::Leaf),
            ("volume", Schema::Leaf),
        ]),
    ),
]);

/// Reads an expectation.
pub(super) fn read_expectation(field: &Field, bodies: &[BodyDescription]) -> Option<Expectation> {
    let mut reader = field.table()?;
    let time = read_time(&mut reader);
    let what = reader.require("what", "a path such as \"bodies.goop.centre.1\" or \"totals.mass\"");
    let quantity = what.as_ref().and_then(|field| read_quantity_path(field, bodies));
    let above = reader.number_f64("above", Quantity::any(""));
    let below = reader.number_f64("below", Quantity::any(""));
    let near = reader.number_f64("near", Quantity::any(""));
    let within = reader.number_f64("within", Quantity::positive(""));
    let equal = reader.read("equal", read_value);
    check_bounds(&mut reader, above, below);
    reader.finish();
    let (subject, path) = quantity?;
    Some(Expectation {
        line: field.line,
        time,
        what: what?.text()?.to_string(),
        subject,
        path,
        above,
        below,
        near: near.zip(within),
        equal,
    })
}

fn read_time(reader: &mut TableReader) -> ExpectedTime {
    let at = reader.number_f64("at", Quantity::not_negative("s"));
    let always = reader.flag("always").unwrap_or(false);
    if at.is_some() && always {
        reader.reject("says both \"at\" and \"always\"; keep one of them");
    }
    match at {
        _ if always => ExpectedTime::Always,
        Some(at) => ExpectedTime::At(at),
        None => ExpectedTime::End,
    }
}

/// Checks that there is a bound, and that the bounds are consistent.
fn check_bounds(reader: &mut TableReader, above: Option<f64>, below: Option<f64>) {
    if !["above", "below", "near", "equal"].iter().any(|key| reader.has(key)) && !reader.has("within") {
        reader.reject("says nothing of the value; give \"above\", \"below\", \"near\" with \"within\", or \"equal\"");
    }
    if reader.has("near") != reader.has("within") {
        reader.reject("needs both \"near\" (the value) and \"within\" (how far it may be off)");
    }
    if let (Some(above), Some(below)) = (above, below)
        && above >= below
    {
        reader.reject(format!("must be above {above} and below {below}, which no number is"));
    }
}

fn read_value(field: &Field) -> Option<ExpectedValue> {
    match &field.node.value {
        Value::Flag(flag) => Some(ExpectedValue::Flag(*flag)),
        Value::Text(text) => Some(ExpectedValue::Word(text.clone())),
        _ => field.number_f64(Quantity::any("")).map(ExpectedValue::Number),
    }
}

/// Resolves the path of a quantity into its subject and the keys below it.
fn read_quantity_path(field: &Field, bodies: &[BodyDescription]) -> Option<(Subject, Vec<String>)> {
    let keys: Vec<&str> = field.text()?.split('.').collect();
    let (subject, rest, schema) = match keys[..] {
        ["totals", ref rest @ ..] => (Subject::Totals, rest, &TOTALS),
        ["bodies", "*", ref rest @ ..] => (Subject::EveryBody, rest, &BODY),
        ["bodies", name, ref rest @ ..] => {
            if !bodies.iter().any(|body| body.makes(name)) {
                let names: Vec<String> = bodies.iter().map(|body| body.name_of(0)).collect();
                field.unknown_name("body", name, names.iter().map(String::as_str).chain(std::iter::once("*")));
                return None;
            }
            (Subject::Body(name.to_string()), rest, &BODY)
        }
        _ => {
            field.reject(format!("is {:?}, but must start with \"totals.\" or \"bodies.NAME.\"", keys.join(".")));
            return None;
        }
    };
    check_path(field, rest, schema)?;
    Some((subject, rest.iter().map(|key| key.to_string()).collect()))
}

/// Checks that keys lead to a value of the schema.
fn check_path(field: &Field, keys: &[&str], schema: &Schema) -> Option<()> {
    match (schema, keys) {
        (Schema::Leaf, []) => Some(()),
        (Schema::Leaf, [key, ..]) => {
            field.reject(format!("goes on with \"{key}\" where the value is already reached"));
            None
        }
        (Schema::Table(entries), [key, rest @ ..]) => match entries.iter().find(|(name, _)| name == key) {
            Some((_, below)) => check_path(field, rest, below),
            None => {
                let names = || entries.iter().map(|(name, _)| *name);
                let hint = did_you_mean(key, names());
                field.reject(format!("there is no quantity \"{key}\"{hint} (known: {})", list(names())));
                None
            }
        },
        (Schema::List(count, below), [key, rest @ ..]) => match key.parse::<usize>() {
            Ok(index) if index < *count => check_path(field, rest, below),
            _ => {
                field.reject(format!("has \"{key}\" where a number from 0 to {} must stand", count - 1));
                None
            }
        },
        (Schema::Named(below), [_, rest @ ..]) => check_path(field, rest, below),
        (Schema::Named(_), []) => {
            field.reject("ends too early; go on with the name of an emitter or a drain, or \"bounds\"");
            None
        }
        (Schema::Table(entries), []) => {
            let names = list(entries.iter().map(|(name, _)| *name));
            field.reject(format!("ends too early; go on with one of {names}"));
            None
        }
        (Schema::List(count, _), []) => {
            field.reject(format!("ends too early; go on with a number from 0 to {}", count - 1));
            None
        }
    }
}
