//! From a question to a task: what is searched here, what is set by rule, and what every trial carries.

use super::{NotSearched, Question, Task, scale};
use crate::{
    catalog::{Catalog, DecidedBy, Dimension, Durability, Family},
    observation::Isolation,
    space::Space,
    units::{Config, Value},
};

/// A setting that a rule makes: variable, value at full size, the rule's words.
pub type RuleSetting = (String, Value, String);

/// What a plan is made from.
pub struct Facts {
    /// The server's variables.
    pub catalog: Catalog,
    /// The space as its file says, resolved for this server and profile.
    pub space: Space,
    /// The profile's rule-of-thumb configuration.
    pub rule: Vec<RuleSetting>,
    /// Cores of the profile.
    pub profile_cores: u32,
    /// Cores of this machine.
    pub host_cores: u32,
    /// The array of the profile in words: `4 disks, RAID 10`.
    pub array: String,
    /// Full-size RAM of the profile in words.
    pub ram: String,
    /// Class that every trial keeps.
    pub durability: Durability,
    /// Whether there is a binary log.
    pub binlog: bool,
}

/// What is searched and what is not, before it is known at which scale.
pub struct Plan {
    /// The knobs that are searched.
    pub space: Space,
    /// Those that are not, and why.
    pub not_searched: Vec<NotSearched>,
    /// Set in every trial.
    pub always: Config,
    /// Set in every trial but the baseline.
    pub held: Vec<RuleSetting>,
    /// What of the hardware is not reproduced.
    pub cannot: Vec<String>,
    facts: Facts,
}

impl Plan {
    /// The plan for trials on the host as it is (`isolation` none): what the array decides is set by rule, what parallelism decides too
    /// where the host has fewer cores than the profile.
    pub fn without_twin(facts: Facts) -> Self {
        let few_cores = facts.host_cores < facts.profile_cores;
        let mut not_searched = Vec::new();
        let mut space = facts.space.clone();
        for name in space.keep_within(facts.durability, &facts.catalog) {
            let why = format!("its values go beyond the durability class {}", facts.durability);
            not_searched.push(NotSearched { name, why });
        }
        space.retain(|knob| {
            let Some(variable) = facts.catalog.get(&knob.name) else {
                return false;
            };
            let why = match variable.decided_by {
                DecidedBy::Array => "the disks decide it, and the trials ran on this machine's disk",
                DecidedBy::Parallelism if few_cores => {
                    "cores that work at the same time decide it, and this machine has fewer than the profile"
                }
                DecidedBy::Volumes | DecidedBy::Parallelism => return true,
            };
            not_searched.push(NotSearched {
                name: knob.name.clone(),
                why: why.to_owned(),
            });
            false
        });
        let held = facts
            .rule
            .iter()
            .filter(|(name, _, _)| !space.knobs.iter().any(|k| k.name == *name))
            .cloned()
            .collect();
        let mut cannot = vec![
            format!(
                "the disks ({}): the trials ran on this machine's own disk",
                facts.array
            ),
            format!(
                "the memory limit ({}): the server could use this machine's page cache",
                facts.ram
            ),
        ];
        if few_cores {
            cannot.push(format!(
                "the cores: {} of {}, at this machine's own speed",
                facts.host_cores, facts.profile_cores
            ));
        } else {
            cannot.push("the speed of the cores: the trials ran at this machine's own".to_owned());
        }
        Self {
            always: always(&facts),
            space,
            not_searched,
            held,
            cannot,
            facts,
        }
    }

    /// Values of volumes whose scaled size decides how small a scale may be: defaults, rule of thumb, and the space's ends.
    pub fn volumes(&self) -> Vec<(String, Value, &'static str)> {
        let default = |name: &String| {
            Some((
                name.clone(),
                self.facts.catalog.get(name)?.default.clone(),
                "the default",
            ))
        };
        let rule = self
            .facts
            .rule
            .iter()
            .map(|(name, value, _)| (name.clone(), value.clone(), "the rule of thumb"));
        let ends = self
            .space
            .knobs
            .iter()
            .filter_map(|k| Some((k.name.clone(), k.least()?, scale::SEARCHED)));
        let mut all: Vec<_> = self.names().iter().filter_map(default).collect();
        all.extend(rule);
        all.extend(ends);
        all.retain(|(name, _, _)| {
            self.facts
                .catalog
                .get(name)
                .is_some_and(|v| v.dimension == Dimension::Volume)
        });
        all
    }

    /// The task at the question's scale.
    pub fn task(self, name: String, question: Question, objective: (&'static str, &'static str)) -> Task {
        let volumes = self
            .names()
            .into_iter()
            .filter_map(|name| {
                let variable = self.facts.catalog.get(&name)?;
                matches!(variable.dimension, Dimension::Volume | Dimension::Time)
                    .then(|| (name, variable.default.clone()))
            })
            .collect();
        Task {
            name,
            question,
            flavor: self.facts.catalog.flavor(),
            catalog: self.facts.catalog,
            space: self.space,
            not_searched: self.not_searched,
            always: self.always,
            held: self.held,
            rule: self.facts.rule,
            volumes,
            isolation: Isolation::None,
            cannot: self.cannot,
            objective,
        }
    }

    /// Every variable that a trial may set.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.space.knobs.iter().map(|k| k.name.clone()).collect();
        names.extend(self.facts.rule.iter().map(|(name, _, _)| name.clone()));
        names.sort();
        names.dedup();
        names
    }
}

/// What the durability class and the binary log demand beyond the server's defaults.
fn always(facts: &Facts) -> Config {
    let mut config = Config::new();
    // MariaDB's default leaves the binary log to the operating system.
    if facts.binlog
        && facts.durability == Durability::Strict
        && facts.catalog.flavor().family == Family::MariaDb
    {
        config.insert("sync_binlog".into(), Value::Int(1));
    }
    config
}
