//! Lookup of the values in the JSON of a frame that an expectation names.

use phyxel_scene::Subject;
use serde_json::Value;

/// Value and its path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found<'a> {
    pub path: String,
    pub value: &'a Value,
}

/// A path without a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MissingKey {
    /// Leading part of the path that exists.
    pub resolved: String,
    /// Missing key.
    pub key: String,
    /// Existing keys.
    pub known: String,
}

impl MissingKey {
    /// Error message.
    pub fn message(&self) -> String {
        format!("{} has no \"{}\"; known: {}", self.resolved, self.key, self.known)
    }
}

/// Values at the path `keys` below the subject: one, or one per body.
pub(crate) fn look_up<'a>(frame: &'a Value, subject: &Subject, keys: &[String]) -> Result<Vec<Found<'a>>, MissingKey> {
    let bodies = || frame["bodies"].as_array().map_or(&[][..], Vec::as_slice);
    let name = |body: &'a Value| body["name"].as_str().unwrap_or_default();
    let resolve_in = |body| resolve(body, format!("bodies.{}", name(body)), keys);
    match subject {
        Subject::Totals => Ok(vec![resolve(&frame["totals"], "totals".to_string(), keys)?]),
        Subject::EveryBody => bodies().iter().map(resolve_in).collect(),
        Subject::Body(expected) => match bodies().iter().find(|body| name(body) == expected) {
            Some(body) => Ok(vec![resolve_in(body)?]),
            None => Err(MissingKey {
                resolved: "bodies".to_string(),
                key: expected.clone(),
                known: list(bodies().iter().map(|body| name(body).to_string()).collect()),
            }),
        },
    }
}

fn resolve<'a>(start: &'a Value, mut resolved: String, keys: &[String]) -> Result<Found<'a>, MissingKey> {
    let mut value = start;
    for key in keys {
        let child = match value {
            Value::Object(map) => map.get(key),
            Value::Array(list) => key.parse().ok().and_then(|index: usize| list.get(index)),
            _ => None,
        };
        let Some(child) = child else {
            return Err(MissingKey { resolved, key: key.clone(), known: existing_keys(value) });
        };
        value = child;
        resolved = format!("{resolved}.{key}");
    }
    Ok(Found { path: resolved, value })
}

fn existing_keys(value: &Value) -> String {
    match value {
        Value::Object(map) => list(map.keys().cloned().collect()),
        Value::Array(items) => list((0..items.len()).map(|i| i.to_string()).collect()),
        other => format!("nothing, it is {other}"),
    }
}

fn list(names: Vec<String>) -> String {
    const MAX_NAMES: usize = 20;
    match names.len() {
        0 => "none".to_string(),
        count if count > MAX_NAMES => format!("{} and {} more", names[..MAX_NAMES].join(", "), count - MAX_NAMES),
        _ => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn frame() -> Value {
        let bodies = [("cube", 1.5), ("v1.2", 2.5)].map(|(name, y)| json!({ "name": name, "centre": [0.0, y, 0.0] }));
        json!({ "frame": 3, "totals": { "mass": 2.0 }, "bodies": bodies })
    }

    fn keys(path: &str) -> Vec<String> {
        path.split('.').map(str::to_string).collect()
    }

    fn numbers(subject: Subject, path: &str) -> Vec<f64> {
        look_up(&frame(), &subject, &keys(path)).unwrap().iter().filter_map(|found| found.value.as_f64()).collect()
    }

    #[test]
    fn values_are_found_by_name_key_and_number() {
        assert_eq!(numbers(Subject::Totals, "mass"), [2.0]);
        assert_eq!(numbers(Subject::Body("cube".into()), "centre.1"), [1.5]);
        assert_eq!(numbers(Subject::Body("v1.2".into()), "centre.1"), [2.5]);
        assert_eq!(numbers(Subject::EveryBody, "centre.1"), [1.5, 2.5]);
    }

    #[test]
    fn a_missing_key_is_reported_with_the_existing_ones() {
        let message = |subject, path| look_up(&frame(), &subject, &keys(path)).unwrap_err().message();
        assert_eq!(message(Subject::Body("ball".into()), "centre"), "bodies has no \"ball\"; known: cube, v1.2");
        assert_eq!(message(Subject::Totals, "mass.x"), "totals.mass has no \"x\"; known: nothing, it is 2.0");
        let centre = message(Subject::Body("cube".into()), "centre.3");
        assert_eq!(centre, "bodies.cube.centre has no \"3\"; known: 0, 1, 2");
        assert_eq!(message(Subject::EveryBody, "mood"), "bodies.cube has no \"mood\"; known: centre, name");
    }
}
