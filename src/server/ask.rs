use super::{Server, as_root, error_log, spawn};
use crate::catalog::Family;
use std::{collections::BTreeMap, ffi::OsString, io, path::Path, process::Command, time::Duration};

/// Printing help or checking options takes well under a second.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// Warnings that mean: the server will not do what the line says.
const NOT_AS_WRITTEN: [&str; 7] = [
    "adjusted to",
    "wasn't recognized",
    "was not recognized",
    "unknown variable",
    "unknown option",
    "was removed",
    "ignoring option",
];

/// A server that could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// It could not be run.
    #[error("{server} could not be asked {about}: {source}")]
    CannotRun {
        /// Path of the server.
        server: String,
        /// What it was asked about.
        about: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// It answered something else.
    #[error("{server} was asked {about} and answered with no list of variables; it ended with: {said}")]
    NoList {
        /// Path of the server.
        server: String,
        /// What it was asked about.
        about: &'static str,
        /// Its last line.
        said: String,
    },
}

impl Server {
    /// The names (with underscores) and defaults of its variables and start options, as `--verbose --help` lists them.
    /// `TRUE` and `FALSE` are given as `ON` and `OFF`; no default is an empty text. Values that the server derives at start
    /// (from cores, memory or other settings) appear as it lists them, often 0 or -1.
    ///
    /// # Errors
    /// [`AskError`].
    pub fn variables(&self) -> Result<BTreeMap<String, String>, AskError> {
        const ABOUT: &str = "for its variables";
        let output = self.ask(
            ABOUT,
            &["--no-defaults".into()],
            &["--verbose".into(), "--help".into()],
        )?;
        let variables = parse_help(&output.stdout);
        if variables.is_empty() {
            let said = error_log::last_error(&output.stderr).unwrap_or_default();
            return Err(AskError::NoList {
                server: self.path.display().to_string(),
                about: ABOUT,
                said,
            });
        }
        Ok(variables)
    }

    /// What the server itself holds against the option file, a line each in its own words: errors, unknown variables, values
    /// that it would change or ignore. Empty when it takes the file as written. Nothing is started; memory is not checked.
    ///
    /// # Errors
    /// [`AskError`] when the server cannot be run.
    pub fn check_options(&self, file: &Path) -> Result<Vec<String>, AskError> {
        let mut defaults = OsString::from("--defaults-file=");
        defaults.push(file);
        let check: &[OsString] = match self.flavor.family {
            Family::MariaDb => &["--verbose".into(), "--help".into()],
            // Without the verbosity MySQL keeps its warnings to itself.
            Family::MySql | Family::Percona => {
                &["--validate-config".into(), "--log-error-verbosity=2".into()]
            }
        };
        let output = self.ask("to check an option file", &[defaults], check)?;
        let mut findings = findings(&output.stderr);
        if findings.is_empty() && !output.status.success() {
            let last = error_log::last_error(&output.stderr);
            findings.push(last.unwrap_or_else(|| format!("the server refused the file ({})", output.status)));
        }
        Ok(findings)
    }

    /// Runs the server for an answer, with an empty data directory that is gone afterwards.
    fn ask(
        &self,
        about: &'static str,
        first: &[OsString],
        then: &[OsString],
    ) -> Result<spawn::Output, AskError> {
        let run = || {
            let data = tempfile::tempdir()?;
            let mut datadir = OsString::from("--datadir=");
            datadir.push(data.path());
            let mut command = Command::new(&self.path);
            command
                .args(first)
                .arg(datadir)
                .args(as_root().then_some("--user=root"))
                .args(then);
            spawn::output(&mut command, ANSWER_WITHIN)
        };
        run().map_err(|source| AskError::CannotRun {
            server: self.path.display().to_string(),
            about,
            source,
        })
    }
}

/// The table below the line of dashes, up to the first empty line.
fn parse_help(help: &str) -> BTreeMap<String, String> {
    let table = help.lines().skip_while(|line| !line.starts_with("-----")).skip(1);
    table
        .take_while(|line| !line.trim().is_empty())
        .map(|line| {
            let (name, value) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let value = match value.trim() {
                "TRUE" => "ON",
                "FALSE" => "OFF",
                "(No default value)" => "",
                value => value,
            };
            (name.replace('-', "_"), value.to_owned())
        })
        .collect()
}

/// The lines of the check's output that speak against the file.
fn findings(output: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in output.lines() {
        let error =
            line.contains("[ERROR]") || line.starts_with("error: ") || line.starts_with("Fatal error");
        let consequence = line.contains("Aborting") || line.contains("Program aborted");
        let changed = line.contains("[Warning]") && NOT_AS_WRITTEN.iter().any(|words| line.contains(words));
        let message = error_log::message(line).to_owned();
        if ((error && !consequence) || changed) && !found.contains(&message) {
            found.push(message);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_table_of_variables() {
        let help = "mariadbd  Ver 10.11\n  --x   text\n\nVariables (--variable-name=value)\n\
                    and boolean options {FALSE|TRUE}  Value (after reading options)\n\
                    --------------------------------- -------------\n\
                    basedir                           /usr/\n\
                    innodb-buffer-pool-size           134217728\n\
                    innodb-file-per-table             TRUE\n\
                    init-connect                      \n\
                    log-bin                           (No default value)\n\
                    \nTo see what variables a running server is using\n";
        let variables = parse_help(help);
        assert_eq!(variables.len(), 5);
        assert_eq!(variables["innodb_buffer_pool_size"], "134217728");
        assert_eq!(variables["innodb_file_per_table"], "ON");
        assert_eq!(
            (variables["init_connect"].as_str(), variables["log_bin"].as_str()),
            ("", "")
        );
        assert!(parse_help("nothing of the kind").is_empty());
    }

    #[test]
    fn finds_what_speaks_against_a_file() {
        let output = "\
2026-11-30 23:59:49 0 [Warning] Could not increase number of max_open_files to more than 20000 (request: 32184)
2026-11-30 23:59:49 0 [Warning] option 'innodb-io-capacity': unsigned value 5 adjusted to 100
2026-11-30 23:59:49 0 [ERROR] /usr/sbin/mariadbd: unknown variable 'innodb_bogus=1'
2026-11-30 23:59:49 0 [ERROR] Aborting
2026-11-30 23:59:49 0 [Note] adjusted to nothing
";
        assert_eq!(
            findings(output),
            [
                "[Warning] option 'innodb-io-capacity': unsigned value 5 adjusted to 100",
                "[ERROR] /usr/sbin/mariadbd: unknown variable 'innodb_bogus=1'"
            ]
        );
        let broken = "error: Found option without preceding group in config file: x at line: 1\n\
                      Fatal error in defaults handling. Program aborted\n";
        assert_eq!(findings(broken).len(), 1);
        assert!(findings("").is_empty());
    }
}
