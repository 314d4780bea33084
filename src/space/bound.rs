use super::Hardware;
use crate::units::{Bytes, Fraction, ParseError};
use std::str::FromStr;

/// One end of a domain as a space states it: `64M`, `5% of ram`, `2 x cores`, `0.5 x write_iops`, each perhaps with
/// `, at least 96M` or `, at most 64G` behind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bound {
    base: Base,
    at_least: f64,
    at_most: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Base {
    Fixed(f64),
    OfRam(f64),
    TimesCores(f64),
    TimesWriteIops(f64),
}

impl Bound {
    /// A number that does not depend on the hardware.
    pub(super) fn fixed(x: f64) -> Self {
        Self {
            base: Base::Fixed(x),
            at_least: f64::NEG_INFINITY,
            at_most: f64::INFINITY,
        }
    }

    /// Its value on `hardware`, in the variable's own unit. Where the two limits contradict each other, the upper one holds.
    pub(super) fn on(&self, hardware: &Hardware) -> f64 {
        let x = match self.base {
            Base::Fixed(x) => x,
            Base::OfRam(share) => share * hardware.ram.0 as f64,
            Base::TimesCores(n) => n * f64::from(hardware.cores),
            Base::TimesWriteIops(n) => n * hardware.write_iops,
        };
        x.max(self.at_least).min(self.at_most)
    }
}

impl FromStr for Bound {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let error = || ParseError {
            text: text.to_owned(),
            expected: "a bound such as 64M, 5% of ram, 2 x cores or 0.5 x write_iops, with ', at least 96M' or ', at most 64G' behind",
        };
        let mut parts = text.split(',').map(str::trim);
        let base = parts.next().and_then(base).ok_or_else(error)?;
        let mut bound = Bound {
            base,
            ..Bound::fixed(0.0)
        };
        for part in parts {
            let (limit, value) = match (part.strip_prefix("at least "), part.strip_prefix("at most ")) {
                (Some(value), _) => (&mut bound.at_least, value),
                (_, Some(value)) => (&mut bound.at_most, value),
                _ => return Err(error()),
            };
            *limit = plain(value).ok_or_else(error)?;
        }
        Ok(bound)
    }
}

fn base(text: &str) -> Option<Base> {
    if let Some(share) = text.strip_suffix("of ram") {
        return share.parse::<Fraction>().ok().map(|f| Base::OfRam(f.0));
    }
    match text.split_once(" x ") {
        Some((n, "cores")) => plain(n).map(Base::TimesCores),
        Some((n, "write_iops")) => plain(n).map(Base::TimesWriteIops),
        Some(_) => None,
        None => plain(text).map(Base::Fixed),
    }
}

/// A number or a size.
fn plain(text: &str) -> Option<f64> {
    let text = text.trim();
    let number = text.parse::<f64>().ok().filter(|x| x.is_finite());
    number.or_else(|| text.parse::<Bytes>().ok().map(|b| b.0 as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: Hardware = Hardware {
        ram: Bytes(16 << 30),
        cores: 8,
        write_iops: 250.0,
    };

    #[test]
    fn bounds_follow_the_hardware() {
        for (text, value) in [
            ("64M", (64u64 << 20) as f64),
            ("0.5", 0.5),
            ("-1", -1.0),
            ("5% of ram", 0.05 * (16u64 << 30) as f64),
            ("2 x cores", 16.0),
            ("0.5 x write_iops", 125.0),
            ("0.5 x write_iops, at least 200", 200.0),
            ("25% of ram, at least 512M, at most 1G", (1u64 << 30) as f64),
        ] {
            assert_eq!(text.parse::<Bound>().unwrap().on(&BOX), value, "{text}");
        }
        for text in [
            "",
            "5% of disk",
            "x cores",
            "2 x",
            "2 x ram",
            "64M, at best 3",
            "64M,",
            "inf",
            "nan",
            "120% of ram",
        ] {
            assert!(text.parse::<Bound>().is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn parsing_never_panics(s: String) {
            let _ = s.parse::<Bound>();
        }
    }
}
