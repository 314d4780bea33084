//! Finds the hyperparameters that explain the data best: L-BFGS from several starts.

use super::evidence::{BARRIER, Evidence};
use argmin::{
    core::{CostFunction, Error, Executor, Gradient},
    solver::{linesearch::MoreThuenteLineSearch, quasinewton::LBFGS},
};
use ndarray::Array1;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::cell::RefCell;

/// Evaluations of the evidence that one start may use. A count, not a time: the result must not depend on the clock.
const EVALUATIONS: usize = 60;

/// Steps that L-BFGS remembers.
const MEMORY: usize = 7;

/// A gradient this small, of an objective of order one, is a minimum for every practical purpose.
const TOLERANCE: f64 = 1e-4;

/// The best hyperparameters found.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Optimum {
    pub theta: Vec<f64>,
    pub value: f64,
    pub gradient: Vec<f64>,
}

impl Optimum {
    fn is_minimum(&self) -> bool {
        self.gradient
            .iter()
            .map(|slope| slope * slope)
            .sum::<f64>()
            .sqrt()
            < 10.0 * TOLERANCE
    }
}

/// The best θ over all starts; none where no start could be computed.
/// A start whose search was cut off before its gradient vanished goes on once, from where it was.
pub(super) fn maximise(evidence: &Evidence, seed: u64) -> Option<Optimum> {
    let best = starts(evidence, seed)
        .into_iter()
        .filter_map(|start| descend(evidence, start))
        .min_by(|a, b| a.value.total_cmp(&b.value))?;
    if best.is_minimum() {
        return Some(best);
    }
    Some(
        descend(evidence, best.theta.clone())
            .filter(|further| further.value < best.value)
            .unwrap_or(best),
    )
}

/// The middle of the priors; short length scales with little noise (everything is signal); long ones with much noise; and one at random.
fn starts(evidence: &Evidence, seed: u64) -> Vec<Vec<f64>> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let noise = evidence.priors().len() - 1;
    let at = |length: f64, remainder: f64| -> Vec<f64> {
        let step = |k| {
            if k == noise {
                remainder
            } else if k + 1 == noise {
                0.0
            } else {
                length
            }
        };
        evidence
            .priors()
            .iter()
            .enumerate()
            .map(|(k, p)| p.median.ln() + step(k) * p.sigma)
            .collect()
    };
    let mut starts = vec![at(0.0, 0.0), at(-1.0, -1.0), at(0.7, 1.5)];
    starts.push(
        evidence
            .priors()
            .iter()
            .map(|p| p.median.ln() + rng.random_range(-1.0..1.0) * p.sigma)
            .collect(),
    );
    starts
}

/// What `descend` gives to argmin: counts evaluations and keeps the best, whatever becomes of the line search.
struct Objective<'a> {
    evidence: &'a Evidence,
    seen: &'a RefCell<Seen>,
}

#[derive(Default)]
struct Seen {
    evaluations: usize,
    last: Option<Optimum>,
    best: Option<Optimum>,
}

impl Objective<'_> {
    fn evaluate(&self, theta: &Array1<f64>) -> Result<Optimum, Error> {
        let mut seen = self.seen.borrow_mut();
        if let Some(last) = seen.last.as_ref().filter(|last| theta.iter().eq(&last.theta)) {
            return Ok(last.clone());
        }
        if seen.evaluations == EVALUATIONS {
            return Err(Error::msg("the budget of evaluations is used up"));
        }
        seen.evaluations += 1;
        let theta = theta.to_vec();
        let (value, gradient) = self.evidence.value_and_gradient(&theta);
        let now = Optimum {
            theta,
            value,
            gradient,
        };
        if value < seen.best.as_ref().map_or(BARRIER, |best| best.value) {
            seen.best = Some(now.clone());
        }
        seen.last = Some(now.clone());
        Ok(now)
    }
}

impl CostFunction for Objective<'_> {
    type Param = Array1<f64>;
    type Output = f64;

    fn cost(&self, theta: &Array1<f64>) -> Result<f64, Error> {
        Ok(self.evaluate(theta)?.value)
    }
}

impl Gradient for Objective<'_> {
    type Param = Array1<f64>;
    type Gradient = Array1<f64>;

    fn gradient(&self, theta: &Array1<f64>) -> Result<Array1<f64>, Error> {
        Ok(self.evaluate(theta)?.gradient.into())
    }
}

fn descend(evidence: &Evidence, start: Vec<f64>) -> Option<Optimum> {
    let seen = RefCell::new(Seen::default());
    let objective = Objective {
        evidence,
        seen: &seen,
    };
    let solver = LBFGS::new(MoreThuenteLineSearch::new(), MEMORY)
        .with_tolerance_grad(TOLERANCE)
        .and_then(|solver| solver.with_tolerance_cost(1e-9))
        .expect("both tolerances are positive");
    // An error here is the used-up budget or a line search that gave up: the best so far stands.
    let _ = Executor::new(objective, solver)
        .configure(|state| state.param(start.into()).max_iters(EVALUATIONS as u64))
        .ctrlc(false)
        .run();
    seen.into_inner().best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model::Datum, space::UnitDim};

    #[test]
    fn it_ends_in_a_minimum() {
        let dims = vec![
            UnitDim::Number {
                steps: None,
                special: 0
            };
            3
        ];
        let data: Vec<Datum> = (0..15)
            .map(|i| {
                let point: Vec<f64> = [0.618, 0.755, 0.819]
                    .iter()
                    .map(|step| (step * i as f64) % 1.0)
                    .collect();
                let log_y = (3.0 * point[0]).sin() + 0.3 * point[1] + 0.02 * (i as f64 * 7.7).sin();
                Datum {
                    point,
                    log_y,
                    log_stderr: 0.01,
                }
            })
            .collect();
        let evidence = Evidence::new(&dims, &data, 0.6);
        let optimum = maximise(&evidence, 1).unwrap();
        assert!(optimum.is_minimum(), "{optimum:?}");
        for start in starts(&evidence, 2) {
            assert!(evidence.value_and_gradient(&start).0 > optimum.value);
        }
    }
}
