//! One trial: restore, start, run, check, stop -> what it found. The real one runs a server; the simulated one beside it answers from a
//! function, for tests and for trying an optimizer without a server.

mod dataset;
mod effective;
pub mod host;
mod real;
mod simulated;
mod steady;

pub use dataset::{Dataset, folder as dataset_folder, prepare};
pub use real::Real;
pub use simulated::Simulated;
pub use steady::{Steady, steady};

use crate::{
    observation::{Outcome, Window},
    units::Config,
};

/// How long a trial measures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// At least so many seconds after the warm-up.
    pub min_s: f64,
    /// At most so many seconds in all, from the first operation.
    pub cap_s: f64,
    /// Done when the relative half-width of the 95% interval is under this.
    pub precision: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            min_s: 8.0,
            cap_s: 20.0,
            precision: 0.04,
        }
    }
}

impl Limits {
    /// Whether a run with these windows has told enough or may not go on.
    pub fn done(&self, windows: &[Window]) -> bool {
        if windows.last().is_some_and(|w| w.end >= self.cap_s) {
            return true;
        }
        self.steady(windows)
            .is_some_and(|s| 1.96 * s.stderr <= self.precision * s.mean)
    }

    /// The steady part, at least `min_s` long.
    pub fn steady(&self, windows: &[Window]) -> Option<Steady> {
        steady(windows, self.min_s.ceil() as usize)
    }
}

/// What one run of a trial gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// How it ended.
    pub outcome: Outcome,
    /// Seconds of the whole trial, restore and stop included.
    pub wall_s: f64,
}

/// Runs trials. A configuration that does not work is an outcome; an error is something that keeps any trial from running.
pub trait Runner {
    /// Runs one trial of `scaled`, the settings as the server gets them; `tell` hears of each complete second.
    fn run(
        &mut self,
        scaled: &Config,
        tell: &mut (dyn FnMut(&Window) + Send),
    ) -> impl Future<Output = Result<Found, TrialError>>;
}

/// What keeps any trial from running.
#[derive(Debug, thiserror::Error)]
#[error("failed to {what}: {reason}")]
pub struct TrialError {
    /// What was being done.
    pub what: String,
    /// Why it failed.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_when_it_is_precise_or_at_its_cap() {
        let limits = Limits {
            min_s: 8.0,
            cap_s: 20.0,
            precision: 0.04,
        };
        let windows = |rates: &[f64]| -> Vec<Window> {
            rates
                .iter()
                .enumerate()
                .map(|(i, r)| Window {
                    end: i as f64 + 1.0,
                    seconds: 1.0,
                    operations: *r,
                    queries: 0.0,
                })
                .collect()
        };
        assert!(!limits.done(&windows(&[100.0; 7])), "shorter than the least");
        assert!(limits.done(&windows(&[100.0; 8])));
        let noisy: Vec<f64> = (0..20).map(|i| if i % 3 == 0 { 40.0 } else { 130.0 }).collect();
        assert!(!limits.done(&windows(&noisy[..19])));
        assert!(limits.done(&windows(&noisy)), "the cap");
        assert!(!limits.done(&[]));
    }
}
