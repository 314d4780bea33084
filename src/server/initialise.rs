use super::{
    AskError, ProcessId, RunFolder, Server, as_root, error_log,
    spawn::{Owned, ending},
};
use crate::catalog::Family;
use std::{
    collections::BTreeMap,
    fs::{self, DirBuilder, File},
    io::{self, Seek as _, Write as _},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

/// 4 s (MariaDB) to 6 s (MySQL) on an SSD; minutes on a busy disk.
const DONE_WITHIN: Duration = Duration::from_secs(600);

/// MariaDB's SQL for the system tables, in the order in which its own installer runs them.
const SYSTEM_TABLES: [&str; 3] = [
    "system_tables.sql",
    "performance_tables.sql",
    "system_tables_data.sql",
];

/// Why a data directory could not be made.
#[derive(Debug, thiserror::Error)]
pub enum InitialiseError {
    /// The server could not be asked where its files are.
    #[error(transparent)]
    Ask(#[from] AskError),
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
    /// MariaDB's SQL files are not there.
    #[error(
        "MariaDB's SQL files for a new data directory (*_system_tables.sql) were not found in {looked}; \
         they come with the server's package"
    )]
    NoSystemTables {
        /// The folders searched.
        looked: String,
    },
    /// The server, or the installer, failed.
    #[error("{program} failed to make a data directory ({}): {last_error}", ending(*.status))]
    Failed {
        /// What was run.
        program: String,
        /// How it ended.
        status: ExitStatus,
        /// The line that says why.
        last_error: String,
        /// The end of what it printed.
        log_tail: String,
    },
    /// It did not end.
    #[error("{program} did not finish making a data directory within {} s", DONE_WITHIN.as_secs())]
    Timeout {
        /// What was run.
        program: String,
    },
}

/// Makes the run folder's data directory: system tables, root without a password on the socket, no other database.
/// `options` are those that are fixed when the directory is made (`innodb_page_size` and the like).
///
/// MySQL makes it itself (`--initialize-insecure`). For MariaDB an `install-db` beside the server is run if there is one (a script
/// that is given the directory; such as comes with a wrapper script, which knows best; not used with `options`, which it does
/// not take); else the server runs its own SQL files (`--bootstrap`), as its installer does.
///
/// # Errors
/// [`InitialiseError`]; the data directory is removed again.
pub async fn initialise(
    server: &Server,
    run: &RunFolder,
    options: &[(String, String)],
) -> Result<(), InitialiseError> {
    let data = run.data();
    let make = |folder: &Path| {
        let made = DirBuilder::new().mode(0o700).create(folder);
        made.map_err(|source| InitialiseError::File {
            doing: "make",
            path: folder.to_owned(),
            source,
        })
    };
    make(&data)?;
    let log = run.error_log();
    let installer = server.path.with_file_name("install-db");
    let done = if options.is_empty() && installer.is_file() {
        run_installer(run, &installer, &[data.as_os_str().to_owned()], None).await
    } else {
        let mut arguments = vec!["--no-defaults".into(), format!("--datadir={}", data.display())];
        arguments.extend(as_root().then(|| "--user=root".to_owned()));
        arguments.extend(options.iter().map(|(name, value)| format!("--{name}={value}")));
        match server.flavor.family {
            Family::MariaDb => {
                let sql = system_tables(server)?;
                make(&data.join("mysql"))?;
                // The limits are those of MariaDB's own installer.
                let bootstrap = [
                    "--bootstrap",
                    "--log-warnings=0",
                    "--enforce-storage-engine=",
                    "--max-allowed-packet=8M",
                ];
                arguments.extend(bootstrap.map(str::to_owned));
                run_installer(run, &server.path, &arguments, Some(&sql)).await
            }
            Family::MySql | Family::Percona => {
                // Packaged builds have a default here that only root may read.
                arguments.extend(["--initialize-insecure", "--secure-file-priv="].map(str::to_owned));
                run_installer(run, &server.path, &arguments, None).await
            }
        }
    };
    if done.is_err() {
        let _ = fs::remove_dir_all(&data);
    }
    let _ = fs::remove_file(log);
    done
}

/// Runs a program that makes a data directory, `input` on its standard input.
async fn run_installer<S: AsRef<std::ffi::OsStr>>(
    run: &RunFolder,
    program: &Path,
    arguments: &[S],
    input: Option<&str>,
) -> Result<(), InitialiseError> {
    let log = run.error_log();
    let start = || -> io::Result<Owned> {
        let output = File::create(&log)?;
        let stdin = match input {
            None => Stdio::null(),
            Some(text) => {
                let mut file = tempfile::tempfile_in(run.path())?;
                file.write_all(text.as_bytes())?;
                file.rewind()?;
                file.into()
            }
        };
        let process = Owned::start(program, |command| {
            let output_too = output.try_clone().map_or_else(|_| Stdio::null(), Stdio::from);
            command
                .args(arguments)
                .current_dir(run.path())
                .stdin(stdin)
                .stdout(output_too)
                .stderr(output);
        })?;
        ProcessId::of(process.pid()).map_or(Ok(()), |id| run.note(id))?;
        Ok(process)
    };
    let failed = |source| InitialiseError::File {
        doing: "run",
        path: program.to_owned(),
        source,
    };
    let mut process = start().map_err(failed)?;
    let name = program.display().to_string();
    match process.wait(DONE_WITHIN).await.map_err(failed)? {
        Some(status) if status.success() => Ok(()),
        Some(status) => {
            let text = error_log::read_end(&log);
            let last_error = error_log::last_error(&text).unwrap_or_else(|| "it printed nothing".to_owned());
            Err(InitialiseError::Failed {
                program: name,
                status,
                last_error,
                log_tail: error_log::tail(&text),
            })
        }
        None => Err(InitialiseError::Timeout { program: name }),
    }
}

/// The SQL that fills an empty MariaDB data directory.
fn system_tables(server: &Server) -> Result<String, InitialiseError> {
    let folders = share_folders(&server.variables()?, &server.path);
    for (folder, maker) in folders
        .iter()
        .flat_map(|folder| ["mariadb", "mysql"].map(|maker| (folder, maker)))
    {
        let files = SYSTEM_TABLES.map(|name| folder.join(format!("{maker}_{name}")));
        if files.iter().all(|file| file.is_file()) {
            // No unix_socket login for root: it asks for the system's user root, which we may not be.
            let mut sql = String::from("USE mysql;\nSET @auth_root_socket=NULL;\n");
            for path in files {
                let text = fs::read_to_string(&path);
                sql += &text.map_err(|source| InitialiseError::File {
                    doing: "read",
                    path,
                    source,
                })?;
                sql.push('\n');
            }
            return Ok(sql);
        }
    }
    let looked = folders
        .iter()
        .map(|f| f.display().to_string())
        .collect::<Vec<_>>()
        .join(", ");
    Err(InitialiseError::NoSystemTables { looked })
}

/// Where the SQL files may lie: with the messages and character sets, below the base directory, beside the binary's folder.
fn share_folders(variables: &BTreeMap<String, String>, binary: &Path) -> Vec<PathBuf> {
    let variable = |name| variables.get(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let parent = |path: PathBuf| path.parent().map(Path::to_owned);
    let prefix = binary.canonicalize().ok().and_then(parent).and_then(parent);
    let below = |base: PathBuf| ["share/mariadb", "share/mysql", "share"].map(|share| base.join(share));
    let mut folders = Vec::new();
    folders.extend(variable("lc_messages_dir"));
    folders.extend(variable("character_sets_dir").and_then(parent));
    folders.extend(variable("basedir").into_iter().flat_map(below));
    folders.extend(prefix.into_iter().flat_map(below));
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_folders_come_from_the_server_and_from_the_binarys_place() {
        let variables = [
            ("basedir", "/usr/"),
            ("character_sets_dir", "/opt/m/share/charsets/"),
            ("lc_messages_dir", ""),
        ];
        let variables = variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        let folders = share_folders(&variables, Path::new("/bin/sh"));
        assert_eq!(folders[0], Path::new("/opt/m/share"));
        assert_eq!(folders[1], Path::new("/usr/share/mariadb"));
        assert_eq!(folders.len(), 7);
    }
}
