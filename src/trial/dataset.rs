//! The data that trials start from: loaded once for a server build, a workload and a size, kept in the state folder, restored for each
//! trial.

use crate::{
    catalog::Catalog,
    server::{Launch, Ledger, RunFolder, Running, Server, initialise},
    trial::TrialError,
    units::Bytes,
    workload::{LoadProgress, Workload},
};
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Memory that the server may use while it loads.
const LOAD_POOL: u64 = 1 << 30;

/// Share of the free memory that cached data may take.
const KEPT_SHARE: f64 = 0.5;

/// A data directory that is ready to be restored from.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// The folder.
    pub folder: PathBuf,
    /// Bytes in it.
    pub bytes: u64,
    /// Seconds that loading took; 0 where it was there already.
    pub load_s: f64,
}

/// Where the data of `workload` for `server` are or will be.
pub fn folder(state: &Path, server: &Server, workload: &Workload) -> PathBuf {
    state
        .join("datasets")
        .join(format!("{}-{}", workload.dataset().key, server.build_id))
}

/// The data of `workload` for `server`: from the cache, else made and loaded now.
pub async fn prepare(
    ledger: &Ledger,
    server: &Server,
    catalog: &Catalog,
    workload: &Workload,
    progress: &mut (dyn FnMut(LoadProgress) + Send),
) -> Result<Dataset, TrialError> {
    let folder = folder(ledger.state(), server, workload);
    if folder.is_dir() {
        return Ok(Dataset {
            bytes: size(&folder),
            folder,
            load_s: 0.0,
        });
    }
    let began = Instant::now();
    let what = || format!("load the data of {}", workload.dataset().key);
    let failed = |reason: String| TrialError { what: what(), reason };
    let run = RunFolder::new(ledger).map_err(|e| failed(e.to_string()))?;
    initialise(server, &run, &[])
        .await
        .map_err(|e| failed(e.to_string()))?;
    let options = load_options(catalog);
    let launch = Launch {
        options: &options,
        binlog: false,
        ready_within: Duration::from_secs(60),
    };
    let running = Running::start(server, &run, launch)
        .await
        .map_err(|e| failed(e.to_string()))?;
    workload
        .load(running.connection(), progress)
        .await
        .map_err(|e| failed(e.to_string()))?;
    let stopped = running
        .shutdown(Duration::from_secs(300))
        .await
        .map_err(|e| failed(e.to_string()))?;
    if !stopped.clean {
        return Err(failed("the server did not stop cleanly after the load".into()));
    }
    let parent = ledger.state().join("datasets");
    fs::create_dir_all(&parent).map_err(|e| failed(format!("{}: {e}", parent.display())))?;
    // A rename within the state folder: the dataset is there whole or not at all.
    fs::rename(run.data(), &folder).map_err(|e| failed(format!("{}: {e}", folder.display())))?;
    Ok(Dataset {
        bytes: size(&folder),
        folder,
        load_s: began.elapsed().as_secs_f64(),
    })
}

/// Options for the load alone: speed before durability, since what is half loaded is thrown away.
fn load_options(catalog: &Catalog) -> Vec<(String, String)> {
    let all = [
        ("innodb_buffer_pool_size", Bytes(LOAD_POOL).to_string()),
        ("innodb_log_file_size", "128M".into()),
        ("innodb_redo_log_capacity", "256M".into()),
        ("innodb_flush_log_at_trx_commit", "0".into()),
        ("innodb_doublewrite", "OFF".into()),
        ("innodb_io_capacity", "20000".into()),
        ("innodb_io_capacity_max", "40000".into()),
        ("innodb_sort_buffer_size", "64M".into()),
    ];
    let mut options: Vec<(String, String)> = all
        .into_iter()
        .filter(|(name, _)| catalog.get(name).is_some() || *name == "innodb_sort_buffer_size")
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    options.push(("local_infile".into(), "ON".into()));
    options
}

impl Dataset {
    /// Reads the data once, so that the first restore takes as long as the others: they are read through the page cache. Does nothing
    /// where memory is too small to keep them.
    pub fn warm(&self) {
        if self.bytes as f64 > super::host::free_memory() * KEPT_SHARE {
            return;
        }
        for file in files(&self.folder) {
            // What cannot be read now is reported by the restore.
            let _ = fs::File::open(file).and_then(|mut file| io::copy(&mut file, &mut io::sink()));
        }
    }
}

/// All files below `folder`.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .flat_map(|entry| {
            if entry.path().is_dir() {
                files(&entry.path())
            } else {
                vec![entry.path()]
            }
        })
        .collect()
}

/// Bytes of all files below `folder`.
fn size(folder: &Path) -> u64 {
    files(folder)
        .iter()
        .filter_map(|file| Some(fs::metadata(file).ok()?.len()))
        .sum()
}
