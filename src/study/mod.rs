//! What is asked, and the loop that answers it.

mod durability;
mod end;
mod question;
pub mod statistics;
mod store;

pub use durability::Durability;
pub use question::Question;
pub use store::{Listed, SqliteStore, StoreError, StudyStore};
pub use end::{Dropped, Effect, Estimate, FailedTrial, Known, NotSearched, Ratio, Reason, Setting, StudyEnd};
