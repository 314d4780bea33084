//! From observations to a recommendation: the model's best, and the fewest changes that give its gain.

use super::{Effect, Known, Task, history};
use crate::{
    model::Gp,
    observation::{Observation, Role},
    units::Config,
};

/// How much of the model's best the reduced configuration may give up, as a share of throughput.
pub(super) const GIVE_UP: f64 = 0.02;

/// The model's best and its reduction, as knobs.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The configuration with the highest posterior mean among those tried.
    pub full: Config,
    /// The same with every knob back at its default that the model can do without.
    pub reduced: Config,
}

/// Fits the study's model; none where there are too few measured trials.
pub fn model(task: &Task, observations: &[Observation]) -> Option<Gp> {
    let data = history::data(task, observations);
    Gp::fit(&task.space.dims(), &data, task.question.seed).ok()
}

/// The choice that the searched trials lead to; none before there is a model. What came after them does not change it.
pub fn choose(task: &Task, observations: &[Observation]) -> Option<Choice> {
    let searched = |o: &&Observation| matches!(o.role, Role::Baseline | Role::RuleOfThumb | Role::Search);
    let observations: Vec<Observation> = observations.iter().filter(searched).cloned().collect();
    let gp = model(task, &observations)?;
    let best = observations
        .iter()
        .filter(|o| o.measurement().is_some() && matches!(o.role, Role::RuleOfThumb | Role::Search))
        .map(|o| (o, gp.predict(&task.point(&o.config)).log_mean))
        .max_by(|a, b| a.1.total_cmp(&b.1))?
        .0;
    let full: Config = task
        .space
        .knobs
        .iter()
        .filter_map(|k| Some((k.name.clone(), best.config.get(&k.name)?.clone())))
        .collect();
    let reduced = reduce(task, &gp, &full);
    Some(Choice { full, reduced })
}

/// Sets knobs back to their default one by one, the one that costs least first, for as long as the model cannot tell what all of them
/// together cost from nothing, or that is less than [`GIVE_UP`]. The model may be wrong: the reduction is measured against what it came from. A default outside the space was not looked at: such a knob stays.
fn reduce(task: &Task, gp: &Gp, full: &Config) -> Config {
    let mut current = full.clone();
    let start = task.point(full);
    loop {
        let cheapest = changed(task, &current)
            .into_iter()
            .filter_map(|name| {
                let mut without = current.clone();
                without.remove(&name);
                let was_seen = task.default_is_in_space(&name);
                let (loss, sd) = gp.predict_difference(&start, &task.point(&without));
                (was_seen && (loss <= GIVE_UP || loss < 1.96 * sd)).then_some((without, loss))
            })
            .min_by(|a, b| a.1.total_cmp(&b.1));
        match cheapest {
            Some((without, _)) => current = without,
            None => return current,
        }
    }
}

/// Knobs that `config` sets to something else than their default.
pub fn changed(task: &Task, config: &Config) -> Vec<String> {
    config
        .iter()
        .filter(|(name, value)| task.default(name) != Some(value))
        .map(|(name, _)| name.clone())
        .collect()
}

/// What a knob of `config` does to throughput by the model: with it over with its default, all else the same. None where the default lies
/// outside the space: nobody has measured there.
pub fn effect(task: &Task, gp: &Gp, config: &Config, name: &str) -> Option<Effect> {
    if !task.default_is_in_space(name) {
        return None;
    }
    let mut without = config.clone();
    without.remove(name);
    let (difference, sd) = gp.predict_difference(&task.point(config), &task.point(&without));
    Some(Effect {
        ratio: difference.exp(),
        ci95: [(difference - 1.96 * sd).exp(), (difference + 1.96 * sd).exp()],
        known: Known::Modelled,
    })
}
