//! What is asked, and the loop that answers it.

mod choose;
mod confirm;
mod end;
mod ending;
mod engine;
mod event;
pub mod history;
mod plan;
mod question;
pub mod scale;
pub mod statistics;
mod store;
mod task;

pub use crate::catalog::Durability;
pub use choose::model;
pub use end::{Dropped, Effect, Estimate, FailedTrial, Known, NotSearched, Ratio, Reason, Setting, StudyEnd};
pub use ending::{About, ending};
pub use engine::{Ended, StudyError, run, spent};
pub use event::Event;
pub use plan::{Facts, Plan, RuleSetting};
pub use question::Question;
pub use store::{Listed, SqliteStore, StoreError, StudyStore};
pub use task::Task;
