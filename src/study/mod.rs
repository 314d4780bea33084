//! What is asked, and the loop that answers it.

mod durability;
mod end;
pub mod statistics;

pub use durability::Durability;
pub use end::{Dropped, Effect, Estimate, FailedTrial, Known, NotSearched, Ratio, Reason, Setting, StudyEnd};
