use crate::{
    catalog::Servers,
    source::{Source, SourceError, from_toml},
};
use serde::Deserialize;
use toml::Spanned;

/// A space as its file states it, not yet checked against a server and hardware.
#[derive(Clone, Debug)]
pub struct RawSpace {
    pub(super) source: Source,
    pub(super) file: File,
}

impl RawSpace {
    /// Reads the TOML form.
    ///
    /// # Errors
    /// What is no TOML, an unknown or missing key, a value of the wrong type, another schema: each at its line and column.
    pub fn parse(source: &Source) -> Result<Self, SourceError> {
        let file: File = from_toml(source)?;
        if *file.schema.get_ref() != 1 {
            return Err(source
                .error(
                    file.schema.span(),
                    format!(
                        "this space has schema {}, which is not known",
                        file.schema.get_ref()
                    ),
                )
                .with_help("write `schema = 1`"));
        }
        Ok(Self {
            source: source.clone(),
            file,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.file.name
    }

    /// What it is for, in a line.
    pub fn summary(&self) -> &str {
        &self.file.summary
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    schema: Spanned<u32>,
    pub name: String,
    pub summary: String,
    pub memory: Option<RawMemory>,
    #[serde(default)]
    pub knob: Vec<RawKnob>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMemory {
    pub limit: Spanned<String>,
    pub parts: Vec<Spanned<String>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawKnob {
    pub name: Spanned<String>,
    /// On other servers the knob is left out; none: on all.
    pub servers: Option<Vec<Servers>>,
    pub low: Option<Spanned<toml::Value>>,
    pub high: Option<Spanned<toml::Value>>,
    #[serde(default)]
    pub scale: Scale,
    pub step: Option<Spanned<f64>>,
    #[serde(default)]
    pub special: Vec<Spanned<toml::Value>>,
    pub choices: Option<Spanned<Vec<Spanned<toml::Value>>>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Scale {
    #[default]
    Linear,
    Log,
}
