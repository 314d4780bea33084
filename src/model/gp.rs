//! The Gaussian process: fit it to trials, ask it about configurations.

use super::{
    Datum,
    evidence::Evidence,
    kernel::{matern52, scaled_features, squared_distance},
    search::maximise,
};
use crate::space::UnitDim;

/// Why no model could be fitted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FitError {
    /// Fewer than two data.
    #[error("a model needs at least 2 measured trials, there are {0}")]
    TooFew(usize),
    /// A datum does not have one coordinate for each knob.
    #[error("trial {datum} of the data has {found} coordinates, the space has {expected} knobs")]
    Shape {
        /// Which, from 0.
        datum: usize,
        /// Its coordinates.
        found: usize,
        /// Knobs of the space.
        expected: usize,
    },
    /// A number is NaN or infinite, or a standard error is negative.
    #[error("trial {0} of the data has a number that is not finite or a negative standard error")]
    NotFinite(usize),
    /// No hyperparameters could be computed: the data differ by more than any throughputs do.
    #[error("no hyperparameters explain the data: they differ by too many orders of magnitude")]
    Unexplained,
}

/// What the model says about a configuration. Everything is on the scale of log throughput.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Mean of the true log throughput.
    pub log_mean: f64,
    /// Standard deviation of the true log throughput.
    pub log_sd: f64,
    /// Standard deviation that one new measured trial adds: the estimated remainder and the typical known standard error.
    pub log_noise_sd: f64,
}

/// A Gaussian process with a constant mean, a Matérn 5/2 kernel with a length scale for each knob, the known noise of each trial and an
/// estimated remainder. Hyperparameters are the maximum of their posterior.
#[derive(Clone, Debug)]
pub struct Gp {
    dims: Vec<UnitDim>,
    length_scales: Vec<f64>,
    signal_variance: f64,
    mean_variance: f64,
    noise_sd: f64,
    center: f64,
    /// Scaled features of each datum.
    features: Vec<Vec<f64>>,
    /// Rows of the lower Cholesky factor of the covariance of the data; row i has i + 1 entries.
    lower: Vec<Vec<f64>>,
    /// The data, less their average, through the lower factor.
    whitened: Vec<f64>,
}

impl Gp {
    /// Fits the model to at least two trials; repeats of a point are welcome. The same input gives the same model.
    pub fn fit(dims: &[UnitDim], data: &[Datum], seed: u64) -> Result<Self, FitError> {
        check(dims, data)?;
        let center = data.iter().map(|datum| datum.log_y).sum::<f64>() / data.len() as f64;
        let evidence = Evidence::new(dims, data, center);
        let theta = maximise(&evidence, seed).ok_or(FitError::Unexplained)?.theta;
        let factor = evidence.factor(&theta).ok_or(FitError::Unexplained)?;
        let lower: Vec<Vec<f64>> = (0..data.len())
            .map(|i| (0..=i).map(|j| factor.L()[(i, j)]).collect())
            .collect();
        let length_scales: Vec<f64> = theta[..dims.len()].iter().map(|ln| ln.exp()).collect();
        let remainder = (2.0 * theta[dims.len() + 1]).exp();
        Ok(Self {
            dims: dims.to_vec(),
            signal_variance: (2.0 * theta[dims.len()]).exp(),
            mean_variance: evidence.mean_sd().powi(2),
            noise_sd: (remainder + median(data.iter().map(|datum| datum.log_stderr)).powi(2)).sqrt(),
            center,
            features: data
                .iter()
                .map(|datum| scaled_features(dims, &length_scales, &datum.point))
                .collect(),
            whitened: forward(&lower, data.iter().map(|datum| datum.log_y - center)),
            length_scales,
            lower,
        })
    }

    /// Length scale of each knob, in units of its range: short where throughput depends on it, long where it does not.
    pub fn length_scales(&self) -> &[f64] {
        &self.length_scales
    }

    /// Prediction at `point`, which has a coordinate for each knob.
    pub fn predict(&self, point: &[f64]) -> Prediction {
        let features = scaled_features(&self.dims, &self.length_scales, point);
        let solved = forward(
            &self.lower,
            self.covariances(&features)
                .into_iter()
                .map(|k| k + self.mean_variance),
        );
        let variance = self.signal_variance + self.mean_variance - dot(&solved, &solved);
        Prediction {
            log_mean: self.center + dot(&solved, &self.whitened),
            log_sd: variance.max(0.0).sqrt(),
            log_noise_sd: self.noise_sd,
        }
    }

    /// Mean and standard deviation of the true log throughput at `a` less that at `b`, from their joint posterior: what the two have
    /// in common cancels.
    pub fn predict_difference(&self, a: &[f64], b: &[f64]) -> (f64, f64) {
        let [a, b] = [a, b].map(|point| scaled_features(&self.dims, &self.length_scales, point));
        let [to_a, to_b] = [&a, &b].map(|features| self.covariances(features));
        let solved = forward(&self.lower, to_a.iter().zip(&to_b).map(|(a, b)| a - b));
        let apart = 2.0 * self.signal_variance * (1.0 - matern52(squared_distance(&a, &b)));
        (
            dot(&solved, &self.whitened),
            (apart - dot(&solved, &solved)).max(0.0).sqrt(),
        )
    }

    /// Posterior over prior standard deviation at `point`: near 0 where the data speak, near 1 where the model only repeats what it
    /// believed before, which is to say outside the data.
    pub fn prior_share(&self, point: &[f64]) -> f64 {
        (self.predict(point).log_sd / self.signal_variance.sqrt()).min(1.0)
    }

    /// Distance of two points in the fitted length scales; 1 is where the correlation is about one half.
    pub fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let [a, b] = [a, b].map(|point| scaled_features(&self.dims, &self.length_scales, point));
        squared_distance(&a, &b).sqrt()
    }

    fn covariances(&self, features: &[f64]) -> Vec<f64> {
        self.features
            .iter()
            .map(|datum| self.signal_variance * matern52(squared_distance(datum, features)))
            .collect()
    }
}

fn check(dims: &[UnitDim], data: &[Datum]) -> Result<(), FitError> {
    for (i, datum) in data.iter().enumerate() {
        if datum.point.len() != dims.len() {
            return Err(FitError::Shape {
                datum: i,
                found: datum.point.len(),
                expected: dims.len(),
            });
        }
        let finite = datum.point.iter().all(|u| u.is_finite()) && datum.log_y.is_finite();
        if !finite || !(0.0..f64::INFINITY).contains(&datum.log_stderr) {
            return Err(FitError::NotFinite(i));
        }
    }
    if data.len() < 2 {
        Err(FitError::TooFew(data.len()))
    } else {
        Ok(())
    }
}

/// Solves L x = b.
fn forward(lower: &[Vec<f64>], b: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut x: Vec<f64> = Vec::with_capacity(lower.len());
    for (row, b) in lower.iter().zip(b) {
        x.push((b - dot(row, &x)) / row[row.len() - 1]);
    }
    x
}

/// Sum of products over the length of the shorter.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[half]
    } else {
        (sorted[half - 1] + sorted[half]) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_pcg::Pcg64;

    fn numbers(n: usize) -> Vec<UnitDim> {
        vec![
            UnitDim::Number {
                steps: None,
                special: 0
            };
            n
        ]
    }

    fn sobol_point(dims: usize, seed: u64, i: usize) -> Vec<f64> {
        (0..dims as u32)
            .map(|dim| sobol_burley::sample(i as u32, dim, seed as u32).into())
            .collect()
    }

    fn normal(rng: &mut Pcg64) -> f64 {
        let [u, v]: [f64; 2] = [1.0 - rng.random::<f64>(), rng.random()];
        (-2.0 * u.ln()).sqrt() * (2.0 * std::f64::consts::PI * v).cos()
    }

    fn sample(n: usize, dims: usize, seed: u64, y: impl Fn(&[f64]) -> f64) -> Vec<Datum> {
        (0..n)
            .map(|i| {
                let point = sobol_point(dims, seed, i);
                Datum {
                    log_y: y(&point),
                    point,
                    log_stderr: 0.0,
                }
            })
            .collect()
    }

    #[test]
    fn a_smooth_function_is_interpolated() {
        let f = |x: &[f64]| 5.0 + (3.0 * x[0]).sin() + x[1] * x[1];
        let gp = Gp::fit(&numbers(2), &sample(25, 2, 1, f), 1).unwrap();
        for i in 100..120 {
            let x = sobol_point(2, 2, i);
            let prediction = gp.predict(&x);
            assert!(
                (prediction.log_mean - f(&x)).abs() < 0.06,
                "{x:?}: {prediction:?} for {}",
                f(&x)
            );
            assert!(prediction.log_sd < 0.1);
        }
    }

    #[test]
    fn intervals_of_draws_from_a_known_process_hold_what_they_say() {
        let dims = numbers(2);
        let scales = [0.4, 1.0];
        let mut rng = Pcg64::seed_from_u64(7);
        let (mut held, mut noisy_held, mut of) = (0, 0, 0);
        for draw in 0..20 {
            // The first 16 points are data, the others questions.
            let points: Vec<Vec<f64>> = (0..40).map(|i| sobol_point(2, draw, i)).collect();
            let features: Vec<_> = points
                .iter()
                .map(|p| scaled_features(&dims, &scales, p))
                .collect();
            let covariance = faer::Mat::from_fn(40, 40, |i, j| {
                0.09 * matern52(squared_distance(&features[i], &features[j]))
                    + if i == j { 1e-9 } else { 0.0 }
            });
            let factor = covariance.llt(faer::Side::Lower).unwrap();
            let white: Vec<f64> = (0..40).map(|_| normal(&mut rng)).collect();
            let truth: Vec<f64> = (0..40)
                .map(|i| (0..=i).map(|j| factor.L()[(i, j)] * white[j]).sum::<f64>() + 3.0)
                .collect();
            let noise = (0.02f64.powi(2) + 0.03f64.powi(2)).sqrt();
            let data: Vec<Datum> = (0..16)
                .map(|i| Datum {
                    point: points[i].clone(),
                    log_y: truth[i] + noise * normal(&mut rng),
                    log_stderr: 0.02,
                })
                .collect();
            let gp = Gp::fit(&dims, &data, draw).unwrap();
            for i in 16..40 {
                let prediction = gp.predict(&points[i]);
                let total = prediction.log_sd.hypot(prediction.log_noise_sd);
                held += usize::from((prediction.log_mean - truth[i]).abs() < 1.96 * prediction.log_sd);
                let measured = truth[i] + noise * normal(&mut rng);
                noisy_held += usize::from((prediction.log_mean - measured).abs() < 1.96 * total);
                of += 1;
            }
        }
        for held in [held, noisy_held] {
            let coverage = held as f64 / of as f64;
            assert!((0.88..=0.99).contains(&coverage), "{held} of {of}");
        }
    }

    #[test]
    fn a_knob_that_does_nothing_gets_a_long_length_scale() {
        let data = sample(24, 3, 3, |x| (4.0 * x[1]).sin());
        let gp = Gp::fit(&numbers(3), &data, 1).unwrap();
        let scales = gp.length_scales();
        assert!(
            scales[0] > 3.0 * scales[1] && scales[2] > 3.0 * scales[1],
            "{scales:?}"
        );
    }

    #[test]
    fn a_difference_is_known_better_than_its_ends() {
        let data = sample(12, 2, 4, |x| x[0] + 0.5 * x[1]);
        let gp = Gp::fit(&numbers(2), &data, 1).unwrap();
        let [a, b] = [[0.95, 0.95], [0.9, 0.95]];
        let (mean, sd) = gp.predict_difference(&a, &b);
        let [at_a, at_b] = [gp.predict(&a), gp.predict(&b)];
        assert!((mean - (at_a.log_mean - at_b.log_mean)).abs() < 1e-9);
        assert!(sd < at_a.log_sd.hypot(at_b.log_sd) / 2.0);
        assert_eq!(gp.predict_difference(&a, &a), (0.0, 0.0));
    }

    #[test]
    fn noise_is_not_taken_for_signal() {
        let mut rng = Pcg64::seed_from_u64(5);
        let mut data = sample(20, 2, 5, |x| x[0]);
        data.iter_mut()
            .for_each(|datum| datum.log_y += 0.1 * normal(&mut rng));
        let prediction = Gp::fit(&numbers(2), &data, 1).unwrap().predict(&[0.5, 0.5]);
        assert!((0.05..0.2).contains(&prediction.log_noise_sd), "{prediction:?}");
        assert!((prediction.log_mean - 0.5).abs() < 0.1, "{prediction:?}");
    }

    #[test]
    fn far_from_the_data_it_says_so() {
        let mut data = sample(15, 2, 6, |x| (9.0 * x[0]).sin() + (7.0 * x[1]).cos());
        data.iter_mut()
            .for_each(|datum| datum.point.iter_mut().for_each(|u| *u *= 0.3));
        let gp = Gp::fit(&numbers(2), &data, 1).unwrap();
        assert!(
            gp.prior_share(&[0.15, 0.15]) < 0.2,
            "{} {gp:?}",
            gp.prior_share(&[0.15, 0.15])
        );
        assert!(
            gp.prior_share(&[1.0, 1.0]) > 0.8,
            "{}",
            gp.prior_share(&[1.0, 1.0])
        );
        assert!(gp.distance(&[0.1, 0.1], &[0.2, 0.1]) > 0.0);
    }

    #[test]
    fn the_same_data_give_the_same_model() {
        let data = sample(10, 3, 8, |x| x[0] * x[1]);
        let [a, b] = [1, 1].map(|seed| Gp::fit(&numbers(3), &data, seed).unwrap());
        assert_eq!(a.length_scales(), b.length_scales());
        assert_eq!(a.predict(&[0.1, 0.5, 0.9]), b.predict(&[0.1, 0.5, 0.9]));
    }

    #[test]
    fn degenerate_data_are_answered() {
        let dims = numbers(2);
        let datum = |u: f64, log_y: f64| Datum {
            point: vec![u, u],
            log_y,
            log_stderr: 0.0,
        };
        let repeats = Gp::fit(&dims, &vec![datum(0.5, 1.0); 8], 1)
            .unwrap()
            .predict(&[0.5, 0.5]);
        assert!(
            (repeats.log_mean - 1.0).abs() < 1e-6 && repeats.log_sd < 0.05,
            "{repeats:?}"
        );
        let two = Gp::fit(&dims, &[datum(0.1, 1.0), datum(0.9, 2.0)], 1).unwrap();
        assert!(two.predict(&[0.9, 0.9]).log_mean > two.predict(&[0.1, 0.1]).log_mean);
        let far = Gp::fit(&dims, &[datum(0.1, -50.0), datum(0.9, 50.0), datum(0.9, 1.0)], 1);
        assert!(far.is_ok_and(|gp| gp.predict(&[0.4, 0.4]).log_mean.is_finite()));
        assert_eq!(
            Gp::fit(&dims, &[datum(0.5, 1.0)], 1).unwrap_err(),
            FitError::TooFew(1)
        );
        assert_eq!(
            Gp::fit(&dims, &[datum(0.5, 1.0), datum(0.5, f64::NAN)], 1).unwrap_err(),
            FitError::NotFinite(1)
        );
        let short = Datum {
            point: vec![0.5],
            log_y: 1.0,
            log_stderr: 0.0,
        };
        assert!(matches!(
            Gp::fit(&dims, &[short], 1),
            Err(FitError::Shape {
                found: 1,
                expected: 2,
                ..
            })
        ));
    }
}
