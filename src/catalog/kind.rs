use crate::units::{Bytes, Value};
use serde::{Deserialize, Serialize};

/// What sort of value a variable takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

/// The kinds by the names that the files use; `choice` goes with a list of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Sort {
    Bytes,
    Int,
    Real,
    Switch,
    Choice,
}

impl Kind {
    /// Reads a value as option files write it: sizes with K, M, G, T; words and `ON`/`OFF`/`TRUE`/`FALSE`/`1`/`0` in either case.
    /// None where `text` is no value of this kind. The range is not checked.
    pub fn parse(&self, text: &str) -> Option<Value> {
        let text = text.trim();
        match self {
            Kind::Bytes => text.parse::<Bytes>().ok().map(|b| Value::Bytes(b.0)),
            Kind::Int => text.parse().ok().map(Value::Int),
            Kind::Real => text.parse().ok().filter(|x: &f64| x.is_finite()).map(Value::Real),
            Kind::Switch => match text.to_ascii_uppercase().as_str() {
                "ON" | "TRUE" | "1" => Some(Value::Switch(true)),
                "OFF" | "FALSE" | "0" => Some(Value::Switch(false)),
                _ => None,
            },
            Kind::Choice(words) => words
                .iter()
                .find(|w| w.eq_ignore_ascii_case(text))
                .map(|w| Value::Text(w.clone())),
        }
    }

    /// Reads a value from a TOML file, where it may be a number, a truth value or a string in the form of [`Kind::parse`].
    pub fn read(&self, value: &toml::Value) -> Option<Value> {
        match value {
            toml::Value::String(text) => self.parse(text),
            toml::Value::Integer(n) => self.parse(&n.to_string()),
            toml::Value::Float(x) => self.parse(&x.to_string()),
            toml::Value::Boolean(on) => self.parse(if *on { "ON" } else { "OFF" }),
            toml::Value::Datetime(_) | toml::Value::Array(_) | toml::Value::Table(_) => None,
        }
    }

    /// What may be written, for messages.
    pub fn expected(&self) -> String {
        match self {
            Kind::Bytes => "a size such as 64M".to_owned(),
            Kind::Int => "a whole number".to_owned(),
            Kind::Real => "a number".to_owned(),
            Kind::Switch => "ON or OFF".to_owned(),
            Kind::Choice(words) => format!("one of {}", words.join(", ")),
        }
    }

    /// A number of this kind; whole kinds round to the nearest. None for switches and words.
    pub fn number(&self, x: f64) -> Option<Value> {
        match self {
            Kind::Bytes => Some(Value::Bytes(x.round() as u64)),
            Kind::Int => Some(Value::Int(x.round() as i64)),
            Kind::Real => Some(Value::Real(x)),
            Kind::Switch | Kind::Choice(_) => None,
        }
    }

    /// Whether `value` is of this kind.
    pub fn holds(&self, value: &Value) -> bool {
        match (self, value) {
            (Kind::Bytes, Value::Bytes(_))
            | (Kind::Int, Value::Int(_))
            | (Kind::Real, Value::Real(_))
            | (Kind::Switch, Value::Switch(_)) => true,
            (Kind::Choice(words), Value::Text(text)) => words.contains(text),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_reads_what_option_files_write() {
        assert_eq!(Kind::Bytes.parse("96M"), Some(Value::Bytes(96 << 20)));
        assert_eq!(Kind::Int.parse("200"), Some(Value::Int(200)));
        assert_eq!(Kind::Int.parse("200.5"), None);
        assert_eq!(Kind::Real.parse("99.999"), Some(Value::Real(99.999)));
        assert_eq!(Kind::Real.parse("inf"), None);
        assert_eq!(Kind::Switch.parse("off"), Some(Value::Switch(false)));
        let words = Kind::Choice(vec!["O_DIRECT".into(), "fsync".into()]);
        assert_eq!(words.parse("o_direct"), Some(Value::Text("O_DIRECT".into())));
        assert_eq!(words.parse("O_DSYNC"), None);
        assert_eq!(
            Kind::Switch.read(&toml::Value::Boolean(true)),
            Some(Value::Switch(true))
        );
        assert_eq!(
            Kind::Real.read(&toml::Value::Integer(90)),
            Some(Value::Real(90.0))
        );
        assert_eq!(Kind::Bytes.read(&toml::Value::Integer(-1)), None);
        assert!(!Kind::Int.holds(&Value::Real(1.0)));
    }
}
