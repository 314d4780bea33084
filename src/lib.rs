//! `tune` finds the best InnoDB configuration for a piece of hardware and a workload, by measuring.
//!
//! The folders are the rooms of the program; `docs/architecture.md` says which may use which.

pub mod advise;
pub mod catalog;
pub mod model;
pub mod observation;
pub mod optimize;
pub mod optionfile;
pub mod profile;
pub mod report;
pub mod server;
pub mod source;
pub mod space;
pub mod study;
pub mod trial;
pub mod units;
pub mod workload;
