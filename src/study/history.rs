//! The observations of a study as the optimizer and the model take them.

use super::Task;
use crate::{
    model::Datum,
    observation::{Observation, Outcome, Role},
    optimize::Told,
    space::Space,
    units::{Config, Value},
};

/// Smallest relative standard error that a single run is believed to have: what a run cannot see of itself.
const LEAST_STDERR: f64 = 0.01;

/// All observations that are points of the space, for the optimizer.
pub fn told(task: &Task, observations: &[Observation]) -> Vec<Told> {
    told_of(
        &task.space,
        &task.baseline(),
        task.baseline_is_in_space(),
        observations,
    )
}

/// All measured observations that are points of the space, for the model.
pub fn data(task: &Task, observations: &[Observation]) -> Vec<Datum> {
    data_of(
        &task.space,
        &task.baseline(),
        task.baseline_is_in_space(),
        observations,
    )
}

/// As [`data`], from what is stored of a study: `baseline` is left out where it differs from the other trials in more than the knobs.
pub fn data_of(
    space: &Space,
    baseline: &Config,
    baseline_in_space: bool,
    observations: &[Observation],
) -> Vec<Datum> {
    told_of(space, baseline, baseline_in_space, observations)
        .into_iter()
        .filter_map(|told| {
            told.outcome.map(|(log_y, log_stderr)| Datum {
                point: told.point,
                log_y,
                log_stderr,
            })
        })
        .collect()
}

fn told_of(
    space: &Space,
    baseline: &Config,
    baseline_in_space: bool,
    observations: &[Observation],
) -> Vec<Told> {
    observations
        .iter()
        .filter(|o| match o.role {
            Role::Baseline => baseline_in_space,
            Role::RuleOfThumb | Role::Search | Role::Reduction => true,
            Role::Confirmation => baseline_in_space || o.config != *baseline,
        })
        .filter(|o| is_in_space(space, &o.config))
        .filter_map(|o| {
            let point = space.nearest(&o.config);
            match &o.outcome {
                Outcome::Measured(m) => Some(Told {
                    point,
                    outcome: Some((m.mean.ln(), (m.stderr / m.mean).max(LEAST_STDERR))),
                }),
                Outcome::Failed { .. } => Some(Told { point, outcome: None }),
                Outcome::Void { .. } => None,
            }
        })
        .collect()
}

/// Relative distance past an end of a domain that still counts as the end: rounding may have taken a searched value there.
const PAST_THE_END: f64 = 0.1;

/// Whether the knobs that `config` sets lie in their domains; one that it does not set is at the server's default, wherever that is.
pub fn is_in_space(space: &Space, config: &Config) -> bool {
    space.knobs.iter().all(|knob| {
        let Some(value) = config.get(&knob.name) else {
            return true;
        };
        let near = |end: &Value| match (end.number(), value.number()) {
            (Some(end), Some(value)) => (value / end - 1.0).abs() <= PAST_THE_END,
            _ => false,
        };
        knob.encode(value).is_some() || near(&knob.decode(knob.nearest(value)))
    })
}
