//! How a running study is shown: a bar on a terminal, plain lines elsewhere, nothing with `--quiet`. All of it on stderr.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use tune::{
    observation::{Observation, Outcome, Role},
    study::Event,
    units::Seconds,
};

/// Listens to a study.
pub enum Progress {
    /// A bar that is drawn over itself, and a line for each trial above it.
    Bar {
        /// The bar.
        bar: ProgressBar,
        /// Unit of throughput.
        unit: &'static str,
        /// Best so far and time left, behind what goes on now.
        standing: String,
    },
    /// A line for each trial.
    Lines { unit: &'static str, loaded: u32 },
    /// Nothing.
    Quiet,
}

impl Progress {
    /// For what `tune` was started with.
    pub fn new(quiet: bool, unit: &'static str) -> Self {
        if quiet {
            return Self::Quiet;
        }
        if !std::io::stderr().is_terminal() {
            return Self::Lines { unit, loaded: 0 };
        }
        let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:24} {wide_msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        Self::Bar {
            bar,
            unit,
            standing: String::new(),
        }
    }

    /// A remark that stays.
    pub fn say(&self, text: &str) {
        match self {
            Self::Bar { bar, .. } => bar.println(text),
            Self::Lines { .. } => eprintln!("{text}"),
            Self::Quiet => {}
        }
    }

    /// One event of the study.
    pub fn hear(&mut self, event: &Event<'_>) {
        match (self, event) {
            (Self::Quiet, _) => {}
            (Self::Bar { bar, .. }, Event::Loading { phase, share }) => {
                bar.set_position((share * 1000.0) as u64);
                bar.set_message(format!("loading: {phase}"));
            }
            (Self::Lines { loaded, .. }, Event::Loading { phase, share }) => {
                // A line each tenth.
                let tenth = (share * 10.0) as u32;
                if tenth > *loaded {
                    *loaded = tenth;
                    eprintln!("loading: {phase}, {}0% of the load", tenth);
                }
            }
            (
                Self::Bar { bar, standing, .. },
                Event::Started {
                    trial,
                    role,
                    share,
                    best,
                    left_s,
                },
            ) => {
                let best = best.map_or(String::new(), |best| format!("  best {}", figure(best)));
                *standing = format!("{best}  {} left", Seconds(left_s.round()));
                bar.set_position((share * 1000.0) as u64);
                bar.set_message(format!("trial {trial}, {}{standing}", role_name(*role)));
            }
            (Self::Lines { .. }, Event::Started { .. } | Event::Second { .. }) => {}
            (Self::Bar { bar, unit, standing }, Event::Second { trial, window }) => {
                let now = figure(window.operations);
                bar.set_message(format!("trial {trial}, {} s: {now} {unit}{standing}", window.end));
            }
            (
                Self::Bar { bar, unit, .. },
                Event::Ended {
                    observation,
                    best,
                    left_s,
                },
            ) => {
                bar.println(line(observation, unit, *best, *left_s));
            }
            (
                Self::Lines { unit, .. },
                Event::Ended {
                    observation,
                    best,
                    left_s,
                },
            ) => {
                eprintln!("{}", line(observation, unit, *best, *left_s));
            }
        }
    }

    /// The end: the bar goes.
    pub fn finish(&self) {
        if let Self::Bar { bar, .. } = self {
            bar.finish_and_clear();
        }
    }
}

/// A trial in a line of at most 80 columns.
fn line(observation: &Observation, unit: &str, best: Option<f64>, left_s: f64) -> String {
    let head = format!(
        "trial {:>3}  {:<13}",
        observation.trial,
        role_name(observation.role)
    );
    let (figure_, rest) = match &observation.outcome {
        Outcome::Measured(m) => (
            format!("{:>8} {unit} +-{:.0}%", figure(m.mean), 196.0 * m.stderr / m.mean),
            best.map_or(String::new(), |best| format!("  best {:>8}", figure(best))),
        ),
        Outcome::Failed { reason } => (format!("failed: {reason}"), String::new()),
        Outcome::Void { reason } => (format!("void: {reason}"), String::new()),
    };
    let left = match observation.role {
        Role::Confirmation => String::new(),
        _ => format!("  {} left", Seconds(left_s.round())),
    };
    format!("{head} {figure_}{rest}{left}")
}

/// Why a trial is run, for people.
pub fn role_name(role: Role) -> &'static str {
    match role {
        Role::Baseline => "defaults",
        Role::RuleOfThumb => "rule of thumb",
        Role::Search => "search",
        Role::Reduction => "reduction",
        Role::Confirmation => "confirmation",
    }
}

/// A throughput with three figures or as a whole number.
pub fn figure(x: f64) -> String {
    if x >= 100.0 {
        format!("{x:.0}")
    } else {
        format!("{x:.1}")
    }
}
