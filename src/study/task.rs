use super::Question;
use crate::{
    catalog::{Catalog, Flavor},
    observation::Isolation,
    space::Space,
    study::NotSearched,
    units::{Config, Value},
};

/// Everything that the run loop needs to know: the question, and what follows from it for this server and this profile.
pub struct Task {
    /// Name of the study.
    pub name: String,
    /// What is asked.
    pub question: Question,
    /// The server's release.
    pub flavor: Flavor,
    /// The server's variables.
    pub catalog: Catalog,
    /// The knobs that are searched, and only these.
    pub space: Space,
    /// Knobs of the space that are not searched, and why.
    pub not_searched: Vec<NotSearched>,
    /// Set in every trial, the baseline too (binary log, durability).
    pub always: Config,
    /// Set in every trial but the baseline: what a rule decides because a trial here could not. With the rule's words.
    pub held: Vec<(String, Value, String)>,
    /// The profile's rule-of-thumb configuration, `held` included, with the rule's words.
    pub rule: Vec<(String, Value, String)>,
    /// Defaults of the volumes that are written out scaled in every trial that does not set them.
    pub volumes: Config,
    /// How much of the hardware is reproduced.
    pub isolation: Isolation,
    /// What is not, a sentence each.
    pub cannot: Vec<String>,
    /// What is maximised, for scripts and for people.
    pub objective: (&'static str, &'static str),
}

impl Task {
    /// Settings of a trial of the server's defaults.
    pub fn baseline(&self) -> Config {
        self.always.clone()
    }

    /// Settings of a trial of the rule-of-thumb configuration.
    pub fn rule_of_thumb(&self) -> Config {
        let mut config = self.always.clone();
        config.extend(
            self.rule
                .iter()
                .map(|(name, value, _)| (name.clone(), value.clone())),
        );
        config
    }

    /// Settings of a trial of these knobs.
    pub fn with_knobs(&self, knobs: &Config) -> Config {
        let mut config = self.always.clone();
        config.extend(
            self.held
                .iter()
                .map(|(name, value, _)| (name.clone(), value.clone())),
        );
        config.extend(knobs.clone());
        config
    }

    /// What the server is given for `config`: volumes that it does not set at their default, everything scaled.
    pub fn scaled(&self, config: &Config) -> Config {
        let mut full = self.volumes.clone();
        full.extend(config.clone());
        super::scale::scaled(&full, &self.catalog, self.flavor, self.question.scale)
    }

    /// The knobs of `config`, those that it does not set at their default, as a point of the unit cube.
    pub fn point(&self, config: &Config) -> Vec<f64> {
        self.space.nearest(config)
    }

    /// Whether every knob of `config` lies in its domain, but for what moving a value to one that is not rounded took it past an end.
    pub fn is_in_space(&self, config: &Config) -> bool {
        super::history::is_in_space(&self.space, config)
    }

    /// Whether the default of a knob lies in its domain.
    pub fn default_is_in_space(&self, name: &str) -> bool {
        self.space
            .knobs
            .iter()
            .any(|knob| knob.name == name && knob.encode(&knob.default).is_some())
    }

    /// Whether the baseline differs from the space's other trials in more than the knobs.
    pub fn baseline_is_in_space(&self) -> bool {
        self.held.is_empty()
    }

    /// Default of a knob at full size.
    pub fn default(&self, name: &str) -> Option<&Value> {
        self.catalog.get(name).map(|variable| &variable.default)
    }
}
