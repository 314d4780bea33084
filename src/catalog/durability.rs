use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// What a crash may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Durability {
    /// A committed transaction survives power loss.
    Strict,
    /// About a second of commits may go if the operating system dies.
    OsCrash,
    /// About a second of commits may go if the server process dies.
    ProcessCrash,
    /// A crash can corrupt.
    Unsafe,
}

impl Durability {
    /// All classes, the safest first.
    pub const ALL: [Durability; 4] = [Self::Strict, Self::OsCrash, Self::ProcessCrash, Self::Unsafe];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::OsCrash => "os-crash",
            Self::ProcessCrash => "process-crash",
            Self::Unsafe => "unsafe",
        }
    }

    /// What it promises, in a sentence.
    pub fn promise(self) -> &'static str {
        match self {
            Self::Strict => "a committed transaction survives power loss",
            Self::OsCrash => "about a second of commits may be lost if the operating system dies",
            Self::ProcessCrash => "about a second of commits may be lost if the server process dies",
            Self::Unsafe => "a crash can corrupt data",
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Durability {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|d| d.name() == text)
            .ok_or_else(|| format!("'{text}' is not a durability class"))
    }
}
