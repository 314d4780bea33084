//! How likely a configuration is to work, from which ones did.

use super::Request;
use crate::model::{Datum, Gp};
use statrs::function::erf::erfc;
use std::f64::consts::SQRT_2;

/// A second Gaussian process, of 1 where a trial worked and 0 where it failed: it finds its own length scales, because the knob that
/// kills a server need not be one that makes it fast.
pub(super) struct Risk(Option<Gp>);

impl Risk {
    pub fn new(request: &Request) -> Self {
        let data: Vec<Datum> = request
            .trials()
            .map(|told| Datum {
                point: request.snap(&told.point),
                log_y: f64::from(u8::from(told.measured().is_some())),
                log_stderr: 0.0,
            })
            .collect();
        let any_failed = data.iter().any(|datum| datum.log_y == 0.0);
        Self(
            any_failed
                .then(|| Gp::fit(request.dims, &data, request.seed).ok())
                .flatten(),
        )
    }

    /// Log probability that the process is above one half at `point`; 0 while nothing has failed.
    pub fn log_works(&self, point: &[f64]) -> f64 {
        let Some(gp) = &self.0 else { return 0.0 };
        let prediction = gp.predict(point);
        let z = (prediction.log_mean - 0.5) / prediction.log_sd.max(1e-3);
        // The floor keeps the order of points that are all hopeless.
        (0.5 * erfc(-z / SQRT_2)).max(1e-30).ln()
    }
}
