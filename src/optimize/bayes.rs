//! Bayesian optimization: a Gaussian process of log throughput and expected improvement over the best mean.

use super::{
    Request,
    expected_improvement::log_expected_improvement,
    quasi::{self, rng, sobol_point},
    risk::Risk,
};
use crate::{
    model::{Datum, Gp},
    space::{SPECIAL_WIDTH, UnitDim},
};
use rand::Rng;
use rand_pcg::Pcg64;

/// Candidates from all over the cube.
const EVERYWHERE: usize = 512;
/// Trials whose neighbourhood is searched, and candidates in each.
const AROUND: (usize, usize) = (5, 100);
/// Candidates that are refined.
const REFINED: usize = 3;
/// Sizes of the steps of refinement, the coarse ones first, and passes over all knobs with each.
const STEPS: ([f64; 3], usize) = ([0.1, 0.03, 0.01], 3);

/// The first suggestions are Sobol points; so are all while fewer than two trials were measured or nothing can be fitted to them.
pub(super) fn suggest(request: &Request) -> Option<Vec<f64>> {
    let initial = initial(request.dims.len(), request.total);
    // A study begins with two trials of its own; where more is known from elsewhere, the model starts at once.
    let early = request.index < initial && request.history.len() < initial + 2;
    if early || request.dims.is_empty() {
        return quasi::sobol(request);
    }
    let data: Vec<Datum> = request
        .trials()
        .filter_map(|told| {
            let (log_y, log_stderr) = told.measured()?;
            Some(Datum {
                point: request.snap(&told.point),
                log_y,
                log_stderr,
            })
        })
        .collect();
    match Gp::fit(request.dims, &with_failures(request, &data), request.seed) {
        Ok(gp) => Acquisition::new(request, &gp, &data)
            .best()
            .or_else(|| quasi::sobol(request)),
        Err(_) => quasi::sobol(request),
    }
}

/// The measured trials, and the failed ones as if they had brought what the middle of the measured ones did: without that the throughput
/// expected beside a failure stays what the slope towards it promises, and the search knocks at the same door again and again.
fn with_failures(request: &Request, measured: &[Datum]) -> Vec<Datum> {
    let mut sorted: Vec<f64> = measured.iter().map(|datum| datum.log_y).collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.get(sorted.len() / 2).copied();
    let failed = request.trials().filter(|told| told.measured().is_none());
    let imputed = failed.filter_map(|told| {
        Some(Datum {
            point: request.snap(&told.point),
            log_y: middle?,
            log_stderr: 0.0,
        })
    });
    measured.iter().cloned().chain(imputed).collect()
}

/// How many Sobol points come first: a third of the budget, so that most of it is spent with knowledge, but no more than one for each
/// knob and one more, what a linear model needs to tell all knobs apart; and at least three.
fn initial(knobs: usize, total: usize) -> usize {
    (total / 3).min(knobs + 1).max(3)
}

/// What a trial at a point is expected to bring.
struct Acquisition<'a> {
    request: &'a Request<'a>,
    gp: &'a Gp,
    risk: Risk,
    /// Tried points, the best mean first.
    tried: Vec<(f64, &'a [f64])>,
}

impl<'a> Acquisition<'a> {
    fn new(request: &'a Request, gp: &'a Gp, data: &'a [Datum]) -> Self {
        let mut tried: Vec<(f64, &[f64])> = data
            .iter()
            .map(|datum| (gp.predict(&datum.point).log_mean, datum.point.as_slice()))
            .collect();
        tried.sort_by(|a, b| b.0.total_cmp(&a.0));
        tried.dedup_by(|a, b| a.1 == b.1);
        Self {
            request,
            gp,
            risk: Risk::new(request),
            tried,
        }
    }

    /// The log expected improvement over the incumbent, discounted by the risk; none where the point is no option.
    fn value(&self, point: &[f64]) -> Option<f64> {
        if !(self.request.feasible)(point) || self.request.is_tried(point) {
            return None;
        }
        let prediction = self.gp.predict(point);
        let gain = prediction.log_mean - self.tried[0].0;
        Some(log_expected_improvement(gain, prediction.log_sd) + self.risk.log_works(point))
    }

    /// The best point found; none where every candidate was tried before or is infeasible.
    fn best(&self) -> Option<Vec<f64>> {
        let mut rng = rng(self.request);
        let mut valued: Vec<(f64, Vec<f64>)> = self
            .candidates(&mut rng)
            .into_iter()
            .filter_map(|point| Some((self.value(&point)?, point)))
            .collect();
        valued.sort_by(|a, b| b.0.total_cmp(&a.0));
        let refined = valued
            .into_iter()
            .take(REFINED)
            .map(|(value, point)| self.refine(value, point));
        refined.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, point)| point)
    }

    fn candidates(&self, rng: &mut Pcg64) -> Vec<Vec<f64>> {
        let dims = self.request.dims;
        let scramble = rng.random();
        let mut candidates: Vec<Vec<f64>> = (0..EVERYWHERE)
            .map(|i| self.request.snap(&sobol_point(dims.len(), scramble, i)))
            .collect();
        for (_, center) in self.tried.iter().take(AROUND.0) {
            for _ in 0..AROUND.1 {
                let mut point = center.to_vec();
                for _ in 0..rng.random_range(1..=3) {
                    let knob = rng.random_range(0..dims.len());
                    point[knob] = jump(&dims[knob], point[knob], rng);
                }
                candidates.push(point);
            }
        }
        candidates
    }

    /// Goes to the best neighbour along one knob after the other, with smaller and smaller steps.
    fn refine(&self, mut value: f64, mut point: Vec<f64>) -> (f64, Vec<f64>) {
        let (steps, passes) = STEPS;
        for step in steps {
            for _ in 0..passes {
                let before = value;
                for (knob, dim) in self.request.dims.iter().enumerate() {
                    for u in neighbours(dim, point[knob], step) {
                        let old = std::mem::replace(&mut point[knob], u);
                        match self.value(&point) {
                            Some(better) if better > value => value = better,
                            _ => point[knob] = old,
                        }
                    }
                }
                if value == before {
                    break;
                }
            }
        }
        (value, point)
    }
}

/// Somewhere else along one knob: anywhere for a choice; near, at one of three ranges, or anywhere for a number.
fn jump(dim: &UnitDim, u: f64, rng: &mut Pcg64) -> f64 {
    let range = [0.02, 0.1, 0.3, 1.0][rng.random_range(0..4)];
    match dim {
        UnitDim::Number { .. } if range < 1.0 => dim.snap(u + rng.random_range(-range..range)),
        _ => dim.snap(rng.random()),
    }
}

/// One step down and up and all special values of a number; all values of a choice.
fn neighbours(dim: &UnitDim, u: f64, step: f64) -> Vec<f64> {
    match *dim {
        UnitDim::Choice { n } => (0..n)
            .map(|i| dim.snap((f64::from(i) + 0.5) / f64::from(n)))
            .collect(),
        UnitDim::Number { steps, special } => {
            let low = f64::from(special) * SPECIAL_WIDTH;
            let cell = steps.map_or(0.0, |steps| (1.0 - low) / f64::from(steps.max(2) - 1));
            let step = step.max(cell);
            let specials = (0..special).map(|i| (f64::from(i) + 0.5) * SPECIAL_WIDTH);
            [u - step, u + step]
                .into_iter()
                .chain(specials)
                .map(|u| dim.snap(u))
                .collect()
        }
    }
}
