//! Expectations in files.

use super::cursor::{Field, Reader};
use super::quantity::Quantity;
use super::words::{did_you_mean, listed};
use crate::document::Value;
use crate::scene::{BodyDescription, Expectation, ExpectedValue, Moment, Subject};

/// What a line of `frames.jsonl` says, by name; `#` stands for the number of an entry of a list.
enum Tree {
    Leaf,
    /// A list of so many.
    List(usize, &'static Tree),
    Table(&'static [(&'static str, Tree)]),
    /// One for each name that the scene gives.
    Named(&'static Tree),
}

const VECTOR: Tree = Tree::List(3, &Tree::Leaf);
const PHASES: Tree = Tree::Table(&[("solid", Tree::Leaf), ("fluid", Tree::Leaf), ("gas", Tree::Leaf)]);

const AMOUNT: Tree = Tree::Table(&[("particles", Tree::Leaf), ("mass", Tree::Leaf), ("heat", Tree::Leaf)]);
const EXCHANGED: Tree =
    Tree::Table(&[("particles", Tree::Leaf), ("mass", Tree::Leaf), ("heat", Tree::Leaf), ("by", Tree::Named(&AMOUNT))]);

const TOTALS: Tree = Tree::Table(&[
    ("particles", PHASES),
    ("mass", Tree::Leaf),
    ("momentum", VECTOR),
    ("angular_momentum", VECTOR),
    (
        "energy",
        Tree::Table(&[("kinetic", Tree::Leaf), ("elastic", Tree::Leaf), ("gravity", Tree::Leaf), ("heat", Tree::Leaf)]),
    ),
    ("heat_in", Tree::Leaf),
    ("emitted", EXCHANGED),
    ("removed", EXCHANGED),
    ("balance_error", Tree::Leaf),
]);

const BODY: Tree = Tree::Table(&[
    ("model", Tree::Leaf),
    ("particles", PHASES),
    ("pieces", Tree::Leaf),
    ("centre", VECTOR),
    ("bounds", Tree::List(2, &VECTOR)),
    ("velocity", VECTOR),
    ("temperature", Tree::Table(&[("min", Tree::Leaf), ("mean", Tree::Leaf), ("max", Tree::Leaf)])),
    ("strain_max", Tree::Leaf),
    ("solver_rounds", Tree::Leaf),
    ("degenerate", Tree::Leaf),
    (
        "tetrahedra",
        Tree::Table(&[
            ("count", Tree::Leaf),
            ("least_angle", Tree::Leaf),
            ("greatest_angle", Tree::Leaf),
            ("mirrored", Tree::Leaf),
            ("largest", Tree::Leaf),
        ]),
    ),
    ("broken", Tree::Leaf),
    ("merged", Tree::Leaf),
    (
        "skin",
        Tree::Table(&[
            ("kind", Tree::Leaf),
            ("vertices", Tree::Leaf),
            ("triangles", Tree::Leaf),
            ("closed", Tree::Leaf),
            ("pieces", Tree::Leaf),
            ("genus", Tree::Leaf),
            ("volume", Tree::Leaf),
        ]),
    ),
]);

/// One expectation.
pub(super) fn read_expectation(field: &Field, bodies: &[BodyDescription]) -> Option<Expectation> {
    let mut reader = field.table()?;
    let moment = read_moment(&mut reader);
    let what = reader.need("what", || "a path such as \"bodies.goop.centre.1\" or \"totals.mass\"".into());
    let place = what.as_ref().and_then(|field| read_what(field, bodies));
    let above = reader.precise("above", Quantity::any(""));
    let below = reader.precise("below", Quantity::any(""));
    let near = reader.precise("near", Quantity::any(""));
    let within = reader.precise("within", Quantity::positive(""));
    let equal = reader.field("equal").and_then(|field| read_value(&field));
    check_bounds(&mut reader, above, below);
    reader.finish();
    let (subject, keys) = place?;
    Some(Expectation {
        line: field.line,
        moment,
        what: what?.text()?.to_string(),
        subject,
        keys,
        above,
        below,
        near: near.zip(within),
        equal,
    })
}

fn read_moment(reader: &mut Reader) -> Moment {
    let at = reader.precise("at", Quantity::not_negative("s"));
    let always = reader.flag("always").unwrap_or(false);
    if at.is_some() && always {
        reader.object("says both \"at\" and \"always\"; keep one of them");
    }
    match at {
        _ if always => Moment::Always,
        Some(at) => Moment::At(at),
        None => Moment::End,
    }
}

/// At least one bound, and bounds that can be kept.
fn check_bounds(reader: &mut Reader, above: Option<f64>, below: Option<f64>) {
    if !["above", "below", "near", "equal"].iter().any(|key| reader.has(key)) && !reader.has("within") {
        reader.object("says nothing of the value; give \"above\", \"below\", \"near\" with \"within\", or \"equal\"");
    }
    if reader.has("near") != reader.has("within") {
        reader.object("needs both \"near\" (the value) and \"within\" (how far it may be off)");
    }
    if let (Some(above), Some(below)) = (above, below)
        && above >= below
    {
        reader.object(format!("must be above {above} and below {below}, which no number is"));
    }
}

fn read_value(field: &Field) -> Option<ExpectedValue> {
    match &field.node.value {
        Value::Flag(flag) => Some(ExpectedValue::Flag(*flag)),
        Value::Text(text) => Some(ExpectedValue::Word(text.clone())),
        _ => field.number(Quantity::any("")).map(ExpectedValue::Number),
    }
}

/// Whose quantity a path means, and the way to it from there.
fn read_what(field: &Field, bodies: &[BodyDescription]) -> Option<(Subject, Vec<String>)> {
    let keys: Vec<&str> = field.text()?.split('.').collect();
    let (subject, rest, tree) = match keys[..] {
        ["totals", ref rest @ ..] => (Subject::Totals, rest, &TOTALS),
        ["bodies", "*", ref rest @ ..] => (Subject::EveryBody, rest, &BODY),
        ["bodies", name, ref rest @ ..] => {
            if !bodies.iter().any(|body| body.makes(name)) {
                let names: Vec<String> = bodies.iter().map(|body| body.name_of(0)).collect();
                field.unknown("body", name, names.iter().map(String::as_str).chain(std::iter::once("*")));
                return None;
            }
            (Subject::Body(name.to_string()), rest, &BODY)
        }
        _ => {
            field.object(format!("is {:?}, but must start with \"totals.\" or \"bodies.NAME.\"", keys.join(".")));
            return None;
        }
    };
    follow(field, rest, tree)?;
    Some((subject, rest.iter().map(|key| key.to_string()).collect()))
}

/// Checks that keys lead to a value.
fn follow(field: &Field, keys: &[&str], tree: &Tree) -> Option<()> {
    match (tree, keys) {
        (Tree::Leaf, []) => Some(()),
        (Tree::Leaf, [key, ..]) => {
            field.object(format!("goes on with \"{key}\" where the value is already reached"));
            None
        }
        (Tree::Table(entries), [key, rest @ ..]) => match entries.iter().find(|(name, _)| name == key) {
            Some((_, below)) => follow(field, rest, below),
            None => {
                let names = || entries.iter().map(|(name, _)| *name);
                let hint = did_you_mean(key, names());
                field.object(format!("there is no quantity \"{key}\"{hint} (known: {})", listed(names())));
                None
            }
        },
        (Tree::List(count, below), [key, rest @ ..]) => match key.parse::<usize>() {
            Ok(index) if index < *count => follow(field, rest, below),
            _ => {
                field.object(format!("has \"{key}\" where a number from 0 to {} must stand", count - 1));
                None
            }
        },
        (Tree::Named(below), [_, rest @ ..]) => follow(field, rest, below),
        (Tree::Named(_), []) => {
            field.object("ends too early; go on with the name of an emitter or a drain, or \"bounds\"");
            None
        }
        (Tree::Table(entries), []) => {
            let names = listed(entries.iter().map(|(name, _)| *name));
            field.object(format!("ends too early; go on with one of {names}"));
            None
        }
        (Tree::List(count, _), []) => {
            field.object(format!("ends too early; go on with a number from 0 to {}", count - 1));
            None
        }
    }
}
