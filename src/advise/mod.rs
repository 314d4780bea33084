//! Rules and findings. Pure: facts in, findings out.

mod findings;
mod memory;
mod rule_of_thumb;
#[cfg(test)]
pub(crate) mod sample;
mod what_if;

pub use findings::{Finding, hand_review};
pub use memory::{Memory, Part, memory, redo_bytes};
pub use rule_of_thumb::{RuleFacts, RuleSetting, rule_of_thumb};
pub use what_if::{Answer, WhatIf, WhatIfError, what_if};

/// Whether an interval of a ratio holds 1, so that no difference was found. An interval that is not a number shows none either.
pub fn holds_one(ci95: [f64; 2]) -> bool {
    !(ci95[0] > 1.0 || ci95[1] < 1.0)
}
