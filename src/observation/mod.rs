//! What a trial found, as plain data.

use crate::units::{Config, Value};
use serde::{Deserialize, Serialize};

/// How much of the profile's hardware was reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    /// All of it.
    Twin,
    /// Some of it; the list of what is missing goes with it.
    Partial,
    /// None: the server ran on the host as it is.
    None,
}

/// Why a trial was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The server's own defaults.
    Baseline,
    /// The profile's rule-of-thumb configuration.
    RuleOfThumb,
    /// Suggested by the optimizer.
    Search,
    /// Without one change of the best, to see whether that change is needed.
    Reduction,
    /// One of the interleaved repeats of baseline, rule of thumb and recommendation at the end.
    Confirmation,
}

/// One second (or so) of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Seconds since the load generator started, at the window's end.
    pub end: f64,
    /// Length in seconds.
    pub seconds: f64,
    /// Operations in it.
    pub operations: f64,
    /// Queries beside them.
    pub queries: f64,
}

/// What was measured in a trial that ended well.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Operations a second: operations over time, after the warm-up was cut.
    pub mean: f64,
    /// Standard error of `mean` within this run, by batch means.
    pub stderr: f64,
    /// Seconds that count.
    pub measured_s: f64,
    /// Seconds cut as warm-up.
    pub warmup_s: f64,
    /// Queries a second beside the operations.
    pub queries_per_s: f64,
    /// Share of one-second windows under half the mean.
    pub stalls: f64,
    /// Latency of an operation (iibench: a batch) in milliseconds: 50th, 95th, 99th percentile.
    pub latency_ms: [f64; 3],
    /// All windows, warm-up included.
    pub windows: Vec<Window>,
    /// Processor seconds of the load generator over the seconds of the run.
    pub client_cpu: f64,
    /// Counters of the server at the end, by status name, for those that a report shows.
    pub counters: std::collections::BTreeMap<String, f64>,
}

/// How a trial ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It was measured.
    Measured(Measurement),
    /// The configuration does not work: the server died, did not start, or the workload's promise was broken.
    Failed {
        /// What happened, with the server's own last error line.
        reason: String,
    },
    /// The trial says nothing about the configuration (for example: the load generator was the bottleneck).
    Void {
        /// Why not.
        reason: String,
    },
}

/// What a trial found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Number of the trial in its study, from 1.
    pub trial: u32,
    /// Why it was run.
    pub role: Role,
    /// What the knobs were set to, at full size.
    pub config: Config,
    /// What the server was given, scaled.
    pub scaled: Config,
    /// How it ended.
    pub outcome: Outcome,
    /// How much of the hardware was reproduced.
    pub isolation: Isolation,
    /// Seconds of the whole trial, restore and stop included.
    pub wall_s: f64,
    /// When it began, seconds since 1970.
    pub started: f64,
}

impl Observation {
    /// The measurement, if the trial was measured.
    pub fn measurement(&self) -> Option<&Measurement> {
        match &self.outcome {
            Outcome::Measured(measurement) => Some(measurement),
            Outcome::Failed { .. } | Outcome::Void { .. } => None,
        }
    }

    /// What `name` was set to, if it was set.
    pub fn setting(&self, name: &str) -> Option<&Value> {
        self.config.get(name)
    }
}
