use super::{ParseError, split_number};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::{fmt, str::FromStr};

/// A size in bytes. Written as option files write it: `4G` is 4 x 1024^3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

const SUFFIXES: [(char, u64); 4] = [('T', 1 << 40), ('G', 1 << 30), ('M', 1 << 20), ('K', 1 << 10)];

impl Bytes {
    /// One MiB.
    pub const MIB: u64 = 1 << 20;
    /// One GiB.
    pub const GIB: u64 = 1 << 30;

    /// For people: rounded to three figures, `1.79 GiB`.
    pub fn rounded(self) -> String {
        match SUFFIXES.iter().find(|(_, unit)| self.0 >= *unit) {
            Some((suffix, unit)) => {
                let value = self.0 as f64 / *unit as f64;
                let decimals = if value >= 100.0 {
                    0
                } else if value >= 10.0 {
                    1
                } else {
                    2
                };
                let text = format!("{value:.decimals$}");
                let text = if text.contains('.') {
                    text.trim_end_matches('0').trim_end_matches('.')
                } else {
                    &text
                };
                format!("{text} {suffix}iB")
            }
            None => format!("{} B", self.0),
        }
    }
}

impl FromStr for Bytes {
    type Err = ParseError;

    /// Parses `4G`, `1.5G`, `512M`, `123456`; suffixes K M G T in either case, an optional `iB` or `B` behind.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let error = || ParseError {
            text: text.to_owned(),
            expected: "a size such as 512M or 4G",
        };
        let (number, suffix) = split_number(text);
        let upper = suffix.to_ascii_uppercase();
        let letter = upper
            .strip_suffix("IB")
            .or(upper.strip_suffix('B'))
            .unwrap_or(&upper);
        let unit = match letter {
            "" => 1,
            _ => {
                SUFFIXES
                    .iter()
                    .find(|(s, _)| letter.len() == 1 && letter.starts_with(*s))
                    .ok_or_else(error)?
                    .1
            }
        };
        if let Ok(whole) = number.parse::<u64>() {
            return whole.checked_mul(unit).map(Bytes).ok_or_else(error);
        }
        let value = number.parse::<f64>().map_err(|_| error())? * unit as f64;
        if value.is_finite() && value < u64::MAX as f64 {
            Ok(Bytes(value.round() as u64))
        } else {
            Err(error())
        }
    }
}

/// The largest suffix that keeps the value exact, as an option file takes it: `12G`, `650M`, `1000`.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match SUFFIXES
            .iter()
            .find(|(_, unit)| self.0 >= *unit && self.0.is_multiple_of(*unit))
        {
            Some((suffix, unit)) => write!(f, "{}{suffix}", self.0 / unit),
            None => write!(f, "{}", self.0),
        }
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_what_people_write() {
        for (text, bytes) in [
            ("4G", 4 << 30),
            ("1.5g", 3 << 29),
            ("512 MiB", 512 << 20),
            ("10kb", 10240),
            ("7", 7),
        ] {
            assert_eq!(text.parse::<Bytes>().unwrap().0, bytes, "{text}");
        }
        for text in [
            "",
            "G",
            "4X",
            "4GG",
            "-1",
            "1.2.3M",
            "99999999999999T",
            "4 apples",
            "1e3",
        ] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }

    #[test]
    fn prints_exactly_and_rounded() {
        assert_eq!(Bytes(12 << 30).to_string(), "12G");
        assert_eq!(Bytes(650 << 20).to_string(), "650M");
        assert_eq!(Bytes((1 << 30) + 1).to_string(), "1073741825");
        assert_eq!(Bytes(0).to_string(), "0");
        assert_eq!(Bytes(1_927_000_000).rounded(), "1.79 GiB");
        assert_eq!(Bytes(16 << 30).rounded(), "16 GiB");
        assert_eq!(Bytes(200 << 20).rounded(), "200 MiB");
    }

    proptest::proptest! {
        #[test]
        fn print_and_parse_is_the_identity(n: u64) {
            proptest::prop_assert_eq!(Bytes(n).to_string().parse::<Bytes>().unwrap(), Bytes(n));
        }

        #[test]
        fn parsing_never_panics(s: String) {
            let _ = s.parse::<Bytes>();
        }
    }
}
