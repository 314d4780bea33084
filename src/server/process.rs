use rustix::process::{Pid, PidfdFlags, Signal};
use serde::{Deserialize, Serialize};
use std::{
    io, thread,
    time::{Duration, Instant},
};

/// A process that cannot be mistaken for a later one with the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessId {
    /// Its number.
    pub pid: i32,
    /// When it started, in clock ticks since the machine did (field 22 of `/proc/PID/stat`, proc(5)).
    pub start: u64,
}

impl ProcessId {
    /// The living process with this number; none when there is none, or it has ended and only waits to be reaped.
    pub fn of(pid: i32) -> Option<Self> {
        let stat = procfs::process::Process::new(pid).and_then(|p| p.stat()).ok()?;
        let ended = matches!(stat.state, 'Z' | 'X' | 'x');
        (!ended).then_some(Self {
            pid,
            start: stat.starttime,
        })
    }

    /// This process.
    pub fn own() -> Option<Self> {
        Self::of(std::process::id() as i32)
    }

    /// Whether it is still there.
    pub fn lives(self) -> bool {
        Self::of(self.pid) == Some(self)
    }

    /// Kills it, if it is still the same one, and waits until it is gone.
    ///
    /// # Errors
    /// No right to, or it is not gone after `at_most`.
    pub(super) fn kill(self, at_most: Duration) -> io::Result<()> {
        let Some(pid) = Pid::from_raw(self.pid) else {
            return Ok(());
        };
        // The descriptor holds on to one process, so that between the look and the signal the number cannot change hands.
        let process = match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
            Err(rustix::io::Errno::SRCH) => return Ok(()),
            other => other?,
        };
        if !self.lives() {
            return Ok(());
        }
        rustix::process::pidfd_send_signal(&process, Signal::KILL)?;
        let start = Instant::now();
        while self.lives() {
            if start.elapsed() > at_most {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "it does not end"));
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn only_the_very_process_is_killed() {
        let mut child = Command::new("/bin/sleep").arg("60").spawn().unwrap();
        let id = ProcessId::of(child.id() as i32).unwrap();
        let other = ProcessId {
            start: id.start + 1,
            ..id
        };
        assert!(id.lives() && !other.lives());
        other.kill(Duration::from_secs(5)).unwrap();
        assert!(id.lives());
        id.kill(Duration::from_secs(5)).unwrap();
        assert!(!id.lives());
        child.wait().unwrap();
        assert_eq!(ProcessId::of(id.pid), None);
    }
}
