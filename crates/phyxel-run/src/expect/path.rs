//! Finding the values in the JSON of a frame that an expectation speaks of.

use phyxel_scene::Subject;
use serde_json::Value;

/// A value that was found, with the way to it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found<'a> {
    pub path: String,
    pub value: &'a Value,
}

/// A way that leads nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    /// Part of the way that is there.
    pub walked: String,
    /// What was to come next.
    pub next: String,
    /// What could come next.
    pub known: String,
}

impl Missing {
    /// As a sentence.
    pub fn sentence(&self) -> String {
        format!("{} has no \"{}\"; known: {}", self.walked, self.next, self.known)
    }
}

/// All values that `keys` lead to from the subject: one, or one per body.
pub(crate) fn look_up<'a>(frame: &'a Value, subject: &Subject, keys: &[String]) -> Result<Vec<Found<'a>>, Missing> {
    let bodies = || frame["bodies"].as_array().map_or(&[][..], Vec::as_slice);
    let name = |body: &'a Value| body["name"].as_str().unwrap_or_default();
    let follow = |body| walk(body, format!("bodies.{}", name(body)), keys);
    match subject {
        Subject::Totals => Ok(vec![walk(&frame["totals"], "totals".to_string(), keys)?]),
        Subject::EveryBody => bodies().iter().map(follow).collect(),
        Subject::Body(wanted) => match bodies().iter().find(|body| name(body) == wanted) {
            Some(body) => Ok(vec![follow(body)?]),
            None => Err(Missing {
                walked: "bodies".to_string(),
                next: wanted.clone(),
                known: list(bodies().iter().map(|body| name(body).to_string()).collect()),
            }),
        },
    }
}

fn walk<'a>(start: &'a Value, mut walked: String, keys: &[String]) -> Result<Found<'a>, Missing> {
    let mut value = start;
    for key in keys {
        let child = match value {
            Value::Object(map) => map.get(key),
            Value::Array(list) => key.parse().ok().and_then(|number: usize| list.get(number)),
            _ => None,
        };
        let Some(child) = child else { return Err(Missing { walked, next: key.clone(), known: known(value) }) };
        value = child;
        walked = format!("{walked}.{key}");
    }
    Ok(Found { path: walked, value })
}

fn known(value: &Value) -> String {
    match value {
        Value::Object(map) => list(map.keys().cloned().collect()),
        Value::Array(items) => list((0..items.len()).map(|i| i.to_string()).collect()),
        other => format!("nothing, it is {other}"),
    }
}

fn list(names: Vec<String>) -> String {
    const SHOWN: usize = 20;
    match names.len() {
        0 => "none".to_string(),
        count if count > SHOWN => format!("{} and {} more", names[..SHOWN].join(", "), count - SHOWN),
        _ => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn frame() -> Value {
        json!({ "frame": 3, "totals": { "mass": 2.0 },
                "bodies": [ { "name": "cube", "centre": [0.0, 1.5, 0.0] }, { "name": "v1.2", "centre": [0.0, 2.5, 0.0] } ] })
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
    fn a_way_that_leads_nowhere_is_answered_with_what_is_there() {
        let says = |subject, path| look_up(&frame(), &subject, &keys(path)).unwrap_err().sentence();
        assert_eq!(says(Subject::Body("ball".into()), "centre"), "bodies has no \"ball\"; known: cube, v1.2");
        assert_eq!(says(Subject::Totals, "mass.x"), "totals.mass has no \"x\"; known: nothing, it is 2.0");
        let centre = says(Subject::Body("cube".into()), "centre.3");
        assert_eq!(centre, "bodies.cube.centre has no \"3\"; known: 0, 1, 2");
        assert_eq!(says(Subject::EveryBody, "mood"), "bodies.cube has no \"mood\"; known: centre, name");
    }
}
