//! How well hyperparameters explain the data: the negative log posterior, with its gradient.

use super::{
    Datum,
    kernel::{matern52, matern52_slope, scaled_features, squared_distance},
};
use crate::space::UnitDim;
use faer::{Mat, Side, linalg::solvers::DenseSolveCore, linalg::solvers::Llt};
use std::f64::consts::PI;

/// A share of the signal's variance that is always on the diagonal, so that repeats of a point do not make the matrix singular.
const NUGGET: f64 = 1e-8;

/// Largest change of a log-hyperparameter from the middle of its prior that is still computed with (a factor of e^15).
const REACH: f64 = 15.0;

/// Value of hyperparameters that cannot be computed with: large, but finite, because a line search does not end on an infinite one.
pub(super) const BARRIER: f64 = 1e12;

/// A normal prior on the logarithm of a hyperparameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LogNormal {
    pub median: f64,
    /// Standard deviation of the logarithm.
    pub sigma: f64,
}

/// The data and the priors. Hyperparameters θ are natural logarithms, in this order: the length scale of each knob,
/// the standard deviation of the signal, the standard deviation of the noise that the known standard errors leave unexplained.
pub(super) struct Evidence {
    knobs: usize,
    /// Log throughput less its average.
    y: Vec<f64>,
    known_variance: Vec<f64>,
    /// For each pair (i, j) with j < i, in rows: the squared distance of the features of each knob.
    pair_distances: Vec<f64>,
    /// Standard deviation of the constant mean, about the average of the data.
    mean_sd: f64,
    priors: Vec<LogNormal>,
}

impl Evidence {
    /// `data` must be checked: points as long as `dims`, everything finite.
    pub fn new(dims: &[UnitDim], data: &[Datum], center: f64) -> Self {
        let ones = vec![1.0; dims.len()];
        let mut pair_distances = Vec::with_capacity(data.len() * data.len() / 2 * dims.len());
        let features: Vec<_> = data
            .iter()
            .map(|datum| scaled_features(dims, &ones, &datum.point))
            .collect();
        for i in 0..data.len() {
            for j in 0..i {
                let mut start = 0;
                for dim in dims {
                    let end = start + dim.feature_count();
                    pair_distances.push(squared_distance(
                        &features[i][start..end],
                        &features[j][start..end],
                    ));
                    start = end;
                }
            }
        }
        let y: Vec<f64> = data.iter().map(|datum| datum.log_y - center).collect();
        let spread = (y.iter().map(|y| y * y).sum::<f64>() / y.len() as f64)
            .sqrt()
            .max(0.05);
        Self {
            knobs: dims.len(),
            y,
            known_variance: data.iter().map(|datum| datum.log_stderr.powi(2)).collect(),
            pair_distances,
            mean_sd: spread,
            priors: priors(dims.len(), spread),
        }
    }

    pub fn priors(&self) -> &[LogNormal] {
        &self.priors
    }

    pub fn mean_sd(&self) -> f64 {
        self.mean_sd
    }

    /// The covariance of the data under θ, factored; none where it is not positive definite even with some jitter.
    pub fn factor(&self, theta: &[f64]) -> Option<Llt<f64>> {
        let covariance = self.covariance(theta);
        let scale = (0..self.y.len()).map(|i| covariance[(i, i)]).fold(0.0, f64::max);
        [0.0, 1e-9, 1e-7, 1e-5].into_iter().find_map(|jitter| {
            let jittered = Mat::from_fn(self.y.len(), self.y.len(), |i, j| {
                covariance[(i, j)] + if i == j { jitter * scale } else { 0.0 }
            });
            jittered.llt(Side::Lower).ok()
        })
    }

    /// Negative log posterior of θ over the number of data, and its gradient.
    pub fn value_and_gradient(&self, theta: &[f64]) -> (f64, Vec<f64>) {
        let n = self.y.len();
        // NaN is out of reach too: no range contains it.
        let out_of_reach =
            |(theta, prior): (&f64, &LogNormal)| !(-REACH..REACH).contains(&(theta - prior.median.ln()));
        if theta.iter().zip(&self.priors).any(out_of_reach) {
            return (BARRIER, vec![0.0; theta.len()]);
        }
        let Some(llt) = self.factor(theta) else {
            return (BARRIER, vec![0.0; theta.len()]);
        };
        let inverse = llt.inverse();
        let alpha: Vec<f64> = (0..n)
            .map(|i| (0..n).map(|j| inverse[(i, j)] * self.y[j]).sum())
            .collect();
        let fit: f64 = alpha.iter().zip(&self.y).map(|(a, y)| a * y).sum();
        let half_log_det: f64 = (0..n).map(|i| llt.L()[(i, i)].ln()).sum();
        let mut value = 0.5 * fit + half_log_det + 0.5 * n as f64 * (2.0 * PI).ln();

        // dL/dθ = tr((K⁻¹ - αα') dK/dθ) / 2: Rasmussen and Williams (2006), eq. 5.9.
        let mut gradient = vec![0.0; theta.len()];
        let [signal, noise] = [self.knobs, self.knobs + 1];
        let signal_variance = (2.0 * theta[signal]).exp();
        let weights = self.weights(theta);
        for (i, j, squares) in self.pairs() {
            let r2: f64 = squares
                .iter()
                .zip(&weights)
                .map(|(square, weight)| square * weight)
                .sum();
            let pull = (inverse[(i, j)] - alpha[i] * alpha[j]) * signal_variance;
            gradient[signal] += 2.0 * pull * matern52(r2);
            let slope = pull * matern52_slope(r2);
            for (knob, square) in squares.iter().enumerate() {
                gradient[knob] += slope * square * weights[knob];
            }
        }
        let trace: f64 = (0..n).map(|i| inverse[(i, i)] - alpha[i] * alpha[i]).sum();
        gradient[signal] += trace * signal_variance * (1.0 + NUGGET);
        gradient[noise] += trace * (2.0 * theta[noise]).exp();

        for ((theta, prior), slope) in theta.iter().zip(&self.priors).zip(&mut gradient) {
            let z = (theta - prior.median.ln()) / prior.sigma;
            value += 0.5 * z * z;
            *slope += z / prior.sigma;
        }
        gradient.iter_mut().for_each(|slope| *slope /= n as f64);
        (value / n as f64, gradient)
    }

    /// (i, j, squared distance for each knob) of all pairs with j < i.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize, &[f64])> {
        let knobs = self.knobs;
        (0..self.y.len()).flat_map(move |i| {
            (0..i).map(move |j| {
                let at = (i * (i - 1) / 2 + j) * knobs;
                (i, j, &self.pair_distances[at..at + knobs])
            })
        })
    }

    fn weights(&self, theta: &[f64]) -> Vec<f64> {
        theta[..self.knobs]
            .iter()
            .map(|ln_scale| (-2.0 * ln_scale).exp())
            .collect()
    }

    fn covariance(&self, theta: &[f64]) -> Mat<f64> {
        let signal_variance = (2.0 * theta[self.knobs]).exp();
        let noise_variance = (2.0 * theta[self.knobs + 1]).exp();
        let mean_variance = self.mean_sd * self.mean_sd;
        let weights = self.weights(theta);
        let n = self.y.len();
        let mut covariance = Mat::zeros(n, n);
        for (i, j, squares) in self.pairs() {
            let r2: f64 = squares
                .iter()
                .zip(&weights)
                .map(|(square, weight)| square * weight)
                .sum();
            covariance[(i, j)] = signal_variance * matern52(r2) + mean_variance;
        }
        for (i, known) in self.known_variance.iter().enumerate() {
            covariance[(i, i)] = signal_variance * (1.0 + NUGGET) + mean_variance + noise_variance + known;
        }
        covariance
    }
}

/// What is believed before the data.
///
/// Length scales: 0.5 of a knob's range for one knob, growing with the square root of their number, because the distance of two
/// random points does (Hvarfner, Hellsten and Nardi, "Vanilla Bayesian Optimization Performs Great in High Dimensions", 2024), and so
/// wide that a knob which does nothing gets out of the way. Signal: about as much as the data vary. Remaining noise: about 3%, what
/// repeated short trials of one configuration differ by beyond their own standard errors.
fn priors(knobs: usize, spread: f64) -> Vec<LogNormal> {
    let length = LogNormal {
        median: 0.5 * (knobs.max(1) as f64).sqrt(),
        sigma: 1.0,
    };
    let mut priors = vec![length; knobs];
    priors.push(LogNormal {
        median: spread,
        sigma: 1.0,
    });
    priors.push(LogNormal {
        median: 0.03,
        sigma: 0.8,
    });
    priors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Evidence {
        let dims = [
            UnitDim::Number {
                steps: None,
                special: 0,
            },
            UnitDim::Choice { n: 3 },
            UnitDim::Number {
                steps: Some(4),
                special: 1,
            },
        ];
        let data: Vec<Datum> = (0..9)
            .map(|i| {
                let x = i as f64;
                Datum {
                    point: vec![(x * 0.37) % 1.0, (x * 0.41) % 1.0, (x * 0.23) % 1.0],
                    log_y: (x * 1.3).sin(),
                    log_stderr: 0.01 * (1.0 + x),
                }
            })
            .collect();
        Evidence::new(&dims, &data, 0.1)
    }

    #[test]
    fn the_gradient_agrees_with_central_differences() {
        let evidence = example();
        for theta in [
            [-0.5, 0.1, 0.3, -0.2, -3.0],
            [0.5, -1.0, 2.0, 1.0, -1.0],
            [-2.0, 0.0, 1.0, -1.0, -6.0],
        ] {
            let (_, gradient) = evidence.value_and_gradient(&theta);
            for k in 0..theta.len() {
                let at = |step: f64| {
                    let mut moved = theta;
                    moved[k] += step;
                    evidence.value_and_gradient(&moved).0
                };
                let numeric = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!(
                    (gradient[k] - numeric).abs() < 1e-6,
                    "{k} of {theta:?}: {} {numeric}",
                    gradient[k]
                );
            }
        }
    }

    #[test]
    fn the_value_of_one_datum_is_the_normal_density() {
        let datum = Datum {
            point: vec![0.3],
            log_y: 0.7,
            log_stderr: 0.2,
        };
        let evidence = Evidence::new(
            &[UnitDim::Number {
                steps: None,
                special: 0,
            }],
            &[datum],
            0.0,
        );
        let theta: Vec<f64> = evidence.priors().iter().map(|prior| prior.median.ln()).collect();
        // At the medians the priors add nothing; the spread of a lone 0.7 about 0 is 0.7.
        let variance: f64 = 0.49 * (1.0 + NUGGET) + 0.49 + 0.0009 + 0.04;
        let expected = 0.5 * 0.49 / variance + 0.5 * (2.0 * PI * variance).ln();
        assert!((evidence.value_and_gradient(&theta).0 - expected).abs() < 1e-12);
    }

    #[test]
    fn what_cannot_be_computed_is_a_finite_barrier() {
        let evidence = example();
        for bad in [f64::NAN, f64::INFINITY, 800.0, -800.0] {
            let (value, gradient) = evidence.value_and_gradient(&[bad, 0.0, 0.0, 0.0, -3.0]);
            assert_eq!((value, gradient), (BARRIER, vec![0.0; 5]));
        }
    }
}
