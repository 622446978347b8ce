//! Convergence tables of `validation/heat.md`.

use crate::common::golden;
use crate::experiments::{CUBES, ball_error, film_error, glow_error, plate_error, slab_error, stefan_error};
use crate::mass_spring::{self, LATTICE};
use crate::order;
use std::fmt::Write;

/// Relative tolerance: tables have three digits, the last of which may be rounded either way.
const ROUNDING: f64 = 0.02;

const HEAD: &str = "# Heat transfer against closed forms

Written by a test, which fails if its results no longer agree. To rewrite it:

```
PHYXEL_BLESS=1 cargo nextest run -p phyxel --test heat table
```

Bodies are cubic lattices of density 1000 kg/m3, specific heat 500 J/(kg K) and conductivity 2 W/(m K), by default of
shape matching. Each row has the number of cells, the error, and the order of convergence in the spacing with respect to
the row above. Prescribed surface temperatures are exchange with a coefficient of 1e9 W/(m2 K) through the faces.
";

struct Experiment {
    title: &'static str,
    about: &'static str,
    cells: &'static [u32],
    error: fn(u32) -> f64,
}

const EXPERIMENTS: [Experiment; 7] = [
    Experiment {
        title: "Slab",
        about: "A slab, initially at 0, has its two faces at 1. Largest error of a cell against the series at \
                Fourier number 0.1. Cells and steps (explicit, a twentieth of the squared spacing over the \
                diffusivity) are of second order.",
        cells: &[8, 16, 32],
        error: |cells| slab_error(CUBES, cells),
    },
    Experiment {
        title: "Plate with four times the conductivity along x",
        about: "A square plate, initially at 0, has its four edges at 1. Largest error of a cell against the product \
                of two series, at Fourier number 0.2 along x and 0.05 along y.",
        cells: &[8, 16, 32],
        error: |cells| plate_error(CUBES, cells),
    },
    Experiment {
        title: "Ball",
        about: "A ball, initially at 0, has its surface at 1; cells are counted along the diameter. Error of the \
                mean temperature against the series at Fourier number 0.05. The surface of a ball of cells is a \
                staircase, which is defined only to a fraction of a cell, so first order is expected. A radius \
                smaller by one cell raises the mean by 0.91 over the number of cells: the error is that of a fifth \
                of a cell, because heat enters through dents sooner than through protruding steps. Below 20 cells \
                the error depends on the individual staircase.",
        cells: &[24, 36, 48],
        error: ball_error,
    },
    Experiment {
        title: "Stefan problem",
        about: "A column at its melting point is 80 degrees hotter at its lower end; Stefan number 0.4. Relative \
                error of the height of the front against the closed form, when that is at half height, with 4 steps \
                per cell. A cell melts as a whole, so heat enters the front in bursts: first order.",
        cells: &[25, 50, 100, 200],
        error: |cells| stefan_error(cells, 4 * cells),
    },
    Experiment {
        title: "Mass-spring slab",
        about: "The slab above, as a mass-spring lattice: particles at cell corners, some of them on the faces.",
        cells: &[8, 16, 32],
        error: |cells| slab_error(LATTICE, cells),
    },
    Experiment {
        title: "Mass-spring plate with four times the conductivity along x",
        about: "The plate above, as a mass-spring lattice.",
        cells: &[8, 16, 32],
        error: |cells| plate_error(LATTICE, cells),
    },
    Experiment {
        title: "Mass-spring ball",
        about: "The ball above, as a mass-spring lattice; the mean is by mass. All particles of the staircase, also \
                those in its dents, have the surface temperature, so more of the ball is warm than with cells.",
        cells: &[24, 36, 48],
        error: mass_spring::ball_error,
    },
];

fn write_table(text: &mut String, experiment: &Experiment) {
    let Experiment { title, about, cells, error } = experiment;
    writeln!(text, "\n## {title}\n\n{about}\n\n| cells | error | order |\n|---|---|---|").unwrap();
    let mut coarser: Option<(u32, f64)> = None;
    for &count in *cells {
        let found = error(count);
        let order = coarser.map(|(fewer, error)| order(error, found, f64::from(count) / f64::from(fewer)));
        let order = order.map_or(String::new(), |order| format!(" {order:.2}"));
        writeln!(text, "| {count} | {found:.2e} |{order} |").unwrap();
        coarser = Some((count, found));
    }
}

/// Prints an error at the level of rounding as a bound.
fn bound(error: f64) -> &'static str {
    if error.abs() < 1e-6 { "below 1e-6" } else { "ABOVE 1e-6" }
}

fn write_steady_states(text: &mut String) {
    text.push_str("\n## Steady states\n\nReached with long steps. Temperatures have 24 bits.\n\n");
    text.push_str("| experiment | relative error |\n|---|---|\n");
    let film = [1, 4, 16].map(film_error).into_iter().fold(0.0, f64::max);
    let rows = [
        ("slab between a wall and air, linear, wall, slab and film in series; 1, 4 and 16 cells", film),
        (
            "radiating cube with a volumetric source: temperature at which the two balance; 10 steps of a day",
            glow_error(10),
        ),
    ];
    rows.iter().for_each(|(what, error)| writeln!(text, "| {what} | {} |", bound(*error)).unwrap());
}

/// Returns true if two numbers agree: orders have two decimals, errors three significant digits.
fn agree(a: f64, b: f64) -> bool {
    (a - b).abs() <= ROUNDING * a.abs().max(b.abs()) || ((a - b).abs() < 0.03 && a.abs() > 0.1)
}

#[test]
fn the_table_is_what_the_experiments_find() {
    let mut text = HEAD.to_string();
    EXPERIMENTS.iter().for_each(|experiment| write_table(&mut text, experiment));
    write_steady_states(&mut text);
    golden::assert_agrees("heat.md", &text, agree);
}
