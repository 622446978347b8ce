//! Closed forms of heat conduction (Carslaw and Jaeger, Conduction of Heat in Solids).

use std::f64::consts::PI;

/// Temperature in a slab from 0 to 1, initially 0, with faces at 1, at Fourier number `time`.
pub fn slab(x: f64, time: f64) -> f64 {
    let odd = (0..200).map(|k| f64::from(2 * k + 1));
    1.0 - odd.map(|n| 4.0 / (n * PI) * (n * PI * x).sin() * (-n * n * PI * PI * time).exp()).sum::<f64>()
}

/// Temperature in a ball of radius 1, initially 0, with its surface at 1.
pub fn ball(r: f64, time: f64) -> f64 {
    let term = |n: i32| {
        let k = f64::from(n) * PI;
        let shape = if r * k > 1e-6 { (k * r).sin() / (k * r) } else { 1.0 };
        2.0 * if n % 2 == 0 { 1.0 } else { -1.0 } * shape * (-k * k * time).exp()
    };
    1.0 + (1..200).map(term).sum::<f64>()
}

/// Error function by its series, for arguments up to 3.
pub fn erf(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    for n in 1..100 {
        let n = f64::from(n);
        term *= -x * x / n;
        sum += term / (2.0 * n + 1.0);
    }
    2.0 / PI.sqrt() * sum
}

/// Similarity parameter of the Stefan problem, `lambda exp(lambda^2) erf(lambda) = stefan/sqrt(pi)`, by
/// bisection.
pub fn stefan(stefan: f64) -> f64 {
    let (mut low, mut high) = (0.0, 2.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        let value: f64 = middle * f64::exp(middle * middle) * erf(middle) - stefan / PI.sqrt();
        if value < 0.0 { low = middle } else { high = middle }
    }
    low
}

#[test]
fn closed_forms_have_their_known_values() {
    assert!((erf(1.0) - 0.842_700_792_949_715).abs() < 1e-14);
    // A Stefan number of 1 has lambda 0.6201.
    assert!((stefan(1.0) - 0.620_063).abs() < 1e-6);
    // By the first terms alone: 1 - 4/pi exp(-pi2/10) + 4/(3 pi) exp(-9 pi2/10).
    assert!(
        (slab(0.5, 0.1) - (1.0 - 4.0 / PI * (-PI * PI / 10.0).exp() + 4.0 / (3.0 * PI) * (-0.9 * PI * PI).exp())).abs()
            < 1e-9
    );
    assert!((ball(0.0, 0.1) - (1.0 - 2.0 * (-PI * PI / 10.0).exp() + 2.0 * (-0.4 * PI * PI).exp())).abs() < 1e-3);
    assert!((ball(1.0, 0.05) - 1.0).abs() < 1e-12);
}
