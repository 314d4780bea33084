use std::{
    fs,
    io::{self, Read as _, Seek as _},
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{LazyLock, mpsc},
    thread,
    time::{Duration, Instant},
};

/// How often a process is asked whether it has ended.
const POLL: Duration = Duration::from_millis(10);

type Request = (Command, mpsc::Sender<io::Result<Child>>);

/// The thread that starts every server. The system's "kill me when my parent dies" means the *thread* that started the
/// process, so servers are started by a thread that lives as long as the program, whichever thread asks for it.
static SPAWNER: LazyLock<mpsc::Sender<Request>> = LazyLock::new(|| {
    let (sender, requests) = mpsc::channel::<Request>();
    thread::spawn(move || {
        for (mut command, answer) in requests {
            // Nobody waits for the answer only when the asking thread has panicked.
            let _ = answer.send(command.spawn());
        }
    });
    sender
});

/// util-linux' setpriv, if it knows `--pdeathsig` (since 2.33; busybox' does not).
static SETPRIV: LazyLock<Option<&'static Path>> = LazyLock::new(|| {
    ["/usr/bin/setpriv", "/bin/setpriv"]
        .into_iter()
        .map(Path::new)
        .find(|setpriv| {
            let mut probe = Command::new(setpriv);
            probe
                .args(["--pdeathsig", "KILL", "--", "/bin/true"])
                .stdin(Stdio::null());
            output(&mut probe, Duration::from_secs(5)).is_ok_and(|o| o.status.success())
        })
});

/// A child process that does not outlive this value: dropping it kills and reaps it.
#[derive(Debug)]
pub(super) struct Owned {
    child: Child,
}

impl Owned {
    /// Starts `program`, set up by `configure`, in a process group of its own (ctrl-c at the terminal is for us alone) and,
    /// where `setpriv` exists, so that the system kills it when we die, be it by SIGKILL.
    pub fn start(program: &Path, configure: impl FnOnce(&mut Command)) -> io::Result<Self> {
        let mut command = match *SETPRIV {
            Some(setpriv) => {
                let mut command = Command::new(setpriv);
                command.args(["--pdeathsig", "KILL", "--"]).arg(program);
                command
            }
            None => Command::new(program),
        };
        configure(&mut command);
        command.process_group(0);
        let (sender, answer) = mpsc::channel();
        let gone = || io::Error::other("the thread that starts servers has ended");
        SPAWNER.send((command, sender)).map_err(|_| gone())?;
        let child = answer.recv().map_err(|_| gone())??;
        // When a configuration takes all memory, its server is to go, not whatever else runs here (proc(5)). Not possible
        // everywhere, and no reason not to start.
        let _ = fs::write(format!("/proc/{}/oom_score_adj", child.id()), "1000");
        Ok(Self { child })
    }

    /// Its process number; setpriv becomes the program, so this is the server's own.
    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Waits until it ends; none when it has not by then.
    pub async fn wait(&mut self, at_most: Duration) -> io::Result<Option<ExitStatus>> {
        let start = Instant::now();
        loop {
            match self.ended()? {
                None if start.elapsed() < at_most => tokio::time::sleep(POLL).await,
                end => return Ok(end),
            }
        }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // Both fail only for a child that is reaped already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How a server ended, for people. A SIGKILL that is not ours is nearly always the system's, for memory.
pub(super) fn ending(status: ExitStatus) -> String {
    match status.signal() {
        Some(9) => "killed by signal 9, as the system does when memory runs out".to_owned(),
        Some(signal) => format!("killed by signal {signal}"),
        None => format!("exit status {}", status.code().unwrap_or_default()),
    }
}

/// What a short-lived program printed.
pub(super) struct Output {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

/// Runs a program that answers by itself; one that does not end in time is killed.
pub(super) fn output(command: &mut Command, at_most: Duration) -> io::Result<Output> {
    // Files, not pipes: nothing to drain while waiting.
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command
        .stdin(Stdio::null())
        .stdout(stdout.try_clone()?)
        .stderr(stderr.try_clone()?);
    let mut process = Owned {
        child: command.spawn()?,
    };
    let start = Instant::now();
    let status = loop {
        match process.ended()? {
            Some(status) => break status,
            None if start.elapsed() > at_most => {
                let message = format!("no answer within {} s", at_most.as_secs());
                return Err(io::Error::new(io::ErrorKind::TimedOut, message));
            }
            None => thread::sleep(POLL / 5),
        }
    };
    let read = |file: &mut fs::File| -> io::Result<String> {
        let mut bytes = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    Ok(Output {
        status,
        stdout: read(&mut stdout)?,
        stderr: read(&mut stderr)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::ProcessId;

    #[test]
    fn a_program_that_hangs_is_given_up() {
        let error = output(Command::new("/bin/sleep").arg("60"), Duration::from_millis(50))
            .err()
            .unwrap();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn endings_in_words() {
        assert_eq!(ending(ExitStatus::from_raw(256)), "exit status 1");
        assert_eq!(ending(ExitStatus::from_raw(11)), "killed by signal 11");
        assert!(ending(ExitStatus::from_raw(9)).contains("memory"));
    }

    #[test]
    fn dropping_kills_and_reaps() {
        let process = Owned::start(Path::new("/bin/sleep"), |command| {
            command.arg("60");
        })
        .unwrap();
        let id = ProcessId::of(process.pid()).unwrap();
        assert!(id.lives());
        drop(process);
        assert!(!id.lives());
    }
}
