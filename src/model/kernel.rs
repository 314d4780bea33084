//! The Matérn 5/2 kernel with a length scale for each knob.
//!
//! k(r) = (1 + √5 r + 5/3 r²) exp(-√5 r), after Rasmussen and Williams, *Gaussian Processes for Machine Learning* (2006), eq. 4.17.
//! r² is the sum over knobs of the squared distance of their features over the squared length scale.

use crate::space::UnitDim;

/// Correlation of two points whose scaled squared distance is `r2`.
pub(super) fn matern52(r2: f64) -> f64 {
    let s = (5.0 * r2).sqrt();
    (1.0 + s + s * s / 3.0) * (-s).exp()
}

/// -2 dk/d(r²). With r² = Σ d²/ℓ², the derivative of k by ln ℓ is this times d²/ℓ².
pub(super) fn matern52_slope(r2: f64) -> f64 {
    let s = (5.0 * r2).sqrt();
    5.0 / 3.0 * (1.0 + s) * (-s).exp()
}

/// The features of `point`, each over the length scale of its knob: plain squared distance between two such is r².
pub(super) fn scaled_features(dims: &[UnitDim], length_scales: &[f64], point: &[f64]) -> Vec<f64> {
    let mut out = Vec::with_capacity(dims.iter().map(UnitDim::feature_count).sum());
    for ((dim, &u), &scale) in dims.iter().zip(point).zip(length_scales) {
        let start = out.len();
        dim.features(u, &mut out);
        out[start..].iter_mut().for_each(|feature| *feature /= scale);
    }
    out
}

/// Squared Euclidean distance.
pub(super) fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        assert_eq!(matern52(0.0), 1.0);
        // (1 + √5 + 5/3) e^-√5, computed with 30 digits.
        assert!(
            (matern52(1.0) - 0.523_994_108_831_827).abs() < 1e-12,
            "{}",
            matern52(1.0)
        );
        assert!(matern52(1e6) < 1e-300);
    }

    #[test]
    fn the_slope_is_the_derivative_by_the_log_length_scale() {
        for d in [0.01, 0.3, 1.0, 4.0f64] {
            let at = |ln_scale: f64| matern52((d / ln_scale.exp()).powi(2));
            let numeric = (at(0.2 + 1e-5) - at(0.2 - 1e-5)) / 2e-5;
            let r2 = (d / 0.2f64.exp()).powi(2);
            assert!((numeric - matern52_slope(r2) * r2).abs() < 1e-9, "at {d}");
        }
    }

    #[test]
    fn a_knob_with_special_values_shares_one_length_scale() {
        let dims = [
            UnitDim::Number {
                steps: None,
                special: 1,
            },
            UnitDim::Choice { n: 2 },
        ];
        let features = scaled_features(&dims, &[0.5, 2.0], &[0.05, 0.75]);
        assert_eq!(features, [1.0, 2.0, 0.0, 0.5]);
    }
}
