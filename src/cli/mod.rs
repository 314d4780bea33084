//! One file a command: what was typed -> checked options -> the library; exit codes are decided in [`error`].

mod args;
mod context;
mod detect;
mod error;
mod job;
mod list;
mod progress;
mod run;
mod studies;
mod what_if;

use args::{Cli, Command};
use clap::Parser;
use error::Failure;
use std::process::ExitCode;

/// Parses the command line, runs the command, says what went wrong.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to stdout with 0, mistakes to stderr with 2.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { error::USAGE } else { 0 });
        }
    };
    let done = match cli.command {
        Some(Command::Run(options)) => run::run(&options),
        Some(Command::Detect(options)) => detect::detect(&options),
        Some(Command::List(options)) => list::list(&options),
        Some(Command::WhatIf(options)) => what_if::what_if(&options),
        Some(Command::Study(options)) => studies::studies(&options),
        None => run::run(&cli.run),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            ExitCode::from(failure.code)
        }
    }
}

/// What a command ends with.
type Done = Result<(), Failure>;
