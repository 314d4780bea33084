//! The TOML form of the catalog. A variable has what is common to all servers, then `on` tables with what differs: each names its
//! servers; those that include a flavor are laid over each other in their order. Where none does, the server lacks the variable.

use super::{
    Durability, Flavor, Servers,
    kind::{Kind, Sort},
    variable::{DecidedBy, Dimension, TakesEffect, Variable},
};
use crate::{
    source::{Source, SourceError, from_toml},
    units::{Bytes, Value},
};
use serde::Deserialize;
use std::{collections::BTreeMap, ops::Range};
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: Spanned<u32>,
    variable: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Spanned<String>,
    dimension: Dimension,
    decided_by: DecidedBy,
    about: String,
    #[serde(default)]
    durability: String,
    source: String,
    on: Vec<On>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct On {
    servers: Vec<Servers>,
    kind: Option<Sort>,
    choices: Option<Vec<String>>,
    default: Option<Spanned<toml::Value>>,
    min: Option<Spanned<toml::Value>>,
    max: Option<Spanned<toml::Value>>,
    block: Option<Spanned<Bytes>>,
    fixed_part: Option<u64>,
    takes_effect: Option<TakesEffect>,
    durability: Option<String>,
    classes: Option<BTreeMap<String, Durability>>,
}

/// The variables in `source` that `flavor` has, each with the span of its name.
pub(super) fn read(source: &Source, flavor: Flavor) -> Result<Vec<(Range<usize>, Variable)>, SourceError> {
    let file: File = from_toml(source)?;
    if *file.schema.get_ref() != 1 {
        return Err(source.error(
            file.schema.span(),
            "this catalog has another schema; it must be 1",
        ));
    }
    let mut variables = Vec::new();
    for entry in file.variable {
        let on: Vec<&On> = entry
            .on
            .iter()
            .filter(|on| on.servers.iter().any(|s| s.include(flavor)))
            .collect();
        if !on.is_empty() {
            variables.push((entry.name.span(), variable(source, flavor, &entry, &on)?));
        }
    }
    Ok(variables)
}

fn variable(source: &Source, flavor: Flavor, entry: &Entry, on: &[&On]) -> Result<Variable, SourceError> {
    let lacks = |what: &str| {
        source.error(
            entry.name.span(),
            format!("{} has no {what} on {flavor}", entry.name.get_ref()),
        )
    };
    let choices = last(on, |o| o.choices.as_ref());
    let kind = match last(on, |o| o.kind).ok_or_else(|| lacks("kind"))? {
        Sort::Bytes => Kind::Bytes,
        Sort::Int => Kind::Int,
        Sort::Real => Kind::Real,
        Sort::Switch => Kind::Switch,
        Sort::Choice => Kind::Choice(choices.ok_or_else(|| lacks("choices"))?.clone()),
    };
    let read = |written: &Spanned<toml::Value>| -> Result<Value, SourceError> {
        let wrong = || source.error(written.span(), format!("this must be {}", kind.expected()));
        kind.read(written.get_ref()).ok_or_else(wrong)
    };
    let number = |written: Option<&Spanned<toml::Value>>| -> Result<Option<f64>, SourceError> {
        Ok(written.map(read).transpose()?.and_then(|value| value.number()))
    };
    let block = last(on, |o| o.block.as_ref());
    if let Some(block) = block
        && !block.get_ref().0.is_power_of_two()
    {
        return Err(source.error(block.span(), "a block must be a power of two"));
    }
    Ok(Variable {
        name: entry.name.get_ref().clone(),
        flavor,
        min: number(last(on, |o| o.min.as_ref()))?,
        max: number(last(on, |o| o.max.as_ref()))?,
        block: block.map(|b| b.get_ref().0),
        default: read(last(on, |o| o.default.as_ref()).ok_or_else(|| lacks("default"))?)?,
        dimension: entry.dimension,
        fixed_part: last(on, |o| o.fixed_part).unwrap_or(0),
        takes_effect: last(on, |o| o.takes_effect).ok_or_else(|| lacks("takes_effect"))?,
        decided_by: entry.decided_by,
        about: entry.about.clone(),
        durability: last(on, |o| o.durability.clone()).unwrap_or_else(|| entry.durability.clone()),
        classes: last(on, |o| o.classes.clone()).unwrap_or_default(),
        source: entry.source.clone(),
        kind,
    })
}

/// The last of the facts that is stated.
fn last<'a, T>(on: &[&'a On], fact: impl Fn(&'a On) -> Option<T>) -> Option<T> {
    on.iter().rev().find_map(|o| fact(o))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "schema = 1\n[[variable]]\nname = 'v'\ndimension = 'count'\ndecided_by = 'array'\nabout = 'x'\nsource = 'y'\n";

    fn read_one(rest: &str) -> Result<Option<Variable>, String> {
        let source = Source::new("c.toml", format!("{HEAD}{rest}"));
        let found = read(&source, "mariadb-10.11".parse().unwrap()).map_err(|e| e.to_string())?;
        Ok(found.into_iter().next().map(|(_, v)| v))
    }

    #[test]
    fn later_facts_lie_over_earlier_ones() {
        let text = "[[variable.on]]\nservers = ['mariadb >= 10.5']\nkind = 'int'\ndefault = 1\nmin = 0\ntakes_effect = 'restart'\n\
                    [[variable.on]]\nservers = ['mariadb >= 10.11']\ndefault = 2\ntakes_effect = 'dynamic'\n\
                    [[variable.on]]\nservers = ['mariadb >= 11.0']\ndefault = 3\n";
        let v = read_one(text).unwrap().unwrap();
        assert_eq!(
            (v.default, v.min, v.takes_effect),
            (Value::Int(2), Some(0.0), TakesEffect::Dynamic)
        );
        assert_eq!(read_one("[[variable.on]]\nservers = ['mysql']\n").unwrap(), None);
    }

    #[test]
    fn errors_point_at_the_place() {
        let on = "[[variable.on]]\nservers = ['mariadb']\n";
        for (rest, expected) in [
            (
                format!("{on}kind = 'int'\ndefault = 'many'\ntakes_effect = 'dynamic'\n"),
                "c.toml:11:11: this must be a whole number",
            ),
            (
                format!("{on}kind = 'int'\ntakes_effect = 'dynamic'\n"),
                "c.toml:3:8: v has no default on mariadb-10.11.0",
            ),
            (
                format!("{on}kind = 'choice'\ndefault = 'x'\n"),
                "c.toml:3:8: v has no choices on mariadb-10.11.0",
            ),
            (
                format!("{on}block = '3K'\nkind = 'int'\n"),
                "c.toml:10:9: a block must be a power of two",
            ),
            (format!("{on}colour = 1\n"), "c.toml:10:1: unknown field `colour`"),
            (
                "[[variable.on]]\nservers = ['oracle']\n".to_owned(),
                "c.toml:9:11: 'oracle' names no servers",
            ),
        ] {
            let error = read_one(&rest).unwrap_err();
            assert!(error.starts_with(expected), "{error}\nexpected {expected}");
        }
    }
}
