//! Golden test of the table of errors in `validation/tetra.md`.
//!
//! With `PHYXEL_BLESS=1` the table is rewritten; otherwise the results must agree with it.

use crate::Cut;
use crate::beams::{Beam, POISSON, YOUNG, constants, deflection_ratio, frequency_ratio};
use std::fmt::Write;
use std::path::Path;

/// Errors are in percent with two decimals, the last of which may be rounded either way.
const ROUNDING: f64 = 0.02;

const HEAD: &str = "# Tetrahedra against closed forms

Written by a test, which fails when its results differ from this table. To write it again:

```
PHYXEL_BLESS=1 cargo nextest run -p phyxel --test tetra table
```

A cantilever four times as long as wide with Young's modulus 1e6 Pa, Poisson's ratio 0.3 and density 1000
kg/m3. Its elastic constants are measured in the middle half while it hangs by the clamp. The deflection is
that of its tip under self-weight, over that of a Timoshenko beam; the frequency is the first in bending, over
the closed form. Cubic cells are divided into six tetrahedra around a diagonal, or around their centres as the
mesher does (body-centred cubic). Jittered inner nodes are displaced by up to 0.15 cells along every axis.
Linear tetrahedra are too stiff in bending, by an error that falls with the square of their size. Errors in
percent.

";

fn percent(ratio: f64) -> String {
    format!("{:+.2}", 100.0 * (ratio - 1.0))
}

fn row(text: &mut String, name: &str, beam: Beam) {
    let (young, poisson) = constants(beam);
    let [young, poisson] = [young / YOUNG, poisson / POISSON].map(percent);
    let [deflection, frequency] = [deflection_ratio(beam), frequency_ratio(beam)].map(percent);
    let Beam { across, .. } = beam;
    writeln!(text, "| {name} | {across} | {young} | {poisson} | {deflection} | {frequency} |").unwrap();
}

fn write_table() -> String {
    let mut text = HEAD.to_string();
    text.push_str("| mesh | cells across | Young's modulus | Poisson's ratio | deflection | frequency |\n");
    text.push_str("|---|---|---|---|---|---|\n");
    for across in [2, 4, 6, 8] {
        row(&mut text, "six per cell", Beam { across, cut: Cut::Six, jitter: 0.0 });
    }
    for across in [2, 4, 6, 8] {
        row(&mut text, "body-centred", Beam { across, cut: Cut::Centred, jitter: 0.0 });
    }
    for across in [2, 4, 6, 8] {
        row(&mut text, "body-centred, jittered", Beam { across, cut: Cut::Centred, jitter: 0.15 });
    }
    text
}

fn numbers(text: &str) -> Vec<f64> {
    text.split(['|', ' ', '\n']).filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn the_table_agrees_with_the_results() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../validation/tetra.md");
    let found = write_table();
    if std::env::var_os("PHYXEL_BLESS").is_some() {
        std::fs::write(&path, found).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let (found_numbers, expected_numbers) = (numbers(&found), numbers(&expected));
    let same = found_numbers.len() == expected_numbers.len()
        && found_numbers.iter().zip(&expected_numbers).all(|(a, b)| (a - b).abs() <= ROUNDING);
    assert!(same, "validation/tetra.md has\n{expected}\nbut the results are\n{found}");
}
