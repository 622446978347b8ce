//! Evaluation of a scene's expectations, frame by frame, on the values of the frame log.

mod path;

use path::look_up;
use phyxel_scene::{Expectation, ExpectedTime, ExpectedValue};
use serde::Serialize;
use serde_json::Value;

/// Result of an expectation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The quantity, as the scene writes it.
    pub what: String,
    /// Line of the scene file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// True if it was met; `None` if the run ended before its time.
    pub passed: Option<bool>,
    /// Decisive value; for several bodies the first that fails.
    pub value: Value,
    /// The result as a sentence.
    pub message: String,
}

/// Checks the frames of a run against the expectations of its scene.
#[derive(Clone, Debug)]
pub struct ExpectationChecker {
    checks: Vec<PendingCheck>,
    /// Half the interval between two frames, s.
    half_frame: f64,
    last: Option<Value>,
}

/// Expectation and its result so far.
#[derive(Clone, Debug)]
struct PendingCheck {
    expectation: Expectation,
    finding: Option<Finding>,
    /// Distance in time of the evaluated frame from the expected time, s.
    time_difference: f64,
}

impl ExpectationChecker {
    /// Checks these expectations; `frame_rate` in frames per second.
    pub fn new(expectations: &[Expectation], frame_rate: f64) -> Self {
        let check = |expectation: &Expectation| PendingCheck {
            expectation: expectation.clone(),
            finding: None,
            time_difference: f64::INFINITY,
        };
        Self { checks: expectations.iter().map(check).collect(), half_frame: 0.5 / frame_rate, last: None }
    }

    /// Returns true if there are no expectations.
    pub fn is_empty(&self) -> bool {
        self.checks.is_empty()
    }

    /// Evaluates the expectations of the next frame, given as JSON in the form of the frame log.
    pub fn observe(&mut self, frame: Value) {
        let time = time_of(&frame);
        for check in &mut self.checks {
            match check.expectation.time {
                ExpectedTime::Always if check.finding.as_ref().is_none_or(|seen| seen.passed == Some(true)) => {
                    check.finding = Some(evaluate(&check.expectation, &frame));
                }
                ExpectedTime::At(at) if (time - at).abs() < check.time_difference => {
                    check.time_difference = (time - at).abs();
                    check.finding = Some(evaluate(&check.expectation, &frame));
                }
                ExpectedTime::Always | ExpectedTime::At(_) | ExpectedTime::End => {}
            }
        }
        self.last = Some(frame);
    }

    /// Results; `complete` is true if the last frame observed is that of the scene.
    pub fn findings(&self, complete: bool) -> Vec<Finding> {
        self.checks.iter().map(|check| self.finding(check, complete)).collect()
    }

    fn finding(&self, check: &PendingCheck, complete: bool) -> Finding {
        let expectation = &check.expectation;
        let reached = self.last.as_ref().map_or(f64::NEG_INFINITY, time_of);
        let seen = match (expectation.time, &self.last) {
            (ExpectedTime::End, Some(last)) if complete => Some(evaluate(expectation, last)),
            (ExpectedTime::At(at), _) if at <= reached + self.half_frame => check.finding.clone(),
            (ExpectedTime::Always, _) => check.finding.clone(),
            _ => None,
        };
        seen.unwrap_or_else(|| Finding {
            what: expectation.what.clone(),
            line: expectation.line,
            passed: None,
            value: Value::Null,
            message: format!("{}: not evaluated, the run ended at {reached:.3} s", expectation.what),
        })
    }
}

/// Evaluates one expectation in one frame.
fn evaluate(expectation: &Expectation, frame: &Value) -> Finding {
    let finding = |passed, value: &Value, message| Finding {
        what: expectation.what.clone(),
        line: expectation.line,
        passed: Some(passed),
        value: value.clone(),
        message,
    };
    let moment = format!("in frame {} ({:.3} s)", frame["frame"], time_of(frame));
    let found = match look_up(frame, &expectation.subject, &expectation.path) {
        Ok(found) => found,
        Err(missing) => return finding(false, &Value::Null, format!("{} {moment}", missing.message())),
    };
    let worst = found.iter().find(|found| !is_met(expectation, found.value)).or(found.first());
    match worst {
        None => finding(true, &Value::Null, format!("{}: there is no body {moment}", expectation.what)),
        Some(worst) => {
            let passed = is_met(expectation, worst.value);
            let relation = if passed { "as expected" } else { "but expected" };
            let condition = describe(expectation);
            finding(passed, worst.value, format!("{} is {} {moment}, {relation} {condition}", worst.path, worst.value))
        }
    }
}

fn is_met(expectation: &Expectation, value: &Value) -> bool {
    let number = value.as_f64();
    let within = |test: &dyn Fn(f64) -> bool| number.is_some_and(test);
    expectation.above.is_none_or(|bound| within(&|x| x > bound))
        && expectation.below.is_none_or(|bound| within(&|x| x < bound))
        && expectation.near.is_none_or(|(target, tolerance)| within(&|x| (x - target).abs() <= tolerance))
        && match &expectation.equal {
            None => true,
            Some(ExpectedValue::Number(expected)) => within(&|x| x == *expected),
            Some(ExpectedValue::Flag(expected)) => value.as_bool() == Some(*expected),
            Some(ExpectedValue::Word(expected)) => value.as_str() == Some(expected),
        }
}

fn describe(expectation: &Expectation) -> String {
    let mut conditions = Vec::new();
    conditions.extend(expectation.above.map(|bound| format!("above {bound}")));
    conditions.extend(expectation.below.map(|bound| format!("below {bound}")));
    conditions.extend(expectation.near.map(|(target, tolerance)| format!("within {tolerance} of {target}")));
    conditions.extend(expectation.equal.as_ref().map(|expected| match expected {
        ExpectedValue::Number(number) => number.to_string(),
        ExpectedValue::Flag(flag) => flag.to_string(),
        ExpectedValue::Word(word) => format!("\"{word}\""),
    }));
    conditions.join(" and ")
}

fn time_of(frame: &Value) -> f64 {
    frame["time"].as_f64().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use phyxel_scene::Subject;
    use serde_json::json;

    fn expect_height(time: ExpectedTime) -> Expectation {
        Expectation {
            line: Some(7),
            time,
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
        let mut checker = ExpectationChecker::new(&[expectation], 1.0);
        for frame in 0..=frames {
            let height = 3.0 - f64::from(frame);
            checker.observe(json!({ "frame": frame, "time": f64::from(frame), "totals": {},
                "bodies": [{ "name": "cube", "centre": [0.0, height, 0.0], "whole": true, "model": "tetra" }] }));
        }
        checker.findings(frames == 3).remove(0)
    }

    #[test]
    fn the_end_is_evaluated_at_the_end_only() {
        let expectation = Expectation { below: Some(0.5), ..expect_height(ExpectedTime::End) };
        assert_eq!(watch(expectation.clone(), 3).passed, Some(true));
        assert_eq!(watch(expectation, 2).passed, None);
    }

    #[test]
    fn a_time_is_evaluated_in_the_nearest_frame() {
        let expectation = Expectation { near: Some((2.0, 0.1)), ..expect_height(ExpectedTime::At(1.4)) };
        assert_eq!(watch(expectation.clone(), 3).passed, Some(true));
        assert_eq!(watch(expectation, 0).passed, None);
    }

    #[test]
    fn always_fails_in_the_first_frame_that_fails() {
        let finding = watch(Expectation { above: Some(1.5), ..expect_height(ExpectedTime::Always) }, 3);
        assert_eq!((finding.passed, finding.value), (Some(false), json!(1.0)));
        assert_eq!(finding.message, "bodies.cube.centre.1 is 1.0 in frame 2 (2.000 s), but expected above 1.5");
        assert_eq!(
            watch(Expectation { above: Some(-1.0), ..expect_height(ExpectedTime::Always) }, 3).passed,
            Some(true)
        );
    }

    #[test]
    fn flags_and_words_are_compared_for_equality() {
        let equal = |key: &str, expected| {
            let keys = vec![key.to_string()];
            watch(Expectation { path: keys, equal: Some(expected), ..expect_height(ExpectedTime::End) }, 3).passed
        };
        assert_eq!(equal("whole", ExpectedValue::Flag(true)), Some(true));
        assert_eq!(equal("whole", ExpectedValue::Number(1.0)), Some(false));
        assert_eq!(equal("model", ExpectedValue::Word("tetra".into())), Some(true));
    }

    #[test]
    fn a_missing_quantity_fails_with_the_existing_ones() {
        let expectation =
            Expectation { path: vec!["mood".into()], above: Some(0.0), ..expect_height(ExpectedTime::End) };
        let finding = watch(expectation, 3);
        assert_eq!(finding.passed, Some(false));
        assert!(finding.message.contains("bodies.cube has no \"mood\"; known: centre, model"), "{}", finding.message);
    }
}
