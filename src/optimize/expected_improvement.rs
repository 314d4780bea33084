//! The logarithm of expected improvement, which stays finite and ordered where expected improvement itself is 0 to the computer.
//!
//! Ament, Daulton, Eriksson, Balandat and Bakshy, "Unexpected Improvements to Expected Improvement for Bayesian Optimization" (2023).

use statrs::function::erf::erfc;
use std::f64::consts::{PI, SQRT_2};

/// ln E[max(f - best, 0)] for f normal with `mean` above `best` by `gain` and standard deviation `sd`.
pub(super) fn log_expected_improvement(gain: f64, sd: f64) -> f64 {
    if sd > 0.0 {
        sd.ln() + log_h(gain / sd)
    } else {
        gain.max(0.0).ln()
    }
}

/// ln(φ(z) + z Φ(z)).
///
/// With x = -z, h = φ(x) (1 - x M(x)), where M is Mills' ratio and, by its continued fraction (Abramowitz and Stegun, 26.2.14),
/// M(x) = 1 / (x + K(x)) with K(x) = 1/(x + 2/(x + 3/(x + ...))). So 1 - x M = K / (x + K), in which nothing cancels.
fn log_h(z: f64) -> f64 {
    let log_density = -0.5 * z * z - 0.5 * (2.0 * PI).ln();
    if z > -1.5 {
        return (log_density.exp() + z * 0.5 * erfc(-z / SQRT_2)).ln();
    }
    let x = -z;
    // 60 terms give 12 digits at x = 1.5, and more above.
    let k = (1..=60).rev().fold(0.0, |tail, i| f64::from(i) / (x + tail));
    log_density + (k / (x + k)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        // ln(φ(z) + z Φ(z)), computed with 60 digits.
        for (z, expected) in [
            (3.0, 1.098739665327708),
            (0.0, -0.9189385332046727),
            (-1.0, -2.485121025712641),
            (-1.49, -3.507178953408392),
            (-1.51, -3.552770599873528),
            (-3.0, -7.869686059603029),
            (-8.0, -37.12236426169263),
            (-50.0, -1258.744182868461),
        ] {
            let relative = (log_h(z) / expected - 1.0f64).abs();
            assert!(relative < 1e-9, "at {z}: {} for {expected}", log_h(z));
        }
    }

    #[test]
    fn it_rises_with_gain_and_with_uncertainty() {
        let at = log_expected_improvement;
        for i in -400..40 {
            let gain = f64::from(i) / 10.0;
            assert!(at(gain + 0.1, 1.0) > at(gain, 1.0), "at {gain}");
            assert!(at(gain, 1.1) > at(gain, 1.0), "at {gain}");
        }
        assert!(at(-1e6, 1.0).is_finite());
        assert_eq!(at(-1.0, 0.0), f64::NEG_INFINITY);
        assert_eq!(at(1.0, 0.0), 0.0);
    }
}
