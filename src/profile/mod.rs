//! Hardware: `hardware-profiles/*.toml` and the probe of this machine, both ending in a checked [`Profile`].

mod detect;
mod figures;
mod hardware;
mod parse;
#[cfg(test)]
mod tests;

pub use detect::{DetectError, Event, Measure, Remark, detect};
pub use figures::Figure;
pub use hardware::{Cpu, FileSystem, Profile, Raid, Storage, StorageKind, WriteCache};

use crate::source::{Shelf, ShelfError, SourceError};
use std::path::Path;

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../hardware-profiles/", $name, ".toml")))),*]
    };
}

/// The profiles there are.
pub const SHELF: Shelf = Shelf {
    noun: "profile",
    folder: "hardware-profiles",
    shipped: shipped![
        "cloud-4c-16g-ssd",
        "fedora10-24core",
        "iibench-2disk-raid0",
        "m5000",
        "nvme-16c-64g",
        "nvme-64c-512g",
        "rhel52-8core",
        "suse10-8core",
        "x4600-m2",
        "xeon-3ghz-raid5",
        "xeon5345-raid10",
    ],
};

/// Why a profile could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// It was not found or not readable.
    #[error(transparent)]
    Shelf(#[from] ShelfError),
    /// What stands in it is wrong.
    #[error(transparent)]
    Source(#[from] SourceError),
}

/// Loads a profile by its name or path; `here` is the folder where `tune` runs.
pub fn load(name_or_path: &str, here: &Path) -> Result<Profile, ProfileError> {
    Ok(Profile::parse(&SHELF.find(name_or_path, here)?)?)
}
