//! How likely a configuration is to fail, from what failed near it and what worked.

use super::Request;
use crate::model::Gp;

/// Softens the distance, so that one failure does not count without bound.
const CORE: f64 = 0.01;

/// Weight of the belief, before any trial, that a configuration works.
const TRUST: f64 = 0.1;

/// The log probability that a point works, by inverse distance weighting (Shepard, 1968) in the length scales of the model.
pub(super) struct Risk<'a> {
    gp: &'a Gp,
    trials: Vec<(&'a [f64], bool)>,
}

impl<'a> Risk<'a> {
    pub fn new(gp: &'a Gp, request: &'a Request) -> Self {
        let trials: Vec<_> = request
            .trials()
            .map(|told| (told.point.as_slice(), told.measured().is_some()))
            .collect();
        let any_failed = trials.iter().any(|(_, worked)| !worked);
        Self {
            gp,
            trials: if any_failed { trials } else { Vec::new() },
        }
    }

    /// 0 where everything worked so far, strongly negative beside a failure. The weight falls with the fourth power of distance, so that
    /// one near failure outweighs many far successes.
    pub fn log_probability(&self, point: &[f64]) -> f64 {
        let (mut worked_weight, mut all) = (TRUST, TRUST);
        for &(trial, worked) in &self.trials {
            let weight = (self.gp.distance(trial, point).powi(2) + CORE).powi(-2);
            all += weight;
            worked_weight += if worked { weight } else { 0.0 };
        }
        (worked_weight / all).ln()
    }
}
