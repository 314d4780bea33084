use super::{Source, nearest_first};
use std::{collections::BTreeMap, io, path::Path};

/// Named TOML files of one sort: those built into the binary, those in a folder of the same name where `tune` runs, and any path.
#[derive(Clone, Copy, Debug)]
pub struct Shelf {
    /// What one of them is called, for messages: `profile`.
    pub noun: &'static str,
    /// The folder: `hardware-profiles`.
    pub folder: &'static str,
    /// Name and text of those built in.
    pub shipped: &'static [(&'static str, &'static str)],
}

/// Why a name on a shelf could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ShelfError {
    /// There is none of this name.
    #[error("there is no {noun} '{wanted}'; there are: {}", names.join(", "))]
    Unknown {
        /// What was looked for.
        noun: &'static str,
        /// The name given.
        wanted: String,
        /// The names there are, the nearest first.
        names: Vec<String>,
    },
    /// The file is there and cannot be read.
    #[error("failed to read {path}: {error}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why not.
        error: io::Error,
    },
}

impl Shelf {
    /// Finds `wanted`: a path (it holds a `/` or ends in `.toml`), else a file in the folder below `here`, else a built-in one.
    pub fn find(&self, wanted: &str, here: &Path) -> Result<Source, ShelfError> {
        if wanted.contains('/') || wanted.ends_with(".toml") {
            return read(&here.join(wanted), wanted);
        }
        let local = here.join(self.folder).join(format!("{wanted}.toml"));
        if local.is_file() {
            return read(&local, &format!("{}/{wanted}.toml", self.folder));
        }
        match self.shipped.iter().find(|(name, _)| *name == wanted) {
            Some((name, text)) => Ok(Source::new(
                format!("built-in:{}/{name}.toml", self.folder),
                *text,
            )),
            None => {
                let all = self.all(here);
                let names = nearest_first(wanted, all.iter().map(|(name, _)| name.as_str()));
                let names = names.into_iter().map(str::to_owned).collect();
                Err(ShelfError::Unknown {
                    noun: self.noun,
                    wanted: wanted.to_owned(),
                    names,
                })
            }
        }
    }

    /// All there are, by name; one in the folder hides a built-in one of its name. Files that cannot be read are left out.
    pub fn all(&self, here: &Path) -> Vec<(String, Source)> {
        let mut found: BTreeMap<String, Source> = self
            .shipped
            .iter()
            .map(|(name, text)| {
                (
                    (*name).to_owned(),
                    Source::new(format!("built-in:{}/{name}.toml", self.folder), *text),
                )
            })
            .collect();
        for entry in std::fs::read_dir(here.join(self.folder))
            .into_iter()
            .flatten()
            .flatten()
        {
            let path = entry.path();
            let name = path
                .file_stem()
                .map(|s| s.to_string_lossy().into_owned())
                .unwrap_or_default();
            if path.extension().is_some_and(|e| e == "toml")
                && let Ok(source) = read(&path, &format!("{}/{name}.toml", self.folder))
            {
                found.insert(name, source);
            }
        }
        found.into_iter().collect()
    }
}

fn read(path: &Path, shown: &str) -> Result<Source, ShelfError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Source::new(shown, text)),
        Err(error) => Err(ShelfError::Unreadable {
            path: shown.to_owned(),
            error,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHELF: Shelf = Shelf {
        noun: "profile",
        folder: "hardware-profiles",
        shipped: &[("big", "a = 1"), ("small", "a = 2")],
    };

    #[test]
    fn a_local_file_hides_a_shipped_one_and_a_path_wins() {
        let here = tempfile::tempdir().unwrap();
        assert_eq!(&*SHELF.find("big", here.path()).unwrap().text, "a = 1");
        std::fs::create_dir(here.path().join("hardware-profiles")).unwrap();
        std::fs::write(here.path().join("hardware-profiles/big.toml"), "a = 3").unwrap();
        std::fs::write(here.path().join("mine.toml"), "a = 4").unwrap();
        assert_eq!(&*SHELF.find("big", here.path()).unwrap().text, "a = 3");
        assert_eq!(&*SHELF.find("mine.toml", here.path()).unwrap().text, "a = 4");
        assert_eq!(SHELF.all(here.path()).len(), 2);
    }

    #[test]
    fn an_unknown_name_lists_the_nearest_first() {
        let error = SHELF.find("smal", Path::new("/nonexistent")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no profile 'smal'; there are: small, big"
        );
        assert!(
            SHELF
                .find("../x.toml", Path::new("/nonexistent"))
                .unwrap_err()
                .to_string()
                .contains("failed to read ../x.toml")
        );
    }
}
