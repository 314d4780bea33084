use super::ProcessId;
use serde::{Deserialize, Serialize};
use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Read as _, Write as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::{Component, Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

/// Below the state folder: one file for each run folder in use.
const LEDGER: &str = "ledger";

/// Below the state folder: the run folders.
const RUNS: &str = "run";

/// Where the socket folders are made: a socket's path may have 107 bytes (unix(7)), and a state folder's can be longer.
const SOCKETS: &str = "/tmp";

/// A killed server with much memory takes a moment to go.
const GONE_WITHIN: Duration = Duration::from_secs(30);

/// Version of the ledger's files; raised when their fields change.
const VERSION: u32 = 1;

/// What was started and made, written down before it is, in files below the state folder: so that what a killed run left
/// behind can be told from what belongs to a living one.
///
/// Each run folder has one file of JSON lines: first a claim, then a [`ProcessId`] for each server started in it. The owner
/// holds a lock on the file as long as it lives, and removes it last.
#[derive(Clone, Debug)]
pub struct Ledger {
    state: PathBuf,
}

/// The first line of an entry.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Claim {
    version: u32,
    /// The run of tune that made it.
    owner: ProcessId,
    /// The boot of the machine that process numbers and start times belong to.
    boot: String,
    /// The folders that go when the entry goes.
    pub folders: Vec<PathBuf>,
}

/// What [`Ledger::recover`] cleaned up.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Servers killed, by process number.
    pub killed: Vec<i32>,
    /// Folders removed.
    pub removed: Vec<PathBuf>,
    /// What could not be cleaned up and why, a sentence each. Tried again the next time.
    pub left: Vec<String>,
}

/// A state folder that does not serve.
#[derive(Debug, thiserror::Error)]
#[error("the state folder cannot be used: failed to {doing} {}: {source}", .path.display())]
pub struct LedgerError {
    /// What was tried.
    pub doing: &'static str,
    /// On what.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// Names an operation and its path in an error.
pub(super) fn failed<'a>(doing: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> LedgerError + 'a {
    move |source| LedgerError {
        doing,
        path: path.to_owned(),
        source,
    }
}

impl Ledger {
    /// Opens the ledger of a state folder, and makes the folder (for this user alone) where it does not exist.
    ///
    /// # Errors
    /// The folder cannot be made or written.
    pub fn open(state: &Path) -> Result<Self, LedgerError> {
        let make = |folder: &Path| {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
            made.map_err(failed("make", folder))
        };
        make(state)?;
        let state = state.canonicalize().map_err(failed("find", state))?;
        use rustix::fs::Access;
        rustix::fs::access(&state, Access::WRITE_OK | Access::EXEC_OK)
            .map_err(|errno| failed("write into", &state)(errno.into()))?;
        make(&state.join(LEDGER))?;
        make(&state.join(RUNS))?;
        Ok(Self { state })
    }

    /// The state folder, absolute.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// Writes the entry for a new run folder and its socket folder, both still to be made: entry path, its locked file, claim.
    pub(super) fn claim(&self) -> Result<(PathBuf, File, Claim), LedgerError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let unknown = || {
            io::Error::new(
                io::ErrorKind::NotFound,
                "the /proc file system does not show this process",
            )
        };
        let own_entry = Path::new("/proc/self/stat");
        let owner = ProcessId::own()
            .ok_or_else(unknown)
            .map_err(failed("read", own_entry))?;
        let boot = boot_id().map_err(failed("read", Path::new("/proc/sys/kernel/random/boot_id")))?;
        loop {
            let name = format!("{}-{}", owner.pid, COUNT.fetch_add(1, Ordering::Relaxed));
            let run = self.state.join(RUNS).join(&name);
            let sockets = socket_folder(&name);
            if run.symlink_metadata().is_ok() || sockets.symlink_metadata().is_ok() {
                continue;
            }
            let path = self.state.join(LEDGER).join(&name);
            let mut file = match OpenOptions::new()
                .append(true)
                .create_new(true)
                .mode(0o600)
                .open(&path)
            {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                other => other.map_err(failed("make", &path))?,
            };
            // A file system without locks leaves the owner's process number and start time.
            let _ = file.lock();
            let claim = Claim {
                version: VERSION,
                owner,
                boot,
                folders: vec![run, sockets],
            };
            write_line(&mut file, &claim).map_err(failed("write", &path))?;
            return Ok((path, file, claim));
        }
    }

    /// Cleans up after runs that were killed: kills their servers and removes their folders. A process is killed only when number
    /// and start time are those written down; a folder is removed only when it lies below the state folder's runs or is the
    /// socket folder of that run, and is this user's. What belongs to a living run is not touched.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn recover(&self) -> Result<Recovered, LedgerError> {
        let folder = self.state.join(LEDGER);
        let mut recovered = Recovered::default();
        for entry in fs::read_dir(&folder).map_err(failed("read", &folder))? {
            let path = entry.map_err(failed("read", &folder))?.path();
            if let Err(error) = self.recover_entry(&path, &mut recovered) {
                recovered.left.push(format!("{}: {error}", path.display()));
            }
        }
        Ok(recovered)
    }

    fn recover_entry(&self, path: &Path, recovered: &mut Recovered) -> io::Result<()> {
        let mut file = match File::open(path) {
            // Its owner has just finished with it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        };
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return Ok(());
        }
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let mut lines = text.lines();
        let Some(claim) = lines
            .next()
            .and_then(|line| serde_json::from_str::<Claim>(line).ok())
        else {
            // Nothing is made before the first line is written; its writer may be about to write it.
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let writer = name
                .split('-')
                .next()
                .and_then(|pid| pid.parse().ok())
                .and_then(ProcessId::of);
            return if writer.is_some() {
                Ok(())
            } else {
                fs::remove_file(path)
            };
        };
        let same_boot = boot_id()? == claim.boot;
        if same_boot && claim.owner.lives() {
            return Ok(());
        }
        let servers = lines.filter_map(|line| serde_json::from_str::<ProcessId>(line).ok());
        for server in servers.filter(|server| same_boot && server.lives()) {
            server.kill(GONE_WITHIN)?;
            recovered.killed.push(server.pid);
        }
        for folder in &claim.folders {
            if matches!(folder.symlink_metadata(), Err(error) if error.kind() == io::ErrorKind::NotFound) {
                continue;
            }
            if !self.may_remove(folder, claim.owner)? {
                return Err(io::Error::other(format!(
                    "{} is not a folder of that run",
                    folder.display()
                )));
            }
            fs::remove_dir_all(folder)?;
            recovered.removed.push(folder.clone());
        }
        fs::remove_file(path)
    }

    /// Whether an entry may speak for a folder.
    fn may_remove(&self, folder: &Path, owner: ProcessId) -> io::Result<bool> {
        let plain = folder.is_absolute() && !folder.components().any(|c| c == Component::ParentDir);
        let found = folder.symlink_metadata()?;
        let own = found.is_dir() && found.uid() == rustix::process::geteuid().as_raw();
        if !plain || !own {
            return Ok(false);
        }
        let runs = self.state.join(RUNS);
        let real = folder.canonicalize()?;
        let run = real != runs && real.starts_with(&runs);
        let prefix = socket_folder(&format!("{}-", owner.pid));
        let socket = folder.parent() == prefix.parent()
            && folder
                .as_os_str()
                .as_encoded_bytes()
                .starts_with(prefix.as_os_str().as_encoded_bytes());
        Ok(run || socket)
    }
}

/// The folder for the socket of a run.
fn socket_folder(name: &str) -> PathBuf {
    Path::new(SOCKETS).join(format!("tune-{name}"))
}

/// Appends one JSON line with a single write, so that a reader sees all of it or none.
pub(super) fn write_line(file: &mut File, line: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_string(line)?;
    text.push('\n');
    file.write_all(text.as_bytes())
}

fn boot_id() -> io::Result<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests;
