//! A named text with byte spans, so that an error can point into a file at line and column.

mod shelf;

pub use shelf::{Shelf, ShelfError};

use std::{fmt, ops::Range, sync::Arc};

/// A text and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The path, or `built-in:NAME` for what is shipped in the binary.
    pub name: Arc<str>,
    /// The whole text.
    pub text: Arc<str>,
}

impl Source {
    /// Wraps `text` under `name`.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
        }
    }

    /// Line and column (both from 1, columns counted in characters) of a byte offset; an offset past the end is the end.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &self.text[..offset];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        (
            before.matches('\n').count() + 1,
            before[line_start..].chars().count() + 1,
        )
    }

    /// An error that points at `span`.
    pub fn error(&self, span: Range<usize>, message: impl Into<String>) -> SourceError {
        SourceError {
            source: self.clone(),
            span: Some(span),
            message: message.into(),
            help: None,
        }
    }

    /// An error about the text as a whole.
    pub fn whole(&self, message: impl Into<String>) -> SourceError {
        SourceError {
            source: self.clone(),
            span: None,
            message: message.into(),
            help: None,
        }
    }
}

/// What is wrong in a file a person wrote, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceError {
    /// The file.
    pub source: Source,
    /// The bytes meant, if one place is meant.
    pub span: Option<Range<usize>>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl SourceError {
    /// Adds what to do about it.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.source.name)?;
        if let Some(span) = &self.span {
            let (line, column) = self.source.line_column(span.start);
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for SourceError {}

/// Reads TOML into `T`; what does not fit is reported at its place in the text.
pub fn from_toml<T: serde::de::DeserializeOwned>(source: &Source) -> Result<T, SourceError> {
    toml::from_str(&source.text).map_err(|error| SourceError {
        source: source.clone(),
        span: error.span(),
        message: error.message().trim_end().replace('\n', " "),
        help: None,
    })
}

/// The name in `names` that is most like `wanted`, first, then the rest in order of likeness.
pub fn nearest_first<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut scored: Vec<(usize, &str)> = names.into_iter().map(|n| (edit_distance(wanted, n), n)).collect();
    scored.sort();
    scored.into_iter().map(|(_, n)| n).collect()
}

/// Levenshtein distance in characters.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let cost = if ca == *cb {
                diagonal
            } else {
                1 + diagonal.min(row[j]).min(row[j + 1])
            };
            diagonal = row[j + 1];
            row[j + 1] = cost;
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_and_column_count_from_one_in_characters() {
        let s = Source::new("f", "a\nbü=c\n");
        assert_eq!(s.line_column(0), (1, 1));
        assert_eq!(s.line_column(2), (2, 1));
        assert_eq!(s.line_column(5), (2, 3));
        assert_eq!(
            s.line_column(4),
            (2, 2),
            "the middle of a character is that character"
        );
        assert_eq!(s.line_column(999), (3, 1));
    }

    #[test]
    fn a_toml_error_points_at_its_line_and_column() {
        #[derive(serde::Deserialize, Debug)]
        #[serde(deny_unknown_fields)]
        struct T {
            #[allow(dead_code)]
            a: u8,
        }
        let error = from_toml::<T>(&Source::new("x.toml", "a = 1\nbb = 2\n")).unwrap_err();
        assert!(
            error.to_string().starts_with("x.toml:2:1: unknown field `bb`"),
            "{error}"
        );
    }

    #[test]
    fn the_nearest_name_comes_first() {
        assert_eq!(
            nearest_first("iibnch", ["dbt2", "iibench", "iibench-load"])[0],
            "iibench"
        );
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
    }
}
