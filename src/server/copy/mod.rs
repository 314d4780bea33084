mod pieces;

use pieces::Job;
use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io,
    os::unix::fs::{
        DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
    },
    path::{Path, PathBuf},
};

/// How a tree was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The file system shares the blocks until one side writes: milliseconds, whatever the size.
    Reflink,
    /// Written past the page cache, so that no writes are left behind to disturb a measurement. Read through it: a snapshot that
    /// is restored again and again is read from the disk once, and its pages there are clean, free for who needs the memory.
    Direct,
    /// Through the page cache, then written back.
    Buffered,
}

impl Method {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            Method::Reflink => "reflink",
            Method::Direct => "direct copy",
            Method::Buffered => "buffered copy",
        }
    }
}

/// What was copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// How.
    pub method: Method,
    /// Regular files.
    pub files: usize,
    /// Bytes of data in them; holes do not count.
    pub bytes: u64,
}

/// Why a tree was not copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The target's file system is too small.
    #[error(
        "not enough room to copy {} to {}: {} needed, {} free", .from.display(), .to.display(),
        crate::units::Bytes(*.needed).rounded(), crate::units::Bytes(*.free).rounded()
    )]
    NoRoom {
        /// The tree.
        from: PathBuf,
        /// Where it should have gone.
        to: PathBuf,
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// A file could not be read or written.
    #[error("failed to {doing} {}: {source}", .path.display())]
    File {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A link or a device: a copy would share it with the original.
    #[error("{} is neither a file nor a folder; a data directory that uses links cannot be copied", .0.display())]
    NotAFile(PathBuf),
}

/// Names an operation and its path in an error.
fn failed<'a>(doing: &'static str, path: &'a Path) -> impl Fn(io::Error) -> CopyError + 'a {
    move |source| CopyError::File {
        doing,
        path: path.to_owned(),
        source,
    }
}

/// Copies a folder with all below it to `to`, which must not exist: contents, sizes, holes and permissions, not owners and
/// times. Shares blocks where the file system can, else writes past the page cache, else through it. Sockets are left out.
/// Blocks the thread for as long as it takes (seconds for gigabytes).
///
/// # Errors
/// [`CopyError`]; what was made of `to` is removed again.
pub fn copy_tree(from: &Path, to: &Path) -> Result<Copied, CopyError> {
    let mode = fs::metadata(from)
        .map_err(failed("read", from))?
        .permissions()
        .mode();
    DirBuilder::new()
        .mode(0o700)
        .create(to)
        .map_err(failed("make", to))?;
    let copied = copy_into(from, to).and_then(|copied| set_mode(to, mode).map(|()| copied));
    if copied.is_err() {
        // The error that is reported is the copy's.
        let _ = fs::remove_dir_all(to);
    }
    copied
}

/// As [`copy_tree`], into a folder that may hold an earlier restore of `from`, used since: large files are overwritten where they are, which
/// saves the disk freeing and finding their blocks again; all else in `to` is replaced.
///
/// # Errors
/// [`CopyError`]; `to` is then worth nothing.
pub fn restore_tree(from: &Path, to: &Path) -> Result<Copied, CopyError> {
    if !to.exists() {
        return copy_tree(from, to);
    }
    prune(from, to)?;
    copy_into(from, to)
}

/// Files from this size on are overwritten in place.
const OVERWRITTEN: u64 = 16 << 20;

/// Removes from `to` all but folders that `from` has too and large files that will be overwritten.
fn prune(from: &Path, to: &Path) -> Result<(), CopyError> {
    for entry in fs::read_dir(to).map_err(failed("read", to))? {
        let entry = entry.map_err(failed("read", to))?;
        let (path, origin) = (entry.path(), from.join(entry.file_name()));
        let found = entry.metadata().map_err(failed("read", &path))?;
        let original = fs::symlink_metadata(&origin).ok();
        if found.is_dir() {
            if original.is_some_and(|o| o.is_dir()) {
                prune(&origin, &path)?;
            } else {
                fs::remove_dir_all(&path).map_err(failed("remove", &path))?;
            }
        } else if !(found.is_file() && original.is_some_and(|o| o.is_file() && o.size() >= OVERWRITTEN)) {
            fs::remove_file(&path).map_err(failed("remove", &path))?;
        }
    }
    Ok(())
}

fn copy_into(from: &Path, to: &Path) -> Result<Copied, CopyError> {
    let (mut jobs, mut folders) = (Vec::new(), Vec::new());
    walk(from, to, &mut jobs, &mut folders)?;
    let bytes = jobs.iter().map(Job::bytes).sum();
    let copied = |method| Copied {
        method,
        files: jobs.len(),
        bytes,
    };
    let method = match jobs.iter().find(|job| job.size > 0 && !job.to.exists()) {
        Some(probe) if reflink_copy::reflink(&probe.from, &probe.to).is_ok() => {
            for job in jobs.iter().filter(|job| job.to != probe.to) {
                remove_if_there(&job.to)?;
                reflink_copy::reflink(&job.from, &job.to).map_err(failed("make", &job.to))?;
            }
            Method::Reflink
        }
        _ => {
            let new = jobs.iter().filter(|job| !job.to.exists());
            let bytes: u64 = new.map(Job::bytes).sum();
            let no_room = |free| CopyError::NoRoom {
                from: from.to_owned(),
                to: to.to_owned(),
                needed: bytes,
                free,
            };
            let free = free_bytes(to)?;
            if bytes > free {
                return Err(no_room(free));
            }
            copy_data(&jobs).map_err(|error| match error {
                CopyError::File { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                    no_room(free)
                }
                other => other,
            })?
        }
    };
    for job in &jobs {
        set_mode(&job.to, job.mode)?;
    }
    for (folder, mode) in folders.iter().rev() {
        set_mode(folder, *mode)?;
    }
    Ok(copied(method))
}

/// Makes the folders below `to` and lists the files to copy.
fn walk(
    from: &Path,
    to: &Path,
    jobs: &mut Vec<Job>,
    folders: &mut Vec<(PathBuf, u32)>,
) -> Result<(), CopyError> {
    for entry in fs::read_dir(from).map_err(failed("read", from))? {
        let entry = entry.map_err(failed("read", from))?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        let found = entry.metadata().map_err(failed("read", &path))?;
        let kind = found.file_type();
        if kind.is_dir() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&target)
                .map_err(failed("make", &target))?;
            folders.push((target.clone(), found.mode()));
            walk(&path, &target, jobs, folders)?;
        } else if kind.is_file() {
            jobs.push(Job::new(&path, &target, &found).map_err(failed("read", &path))?);
        } else if !kind.is_socket() {
            return Err(CopyError::NotAFile(path));
        }
    }
    Ok(())
}

/// Copies the files' contents, written past the page cache where that works.
fn copy_data(jobs: &[Job]) -> Result<Method, CopyError> {
    for job in jobs {
        prepare(job).map_err(failed("make", &job.to))?;
    }
    match pieces::copy(jobs, true) {
        Ok(()) => Ok(Method::Direct),
        // A file system without direct I/O, or with blocks larger than ours, says EINVAL on opening or on the first transfer.
        Err(CopyError::File { source, .. }) if source.kind() == io::ErrorKind::InvalidInput => {
            pieces::copy(jobs, false)?;
            for job in jobs {
                let synced = File::open(&job.to).and_then(|file| file.sync_data());
                synced.map_err(failed("write back", &job.to))?;
            }
            Ok(Method::Buffered)
        }
        Err(error) => Err(error),
    }
}

fn remove_if_there(path: &Path) -> Result<(), CopyError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", path)(error)),
        _ => Ok(()),
    }
}

/// Makes a file of the final size with room for its data, in few extents: empty, or one that is there and will be overwritten as a whole.
fn prepare(job: &Job) -> io::Result<()> {
    if job.to.exists() {
        if job.bytes() >= job.size {
            return OpenOptions::new().write(true).open(&job.to)?.set_len(job.size);
        }
        // Its holes would keep what is there now.
        fs::remove_file(&job.to)?;
    }
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&job.to)?;
    for &(offset, len) in &job.extents {
        match rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), offset, len) {
            // Not every file system can, and none must.
            Ok(()) | Err(rustix::io::Errno::OPNOTSUPP) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    file.set_len(job.size)
}

fn set_mode(path: &Path, mode: u32) -> Result<(), CopyError> {
    fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o7777))
        .map_err(failed("set the permissions of", path))
}

/// What an ordinary user may still write there.
fn free_bytes(path: &Path) -> Result<u64, CopyError> {
    let found = rustix::fs::statvfs(path).map_err(|errno| failed("read", path)(errno.into()))?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(test)]
mod tests;
