use super::{Domain, UnitDim};
use crate::{catalog::Kind, units::Value};

/// A variable that a space lets vary, and in which domain.
#[derive(Clone, Debug, PartialEq)]
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
}
