//! The confirmation: baseline, rule of thumb and recommendation run again and again in turns, in random order within each round, so that
//! drift of the machine meets all of them alike and the ratios come from pairs that ran side by side.

use super::{Ratio, StudyError, Task, choose, statistics};
use crate::{
    observation::{Observation, Outcome, Role},
    units::Config,
};
use rand::{SeedableRng, seq::SliceRandom};
use rand_pcg::Pcg64Mcg;

/// Rounds that are always run.
const ROUNDS: usize = 5;

/// Rounds at most; more than [`ROUNDS`] are run only while the interval is wide, whichever way it points, and for as long as the budget was.
const MOST_ROUNDS: usize = 10;

/// Half-width of the log ratio's interval that is good enough.
const PRECISION: f64 = 0.025;

/// The configurations of the confirmation.
#[derive(Clone, Debug, PartialEq)]
pub struct Arms {
    /// The server's defaults.
    pub baseline: Config,
    /// The rule of thumb.
    pub rule: Config,
    /// Whether the rule of thumb was measured at all.
    pub rule_works: bool,
    /// The recommendation; the rule itself where the search found nothing better.
    pub recommended: Config,
}

impl Arms {
    /// The arms that the trials within the budget lead to.
    pub fn of(task: &Task, observations: &[Observation]) -> Result<Self, StudyError> {
        let before: Vec<Observation> = observations
            .iter()
            .filter(|o| o.role != Role::Confirmation)
            .cloned()
            .collect();
        let recommended = recommended(task, &before).ok_or_else(|| {
            let last = before.iter().rev().find_map(|o| match &o.outcome {
                Outcome::Failed { reason } | Outcome::Void { reason } => Some(reason.clone()),
                Outcome::Measured(_) => None,
            });
            StudyError::NothingWorks(last.unwrap_or_else(|| "no trial was measured".into()))
        })?;
        Ok(Self {
            baseline: task.baseline(),
            rule: task.rule_of_thumb(),
            rule_works: rule_works(&before),
            recommended,
        })
    }

    /// All different ones.
    fn distinct(&self) -> Vec<&Config> {
        let mut arms = vec![&self.baseline];
        for (arm, works) in [(&self.rule, self.rule_works), (&self.recommended, true)] {
            if works && !arms.contains(&arm) {
                arms.push(arm);
            }
        }
        arms
    }
}

/// Whether the rule of thumb was measured.
pub fn rule_works(observations: &[Observation]) -> bool {
    observations
        .iter()
        .any(|o| o.role == Role::RuleOfThumb && o.measurement().is_some())
}

/// How many standard deviations of the model's doubt make a difference clear (a one-sided 95%).
const CLEARLY: f64 = 1.64;

/// The reduction unless it clearly gives up some of the gain, else the model's best; the rule of thumb where the search found nothing that is clearly better.
fn recommended(task: &Task, observations: &[Observation]) -> Option<Config> {
    let Some(choice) = choose::choose(task, observations) else {
        // Too little for a model: the best that was measured.
        return observations
            .iter()
            .filter(|o| o.role != Role::Baseline)
            .filter_map(|o| Some((o, o.measurement()?.mean)))
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(o, _)| o.config.clone());
    };
    let gp = choose::model(task, observations)?;
    let full = task.with_knobs(&choice.full);
    let reduced = task.with_knobs(&choice.reduced);
    let (loss, doubt) = gp.predict_difference(&task.point(&full), &task.point(&reduced));
    let needs_all = loss > choose::GIVE_UP && loss > CLEARLY * doubt;
    let best = if needs_all { full } else { reduced };
    let rule = task.rule_of_thumb();
    let (gain, doubt) = gp.predict_difference(&task.point(&best), &task.point(&rule));
    let clearly_better = gain > CLEARLY * doubt;
    Some(if rule_works(observations) && !clearly_better {
        rule
    } else {
        best
    })
}

/// The next configuration to confirm; none where the confirmation is done.
pub fn next(task: &Task, arms: &Arms, observations: &[Observation]) -> Option<Config> {
    let distinct = arms.distinct();
    let done = observations
        .iter()
        .filter(|o| o.role == Role::Confirmation)
        .count();
    let round = done / distinct.len();
    let wanted = wanted(task, arms, observations);
    if done.is_multiple_of(distinct.len()) && round >= wanted {
        return None;
    }
    let mut order: Vec<usize> = (0..distinct.len()).collect();
    order.shuffle(&mut Pcg64Mcg::seed_from_u64(
        task.question.seed ^ (round as u64) << 32,
    ));
    Some(distinct[order[done % distinct.len()]].clone())
}

/// Share of the confirmation that is done, and seconds that the rest will take, about.
pub fn progress(task: &Task, arms: &Arms, observations: &[Observation]) -> (f64, f64) {
    let walls = |role: fn(Role) -> bool| {
        observations
            .iter()
            .filter(move |o| role(o.role))
            .map(|o| o.wall_s)
    };
    let done = walls(|role| role == Role::Confirmation).count();
    let all = wanted(task, arms, observations) * arms.distinct().len();
    let mean = walls(|_| true).sum::<f64>() / observations.len().max(1) as f64;
    let left = all.saturating_sub(done) as f64;
    (done as f64 / all as f64, left * mean)
}

/// How many rounds there will be: no more than the first ones where these took as long as the budget was.
fn wanted(task: &Task, arms: &Arms, observations: &[Observation]) -> usize {
    let confirmations = observations.iter().filter(|o| o.role == Role::Confirmation);
    let first: f64 = confirmations
        .take(ROUNDS * arms.distinct().len())
        .map(|o| o.wall_s)
        .sum();
    // The rest may take as long again as the budget has room for.
    let affordable = (ROUNDS as f64 * task.question.budget_s / first.max(1.0)) as usize;
    rounds(arms, observations).min(affordable.max(ROUNDS))
}

/// How many rounds there will be: fixed once by the spread of the first [`ROUNDS`], as in Stein's two-stage procedure ("A two-sample test
/// for a linear hypothesis whose power is independent of the variance", 1945), so that no interval is looked at to decide when to stop.
fn rounds(arms: &Arms, observations: &[Observation]) -> usize {
    let first = ROUNDS * arms.distinct().len();
    let confirmations: Vec<Observation> = observations
        .iter()
        .filter(|o| o.role == Role::Confirmation)
        .take(first)
        .cloned()
        .collect();
    if confirmations.len() < first || arms.recommended == arms.rule || !arms.rule_works {
        return ROUNDS;
    }
    let Some(ratio) = ratio(arms, &confirmations, &arms.recommended, &arms.rule) else {
        return ROUNDS;
    };
    let half = (ratio.ci95[1] / ratio.ci95[0]).ln() / 2.0;
    // The half-width falls with the root of the number of rounds.
    let wanted = ROUNDS as f64 * (half / PRECISION).powi(2);
    (wanted.ceil() as usize).clamp(ROUNDS, MOST_ROUNDS)
}

/// Means of the confirmation runs of `config` with their standard errors, in order.
pub fn runs(observations: &[Observation], config: &Config) -> Vec<(f64, f64)> {
    observations
        .iter()
        .filter(|o| o.role == Role::Confirmation && o.config == *config)
        .filter_map(|o| o.measurement().map(|m| (m.mean, m.stderr)))
        .collect()
}

/// Ratio of `of` to `to` from the rounds in which both were measured.
pub fn ratio(arms: &Arms, observations: &[Observation], of: &Config, to: &Config) -> Option<Ratio> {
    let confirmations: Vec<&Observation> = observations
        .iter()
        .filter(|o| o.role == Role::Confirmation)
        .collect();
    let pairs: Vec<(f64, f64)> = confirmations
        .chunks(arms.distinct().len())
        .filter_map(|round| {
            let mean = |config: &Config| {
                round
                    .iter()
                    .find(|o| o.config == *config)?
                    .measurement()
                    .map(|m| m.mean)
            };
            Some((mean(of)?, mean(to)?))
        })
        .collect();
    statistics::ratio(&pairs)
}
