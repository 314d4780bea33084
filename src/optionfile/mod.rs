//! Option files: the writer, and the wrapping of the comments in them.

mod text;
mod writer;

pub use text::{ascii, wrap};
pub use writer::Writer;
