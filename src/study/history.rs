//! The observations of a study as the optimizer and the model take them.

use super::Task;
use crate::{
    model::Datum,
    observation::{Observation, Outcome, Role},
    optimize::Told,
};

/// Smallest relative standard error that a single run is believed to have: what a run cannot see of itself.
const LEAST_STDERR: f64 = 0.01;

/// All observations that are points of the space, for the optimizer.
pub fn told(task: &Task, observations: &[Observation]) -> Vec<Told> {
    in_space(task, observations)
        .filter_map(|o| {
            let point = task.point(&o.config)?;
            match &o.outcome {
                Outcome::Measured(m) => Some(Told { point, outcome: Some((m.mean.ln(), relative(m.stderr, m.mean))) }),
                Outcome::Failed { .. } => Some(Told { point, outcome: None }),
                Outcome::Void { .. } => None,
            }
        })
        .collect()
}

/// All measured observations that are points of the space, for the model.
pub fn data(task: &Task, observations: &[Observation]) -> Vec<Datum> {
    told(task, observations)
        .into_iter()
        .filter_map(|told| told.outcome.map(|(log_y, log_stderr)| Datum { point: told.point, log_y, log_stderr }))
        .collect()
}

fn in_space<'a>(task: &'a Task, observations: &'a [Observation]) -> impl Iterator<Item = &'a Observation> {
    let baseline = task.baseline();
    observations.iter().filter(move |o| match o.role {
        Role::Baseline => task.baseline_is_in_space(),
        Role::RuleOfThumb | Role::Search | Role::Reduction => true,
        Role::Confirmation => task.baseline_is_in_space() || o.config != baseline,
    })
}

fn relative(stderr: f64, mean: f64) -> f64 {
    (stderr / mean).max(LEAST_STDERR)
}
