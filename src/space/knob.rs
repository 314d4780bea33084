use super::{Domain, UnitDim};
use crate::{catalog::Kind, units::Value};
use serde::{Deserialize, Serialize};

/// A variable that a space lets vary, and in which domain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Knob {
    /// The variable.
    pub name: String,
    /// What sort of value it takes.
    pub kind: Kind,
    /// What it may be set to.
    pub domain: Domain,
    /// The server's default, which may lie outside the domain.
    pub default: Value,
}

impl Knob {
    /// The coordinate of the unit cube that it takes.
    pub fn dim(&self) -> UnitDim {
        self.domain.dim()
    }

    /// The value at `u` of [0, 1]: on the domain's grid, inside what the server takes. What lies outside [0, 1] is taken to
    /// the nearer end, NaN to the middle.
    pub fn decode(&self, u: f64) -> Value {
        self.domain.decode(u, &self.kind)
    }

    /// Where `value` lies in [0, 1], exactly even if it is off the grid; none if it is outside the domain.
    pub fn encode(&self, value: &Value) -> Option<f64> {
        self.domain.encode(value)
    }

    /// As [`Knob::encode`]; a number outside is taken to the nearer end, a word that is no choice to the first one.
    pub fn nearest(&self, value: &Value) -> f64 {
        self.domain.nearest(value)
    }

    /// The smallest value of a numeric domain, special values aside.
    pub fn least(&self) -> Option<Value> {
        match self.domain {
            Domain::Number { low, .. } => self.kind.number(low),
            Domain::Choice(_) => None,
        }
    }

    /// The domain for people: `819M to 12.8G`, `none, all`.
    pub fn shown(&self) -> String {
        let list = |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
        match &self.domain {
            Domain::Choice(values) => list(values),
            Domain::Number {
                low, high, special, ..
            } => {
                let end = |x: f64| {
                    self.kind
                        .number(x)
                        .map_or_else(|| x.to_string(), |value| value.to_string())
                };
                let range = format!("{} to {}", end(*low), end(*high));
                if special.is_empty() {
                    range
                } else {
                    format!("{range}, or {}", list(special))
                }
            }
        }
    }
}
