use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};

/// What a system variable is set to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Value {
    /// A size, printed as `4G`.
    Bytes(u64),
    /// A whole number.
    Int(i64),
    /// A number with a fraction.
    Real(f64),
    /// `ON` or `OFF`.
    Switch(bool),
    /// One of a list, or any text.
    Text(String),
}

impl Value {
    /// The number behind a size, whole number or real; none for switches and texts.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Bytes(n) => Some(*n as f64),
            Value::Int(n) => Some(*n as f64),
            Value::Real(x) => Some(*x),
            Value::Switch(_) | Value::Text(_) => None,
        }
    }
}

/// As an option file takes it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bytes(n) => super::Bytes(*n).fmt(f),
            Value::Int(n) => n.fmt(f),
            Value::Real(x) => x.fmt(f),
            Value::Switch(on) => f.write_str(if *on { "ON" } else { "OFF" }),
            Value::Text(text) => f.write_str(text),
        }
    }
}

/// Variables and what they are set to, by name.
pub type Config = BTreeMap<String, Value>;
