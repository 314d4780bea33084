use std::{
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
    path::Path,
};

/// The end of an error log that is worth reading.
const TAIL_BYTES: i64 = 64 << 10;

/// Lines of the tail that is kept with a failed trial.
const TAIL_LINES: usize = 40;

/// Errors that only follow from an earlier one, which says more.
const CONSEQUENCES: [&str; 7] = [
    "Aborting",
    "Plugin initialization aborted",
    "init function returned error",
    "registration as a STORAGE ENGINE failed",
    "Unknown/unsupported storage engine: InnoDB",
    "Failed to initialize DD Storage Engine",
    "Data Dictionary initialization failed",
];

/// The last part of an error log, empty when there is none.
pub(super) fn read_end(path: &Path) -> String {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let size = file.metadata()?.len() as i64;
        file.seek(SeekFrom::End(-size.min(TAIL_BYTES)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}

/// The last lines of a log.
pub(super) fn tail(log: &str) -> String {
    let lines: Vec<_> = log.trim_end().lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}

/// The line that says why the server ended: its last `[ERROR]` that is not just the consequence of one before, else its
/// last line; without time and thread number. None for an empty log.
pub(super) fn last_error(log: &str) -> Option<String> {
    let is_error = |line: &&str| {
        line.contains("[ERROR]") || line.starts_with("error: ") || line.starts_with("Fatal error")
    };
    let errors: Vec<_> = log.lines().filter(is_error).collect();
    let telling = errors
        .iter()
        .rev()
        .find(|line| !CONSEQUENCES.iter().any(|c| line.contains(c)));
    let last_line = || log.lines().rev().find(|line| !line.trim().is_empty());
    telling
        .copied()
        .or(errors.last().copied())
        .or_else(last_line)
        .map(|line| message(line).to_owned())
}

/// A log line without its time and thread number: from its level on.
pub(super) fn message(line: &str) -> &str {
    let starts = ["[ERROR]", "[Warning]", "[Note]", "[System]"]
        .iter()
        .filter_map(|level| line.find(level));
    starts.min().map_or(line, |start| &line[start..]).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARIADB: &str = "\
2026-11-30 23:59:50 0 [Note] InnoDB: Using io_uring
2026-11-30 23:59:50 0 [ERROR] InnoDB: Cannot map innodb_buffer_pool_size_max=104857600m
2026-11-30 23:59:50 0 [ERROR] InnoDB: Plugin initialization aborted with error Generic error
2026-11-30 23:59:50 0 [Note] InnoDB: Starting shutdown...
2026-11-30 23:59:50 0 [ERROR] Plugin 'InnoDB' init function returned error.
2026-11-30 23:59:50 0 [ERROR] Plugin 'InnoDB' registration as a STORAGE ENGINE failed.
2026-11-30 23:59:50 0 [ERROR] Unknown/unsupported storage engine: InnoDB
2026-11-30 23:59:50 0 [ERROR] Aborting
";

    #[test]
    fn the_cause_not_the_consequence() {
        assert_eq!(
            last_error(MARIADB).unwrap(),
            "[ERROR] InnoDB: Cannot map innodb_buffer_pool_size_max=104857600m"
        );
        let mysql = "2026-11-30T23:59:53.136Z 0 [ERROR] [MY-000067] [Server] unknown variable 'innodb_bogus=1'.\n\
                     2026-11-30T23:59:53.137Z 0 [ERROR] [MY-010119] [Server] Aborting\n\
                     2026-11-30T23:59:53.138Z 0 [Note] [MY-015019] [Server] MySQL Server: Plugins Shutdown - start.\n";
        assert_eq!(
            last_error(mysql).unwrap(),
            "[ERROR] [MY-000067] [Server] unknown variable 'innodb_bogus=1'."
        );
    }

    #[test]
    fn without_an_error_the_last_line() {
        assert_eq!(
            last_error("2026-11-30 23:59:50 0 [Note] ready\n\nKilled\n\n").unwrap(),
            "Killed"
        );
        assert_eq!(
            last_error("x [ERROR] Aborting\nbye\n").unwrap(),
            "[ERROR] Aborting"
        );
        assert_eq!(last_error(""), None);
    }

    #[test]
    fn the_tail_is_bounded() {
        let log: String = (0..1000).map(|i| format!("line {i}\n")).collect();
        assert_eq!(tail(&log).lines().count(), TAIL_LINES);
        assert!(tail(&log).ends_with("line 999"));
        assert_eq!(tail(""), "");
    }

    proptest::proptest! {
        #[test]
        fn any_log_is_survived(log: String) {
            let _ = (last_error(&log), tail(&log), message(&log));
        }
    }
}
