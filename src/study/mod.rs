//! What is asked, and the loop that answers it.

mod end;

pub use crate::catalog::Durability;
pub use end::{Dropped, Effect, Estimate, FailedTrial, Known, NotSearched, Ratio, Reason, Setting, StudyEnd};
