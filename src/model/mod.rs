//! What the trials say about configurations that were not tried. Pure: data in, predictions out.

mod effect;
mod evidence;
mod gp;
mod kernel;
mod search;

pub use effect::{Effect, effects};
pub use gp::{FitError, Gp, Prediction};

/// One measured trial, as the model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Datum {
    /// Where: one coordinate of [0, 1] for each knob.
    pub point: Vec<f64>,
    /// Natural logarithm of the throughput.
    pub log_y: f64,
    /// Its standard error within that trial, on the log scale: the relative standard error. 0 where it is not known.
    pub log_stderr: f64,
}
