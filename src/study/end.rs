//! What a finished study has to say, as plain data for `advise` and `report`.

use crate::{
    catalog::Durability,
    catalog::Flavor,
    observation::Isolation,
    space::Space,
    units::{Config, Value},
};
use serde::{Deserialize, Serialize};

/// A mean with the 95% interval of the true mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Lower and upper end.
    pub ci95: [f64; 2],
}

/// A ratio of two throughputs with its 95% interval, from interleaved pairs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The ratio.
    pub ratio: f64,
    /// Lower and upper end.
    pub ci95: [f64; 2],
    /// How many pairs.
    pub pairs: u32,
}

/// How the effect of one setting is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Known {
    /// By running with and without it.
    Measured,
    /// From the study's model.
    Modelled,
}

/// Throughput with a setting over throughput with its default instead, all else as recommended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// The ratio.
    pub ratio: f64,
    /// Its 95% interval.
    pub ci95: [f64; 2],
    /// How it is known.
    pub known: Known,
}

/// Why a line is in the recommended file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The study searched it and it gives a gain.
    Searched,
    /// It was not searched; a rule sets it from the profile. The text says which rule and why it was not measured.
    Rule(String),
    /// The search found nothing clearly better than the rule of thumb, whose words these are.
    RuleStands(String),
    /// The study held it there for all trials (durability, binary log, what was asked for).
    Held(String),
}

/// One line of the recommended file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// The variable.
    pub name: String,
    /// Its value at full size.
    pub value: Value,
    /// What the server would use without the line, at full size.
    pub default: Value,
    /// What it does to throughput, where that is known.
    pub effect: Option<Effect>,
    /// Why it is here.
    pub reason: Reason,
}

/// A knob that was searched and went back to its default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dropped {
    /// The variable.
    pub name: String,
    /// What the model's best would have set.
    pub tried: Value,
    /// The default it went back to.
    pub default: Value,
    /// Its effect, where it is known.
    pub effect: Option<Effect>,
}

/// A knob of the space that was not searched, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NotSearched {
    /// The variable.
    pub name: String,
    /// Why not.
    pub why: String,
}

/// A trial that failed, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailedTrial {
    /// Its number.
    pub trial: u32,
    /// What happened.
    pub reason: String,
    /// What it was set to.
    pub config: Config,
}

/// Everything that a finished study has to say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyEnd {
    /// Name of the study.
    pub study: String,
    /// Name of the hardware profile.
    pub profile: String,
    /// The profile as it was asked for: its name or a path.
    pub profile_asked: String,
    /// Its summary line.
    pub profile_summary: String,
    /// Keys of the profile that are assumed, not stated by its source.
    pub profile_assumed: Vec<String>,
    /// Full-size RAM of the profile in bytes.
    pub ram: u64,
    /// Name of the workload.
    pub workload: String,
    /// Name of the space.
    pub space: String,
    /// The objective: `rows_per_s`.
    pub objective: String,
    /// What the objective counts, for people: `rows/s`.
    pub unit: String,
    /// The server measured.
    pub flavor: Flavor,
    /// Path of its binary.
    pub server: String,
    /// Which optimizer: `bayes`.
    pub optimizer: String,
    /// The seed.
    pub seed: u64,
    /// Scale: 0.0625.
    pub scale: f64,
    /// How much of the hardware was reproduced.
    pub isolation: Isolation,
    /// What was not reproduced, a sentence each.
    pub cannot: Vec<String>,
    /// The durability class kept in every trial.
    pub durability: Durability,
    /// Whether there was a binary log.
    pub binlog: bool,
    /// Trials run within the budget.
    pub trials: u32,
    /// How many of them failed.
    pub failed: u32,
    /// How many of them were void.
    pub void: u32,
    /// Seconds of loading (0 where the cache had it).
    pub load_s: f64,
    /// Seconds of everything, load included.
    pub wall_s: f64,
    /// Seconds measured, over all trials.
    pub measured_s: f64,
    /// Rows loaded.
    pub rows: u64,
    /// Rows asked for; none where the workload sized itself.
    pub rows_asked: Option<u64>,
    /// Trials asked for; none where the budget alone decided.
    pub trials_asked: Option<u32>,
    /// Seconds that trials could take.
    pub budget_s: f64,
    /// The server's defaults.
    pub baseline: Estimate,
    /// The rule-of-thumb configuration; none where it did not work.
    pub rule_of_thumb: Option<Estimate>,
    /// The rule-of-thumb settings, at full size.
    pub rule_config: Config,
    /// The recommendation.
    pub best: Estimate,
    /// Recommendation over baseline.
    pub gain: Ratio,
    /// Recommendation over rule of thumb; none where that did not work.
    pub gain_over_rule: Option<Ratio>,
    /// The lines of the recommended file, in no particular order.
    pub settings: Vec<Setting>,
    /// Knobs that went back to their default.
    pub dropped: Vec<Dropped>,
    /// The knobs that were searched, with their domains.
    pub searched: Space,
    /// Settings of the baseline.
    pub baseline_config: Config,
    /// Whether the baseline differs from the searched trials in its knobs alone.
    pub baseline_in_space: bool,
    /// Knobs of the space that were not searched.
    pub not_searched: Vec<NotSearched>,
    /// Trials that failed.
    pub failures: Vec<FailedTrial>,
    /// Share of one-second windows under half the mean, of the recommendation.
    pub stalls: f64,
    /// Seconds to work off what the recommendation has put off, at the end of a run; none where it was not measured.
    pub drain_s: Option<f64>,
}
