//! Quantities with their units: [`Bytes`], [`Seconds`], [`Rate`], [`Fraction`], each parsed and printed as people write it,
//! and [`Value`], what a system variable is set to.

mod bytes;
mod quantity;
mod value;

pub use bytes::Bytes;
pub use quantity::{Fraction, Rate, Seconds};
pub use value::{Config, Value};

/// A text that is not the quantity that was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not {expected}")]
pub struct ParseError {
    /// What was given.
    pub text: String,
    /// What was expected, with an example.
    pub expected: &'static str,
}

/// Splits `12.5ms` into its number and its suffix.
fn split_number(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}
