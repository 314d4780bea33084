//! The knobs that a study may turn, their domains, and the way to the unit cube and back.

mod bound;
mod domain;
mod grid;
mod knob;
mod memory;
mod raw;
mod resolve;
mod unit;

#[cfg(test)]
mod tests;

pub use domain::Domain;
pub use grid::Grid;
pub use knob::Knob;
pub use memory::{Memory, MemoryError, MemoryPart};
pub use raw::RawSpace;
pub use unit::{SPECIAL_WIDTH, UnitDim};

use crate::{
    catalog::{Catalog, Durability},
    source::{Shelf, Source, SourceError},
    units::{Bytes, Config, Value},
};
use serde::{Deserialize, Serialize};

/// The spaces there are.
pub const SHELF: Shelf = Shelf {
    noun: "space",
    folder: "search-spaces",
    shipped: &[
        ("core", include_str!("../../search-spaces/core.toml")),
        ("full", include_str!("../../search-spaces/full.toml")),
    ],
};

/// What the domains of a space may refer to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hardware {
    /// Memory of the machine.
    pub ram: Bytes,
    /// Its cores.
    pub cores: u32,
    /// Random page writes a second that its disks sustain.
    pub write_iops: f64,
}

/// Knobs that one server takes on one hardware, the most important first, at full size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Space {
    /// Its name.
    pub name: String,
    /// What it is for, in a line.
    pub summary: String,
    /// The knobs; one coordinate of the unit cube each, in this order.
    pub knobs: Vec<Knob>,
    /// What a configuration may take of memory, if the space says so.
    pub memory: Option<Memory>,
}

impl Space {
    /// Reads `source` for the server of `catalog` and for `hardware`.
    ///
    /// # Errors
    /// As [`RawSpace::parse`] and [`RawSpace::resolve`].
    pub fn read(source: &Source, catalog: &Catalog, hardware: &Hardware) -> Result<Self, SourceError> {
        RawSpace::parse(source)?.resolve(catalog, hardware)
    }

    /// The coordinates of the unit cube.
    pub fn dims(&self) -> Vec<UnitDim> {
        self.knobs.iter().map(Knob::dim).collect()
    }

    /// The configuration at a point of the cube: a value for every knob. A missing coordinate counts as the middle.
    pub fn decode(&self, point: &[f64]) -> Config {
        let coordinates = point.iter().copied().chain(std::iter::repeat(0.5));
        self.knobs
            .iter()
            .zip(coordinates)
            .map(|(knob, u)| (knob.name.clone(), knob.decode(u)))
            .collect()
    }

    /// The point of a configuration; a knob that it does not set is at the server's default. None if one is outside its domain.
    pub fn encode(&self, config: &Config) -> Option<Vec<f64>> {
        self.knobs
            .iter()
            .map(|knob| knob.encode(set_to(knob, config)))
            .collect()
    }

    /// The point nearest to a configuration, each knob as [`Knob::nearest`]; one that it does not set is at the server's default.
    pub fn nearest(&self, config: &Config) -> Vec<f64> {
        self.knobs
            .iter()
            .map(|knob| knob.nearest(set_to(knob, config)))
            .collect()
    }

    /// Whether `config` keeps within the memory that the space allows.
    ///
    /// # Errors
    /// Where it does not, with the sum.
    pub fn memory_ok(&self, config: &Config) -> Result<(), MemoryError> {
        self.memory.as_ref().map_or(Ok(()), |memory| memory.check(config))
    }

    /// Keeps the knobs that `keep` wants.
    pub fn retain(&mut self, keep: impl FnMut(&Knob) -> bool) {
        self.knobs.retain(keep);
    }

    /// Leaves only values of durability class `class` or safer; a range with an end beyond it goes as a whole.
    /// Knobs with less than two values left are taken out, and their names are the answer.
    pub fn keep_within(&mut self, class: Durability, catalog: &Catalog) -> Vec<String> {
        let mut dropped = Vec::new();
        self.knobs.retain_mut(|knob| {
            let Some(variable) = catalog.get(&knob.name).filter(|v| !v.classes.is_empty()) else {
                return true;
            };
            let safe = |value: &Value| variable.class(value) <= class;
            let kept = match &mut knob.domain {
                Domain::Choice(values) => {
                    values.retain(safe);
                    values.len() >= 2
                }
                Domain::Number {
                    low, high, special, ..
                } => {
                    special.retain(safe);
                    [*low, *high]
                        .iter()
                        .all(|x| knob.kind.number(*x).is_some_and(|value| safe(&value)))
                }
            };
            if !kept {
                dropped.push(knob.name.clone());
            }
            kept
        });
        dropped
    }
}

fn set_to<'a>(knob: &'a Knob, config: &'a Config) -> &'a Value {
    config.get(&knob.name).unwrap_or(&knob.default)
}
