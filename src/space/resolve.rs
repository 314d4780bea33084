//! From what a file states to knobs that the server at hand takes, on the hardware at hand.

use super::{
    Domain, Grid, Hardware, Knob, Memory, MemoryPart, Space,
    bound::Bound,
    memory::PartText,
    raw::{RawKnob, RawMemory, RawSpace, Scale},
};
use crate::{
    catalog::{Catalog, Kind, Variable},
    source::{Source, SourceError, nearest_first},
    units::{ParseError, Value},
};
use std::ops::Range;
use toml::Spanned;

/// Special values take a tenth of the unit interval each, and the numbers must keep the most of it.
const MOST_SPECIAL: usize = 4;

impl RawSpace {
    /// The space on the server of `catalog` and on `hardware`. Knobs for other servers are left out.
    ///
    /// # Errors
    /// At its line and column: a variable that this server does not have, a value or end of a range that it does not take,
    /// low not below high, a knob stated twice, a domain stated in no way or in two. A space without a knob.
    pub fn resolve(&self, catalog: &Catalog, hardware: &Hardware) -> Result<Space, SourceError> {
        let checker = Checker {
            source: &self.source,
            catalog,
            hardware,
        };
        let mut knobs: Vec<Knob> = Vec::new();
        for raw in &self.file.knob {
            if raw
                .servers
                .as_ref()
                .is_some_and(|all| !all.iter().any(|s| s.include(catalog.flavor())))
            {
                continue;
            }
            let knob = checker.knob(raw)?;
            if knobs.iter().any(|k| k.name == knob.name) {
                return Err(self
                    .source
                    .error(raw.name.span(), format!("{} is stated twice", knob.name)));
            }
            knobs.push(knob);
        }
        if knobs.is_empty() {
            let flavor = catalog.flavor();
            let message = format!("space {} has no knob for {flavor}", self.name());
            return Err(self
                .source
                .whole(message)
                .with_help("add a [[knob]] for it, or name another space with --space"));
        }
        let memory = self
            .file
            .memory
            .as_ref()
            .map(|raw| checker.memory(raw))
            .transpose()?;
        Ok(Space {
            name: self.name().to_owned(),
            summary: self.summary().to_owned(),
            knobs,
            memory,
        })
    }
}

/// Up to here every whole number is exact in an `f64` (2^53).
const EXACT: f64 = 9_007_199_254_740_992.0;

/// With this many values in a range, rounding in the way to the unit cube and back stays far below the distance of two.
const MOST_VALUES: f64 = 8_589_934_592.0;

struct Checker<'a> {
    source: &'a Source,
    catalog: &'a Catalog,
    hardware: &'a Hardware,
}

impl<'a> Checker<'a> {
    fn variable(&self, name: &str, span: Range<usize>) -> Result<&'a Variable, SourceError> {
        self.catalog.get(name).ok_or_else(|| {
            let names = nearest_first(name, self.catalog.iter().map(|v| v.name.as_str()));
            let error = self.source.error(span, format!("{} has no variable {name} that could be tuned", self.catalog.flavor()));
            match names.first() {
                Some(near) => error.with_help(format!(
                    "the nearest it has is {near}; a knob for other servers alone says so: servers = [\"mysql >= 8.0.30\"]"
                )),
                None => error.with_help("servers are covered from MariaDB 10.5 and MySQL 8.0 on"),
            }
        })
    }

    fn knob(&self, raw: &RawKnob) -> Result<Knob, SourceError> {
        let variable = self.variable(raw.name.get_ref(), raw.name.span())?;
        let numeric = matches!(variable.kind, Kind::Bytes | Kind::Int | Kind::Real);
        let domain = match (&raw.choices, &raw.low, &raw.high) {
            (Some(choices), None, None)
                if raw.special.is_empty() && raw.step.is_none() && raw.scale == Scale::Linear =>
            {
                self.choices(variable, choices)?
            }
            (None, Some(low), Some(high)) if numeric => self.range(variable, raw, low, high)?,
            _ => {
                let message = if numeric {
                    format!(
                        "{} needs either low and high (with scale, step, special), or choices alone",
                        variable.name
                    )
                } else {
                    format!(
                        "{} takes {}: it needs choices alone",
                        variable.name,
                        variable.kind.expected()
                    )
                };
                return Err(self.source.error(raw.name.span(), message));
            }
        };
        let (name, kind) = (variable.name.clone(), variable.kind.clone());
        Ok(Knob {
            name,
            kind,
            domain,
            default: variable.default.clone(),
        })
    }

    /// Reads one value that the server takes as it is.
    fn value(&self, variable: &Variable, written: &Spanned<toml::Value>) -> Result<Value, SourceError> {
        let wrong = |message: String| self.source.error(written.span(), message);
        let value = variable.kind.read(written.get_ref());
        let value =
            value.ok_or_else(|| wrong(format!("{} takes {}", variable.name, variable.kind.expected())))?;
        variable.accepts(&value).map_err(|e| wrong(e.to_string()))?;
        Ok(value)
    }

    fn values(
        &self,
        variable: &Variable,
        written: &[Spanned<toml::Value>],
    ) -> Result<Vec<Value>, SourceError> {
        let mut values: Vec<Value> = Vec::new();
        for item in written {
            let value = self.value(variable, item)?;
            if values.contains(&value) {
                return Err(self.source.error(item.span(), format!("{value} is stated twice")));
            }
            values.push(value);
        }
        Ok(values)
    }

    fn choices(
        &self,
        variable: &Variable,
        written: &Spanned<Vec<Spanned<toml::Value>>>,
    ) -> Result<Domain, SourceError> {
        let values = self.values(variable, written.get_ref())?;
        if values.len() < 2 {
            return Err(self
                .source
                .error(written.span(), "a knob needs at least two choices"));
        }
        Ok(Domain::Choice(values))
    }

    /// One end of a range on this hardware.
    fn end(&self, variable: &Variable, written: &Spanned<toml::Value>) -> Result<f64, SourceError> {
        let wrong = |message: String| self.source.error(written.span(), message);
        let bound = match written.get_ref() {
            toml::Value::Integer(n) => Bound::fixed(*n as f64),
            toml::Value::Float(x) if x.is_finite() => Bound::fixed(*x),
            toml::Value::String(text) => text.parse().map_err(|e: ParseError| wrong(e.to_string()))?,
            _ => {
                return Err(wrong(
                    "this must be a number or a text such as \"5% of ram\"".to_owned(),
                ));
            }
        };
        let x = bound.on(self.hardware);
        if x.abs() <= EXACT {
            Ok(x)
        } else {
            Err(wrong(format!(
                "{} cannot be {}",
                variable.name,
                show(variable, x)
            )))
        }
    }

    fn range(
        &self,
        variable: &Variable,
        raw: &RawKnob,
        low_text: &Spanned<toml::Value>,
        high_text: &Spanned<toml::Value>,
    ) -> Result<Domain, SourceError> {
        let (low, high) = (self.end(variable, low_text)?, self.end(variable, high_text)?);
        let log = raw.scale == Scale::Log;
        if low > high {
            let (low, high) = (show(variable, low), show(variable, high));
            return Err(self.source.error(
                low_text.span(),
                format!("low is {low}, above high, which is {high}"),
            ));
        }
        if log && low <= 0.0 {
            let error = self
                .source
                .error(low_text.span(), "a logarithmic scale needs a low above 0");
            return Err(error.with_help("a value with a meaning of its own goes into special: special = [0]"));
        }
        let grid = self.grid(variable, raw, low, log)?;
        for (x, written) in [(low, low_text), (high, high_text)] {
            let value = variable.kind.number(x).unwrap_or(Value::Real(x));
            variable
                .accepts(&value)
                .map_err(|e| self.source.error(written.span(), e.to_string()))?;
        }
        let (on_low, on_high) = (grid.up(low), grid.down(high));
        if on_low >= on_high {
            let (low, high) = (show(variable, low), show(variable, high));
            let message = format!("from {low} to {high} there are not two values to choose between");
            return Err(self.source.error(high_text.span(), message));
        }
        if (on_high - on_low) / grid.grain(on_low) > MOST_VALUES {
            let message = "there are more values between low and high than can be told apart";
            return Err(self
                .source
                .error(high_text.span(), message)
                .with_help("raise low, or give a larger step"));
        }
        let special = self.values(variable, &raw.special)?;
        for (value, written) in special.iter().zip(&raw.special) {
            if value.number().is_some_and(|x| (on_low..=on_high).contains(&x)) {
                return Err(self.source.error(
                    written.span(),
                    format!("special value {value} lies between low and high"),
                ));
            }
        }
        if let Some(one_too_many) = raw.special.get(MOST_SPECIAL) {
            let message = format!("a knob may have {MOST_SPECIAL} special values");
            return Err(self.source.error(one_too_many.span(), message));
        }
        Ok(Domain::Number {
            low: on_low,
            high: on_high,
            log,
            grid,
            special,
        })
    }

    fn grid(&self, variable: &Variable, raw: &RawKnob, low: f64, log: bool) -> Result<Grid, SourceError> {
        match (&raw.step, &variable.kind) {
            (Some(step), Kind::Bytes) => Err(self.source.error(
                step.span(),
                "sizes have no step; they are rounded to six leading bits",
            )),
            (Some(step), kind) => {
                let step_value = *step.get_ref();
                let fits = step_value.is_finite()
                    && step_value > 0.0
                    && (*kind == Kind::Real || step_value.fract() == 0.0);
                if !fits {
                    return Err(self
                        .source
                        .error(step.span(), format!("a step must be {} above 0", kind.expected())));
                }
                let origin = if *kind == Kind::Int { low.ceil() } else { low };
                Ok(Grid::Step {
                    origin,
                    step: step_value,
                })
            }
            (None, Kind::Bytes) => Ok(Grid::Size {
                block: variable.block.unwrap_or(1),
            }),
            (None, Kind::Int) if log => Ok(Grid::Figures),
            (None, Kind::Int) => Ok(Grid::Step {
                origin: low.ceil(),
                step: 1.0,
            }),
            (None, _) => Ok(Grid::Step {
                origin: low,
                step: 1.0,
            }),
        }
    }

    fn memory(&self, raw: &RawMemory) -> Result<Memory, SourceError> {
        let wrong = |span, message: String| self.source.error(span, message);
        let limit: Bound = raw
            .limit
            .get_ref()
            .parse()
            .map_err(|e: ParseError| wrong(raw.limit.span(), e.to_string()))?;
        let mut parts = Vec::new();
        for written in &raw.parts {
            parts.push(
                match written.get_ref().parse().map_err(|e| wrong(written.span(), e))? {
                    PartText::Fixed(bytes) => MemoryPart::Fixed(bytes),
                    PartText::Variable(times, name) => {
                        let Value::Bytes(default) = self.variable(&name, written.span())?.default else {
                            return Err(wrong(written.span(), format!("{name} is not a size")));
                        };
                        MemoryPart::Variable { times, name, default }
                    }
                },
            );
        }
        Ok(Memory {
            limit: limit.on(self.hardware).max(0.0) as u64,
            parts,
        })
    }
}

/// A number as an option file would take it.
fn show(variable: &Variable, x: f64) -> String {
    variable
        .kind
        .number(x)
        .map_or_else(|| x.to_string(), |value| value.to_string())
}
