//! Which configuration to try next. Pure: the same history and seed give the same answer.
//!
//! Every method sees knobs as coordinates of the unit cube and answers with snapped, feasible points.

mod bayes;
mod expected_improvement;
mod grid;
mod quasi;
mod risk;

use crate::space::UnitDim;
use std::{fmt, str::FromStr};

/// How suggestions are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Bayesian, but the grid for a single knob and where the budget covers every configuration there is.
    #[default]
    Auto,
    /// A Gaussian process and expected improvement, after a few Sobol points.
    Bayes,
    /// A full grid over as many of the first knobs as the budget holds.
    Grid,
    /// A scrambled Sobol sequence.
    Sobol,
    /// Uniform and independent.
    Random,
}

impl Method {
    /// All methods, in the order in which help lists them.
    pub const ALL: [Method; 5] = [Self::Auto, Self::Bayes, Self::Grid, Self::Sobol, Self::Random];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Bayes => "bayes",
            Self::Grid => "grid",
            Self::Sobol => "sobol",
            Self::Random => "random",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::name).join(", ");
        Self::ALL
            .into_iter()
            .find(|method| method.name() == text)
            .ok_or_else(|| format!("'{text}' is not an optimizer: one of {names}"))
    }
}

/// A trial that was run.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// Where: one coordinate of [0, 1] for each knob.
    pub point: Vec<f64>,
    /// Log throughput and its known standard error; none where the configuration failed. A pair that is not finite counts as failed
    /// (the logarithm of a throughput of 0).
    pub outcome: Option<(f64, f64)>,
}

impl Told {
    /// The outcome, if it is one to compute with.
    fn measured(&self) -> Option<(f64, f64)> {
        self.outcome
            .filter(|(y, stderr)| y.is_finite() && (0.0..f64::INFINITY).contains(stderr))
    }
}

/// A question to an optimizer.
pub struct Request<'a> {
    /// The knobs, the most important first.
    pub dims: &'a [UnitDim],
    /// What was tried, in order. Trials whose point does not have a coordinate for each knob are ignored.
    pub history: &'a [Told],
    /// The seed of the study.
    pub seed: u64,
    /// Number of this suggestion, from 0.
    pub index: usize,
    /// How many suggestions are expected in all.
    pub total: usize,
    /// Whether a snapped point may be tried.
    pub feasible: &'a dyn Fn(&[f64]) -> bool,
}

impl Request<'_> {
    /// The trials that belong to this space.
    fn trials(&self) -> impl Iterator<Item = &Told> {
        self.history
            .iter()
            .filter(|told| told.point.len() == self.dims.len())
    }

    fn snap(&self, point: &[f64]) -> Vec<f64> {
        self.dims.iter().zip(point).map(|(dim, &u)| dim.snap(u)).collect()
    }

    /// Whether `point` is one of the trials, up to rounding.
    fn is_tried(&self, point: &[f64]) -> bool {
        self.trials()
            .any(|told| told.point.iter().zip(point).all(|(a, b)| (a - b).abs() < 1e-9))
    }
}

/// The point to try next: snapped and feasible. None where the grid is exhausted or where no feasible point was found in some thousands.
pub fn suggest(method: Method, request: &Request) -> Option<Vec<f64>> {
    match method {
        Method::Auto if grid::covers(request) => grid::suggest(request),
        Method::Auto | Method::Bayes => bayes::suggest(request),
        Method::Grid => grid::suggest(request),
        Method::Sobol => quasi::sobol(request),
        Method::Random => quasi::random(request),
    }
}

#[cfg(test)]
mod tests;
