use super::{
    Ledger, LedgerError, ProcessId,
    ledger::{failed, write_line},
};
use std::{
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

/// A private folder for one data directory and the servers that run on it one after the other, with a short folder for their
/// socket. Both are in the ledger, and gone when the last clone of this value is dropped.
#[derive(Clone, Debug)]
pub struct RunFolder(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    run: PathBuf,
    sockets: PathBuf,
    entry: PathBuf,
    file: Mutex<File>,
}

impl RunFolder {
    /// Writes the ledger's entry, then makes the folders, for this user alone.
    ///
    /// # Errors
    /// They cannot be made.
    pub fn new(ledger: &Ledger) -> Result<Self, LedgerError> {
        let (entry, file, claim) = ledger.claim()?;
        let [run, sockets] = [0, 1].map(|i: usize| claim.folders[i].clone());
        let inner = Inner {
            run,
            sockets,
            entry,
            file: Mutex::new(file),
        };
        for folder in [&inner.run, &inner.sockets] {
            DirBuilder::new()
                .mode(0o700)
                .create(folder)
                .map_err(failed("make", folder))?;
        }
        Ok(Self(Arc::new(inner)))
    }

    /// The folder: option file, error log, temporary files of the server, and the data directory.
    pub fn path(&self) -> &Path {
        &self.0.run
    }

    /// The data directory; made by [`initialise`](super::initialise) or [`copy_tree`](super::copy_tree).
    pub fn data(&self) -> PathBuf {
        self.0.run.join("data")
    }

    /// The socket of the server that runs here.
    pub fn socket(&self) -> PathBuf {
        self.0.sockets.join("s")
    }

    /// The error log of the last server started here.
    pub fn error_log(&self) -> PathBuf {
        self.0.run.join("error.log")
    }

    /// Writes a server that was started here into the ledger.
    pub(super) fn note(&self, server: ProcessId) -> io::Result<()> {
        write_line(
            &mut self.0.file.lock().unwrap_or_else(PoisonError::into_inner),
            &server,
        )
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let gone = |folder: &Path| match fs::remove_dir_all(folder) {
            Err(error) => error.kind() == io::ErrorKind::NotFound,
            Ok(()) => true,
        };
        // What cannot be removed now stays in the ledger for the next recovery.
        if gone(&self.run) & gone(&self.sockets) {
            let _ = fs::remove_file(&self.entry);
        }
    }
}
