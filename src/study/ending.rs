//! From observations to what a finished study has to say.

use super::{
    Dropped, Ended, FailedTrial, Ratio, Reason, Setting, StudyEnd, Task, choose,
    confirm::{self, Arms},
    statistics,
};
use crate::{
    model::Gp,
    observation::{Observation, Outcome, Role},
    units::Config,
};

/// What the study itself does not know.
pub struct About {
    /// The profile as it was asked for.
    pub profile_asked: String,
    /// Summary line of the profile.
    pub profile_summary: String,
    /// Its assumed keys.
    pub profile_assumed: Vec<String>,
    /// Its RAM in bytes.
    pub ram: u64,
    /// Path of the server's binary.
    pub server: String,
    /// Seconds of loading.
    pub load_s: f64,
    /// Rows loaded.
    pub rows: u64,
}

/// Puts together what a study found; none where its confirmation has too few measured rounds.
pub fn ending(task: &Task, ended: &Ended, about: About) -> Option<StudyEnd> {
    let observations = &ended.observations;
    let arms = Arms {
        baseline: task.baseline(),
        rule: task.rule_of_thumb(),
        rule_works: confirm::rule_works(observations),
        recommended: ended.recommended.clone(),
    };
    let is_rule = arms.recommended == arms.rule;
    let gain = confirm::ratio(&arms, observations, &arms.recommended, &arms.baseline)?;
    let gain_over_rule = if is_rule {
        // They were the same runs.
        Some(Ratio {
            ratio: 1.0,
            ci95: [1.0, 1.0],
            pairs: gain.pairs,
        })
    } else {
        confirm::ratio(&arms, observations, &arms.recommended, &arms.rule)
    };
    let means = |config: &Config| statistics::estimate(&confirm::runs(observations, config));
    let gp = choose::model(task, observations);
    let within: Vec<&Observation> = observations
        .iter()
        .filter(|o| o.role != Role::Confirmation)
        .collect();
    Some(StudyEnd {
        study: task.name.clone(),
        profile: task.question.profile.clone(),
        profile_asked: about.profile_asked,
        profile_summary: about.profile_summary,
        profile_assumed: about.profile_assumed,
        ram: about.ram,
        workload: task.question.workload.clone(),
        space: task.question.space.clone(),
        objective: task.objective.0.to_owned(),
        unit: task.objective.1.to_owned(),
        flavor: task.flavor,
        server: about.server,
        optimizer: task.question.optimizer.clone(),
        seed: task.question.seed,
        scale: task.question.scale,
        isolation: task.isolation,
        cannot: task.cannot.clone(),
        durability: task.question.durability,
        binlog: task.question.binlog,
        trials: within.len() as u32,
        failed: within
            .iter()
            .filter(|o| matches!(o.outcome, Outcome::Failed { .. }))
            .count() as u32,
        void: within
            .iter()
            .filter(|o| matches!(o.outcome, Outcome::Void { .. }))
            .count() as u32,
        load_s: about.load_s,
        wall_s: about.load_s + observations.iter().map(|o| o.wall_s).sum::<f64>(),
        measured_s: observations
            .iter()
            .filter_map(|o| o.measurement())
            .map(|m| m.measured_s)
            .sum(),
        rows: about.rows,
        rows_asked: task.question.rows,
        trials_asked: task.question.trials,
        budget_s: task.question.budget_s,
        baseline: means(&arms.baseline)?,
        rule_of_thumb: means(&arms.rule),
        rule_config: arms.rule.clone(),
        best: means(&arms.recommended)?,
        gain,
        gain_over_rule,
        settings: settings(task, gp.as_ref(), &arms.recommended, is_rule),
        dropped: dropped(task, gp.as_ref(), observations, &arms.recommended),
        searched: task.space.clone(),
        baseline_config: task.baseline(),
        baseline_in_space: task.baseline_is_in_space(),
        not_searched: task.not_searched.clone(),
        failures: observations.iter().filter_map(failure).collect(),
        stalls: stalls(observations, &arms.recommended),
        drain_s: None,
    })
}

/// The lines of the recommended file: all that differs from the server's default, and what a rule or the study holds in any case.
fn settings(task: &Task, gp: Option<&Gp>, recommended: &Config, is_rule: bool) -> Vec<Setting> {
    recommended
        .iter()
        .filter_map(|(name, value)| {
            let default = task.default(name)?.clone();
            let searched = task.space.knobs.iter().any(|k| k.name == *name);
            let rule = task
                .rule
                .iter()
                .find(|(rule, set, _)| rule == name && set == value);
            let reason = match rule {
                _ if task.always.contains_key(name) => Reason::Held(format!(
                    "the study keeps {} in every trial",
                    task.question.durability
                )),
                Some((_, _, why)) if !searched => Reason::Rule(why.clone()),
                Some((_, _, why)) if is_rule => Reason::RuleStands(why.clone()),
                _ => Reason::Searched,
            };
            if reason == Reason::Searched && default == *value {
                return None;
            }
            let effect = gp
                .filter(|_| searched)
                .and_then(|gp| choose::effect(task, gp, recommended, name));
            Some(Setting {
                name: name.clone(),
                value: value.clone(),
                default,
                effect,
                reason,
            })
        })
        .collect()
}

/// Knobs that the model's best would have changed and the recommendation leaves at their default.
fn dropped(task: &Task, gp: Option<&Gp>, observations: &[Observation], recommended: &Config) -> Vec<Dropped> {
    let Some(choice) = choose::choose(task, observations) else {
        return Vec::new();
    };
    let full = task.with_knobs(&choice.full);
    choose::changed(task, &choice.full)
        .into_iter()
        .filter(|name| {
            recommended
                .get(name)
                .is_none_or(|value| task.default(name) == Some(value))
        })
        .filter_map(|name| {
            Some(Dropped {
                tried: choice.full.get(&name)?.clone(),
                default: task.default(&name)?.clone(),
                effect: gp.and_then(|gp| choose::effect(task, gp, &full, &name)),
                name,
            })
        })
        .collect()
}

fn failure(observation: &Observation) -> Option<FailedTrial> {
    match &observation.outcome {
        Outcome::Failed { reason } | Outcome::Void { reason } => Some(FailedTrial {
            trial: observation.trial,
            reason: reason.clone(),
            config: observation.config.clone(),
        }),
        Outcome::Measured(_) => None,
    }
}

/// Mean share of stalled windows over the confirmation runs of `config`.
fn stalls(observations: &[Observation], config: &Config) -> f64 {
    let runs = observations
        .iter()
        .filter(|o| o.role == Role::Confirmation && o.config == *config);
    let stalls: Vec<f64> = runs.filter_map(|o| o.measurement()).map(|m| m.stalls).collect();
    stalls.iter().sum::<f64>() / stalls.len().max(1) as f64
}
