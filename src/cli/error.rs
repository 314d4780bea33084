//! Failures for people, and the exit code of each kind.

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Report};
use std::{fmt, io::IsTerminal};
use tune::{
    profile::ProfileError,
    server::FindError,
    source::{ShelfError, SourceError},
    study::{StoreError, StudyError},
};

/// Failed while working.
pub const WORK: u8 = 1;
/// Wrong usage or a bad input file.
pub const USAGE: u8 = 2;
/// Nothing to run on.
pub const NOTHING: u8 = 3;
/// Interrupted by the person.
pub const INTERRUPTED: u8 = 130;

/// What went wrong, and the exit code that says so.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub code: u8,
    /// What happened.
    message: String,
    /// What to do.
    help: Option<String>,
    /// Where in a file.
    place: Option<Box<SourceError>>,
}

impl Failure {
    /// Something failed while working.
    pub fn work(error: impl fmt::Display) -> Self {
        Self {
            code: WORK,
            message: error.to_string(),
            help: None,
            place: None,
        }
    }

    /// The command line or an input file is wrong.
    pub fn usage(error: impl fmt::Display) -> Self {
        Self {
            code: USAGE,
            ..Self::work(error)
        }
    }

    /// Adds what to do about it.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Writes it to stderr.
    pub fn print(&self) {
        let head = if self.code == INTERRUPTED { "" } else { "error: " };
        eprintln!("{head}{}", self.message);
        if let Some(place) = &self.place {
            eprint!("{}", snippet(place));
        }
        if let Some(help) = &self.help {
            eprintln!("help: {help}");
        }
    }
}

/// The lines of the file that are meant.
fn snippet(error: &SourceError) -> String {
    let Some(span) = error.span.clone() else {
        return String::new();
    };
    let mut diagnostic = MietteDiagnostic::new("");
    diagnostic.labels = Some(vec![LabeledSpan::underline(span)]);
    let source = NamedSource::new(&*error.source.name, error.source.text.to_string());
    let report = Report::new(diagnostic).with_source_code(source);
    let theme = if std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
        GraphicalTheme::unicode()
    } else {
        GraphicalTheme::unicode_nocolor()
    };
    let mut text = String::new();
    match GraphicalReportHandler::new_themed(theme)
        .with_width(100)
        .render_report(&mut text, report.as_ref())
    {
        // The first lines of the report are its (empty) message.
        Ok(()) => text
            .lines()
            .skip_while(|line| !line.contains('╭'))
            .fold(String::new(), |all, line| all + line + "\n"),
        Err(_) => String::new(),
    }
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        Self {
            help: error.help.clone(),
            place: Some(Box::new(error.clone())),
            ..Self::usage(&error)
        }
    }
}

impl From<ShelfError> for Failure {
    fn from(error: ShelfError) -> Self {
        Self::usage(error)
    }
}

impl From<ProfileError> for Failure {
    fn from(error: ProfileError) -> Self {
        match error {
            ProfileError::Shelf(error) => error.into(),
            ProfileError::Source(error) => error.into(),
        }
    }
}

impl From<FindError> for Failure {
    fn from(error: FindError) -> Self {
        Self {
            code: NOTHING,
            ..Self::work(error)
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unknown { .. } | StoreError::Schema { .. } | StoreError::Open { .. } => {
                Self::usage(error).help("name a file that can be written with --store")
            }
            StoreError::Sqlite { .. } | StoreError::Corrupt { .. } => Self::work(error),
        }
    }
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Self {
        match error {
            StudyError::Store(error) => error.into(),
            StudyError::Interrupted => Self {
                code: INTERRUPTED,
                ..Self::work("interrupted")
            },
            StudyError::NothingFeasible => Self::usage(error),
            StudyError::Trial(_) | StudyError::NoBaseline(_) | StudyError::NothingWorks(_) => {
                Self::work(error)
            }
        }
    }
}
