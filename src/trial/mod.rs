//! One trial: restore, start, run, check, stop -> observation.

mod steady;

pub use steady::{Steady, steady};
