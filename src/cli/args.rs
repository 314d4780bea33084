//! What may be typed.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use tune::{
    catalog::Flavor,
    optimize::Method,
    study::Durability,
    units::{Fraction, Seconds},
};

/// Finds the best InnoDB configuration for a machine and a workload by measuring it on a real server.
#[derive(Debug, Parser)]
#[command(
    name = "tune",
    version,
    max_term_width = 100,
    args_conflicts_with_subcommands = true,
    args_override_self = true
)]
pub struct Cli {
    /// What to do; the main job without one.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Options of the main job.
    #[command(flatten)]
    pub run: Run,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Search the best configuration for a profile and a workload: the main job
    Run(Run),
    /// Measure this machine and write a hardware profile
    Detect(Detect),
    /// List what there is
    List(List),
    /// Ask a study's model what a configuration would give
    WhatIf(WhatIf),
    /// List, show or remove studies
    Study(Study),
}

/// Options of the main job.
#[derive(Debug, Clone, Args)]
#[command(args_override_self = true)]
pub struct Run {
    /// Hardware that the configuration is for: a name (tune list profiles) or a file
    #[arg(long, value_name = "NAME|FILE")]
    pub profile: Option<String>,
    /// What to run (tune list workloads)
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,
    /// Knobs and their domains: a name (tune list spaces) or a file
    #[arg(long, value_name = "NAME|FILE", default_value = "core")]
    pub space: String,
    /// A mariadbd or mysqld, or a script that runs one [default: the one on the usual paths]
    #[arg(long, value_name = "PATH")]
    pub server: Option<PathBuf>,
    /// How to search: auto, bayes, grid, sobol, random
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub optimizer: Method,
    /// Trials before the confirmation [default: as many as the budget holds]
    #[arg(long, value_name = "N")]
    pub trials: Option<u32>,
    /// Time for trials; loading and the confirmation come on top
    #[arg(long, value_name = "TIME", default_value = "10m")]
    pub budget: Seconds,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Rows to load [default: as many times memory as published]
    #[arg(long, value_name = "N")]
    pub rows: Option<u64>,
    /// What a crash may cost: strict, os-crash, process-crash, unsafe
    #[arg(long, value_name = "CLASS", default_value = "strict")]
    pub durability: Durability,
    /// Whether there is a binary log [default: as the server has it]
    #[arg(long, value_name = "on|off")]
    pub binlog: Option<Toggle>,
    /// Size of the model: auto, or a share such as 1/16
    #[arg(long, value_name = "SHARE", default_value = "auto", value_parser = Scale::parse)]
    pub scale: Scale,
    /// How much of the hardware to reproduce; so far only none
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub isolation: Isolation,
    /// Where studies are kept [default: tune.sqlite in the state folder]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Folder for my.cnf, review.md, apply.sql and rollback.sql
    #[arg(long, value_name = "DIR", default_value = "tune-out")]
    pub out: PathBuf,
    /// Go on with the last study of the same question that was cut off
    #[arg(long)]
    pub resume: bool,
    /// End stdout with one JSON object
    #[arg(long)]
    pub json: bool,
    /// Say nothing while working
    #[arg(long, short)]
    pub quiet: bool,
}

/// `on` or `off`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Toggle {
    /// On.
    On,
    /// Off.
    Off,
}

/// How much of the hardware to reproduce.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Isolation {
    /// What can be had.
    Auto,
    /// Nothing.
    None,
}

/// Size of the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// What fits.
    Auto,
    /// As asked for.
    Share(f64),
}

impl Scale {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => match text.parse::<Fraction>() {
                Ok(Fraction(share)) if share > 0.0 => Ok(Self::Share(share)),
                _ => Err(format!("'{text}' is neither auto nor a share such as 1/16")),
            },
        }
    }
}

/// Options of `tune detect`.
#[derive(Debug, Args)]
pub struct Detect {
    /// File to write; its name is the profile's name
    #[arg(
        long,
        value_name = "FILE",
        default_value = "hardware-profiles/this-machine.toml"
    )]
    pub out: PathBuf,
    /// Folder whose disk is measured
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// Say nothing while working
    #[arg(long, short)]
    pub quiet: bool,
}

/// What `tune list` lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Listable {
    /// Hardware profiles.
    Profiles,
    /// Workloads.
    Workloads,
    /// Search spaces.
    Spaces,
    /// Server binaries on this machine.
    Servers,
    /// System variables that tune knows.
    Variables,
    /// Fitted models.
    Models,
}

/// Options of `tune list`.
#[derive(Debug, Args)]
pub struct List {
    /// What to list
    pub what: Listable,
    /// For variables: the server, such as mariadb-10.11 [default: the one on the usual paths]
    #[arg(long, value_name = "FLAVOR")]
    pub flavor: Option<Flavor>,
    /// End stdout with one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Options of `tune what-if`.
#[derive(Debug, Args)]
pub struct WhatIf {
    /// The study whose model answers (tune study list)
    #[arg(long, value_name = "NAME")]
    pub study: String,
    /// A variable and its value at full size; all else as the study recommends. May be repeated
    #[arg(long, value_name = "NAME=VALUE", required = true)]
    pub set: Vec<String>,
    /// Where studies are kept [default: tune.sqlite in the state folder]
    #[arg(long, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// End stdout with one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Options of `tune study`.
#[derive(Debug, Args)]
pub struct Study {
    /// What to do
    #[command(subcommand)]
    pub what: StudyCommand,
    /// Where studies are kept [default: tune.sqlite in the state folder]
    #[arg(long, value_name = "FILE", global = true)]
    pub store: Option<PathBuf>,
    /// End stdout with one JSON object
    #[arg(long, global = true)]
    pub json: bool,
}

/// What to do with studies.
#[derive(Debug, Subcommand)]
pub enum StudyCommand {
    /// All studies
    List,
    /// One study and its trials
    Show {
        /// Its name
        name: String,
    },
    /// Remove a study and its observations
    Remove {
        /// Its name
        name: String,
    },
}
