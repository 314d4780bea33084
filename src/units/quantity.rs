use super::{ParseError, split_number};
use serde::{Deserialize, Deserializer, de};
use std::{fmt, str::FromStr, time::Duration};

/// A length of time in seconds, never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Seconds(pub f64);

/// A number of events a second, never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Rate(pub f64);

/// A share, 0 to 1; `5%` is 0.05 and `1/16` is 0.0625.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Fraction(pub f64);

impl Seconds {
    /// As the standard library's type; what it cannot hold is its maximum.
    pub fn duration(self) -> Duration {
        Duration::try_from_secs_f64(self.0).unwrap_or(Duration::MAX)
    }
}

impl FromStr for Seconds {
    type Err = ParseError;

    /// Parses `200ms`, `30s`, `10m`, `1.5h`, `90` (seconds).
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let error = || ParseError {
            text: text.to_owned(),
            expected: "a time such as 200ms, 30s, 10m or 1h",
        };
        let (number, suffix) = split_number(text);
        let unit = match suffix {
            "us" => 1e-6,
            "ms" => 1e-3,
            "" | "s" => 1.0,
            "m" | "min" => 60.0,
            "h" => 3600.0,
            _ => return Err(error()),
        };
        let value = number.parse::<f64>().map_err(|_| error())? * unit;
        if value.is_finite() {
            Ok(Seconds(value))
        } else {
            Err(error())
        }
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = self.0;
        if s < 1.0 {
            write!(f, "{}ms", (s * 1000.0).round())
        } else if s < 100.0 {
            write!(f, "{}s", (s * 10.0).round() / 10.0)
        } else {
            let whole = s.round() as u64;
            match (whole / 3600, whole / 60 % 60, whole % 60) {
                (0, m, 0) => write!(f, "{m}m"),
                (0, m, s) => write!(f, "{m}m{s:02}s"),
                (h, m, _) => write!(f, "{h}h{m:02}m"),
            }
        }
    }
}

impl FromStr for Rate {
    type Err = ParseError;

    /// Parses `250`, `250/s`, `1.5K/s`.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let error = || ParseError {
            text: text.to_owned(),
            expected: "a rate such as 250/s",
        };
        let (number, suffix) = split_number(text);
        let unit = match suffix.strip_suffix("/s").unwrap_or(suffix).trim() {
            "" => 1.0,
            "k" | "K" => 1e3,
            "M" => 1e6,
            _ => return Err(error()),
        };
        let value = number.parse::<f64>().map_err(|_| error())? * unit;
        if value.is_finite() {
            Ok(Rate(value))
        } else {
            Err(error())
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = if self.0 >= 100.0 {
            0
        } else if self.0 >= 10.0 {
            1
        } else {
            2
        };
        write!(f, "{:.decimals$}/s", self.0)
    }
}

impl FromStr for Fraction {
    type Err = ParseError;

    /// Parses `5%`, `0.05`, `1/16`; the result must lie in 0 to 1.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let error = || ParseError {
            text: text.to_owned(),
            expected: "a share such as 5%, 0.05 or 1/16",
        };
        let number = |s: &str| s.trim().parse::<f64>().map_err(|_| error());
        let text_ = text.trim();
        let value = if let Some(percent) = text_.strip_suffix('%') {
            number(percent)? / 100.0
        } else if let Some((top, bottom)) = text_.split_once('/') {
            number(top)? / number(bottom)?
        } else {
            number(text_)?
        };
        if (0.0..=1.0).contains(&value) {
            Ok(Fraction(value))
        } else {
            Err(error())
        }
    }
}

/// `1/16` where it is one over a whole number, else a percentage.
impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inverse = 1.0 / self.0;
        if self.0 == 1.0 {
            write!(f, "1")
        } else if self.0 > 0.0 && inverse < 1e6 && (inverse - inverse.round()).abs() < 1e-9 {
            write!(f, "1/{}", inverse.round())
        } else {
            write!(f, "{}%", (self.0 * 10000.0).round() / 100.0)
        }
    }
}

macro_rules! deserialize_text {
    ($($t:ty),*) => {$(
        impl<'de> Deserialize<'de> for $t {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }
    )*};
}
deserialize_text!(Seconds, Rate, Fraction);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (text, seconds, printed) in [
            ("200ms", 0.2, "200ms"),
            ("30s", 30.0, "30s"),
            ("5m", 300.0, "5m"),
            ("90", 90.0, "90s"),
            ("1.5h", 5400.0, "1h30m"),
        ] {
            let value: Seconds = text.parse().unwrap();
            assert!((value.0 - seconds).abs() < 1e-9, "{text}");
            assert_eq!(value.to_string(), printed);
        }
        for text in ["", "5 parsecs", "-3s", "m", "inf", "nan"] {
            assert!(text.parse::<Seconds>().is_err(), "{text}");
        }
    }

    #[test]
    fn rates_and_fractions() {
        assert_eq!("250/s".parse::<Rate>().unwrap(), Rate(250.0));
        assert_eq!("1.5K/s".parse::<Rate>().unwrap(), Rate(1500.0));
        assert_eq!("1/16".parse::<Fraction>().unwrap(), Fraction(0.0625));
        assert_eq!("80%".parse::<Fraction>().unwrap(), Fraction(0.8));
        assert_eq!(Fraction(0.0625).to_string(), "1/16");
        assert_eq!(Fraction(0.3).to_string(), "30%");
        for text in ["1/0", "120%", "-1", "x"] {
            assert!(text.parse::<Fraction>().is_err(), "{text}");
        }
    }
}
