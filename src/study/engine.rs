//! The run loop. What comes next follows from the stored observations alone, so a study that was cut off goes on where it was.

use super::{
    Question, StudyStore, Task,
    choose::{Choice, choose},
    confirm::{self, Arms},
    event::Event,
    history, scale,
    store::StoreError,
};
use crate::{
    observation::{Observation, Outcome, Role},
    optimize::{Method, Request, suggest},
    trial::{Runner, TrialError},
    units::Config,
};
use std::time::{SystemTime, UNIX_EPOCH};

/// Trials that compare the model's best with its reduction, taken in turns, at the end of the budget.
const REDUCTION_TRIALS: u32 = 4;

/// Searched trials before a reduction is worth its trials.
const SEARCHED_BEFORE_REDUCTION: u32 = 5;

/// Why a study could not go on. Everything found until then is stored.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No trial can be run.
    #[error(transparent)]
    Trial(#[from] TrialError),
    /// The person stopped it.
    #[error("interrupted")]
    Interrupted,
    /// The server's own defaults could not be measured, so there is nothing to compare with.
    #[error("the server's defaults could not be measured: {0}")]
    NoBaseline(String),
    /// Nothing in the space could be measured.
    #[error("no configuration of the space could be measured; the last one failed with: {0}")]
    NothingWorks(String),
    /// The optimizer has no point left.
    #[error("the space has no configuration that keeps its memory constraint")]
    NothingFeasible,
}

/// What the loop found when it ended: all observations, and which configuration it recommends.
pub struct Ended {
    /// Every observation in order.
    pub observations: Vec<Observation>,
    /// The recommended settings at full size.
    pub recommended: Config,
}

/// Runs a study to its end: baseline, rule of thumb, search and reduction within the budget, then the confirmation.
pub async fn run<R: Runner>(
    task: &Task,
    runner: &mut R,
    store: &mut dyn StudyStore,
    interrupted: &dyn Fn() -> bool,
    listen: &mut (dyn FnMut(Event<'_>) + Send),
) -> Result<Ended, StudyError> {
    let mut observations = store.observations(&task.name)?;
    loop {
        let (role, config, (share, left_s)) = match next_within_budget(task, &observations)? {
            Some((role, config)) => (role, config, budget(&task.question, &observations)),
            None => {
                let arms = Arms::of(task, &observations)?;
                let at = confirm::progress(task, &arms, &observations);
                match confirm::next(task, &arms, &observations) {
                    Some(config) => (Role::Confirmation, config, at),
                    None => {
                        return Ok(Ended {
                            recommended: arms.recommended,
                            observations,
                        });
                    }
                }
            }
        };
        if interrupted() {
            return Err(StudyError::Interrupted);
        }
        let trial = observations.len() as u32 + 1;
        listen(Event::Started {
            trial,
            role,
            share,
            best: best(&observations),
            left_s,
        });
        let scaled = task.scaled(&config);
        let started = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0.0, |d| d.as_secs_f64());
        let found = runner
            .run(&scaled, &mut |window| listen(Event::Second { trial, window }))
            .await?;
        // A trial that an interrupt cut short is no observation.
        if interrupted() {
            return Err(StudyError::Interrupted);
        }
        let observation = Observation {
            trial,
            role,
            config,
            scaled,
            outcome: found.outcome,
            isolation: task.isolation,
            wall_s: found.wall_s,
            started,
        };
        store.append(&task.name, &observation)?;
        observations.push(observation);
        if let Some(observation) = observations.last() {
            let (_, left_s) = budget(&task.question, &observations);
            listen(Event::Ended {
                observation,
                best: best(&observations),
                left_s,
            });
        }
    }
}

/// Observations that the budget pays for.
fn budgeted(observations: &[Observation]) -> impl Iterator<Item = &Observation> {
    observations.iter().filter(|o| o.role != Role::Confirmation)
}

/// Seconds of the budget that are used.
pub fn spent(observations: &[Observation]) -> f64 {
    budgeted(observations).map(|o| o.wall_s).sum()
}

/// Trials that the budget still pays for.
fn trials_left(question: &Question, observations: &[Observation]) -> u32 {
    let done = budgeted(observations).count() as u32;
    let by_count = question.trials.map_or(u32::MAX, |n| n.saturating_sub(done));
    let spent = spent(observations);
    let mean = if done == 0 { 0.0 } else { spent / f64::from(done) };
    let by_time = if mean > 0.0 {
        ((question.budget_s - spent) / mean).max(0.0) as u32
    } else {
        u32::MAX
    };
    by_count.min(by_time)
}

/// Share of the budget that is used, and seconds that are left of it.
fn budget(question: &Question, observations: &[Observation]) -> (f64, f64) {
    let spent = spent(observations);
    let by_count = question
        .trials
        .map_or(0.0, |n| budgeted(observations).count() as f64 / f64::from(n));
    let share = (spent / question.budget_s).max(by_count).min(1.0);
    (share, (question.budget_s - spent).max(0.0))
}

/// Highest measured mean.
fn best(observations: &[Observation]) -> Option<f64> {
    observations
        .iter()
        .filter_map(|o| o.measurement())
        .map(|m| m.mean)
        .max_by(f64::total_cmp)
}

/// The next trial that the budget pays for; none where the confirmation is due.
fn next_within_budget(
    task: &Task,
    observations: &[Observation],
) -> Result<Option<(Role, Config)>, StudyError> {
    let of = |role: Role| observations.iter().filter(move |o| o.role == role);
    // A void trial says nothing: it is run again, once.
    let due = |role: Role| {
        let mut runs = of(role).map(|o| &o.outcome);
        matches!(
            (runs.next(), runs.next()),
            (None, _) | (Some(Outcome::Void { .. }), None)
        )
    };
    if due(Role::Baseline) {
        return Ok(Some((Role::Baseline, task.baseline())));
    }
    if let Some(Outcome::Failed { reason } | Outcome::Void { reason }) =
        of(Role::Baseline).next_back().map(|o| &o.outcome)
    {
        return Err(StudyError::NoBaseline(reason.clone()));
    }
    if due(Role::RuleOfThumb) {
        return Ok(Some((Role::RuleOfThumb, task.rule_of_thumb())));
    }
    if of(Role::Confirmation).next().is_some() {
        return Ok(None);
    }
    let left = trials_left(&task.question, observations);
    let reductions = of(Role::Reduction).count() as u32;
    let searched = of(Role::Search).filter(|o| o.measurement().is_some()).count() as u32;
    if left == 0 {
        return Ok(None);
    }
    let index = of(Role::Search).count();
    let suggestion = if reductions > 0 {
        None
    } else {
        search(task, observations, index)
    };
    if suggestion.is_none() && index == 0 {
        return Err(StudyError::NothingFeasible);
    }
    let time_to_reduce = left <= REDUCTION_TRIALS && searched >= SEARCHED_BEFORE_REDUCTION;
    if suggestion.is_none() || time_to_reduce {
        if reductions >= REDUCTION_TRIALS {
            return Ok(None);
        }
        if let Some(Choice { full, reduced }) = choose(task, observations)
            && full != reduced
        {
            // Reduced first: should time run out, the fewer changes have been seen at least once.
            let knobs = if reductions.is_multiple_of(2) {
                reduced
            } else {
                full
            };
            return Ok(Some((Role::Reduction, task.with_knobs(&knobs))));
        }
    }
    Ok(suggestion.map(|knobs| (Role::Search, task.with_knobs(&knobs))))
}

/// Trials that the search is expected to have: what the budget holds at the length of the first two trials, less these and the reduction.
/// It follows from what is stored and stays the same over a study, so that a grid does.
fn planned(question: &Question, observations: &[Observation]) -> usize {
    let first: Vec<f64> = budgeted(observations).take(2).map(|o| o.wall_s).collect();
    let mean = first.iter().sum::<f64>() / first.len().max(1) as f64;
    let by_time = if mean > 0.0 {
        (question.budget_s / mean) as u32
    } else {
        u32::MAX
    };
    let all = question.trials.unwrap_or(u32::MAX).min(by_time).min(100_000);
    // A study that is too short for a reduction has none.
    let reduction = if all >= 2 + SEARCHED_BEFORE_REDUCTION + REDUCTION_TRIALS {
        REDUCTION_TRIALS
    } else {
        0
    };
    all.saturating_sub(2 + reduction).max(1) as usize
}

/// The optimizer's next suggestion; none where it has none left.
fn search(task: &Task, observations: &[Observation], index: usize) -> Option<Config> {
    let method: Method = task.question.optimizer.parse().ok()?;
    let dims = task.space.dims();
    let history = history::told(task, observations);
    let feasible = |point: &[f64]| {
        task.space
            .memory_ok(&task.with_knobs(&task.space.decode(point)))
            .is_ok()
    };
    let request = Request {
        dims: &dims,
        history: &history,
        seed: task.question.seed,
        index,
        total: planned(&task.question, observations),
        feasible: &feasible,
    };
    // A grid that is done leaves the rest of the budget to points between its own.
    let point = suggest(method, &request).or_else(|| suggest(Method::Sobol, &request))?;
    let knobs = task.space.decode(&point);
    Some(scale::representable(&knobs, &task.catalog, task.question.scale))
}
