use super::{
    OptionError, ProcessId, RunFolder, Server, as_root, error_log, option_text,
    spawn::{Owned, ending},
};
use crate::catalog::Family;
use mysql_async::{Conn, OptsBuilder};
use rustix::process::{Pid, Signal};
use std::{
    ffi::OsString,
    fs::{self, DirBuilder, File, OpenOptions},
    io,
    os::unix::fs::DirBuilderExt as _,
    path::Path,
    process::{ExitStatus, Stdio},
    time::{Duration, Instant},
};

/// Between two tries to connect to a server that is starting.
const TRY_AGAIN: Duration = Duration::from_millis(20);

/// A server that takes a connection answers on it within this.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// How a server is started.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// Options of the server, as in an option file. Paths, networking and the binary log are not to be set here.
    pub options: &'a [(String, String)],
    /// Whether it writes a binary log (into the data directory).
    pub binlog: bool,
    /// How long it may take until it accepts a connection; recovery after a kill counts.
    pub ready_within: Duration,
}

/// A server that runs on the data directory of a run folder. It does not outlive this value: dropping it kills it. Where `setpriv`
/// (util-linux) exists it dies with this process as well, however that ends; else the ledger has it.
#[derive(Debug)]
pub struct Running {
    process: Owned,
    run: RunFolder,
    ready_after: Duration,
}

/// How a server was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// Whether it ended by itself and without an error; otherwise it was killed, or crashed on the way.
    pub clean: bool,
    /// How long it took.
    pub took: Duration,
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// An option that cannot be written.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// A file could not be made, or the program not run.
    #[error("the server could not be started: failed to {doing} {path}: {source}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// It ended before it accepted a connection.
    #[error("the server ended while it was starting ({}): {last_error}", ending(*.status))]
    Died {
        /// How it ended.
        status: ExitStatus,
        /// The line of its error log that says why.
        last_error: String,
        /// The end of its error log.
        log_tail: String,
    },
    /// It runs and accepts no connection.
    #[error("the server accepted no connection within {} s and was killed; it said last: {last_line}", .after.as_secs())]
    Timeout {
        /// How long it was given.
        after: Duration,
        /// The last line of its error log.
        last_line: String,
        /// The end of its error log.
        log_tail: String,
    },
}

impl Running {
    /// Starts the server on the run folder's data directory and waits until it accepts a connection. It listens on a socket only, in
    /// a folder of this user alone; root has no password. It reads no option file but the one written here.
    ///
    /// # Errors
    /// [`StartError`]; the process is gone, the run folder is kept.
    pub async fn start(server: &Server, run: &RunFolder, launch: Launch<'_>) -> Result<Self, StartError> {
        let begin = Instant::now();
        let process = spawn(server, run, &launch)?;
        let mut running = Self {
            process,
            run: run.clone(),
            ready_after: Duration::ZERO,
        };
        loop {
            let waited = running.process.ended();
            if let Some(status) = waited.map_err(io_error("wait for", &server.path))? {
                let (last_error, log_tail) = running.last_words();
                return Err(StartError::Died {
                    status,
                    last_error,
                    log_tail,
                });
            }
            let left = launch.ready_within.saturating_sub(begin.elapsed());
            if left.is_zero() {
                let (last_line, log_tail) = running.last_words();
                return Err(StartError::Timeout {
                    after: launch.ready_within,
                    last_line,
                    log_tail,
                });
            }
            if running.socket_is_there() && running.answers(left.min(ANSWER_WITHIN)).await {
                running.ready_after = begin.elapsed();
                return Ok(running);
            }
            tokio::time::sleep(TRY_AGAIN.min(left)).await;
        }
    }

    /// Its process number.
    pub fn pid(&self) -> i32 {
        self.process.pid()
    }

    /// The run folder it works in.
    pub fn run(&self) -> &RunFolder {
        &self.run
    }

    /// From its start to the first connection, recovery included.
    pub fn ready_after(&self) -> Duration {
        self.ready_after
    }

    /// How to connect: root on the socket, no database chosen.
    pub fn connection(&self) -> OptsBuilder {
        let socket = self.run.socket().display().to_string();
        OptsBuilder::default()
            .user(Some("root"))
            .socket(Some(socket))
            .prefer_socket(true)
    }

    /// A new connection.
    ///
    /// # Errors
    /// The server does not accept one.
    pub async fn connect(&self) -> Result<Conn, mysql_async::Error> {
        Conn::new(self.connection()).await
    }

    /// Why it is not running any more: how it ended and the line of its error log that says why. None while it runs.
    pub fn died(&mut self) -> Option<String> {
        let status = self.process.ended().ok()??;
        Some(format!("{}: {}", ending(status), self.last_words().0))
    }

    /// Kills it, as a crash would (SIGKILL), and reaps it. The data directory stays as it is.
    pub fn kill(self) {}

    /// Asks it to stop (SIGTERM); kills it when it has not after `at_most`.
    ///
    /// # Errors
    /// The system cannot signal or wait.
    pub async fn shutdown(mut self, at_most: Duration) -> io::Result<Stopped> {
        let begin = Instant::now();
        if self.process.ended()?.is_none() {
            // Not reaped yet, so the number is still its own.
            Pid::from_raw(self.pid())
                .map_or(Ok(()), |pid| rustix::process::kill_process(pid, Signal::TERM))?;
        }
        let status = self.process.wait(at_most).await?;
        Ok(Stopped {
            clean: status.is_some_and(|s| s.success()),
            took: begin.elapsed(),
        })
    }

    /// The line that says most, and the end of the log.
    fn last_words(&self) -> (String, String) {
        let log = error_log::read_end(&self.run.error_log());
        let last = error_log::last_error(&log).unwrap_or_else(|| "its error log is empty".to_owned());
        (last, error_log::tail(&log))
    }

    fn socket_is_there(&self) -> bool {
        self.run.socket().exists()
    }

    async fn answers(&self, at_most: Duration) -> bool {
        match tokio::time::timeout(at_most, self.connect()).await {
            Ok(Ok(conn)) => conn.disconnect().await.is_ok(),
            Ok(Err(_)) | Err(_) => false,
        }
    }
}

fn io_error<'a>(doing: &'static str, path: &'a Path) -> impl Fn(io::Error) -> StartError + 'a {
    move |source| StartError::Io {
        doing,
        path: path.display().to_string(),
        source,
    }
}

/// Writes the option file, starts the process and writes it into the ledger.
fn spawn(server: &Server, run: &RunFolder, launch: &Launch<'_>) -> Result<Owned, StartError> {
    let temporary = run.path().join("tmp");
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&temporary);
    made.map_err(io_error("make", &temporary))?;
    let file = run.path().join("my.cnf");
    let text = option_text(&all_options(server, run, &temporary, launch))?;
    fs::write(&file, text).map_err(io_error("write", &file))?;
    // The server and what it prints before it opens its log go into one file; each start has a new one.
    let log = run.error_log();
    File::create(&log).map_err(io_error("make", &log))?;
    let open = || {
        OpenOptions::new()
            .append(true)
            .open(&log)
            .map_err(io_error("open", &log))
    };
    let (stdout, stderr) = (open()?, open()?);
    // A killed server leaves its socket, which must not be taken for the new one's.
    match fs::remove_file(run.socket()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(io_error("remove", &run.socket())(error));
        }
        _ => {}
    }
    let mut defaults = OsString::from("--defaults-file=");
    defaults.push(&file);
    let process = Owned::start(&server.path, |command| {
        command
            .arg(defaults)
            .current_dir(run.path())
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr);
    })
    .map_err(io_error("run", &server.path))?;
    // One that has ended already is reported by its log.
    ProcessId::of(process.pid())
        .map_or(Ok(()), |id| run.note(id))
        .map_err(io_error("note in the ledger", &server.path))?;
    Ok(process)
}

/// The launch's options, then those of the sandbox: of two with one name the server takes the last.
fn all_options(
    server: &Server,
    run: &RunFolder,
    temporary: &Path,
    launch: &Launch<'_>,
) -> Vec<(String, String)> {
    let mut options = launch.options.to_vec();
    let mut set = |name: &str, value: &str| options.push((name.to_owned(), value.to_owned()));
    let path = |path: &Path| path.display().to_string();
    set("datadir", &path(&run.data()));
    set("socket", &path(&run.socket()));
    set("pid_file", &path(&run.path().join("pid")));
    set("log_error", &path(&run.error_log()));
    set("tmpdir", &path(temporary));
    set("skip_networking", "ON");
    // Packaged builds have a default here that may be missing or that only root may read.
    set("secure_file_priv", "");
    if as_root() {
        set("user", "root");
    }
    if server.flavor.family != Family::MariaDb {
        set("loose_mysqlx", "0");
    }
    if launch.binlog {
        set("log_bin", "binlog");
    } else {
        set("skip_log_bin", "ON");
    }
    options
}
