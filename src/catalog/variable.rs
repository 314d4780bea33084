use super::{Durability, Flavor, Kind};
use crate::units::{Bytes, Value};
use serde::Deserialize;
use std::collections::BTreeMap;

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
    /// The server it belongs to.
    pub flavor: Flavor,
    /// What sort of value it takes.
    pub kind: Kind,
    /// Smallest value that the server takes without changing it.
    pub min: Option<f64>,
    /// Largest value that the server takes without changing it.
    pub max: Option<f64>,
    /// The server rounds values to multiples of this power of two.
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
    /// Durability class by value as an option file writes it; `*` for all others. What is not listed is strict.
    pub classes: BTreeMap<String, Durability>,
    /// Where the facts come from.
    pub source: String,
}

/// Why a value is not one that the server takes as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// It is not of the variable's kind.
    #[error("{variable} takes {expected}, not '{value}'")]
    Kind {
        /// The variable.
        variable: String,
        /// What was given.
        value: String,
        /// What it takes.
        expected: String,
    },
    /// It is below the smallest.
    #[error("{variable} = {value} is below {min}, the least that {flavor} takes")]
    Below {
        /// The variable.
        variable: String,
        /// What was given.
        value: String,
        /// The smallest.
        min: String,
        /// The server.
        flavor: Flavor,
    },
    /// It is above the largest.
    #[error("{variable} = {value} is above {max}, the most that {flavor} takes")]
    Above {
        /// The variable.
        variable: String,
        /// What was given.
        value: String,
        /// The largest.
        max: String,
        /// The server.
        flavor: Flavor,
    },
}

impl Variable {
    /// Reads a value as an option file writes it and checks it against the range.
    ///
    /// # Errors
    /// As [`Variable::accepts`].
    pub fn parse(&self, text: &str) -> Result<Value, ValueError> {
        let value = self
            .kind
            .parse(text)
            .ok_or_else(|| self.not_of_kind(text.to_owned()))?;
        self.accepts(&value).map(|()| value)
    }

    /// Whether the server takes `value` without refusing or clamping it. Rounding to `block` is not looked at.
    ///
    /// # Errors
    /// Where `value` is of another kind or out of range.
    pub fn accepts(&self, value: &Value) -> Result<(), ValueError> {
        if !self.kind.holds(value) {
            return Err(self.not_of_kind(value.to_string()));
        }
        let Some(x) = value.number() else { return Ok(()) };
        let (variable, flavor) = (self.name.clone(), self.flavor);
        match (self.min, self.max) {
            (Some(min), _) if x < min => Err(ValueError::Below {
                variable,
                value: value.to_string(),
                min: self.show(min),
                flavor,
            }),
            (_, Some(max)) if x > max => Err(ValueError::Above {
                variable,
                value: value.to_string(),
                max: self.show(max),
                flavor,
            }),
            _ => Ok(()),
        }
    }

    /// The durability class that a server with this value is in, as far as this variable goes.
    pub fn class(&self, value: &Value) -> Durability {
        let listed = self
            .classes
            .get(&value.to_string())
            .or_else(|| self.classes.get("*"));
        listed.copied().unwrap_or(Durability::Strict)
    }

    fn not_of_kind(&self, value: String) -> ValueError {
        ValueError::Kind {
            variable: self.name.clone(),
            value,
            expected: self.kind.expected(),
        }
    }

    fn show(&self, x: f64) -> String {
        if self.kind == Kind::Bytes {
            Bytes(x as u64).to_string()
        } else {
            x.to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::catalog::Catalog;
    use crate::units::Value;

    #[test]
    fn values_are_read_and_checked() {
        let catalog = Catalog::for_flavor("mariadb-10.11.19".parse().unwrap()).unwrap();
        let parse =
            |name: &str, text: &str| catalog.get(name).unwrap().parse(text).map_err(|e| e.to_string());
        assert_eq!(parse("innodb_buffer_pool_size", "8G"), Ok(Value::Bytes(8 << 30)));
        assert_eq!(
            parse("innodb_buffer_pool_size", "5M").unwrap_err(),
            "innodb_buffer_pool_size = 5M is below 6M, the least that mariadb-10.11.19 takes"
        );
        assert_eq!(
            parse("innodb_flush_neighbors", "3").unwrap_err(),
            "innodb_flush_neighbors = 3 is above 2, the most that mariadb-10.11.19 takes"
        );
        assert_eq!(
            parse("innodb_doublewrite", "fast").unwrap_err(),
            "innodb_doublewrite takes ON or OFF, not 'fast'"
        );
    }
}
