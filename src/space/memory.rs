use crate::units::{Bytes, Config};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// What the variables of a configuration may take of memory together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// The most, in bytes.
    pub limit: u64,
    /// What is summed up.
    pub parts: Vec<MemoryPart>,
}

/// One summand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum MemoryPart {
    /// So many bytes whatever the configuration.
    Fixed(u64),
    /// A variable of sizes times a count.
    Variable {
        /// The count: 1.05 for a size with 5% of overhead.
        times: f64,
        /// The variable.
        name: String,
        /// Its value in bytes where a configuration does not set it.
        default: u64,
    },
}

/// A configuration takes more memory than it may.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{sum} = {} is more than the {} of memory that may be used", Bytes(*total).rounded(), Bytes(*limit).rounded())]
pub struct MemoryError {
    /// The summands, as text.
    pub sum: String,
    /// What they come to, in bytes.
    pub total: u64,
    /// What may be used, in bytes.
    pub limit: u64,
}

impl Memory {
    /// Bytes that `config` takes.
    pub fn total(&self, config: &Config) -> u64 {
        self.parts.iter().map(|part| part.bytes(config)).sum::<f64>() as u64
    }

    /// Whether `config` keeps within the limit.
    ///
    /// # Errors
    /// Where it does not, with the sum.
    pub fn check(&self, config: &Config) -> Result<(), MemoryError> {
        let total = self.total(config);
        if total <= self.limit {
            return Ok(());
        }
        let terms: Vec<String> = self.parts.iter().map(|part| part.term(config)).collect();
        Err(MemoryError {
            sum: terms.join(" + "),
            total,
            limit: self.limit,
        })
    }
}

impl MemoryPart {
    fn value(name: &str, default: u64, config: &Config) -> f64 {
        config
            .get(name)
            .and_then(|v| v.number())
            .unwrap_or(default as f64)
    }

    fn bytes(&self, config: &Config) -> f64 {
        match self {
            MemoryPart::Fixed(bytes) => *bytes as f64,
            MemoryPart::Variable { times, name, default } => times * Self::value(name, *default, config),
        }
    }

    fn term(&self, config: &Config) -> String {
        match self {
            MemoryPart::Fixed(bytes) => Bytes(*bytes).to_string(),
            MemoryPart::Variable { times, name, default } => {
                let size = Bytes(Self::value(name, *default, config) as u64);
                if *times == 1.0 {
                    format!("{name} {size}")
                } else {
                    format!("{times} x {name} {size}")
                }
            }
        }
    }
}

/// A summand as a space states it: `256M`, `innodb_log_buffer_size` or `1.05 x innodb_buffer_pool_size`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PartText {
    Fixed(u64),
    Variable(f64, String),
}

impl FromStr for PartText {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(Bytes(bytes)) = text.parse() {
            return Ok(PartText::Fixed(bytes));
        }
        let (times, name) = match text.split_once(" x ") {
            Some((times, name)) => (times.trim().parse().ok(), name.trim()),
            None => (Some(1.0), text.trim()),
        };
        let word = !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        match times.filter(|t: &f64| t.is_finite() && *t > 0.0) {
            Some(times) if word => Ok(PartText::Variable(times, name.to_owned())),
            _ => Err(format!(
                "'{text}' is not a part of memory such as 256M or 1.05 x innodb_buffer_pool_size"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Value;

    #[test]
    fn the_error_says_the_sum() {
        let memory = Memory {
            limit: 9 << 30,
            parts: vec![
                MemoryPart::Variable {
                    times: 1.5,
                    name: "pool".into(),
                    default: 128 << 20,
                },
                MemoryPart::Variable {
                    times: 1.0,
                    name: "log".into(),
                    default: 16 << 20,
                },
                MemoryPart::Fixed(256 << 20),
            ],
        };
        assert_eq!(memory.check(&Config::new()), Ok(()));
        let config = Config::from([("pool".to_owned(), Value::Bytes(8 << 30))]);
        assert_eq!(
            memory.check(&config).unwrap_err().to_string(),
            "1.5 x pool 8G + log 16M + 256M = 12.3 GiB is more than the 9 GiB of memory that may be used"
        );
    }

    #[test]
    fn parts_are_sizes_or_variables() {
        assert_eq!("256M".parse(), Ok(PartText::Fixed(256 << 20)));
        assert_eq!("1.05 x a_b".parse(), Ok(PartText::Variable(1.05, "a_b".into())));
        assert_eq!("a_b".parse(), Ok(PartText::Variable(1.0, "a_b".into())));
        for text in ["", "-1 x a", "x a", "a b", "nan x a", "0 x a"] {
            assert!(text.parse::<PartText>().is_err(), "{text}");
        }
    }
}
