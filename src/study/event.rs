use crate::observation::{Observation, Role, Window};

/// What a study tells those who listen while it runs.
#[derive(Debug)]
pub enum Event<'a> {
    /// The data are loaded for the first time; how far that is, 0 to 1.
    Loading {
        /// `rows` or `indexes`.
        phase: &'static str,
        /// Share of the load that is done.
        share: f64,
    },
    /// A trial begins.
    Started {
        /// Its number.
        trial: u32,
        /// Why it is run.
        role: Role,
        /// Share of the budget that is used, 0 to 1; past the budget, share of the confirmation.
        share: f64,
        /// Highest measured mean of the study so far.
        best: Option<f64>,
        /// Seconds of budget left; past the budget, seconds that the confirmation will take, about.
        left_s: f64,
    },
    /// A second of a trial went by.
    Second {
        /// The trial's number.
        trial: u32,
        /// What was done in it.
        window: &'a Window,
    },
    /// A trial ended.
    Ended {
        /// What it found.
        observation: &'a Observation,
        /// Highest measured mean of the study so far.
        best: Option<f64>,
        /// Seconds of budget left.
        left_s: f64,
    },
}
