//! What commands take from the environment: folders and search paths.

use super::error::Failure;
use std::{
    env,
    path::{Path, PathBuf},
};
use tune::study::SqliteStore;

/// The folder where `tune` runs.
pub fn here() -> PathBuf {
    env::current_dir().unwrap_or_else(|_| PathBuf::from("."))
}

/// The state folder: `$XDG_STATE_HOME/tune`, else `~/.local/state/tune`.
pub fn state() -> Result<PathBuf, Failure> {
    let set = |name: &str| env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    if let Some(folder) = set("XDG_STATE_HOME") {
        return Ok(folder.join("tune"));
    }
    set("HOME")
        .map(|home| home.join(".local/state/tune"))
        .ok_or_else(|| {
            Failure::usage("there is no folder for tune's state").help("set HOME or XDG_STATE_HOME")
        })
}

/// The folders of `PATH`.
pub fn search_path() -> Vec<PathBuf> {
    env::var_os("PATH")
        .map(|path| env::split_paths(&path).collect())
        .unwrap_or_default()
}

/// Whether colours are wanted on a terminal.
pub fn color(terminal: bool) -> bool {
    terminal && env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

/// The store given, else the one in the state folder, which must exist.
pub fn open_store(given: Option<&Path>) -> Result<SqliteStore, Failure> {
    let path = match given {
        Some(path) => path.to_owned(),
        None => state()?.join("tune.sqlite"),
    };
    if !path.exists() {
        return Err(
            Failure::usage(format!("there is no store {} yet", path.display()))
                .help("run a study first, or name the store with --store"),
        );
    }
    Ok(SqliteStore::open(&path)?)
}
