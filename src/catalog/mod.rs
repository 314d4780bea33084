//! What each system variable is, by server flavor: kind, unit, range, default, when a change takes effect, dimension, what decides it,
//! what it costs in memory and what it risks.

mod flavor;
mod variable;

pub use flavor::{Family, Flavor, FlavorError, Servers, Version};

pub use variable::{DecidedBy, Dimension, Kind, TakesEffect, Variable};
