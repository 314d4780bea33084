//! `tune` finds the best InnoDB configuration for a piece of hardware and a workload, by measuring.
//!
//! The folders are the rooms of the program; `docs/architecture.md` says which may use which.

pub mod catalog;
pub mod observation;
pub mod server;
pub mod source;
pub mod space;
pub mod study;
pub mod units;
