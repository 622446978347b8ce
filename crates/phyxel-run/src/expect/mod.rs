//! Whether a run came out as its scene expects, judged frame by frame on the values the files tell.

mod path;

use path::look_up;
use phyxel_scene::{Expectation, ExpectedTime, ExpectedValue};
use serde::Serialize;
use serde_json::Value;

/// Whether an expectation came true.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The quantity, as the scene writes it.
    pub what: String,
    /// Line of the scene file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Whether it came true; `None` if the run ended before its moment.
    pub passed: Option<bool>,
    /// The value that decided, for several bodies the first that fails.
    pub value: Value,
    /// The finding as a sentence.
    pub says: String,
}

/// Watches the frames of a run for what its scene expects.
#[derive(Clone, Debug)]
pub struct Judge {
    cases: Vec<Case>,
    /// Half the time between two frames, s.
    half_frame: f64,
    last: Option<Value>,
}

/// An expectation and what was seen of it so far.
#[derive(Clone, Debug)]
struct Case {
    expectation: Expectation,
    seen: Option<Finding>,
    /// Time between the frame that was seen and the one that is meant, s.
    distance: f64,
}

impl Judge {
    /// Watches for these; `frame_rate` in frames per second.
    pub fn new(expectations: &[Expectation], frame_rate: f64) -> Self {
        let case =
            |expectation: &Expectation| Case { expectation: expectation.clone(), seen: None, distance: f64::INFINITY };
        Self { cases: expectations.iter().map(case).collect(), half_frame: 0.5 / frame_rate, last: None }
    }

    /// Whether anything is expected at all.
    pub fn is_idle(&self) -> bool {
        self.cases.is_empty()
    }

    /// Looks at the JSON of the next frame, in the form of `frames.jsonl`.
    pub fn look(&mut self, frame: Value) {
        let time = time_of(&frame);
        for case in &mut self.cases {
            match case.expectation.time {
                ExpectedTime::Always if case.seen.as_ref().is_none_or(|seen| seen.passed == Some(true)) => {
                    case.seen = Some(judge(&case.expectation, &frame));
                }
                ExpectedTime::At(at) if (time - at).abs() < case.distance => {
                    case.distance = (time - at).abs();
                    case.seen = Some(judge(&case.expectation, &frame));
                }
                ExpectedTime::Always | ExpectedTime::At(_) | ExpectedTime::End => {}
            }
        }
        self.last = Some(frame);
    }

    /// What was found; `complete` tells whether the last frame seen is the end of the scene.
    pub fn findings(&self, complete: bool) -> Vec<Finding> {
        self.cases.iter().map(|case| self.finding(case, complete)).collect()
    }

    fn finding(&self, case: &Case, complete: bool) -> Finding {
        let expectation = &case.expectation;
        let reached = self.last.as_ref().map_or(f64::NEG_INFINITY, time_of);
        let seen = match (expectation.time, &self.last) {
            (ExpectedTime::End, Some(last)) if complete => Some(judge(expectation, last)),
            (ExpectedTime::At(at), _) if at <= reached + self.half_frame => case.seen.clone(),
            (ExpectedTime::Always, _) => case.seen.clone(),
            _ => None,
        };
        seen.unwrap_or_else(|| Finding {
            what: expectation.what.clone(),
            line: expectation.line,
            passed: None,
            value: Value::Null,
            says: format!("{}: not judged, the run ended at {reached:.3} s", expectation.what),
        })
    }
}

/// Judges one expectation in one frame.
fn judge(expectation: &Expectation, frame: &Value) -> Finding {
    let finding = |passed, value: &Value, says| Finding {
        what: expectation.what.clone(),
        line: expectation.line,
        passed: Some(passed),
        value: value.clone(),
        says,
    };
    let place = format!("in frame {} ({:.3} s)", frame["frame"], time_of(frame));
    let found = match look_up(frame, &expectation.subject, &expectation.path) {
        Ok(found) => found,
        Err(missing) => return finding(false, &Value::Null, format!("{} {place}", missing.sentence())),
    };
    let worst = found.iter().find(|found| !holds(expectation, found.value)).or(found.first());
    match worst {
        None => finding(true, &Value::Null, format!("{}: there is no body {place}", expectation.what)),
        Some(worst) => {
            let passed = holds(expectation, worst.value);
            let verdict = if passed { "as expected" } else { "but expected" };
            let wish = describe(expectation);
            finding(passed, worst.value, format!("{} is {} {place}, {verdict} {wish}", worst.path, worst.value))
        }
    }
}

fn holds(expectation: &Expectation, value: &Value) -> bool {
    let number = value.as_f64();
    let within = |test: &dyn Fn(f64) -> bool| number.is_some_and(test);
    expectation.above.is_none_or(|bound| within(&|x| x > bound))
        && expectation.below.is_none_or(|bound| within(&|x| x < bound))
        && expectation.near.is_none_or(|(middle, room)| within(&|x| (x - middle).abs() <= room))
        && match &expectation.equal {
            None => true,
            Some(ExpectedValue::Number(wanted)) => within(&|x| x == *wanted),
            Some(ExpectedValue::Flag(wanted)) => value.as_bool() == Some(*wanted),
            Some(ExpectedValue::Word(wanted)) => value.as_str() == Some(wanted),
        }
}

fn describe(expectation: &Expectation) -> String {
    let mut parts = Vec::new();
    parts.extend(expectation.above.map(|bound| format!("above {bound}")));
    parts.extend(expectation.below.map(|bound| format!("below {bound}")));
    parts.extend(expectation.near.map(|(middle, room)| format!("within {room} of {middle}")));
    parts.extend(expectation.equal.as_ref().map(|wanted| match wanted {
        ExpectedValue::Number(number) => number.to_string(),
        ExpectedValue::Flag(flag) => flag.to_string(),
        ExpectedValue::Word(word) => format!("\"{word}\""),
    }));
    parts.join(" and ")
}

fn time_of(frame: &Value) -> f64 {
    frame["time"].as_f64().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use phyxel_scene::Subject;
    use serde_json::json;

    fn expect_height(moment: ExpectedTime) -> Expectation {
        Expectation {
            line: Some(7),
            time: moment,
            what: "bodies.cube.centre.1".into(),
            subject: Subject::Body("cube".into()),
            path: vec!["centre".into(), "1".into()],
            above: None,
            below: None,
            near: None,
            equal: None,
        }
    }

    /// A cube that falls from 3 m to 0 m in 3 s, one frame a second.
    fn watch(expectation: Expectation, frames: u32) -> Finding {
        let mut judge = Judge::new(&[expectation], 1.0);
        for frame in 0..=frames {
            let height = 3.0 - f64::from(frame);
            judge.look(json!({ "frame": frame, "time": f64::from(frame), "totals": {},
                "bodies": [{ "name": "cube", "centre": [0.0, height, 0.0], "whole": true, "model": "shape" }] }));
        }
        judge.findings(frames == 3).remove(0)
    }

    #[test]
    fn the_end_is_judged_at_the_end_only() {
        let expectation = Expectation { below: Some(0.5), ..expect_height(ExpectedTime::End) };
        assert_eq!(watch(expectation.clone(), 3).passed, Some(true));
        assert_eq!(watch(expectation, 2).passed, None);
    }

    #[test]
    fn a_moment_is_judged_in_the_nearest_frame() {
        let expectation = Expectation { near: Some((2.0, 0.1)), ..expect_height(ExpectedTime::At(1.4)) };
        assert_eq!(watch(expectation.clone(), 3).passed, Some(true));
        assert_eq!(watch(expectation, 0).passed, None);
    }

    #[test]
    fn always_fails_with_the_first_frame_that_fails() {
        let finding = watch(Expectation { above: Some(1.5), ..expect_height(ExpectedTime::Always) }, 3);
        assert_eq!((finding.passed, finding.value), (Some(false), json!(1.0)));
        assert_eq!(finding.says, "bodies.cube.centre.1 is 1.0 in frame 2 (2.000 s), but expected above 1.5");
        assert_eq!(
            watch(Expectation { above: Some(-1.0), ..expect_height(ExpectedTime::Always) }, 3).passed,
            Some(true)
        );
    }

    #[test]
    fn flags_and_words_are_compared_as_they_are() {
        let equal = |key: &str, wanted| {
            let keys = vec![key.to_string()];
            watch(Expectation { path: keys, equal: Some(wanted), ..expect_height(ExpectedTime::End) }, 3).passed
        };
        assert_eq!(equal("whole", ExpectedValue::Flag(true)), Some(true));
        assert_eq!(equal("whole", ExpectedValue::Number(1.0)), Some(false));
        assert_eq!(equal("model", ExpectedValue::Word("shape".into())), Some(true));
    }

    #[test]
    fn a_quantity_that_is_not_there_fails_and_says_what_is() {
        let expectation =
            Expectation { path: vec!["mood".into()], above: Some(0.0), ..expect_height(ExpectedTime::End) };
        let finding = watch(expectation, 3);
        assert_eq!(finding.passed, Some(false));
        assert!(finding.says.contains("bodies.cube has no \"mood\"; known: centre, model"), "{}", finding.says);
    }
}
