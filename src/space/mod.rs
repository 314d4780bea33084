//! The knobs that a study may turn, their domains, and the way to the unit cube and back.

mod unit;

pub use unit::{SPECIAL_WIDTH, UnitDim};
