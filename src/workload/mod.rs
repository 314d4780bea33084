//! What is run against the server: one folder a workload, with its schema, its load, its operations and its checks.

mod driver;
mod iibench;

pub use driver::{LoadProgress, Run, RunError, Watch};
pub use iibench::Iibench;

use crate::source::nearest_first;
use mysql_async::OptsBuilder;
use std::collections::BTreeMap;

/// Name and summary of every workload.
pub const ALL: &[(&str, &str)] = &[
    (
        "iibench",
        "insert benchmark of 2009, second test: inserts into a loaded table with four query sessions beside them, cold start",
    ),
    (
        "iibench-load",
        "insert benchmark of 2009, first test: inserts into an empty table, no queries",
    ),
];

/// A name that is no workload.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no workload '{wanted}'; there are: {}", names.join(", "))]
pub struct UnknownWorkload {
    /// The name given.
    pub wanted: String,
    /// The names there are, the nearest first.
    pub names: Vec<&'static str>,
}

/// What the data of a workload are at a given size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dataset {
    /// Rows loaded before the first trial.
    pub rows: u64,
    /// About how many bytes they take on disk, indexes included.
    pub bytes: u64,
    /// Part of the cache's key: changes when what is loaded changes.
    pub key: String,
}

/// A workload, ready to be loaded and run at a given size.
#[derive(Clone, Debug)]
pub enum Workload {
    /// The insert benchmark.
    Iibench(Iibench),
}

impl Workload {
    /// The workload `name` for a machine whose RAM, at the study's scale, is `ram` bytes; `rows` overrules the published size.
    pub fn named(name: &str, ram: f64, rows: Option<u64>) -> Result<Self, UnknownWorkload> {
        match name {
            "iibench" => Ok(Self::Iibench(Iibench::second_test(ram, rows))),
            "iibench-load" => Ok(Self::Iibench(Iibench::first_test(rows))),
            _ => Err(UnknownWorkload {
                wanted: name.to_owned(),
                names: nearest_first(name, ALL.iter().map(|(name, _)| *name))
                    .into_iter()
                    .filter_map(|n| ALL.iter().map(|(name, _)| *name).find(|name| *name == n))
                    .collect(),
            }),
        }
    }

    /// Name of what is maximised, for scripts: `rows_per_s`.
    pub fn objective(&self) -> &'static str {
        match self {
            Self::Iibench(_) => "rows_per_s",
        }
    }

    /// Unit of what is maximised, for people: `rows/s`.
    pub fn unit(&self) -> &'static str {
        match self {
            Self::Iibench(_) => "rows/s",
        }
    }

    /// What is loaded.
    pub fn dataset(&self) -> Dataset {
        match self {
            Self::Iibench(iibench) => iibench.dataset(),
        }
    }

    /// Loads the data into the server behind `opts`, which serves nobody else.
    pub async fn load(
        &self,
        opts: OptsBuilder,
        progress: &mut dyn FnMut(LoadProgress),
    ) -> Result<(), RunError> {
        match self {
            Self::Iibench(iibench) => iibench.load(opts, progress).await,
        }
    }

    /// Runs it until `watch` says stop, then checks what the workload promises.
    pub async fn run(&self, opts: OptsBuilder, seed: u64, watch: &mut dyn Watch) -> Result<Run, RunError> {
        match self {
            Self::Iibench(iibench) => iibench.run(opts, seed, watch).await,
        }
    }
}

/// Counters of the server by name.
pub type Counters = BTreeMap<String, f64>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_workload_exists_and_a_wrong_name_lists_the_nearest() {
        for (name, _) in ALL {
            assert!(Workload::named(name, 1e9, None).is_ok(), "{name}");
        }
        let error = Workload::named("iibench-laod", 1e9, None).unwrap_err();
        assert_eq!(error.names[0], "iibench-load");
    }
}
