use super::{apply_sql, mycnf, review, rollback_sql};
use crate::{catalog::Variable, study::StudyEnd};
use std::{
    fs::{self, Permissions},
    io::{self, ErrorKind, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

/// The files of a finished study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The option file.
    pub mycnf: PathBuf,
    /// The review.
    pub review: PathBuf,
    /// The HTML report, where one was written.
    pub report: Option<PathBuf>,
    /// Statements for a running server.
    pub apply: PathBuf,
    /// Statements to go back.
    pub rollback: PathBuf,
    /// Files that were there and differed, kept under another name.
    pub kept: Vec<Kept>,
}

/// A file that was in the way and was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Where it was; the new file is there now.
    pub file: PathBuf,
    /// Where it is.
    pub backup: PathBuf,
}

/// The files could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The folder cannot be made.
    #[error("failed to make the folder {}: {cause}; give one that can be written with --out", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// A file cannot be read, kept or written.
    #[error("failed to write {}: {cause}; give a folder that can be written with --out", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

/// Whether [`write_all`] could write into `dir`, before the hours that come before it; makes nothing.
///
/// # Errors
/// It is no folder, or it or the folder that it would be made in cannot be written.
pub fn check_folder(dir: &Path) -> Result<(), WriteError> {
    let failed = |cause: io::Error| WriteError::Folder {
        path: dir.to_owned(),
        cause,
    };
    let absolute = std::path::absolute(dir).map_err(failed)?;
    let there = absolute
        .ancestors()
        .find(|folder| folder.exists())
        .unwrap_or(&absolute);
    if !there.is_dir() {
        return Err(failed(ErrorKind::NotADirectory.into()));
    }
    use rustix::fs::Access;
    rustix::fs::access(there, Access::WRITE_OK | Access::EXEC_OK).map_err(|errno| failed(errno.into()))
}

/// Writes my.cnf, review.md, apply.sql and rollback.sql into `dir`, which is made where it is missing. Each file is there in full or not at
/// all. A file of that name that differs (somebody may have edited it) is kept as `NAME.bak-N`.
pub fn write_all<'v>(
    dir: &Path,
    end: &StudyEnd,
    lookup: impl Fn(&str) -> Option<&'v Variable>,
) -> Result<Files, WriteError> {
    fs::create_dir_all(dir).map_err(|cause| WriteError::Folder {
        path: dir.to_owned(),
        cause,
    })?;
    let mut kept = Vec::new();
    let mut write = |name: &str, text: String| {
        let path = dir.join(name);
        let backup = replace(dir, name, text.as_bytes()).map_err(|cause| WriteError::File {
            path: path.clone(),
            cause,
        })?;
        kept.extend(backup.map(|backup| Kept {
            file: path.clone(),
            backup,
        }));
        Ok(path)
    };
    Ok(Files {
        mycnf: write("my.cnf", mycnf(end, &lookup))?,
        review: write("review.md", review(end, &lookup))?,
        report: None,
        apply: write("apply.sql", apply_sql(end, &lookup))?,
        rollback: write("rollback.sql", rollback_sql(end, &lookup))?,
        kept,
    })
}

/// Puts `text` into `dir/name` by a rename; gives back where what was there is kept, if it differed.
fn replace(dir: &Path, name: &str, text: &[u8]) -> io::Result<Option<PathBuf>> {
    let path = dir.join(name);
    let backup = match fs::read(&path) {
        Ok(old) if old == text => return Ok(None),
        Ok(old) => Some(keep(dir, name, &old, fs::metadata(&path)?.permissions())?),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    // The server reads my.cnf as another user, so it is made readable as far as the umask allows.
    staged(dir, text, Permissions::from_mode(0o644))?.persist(&path)?;
    Ok(backup)
}

/// Writes `old` to the first free `NAME.bak-N`, which is never one that is already there.
fn keep(dir: &Path, name: &str, old: &[u8], permissions: Permissions) -> io::Result<PathBuf> {
    let mut file = staged(dir, old, permissions)?;
    for n in 1u32.. {
        let path = dir.join(format!("{name}.bak-{n}"));
        match file.persist_noclobber(&path) {
            Ok(_) => return Ok(path),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => file = error.file,
            Err(error) => return Err(error.error),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// A file in `dir` under a passing name, on disk in full.
fn staged(dir: &Path, text: &[u8], permissions: Permissions) -> io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new()
        .prefix(".tune-")
        .permissions(permissions)
        .tempfile_in(dir)?;
    file.write_all(text)?;
    file.as_file().sync_all()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::sample;

    #[test]
    fn what_somebody_edited_is_kept() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("new/out");
        let (end, variables) = sample::mariadb();
        let write = || write_all(&dir, &end, |name| variables.get(name)).unwrap();
        let first = write();
        assert!(first.kept.is_empty());
        assert_eq!(write(), first, "the same again changes nothing");

        for (n, edit) in ["mine", "mine too"].into_iter().enumerate() {
            fs::write(&first.mycnf, edit).unwrap();
            let kept = write().kept;
            let backup = dir.join(format!("my.cnf.bak-{}", n + 1));
            assert_eq!(
                kept,
                [Kept {
                    file: first.mycnf.clone(),
                    backup: backup.clone()
                }]
            );
            assert_eq!(fs::read_to_string(backup).unwrap(), edit);
        }
        assert_eq!(
            fs::read_to_string(&first.mycnf).unwrap(),
            mycnf(&end, |name| variables.get(name))
        );
        assert_eq!(
            fs::metadata(&first.mycnf).unwrap().permissions().mode() & 0o400,
            0o400
        );
        assert_eq!(
            fs::read_dir(&dir).unwrap().count(),
            6,
            "four files, two backups, nothing left over"
        );
    }

    #[test]
    fn a_folder_that_is_a_file_is_an_error_that_names_it() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        let (end, _) = sample::mariadb();
        let error = write_all(&file.join("out"), &end, |_| None)
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("failed to make the folder") && error.contains("file/out"),
            "{error}"
        );
        fs::create_dir_all(home.path().join("out/my.cnf")).unwrap();
        let error = write_all(&home.path().join("out"), &end, |_| None)
            .unwrap_err()
            .to_string();
        assert!(error.contains("my.cnf"), "{error}");
    }
}
