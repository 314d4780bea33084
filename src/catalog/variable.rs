use crate::units::Value;
use serde::Deserialize;

/// What sort of value a variable takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A size in bytes.
    Bytes,
    /// A whole number.
    Int,
    /// A number with a fraction.
    Real,
    /// `ON` or `OFF`.
    Switch,
    /// One of these words.
    Choice(Vec<String>),
}

/// How a variable changes with the size of the model (the similarity rule).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dimension {
    /// Multiplied by the scale: pools, logs, buffers shared by all.
    Volume,
    /// Left alone: I/O capacity.
    Rate,
    /// Left alone: threads, connections.
    Count,
    /// Left alone: percentages.
    Fraction,
    /// A filling time, multiplied by the scale.
    Time,
    /// Left alone: on or off, one of a list.
    Switch,
}

/// When a change takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TakesEffect {
    /// With SET GLOBAL.
    Dynamic,
    /// At the next start.
    Restart,
    /// Only when the data directory is made.
    Init,
}

/// What part of the hardware decides the best value: where that part is not reproduced, a trial says nothing about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DecidedBy {
    /// The relation of volumes (pool, redo, data), and the code.
    Volumes,
    /// The disks: their latency, their rates, their cache.
    Array,
    /// How many cores run at once.
    Parallelism,
}

/// One system variable of one server flavor.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name, with underscores.
    pub name: String,
    /// What sort of value it takes.
    pub kind: Kind,
    /// Smallest value that the server takes without changing it.
    pub min: Option<f64>,
    /// Largest value that the server takes without changing it.
    pub max: Option<f64>,
    /// The server rounds values to multiples of this.
    pub block: Option<u64>,
    /// The value without any option file.
    pub default: Value,
    /// How it scales.
    pub dimension: Dimension,
    /// Part of a volume that does not scale, in bytes (for the redo log: what InnoDB keeps free whatever the size).
    pub fixed_part: u64,
    /// When a change takes effect.
    pub takes_effect: TakesEffect,
    /// What decides its best value.
    pub decided_by: DecidedBy,
    /// What it does, in a line, for the option file.
    pub about: String,
    /// What a crash costs by its value, in a line; empty where nothing.
    pub durability: String,
    /// Where the facts come from.
    pub source: String,
}
