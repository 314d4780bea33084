//! Where studies are kept: one row an observation, on disk before the next trial begins.

use super::{Question, StudyEnd};
use crate::observation::Observation;
use rusqlite::{Connection, OptionalExtension, params};
use std::{path::Path, time::Duration};

/// Version of the tables; a store of another version is not touched.
const SCHEMA: i64 = 1;

/// Why the store could not be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file cannot be opened or made, or is no store.
    #[error("failed to open the store {path}: {error}")]
    Open {
        /// The file.
        path: String,
        /// SQLite's answer.
        error: rusqlite::Error,
    },
    /// An open store failed.
    #[error("failed to use the store {path}: {error}")]
    Sqlite {
        /// The file.
        path: String,
        /// SQLite's answer.
        error: rusqlite::Error,
    },
    /// It was made by another version of tune.
    #[error(
        "the store {path} has schema version {found}, this tune reads {SCHEMA}: use the tune that made it, or another --store"
    )]
    Schema {
        /// The file.
        path: String,
        /// Its version.
        found: i64,
    },
    /// A row does not hold what it should.
    #[error("study '{study}' in the store cannot be read: {error}")]
    Corrupt {
        /// Which study.
        study: String,
        /// Why not.
        error: serde_json::Error,
    },
    /// There is no such study.
    #[error("there is no study '{wanted}'; there are: {}", if names.is_empty() { "none yet".into() } else { names.join(", ") })]
    Unknown {
        /// The name given.
        wanted: String,
        /// The names there are, the nearest first.
        names: Vec<String>,
    },
}

/// A study as a list shows it.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// What was asked.
    pub question: Question,
    /// How many trials are stored.
    pub trials: u32,
    /// Its end, once it has one.
    pub end: Option<StudyEnd>,
}

/// Keeps studies and their observations. Appends only; a study is removed as a whole or not at all.
pub trait StudyStore {
    /// Makes a study for `question` and gives its name.
    fn create(&mut self, question: &Question) -> Result<String, StoreError>;
    /// The newest study that asks the same and has not ended.
    fn unfinished(&self, question: &Question) -> Result<Option<String>, StoreError>;
    /// Stores an observation: it is on disk when this returns. The same trial number a second time is an error.
    fn append(&mut self, study: &str, observation: &Observation) -> Result<(), StoreError>;
    /// All observations of a study in the order of their trials.
    fn observations(&self, study: &str) -> Result<Vec<Observation>, StoreError>;
    /// Stores how it ended.
    fn finish(&mut self, study: &str, end: &StudyEnd) -> Result<(), StoreError>;
    /// One study.
    fn study(&self, name: &str) -> Result<Listed, StoreError>;
    /// All studies, the oldest first.
    fn studies(&self) -> Result<Vec<Listed>, StoreError>;
    /// Removes a study and its observations.
    fn remove(&mut self, name: &str) -> Result<(), StoreError>;
}

/// The embedded store: one SQLite file.
pub struct SqliteStore {
    connection: Connection,
    path: String,
}

impl SqliteStore {
    /// Opens the file, and makes it where there is none.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let shown = path.display().to_string();
        let sqlite = |error| StoreError::Open {
            path: shown.clone(),
            error,
        };
        let connection = Connection::open(path).map_err(sqlite)?;
        connection.busy_timeout(Duration::from_secs(10)).map_err(sqlite)?;
        connection
            .pragma_update(None, "journal_mode", "WAL")
            .map_err(sqlite)?;
        connection
            .pragma_update(None, "synchronous", "FULL")
            .map_err(sqlite)?;
        let found: i64 = connection
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(sqlite)?;
        if found != 0 && found != SCHEMA {
            return Err(StoreError::Schema { path: shown, found });
        }
        if found == 0 {
            connection
                .execute_batch(&format!(
                    "BEGIN IMMEDIATE;
                     CREATE TABLE IF NOT EXISTS study (name TEXT PRIMARY KEY, asks TEXT NOT NULL, question TEXT NOT NULL, ending TEXT);
                     CREATE TABLE IF NOT EXISTS observation (study TEXT NOT NULL REFERENCES study(name), trial INTEGER NOT NULL,
                         body TEXT NOT NULL, PRIMARY KEY (study, trial));
                     PRAGMA user_version = {SCHEMA};
                     COMMIT;"
                ))
                .map_err(sqlite)?;
        }
        Ok(Self {
            connection,
            path: shown,
        })
    }

    fn sqlite(&self) -> impl Fn(rusqlite::Error) -> StoreError + '_ {
        |error| StoreError::Sqlite {
            path: self.path.clone(),
            error,
        }
    }

    fn listed(&self, name: &str, question: &str, ending: Option<&str>) -> Result<Listed, StoreError> {
        let corrupt = |error| StoreError::Corrupt {
            study: name.to_owned(),
            error,
        };
        let trials = self
            .connection
            .query_row(
                "SELECT COUNT(*) FROM observation WHERE study = ?1",
                [name],
                |row| row.get(0),
            )
            .map_err(self.sqlite())?;
        Ok(Listed {
            name: name.to_owned(),
            question: serde_json::from_str(question).map_err(corrupt)?,
            trials,
            end: ending.map(serde_json::from_str).transpose().map_err(corrupt)?,
        })
    }
}

fn json<T: serde::Serialize>(study: &str, value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Corrupt {
        study: study.to_owned(),
        error,
    })
}

impl StudyStore for SqliteStore {
    fn create(&mut self, question: &Question) -> Result<String, StoreError> {
        let path = self.path.clone();
        let sqlite = |error| StoreError::Sqlite {
            path: path.clone(),
            error,
        };
        let transaction = self
            .connection
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
            .map_err(sqlite)?;
        let mut number = 1u32;
        let name = loop {
            let name = format!("{}-{}-{number}", question.profile, question.workload);
            let taken = transaction
                .query_row("SELECT 1 FROM study WHERE name = ?1", [&name], |_| Ok(()))
                .optional()
                .map_err(sqlite)?;
            if taken.is_none() {
                break name;
            }
            number += 1;
        };
        transaction
            .execute(
                "INSERT INTO study (name, asks, question) VALUES (?1, ?2, ?3)",
                params![name, question.asks(), json(&name, question)?],
            )
            .map_err(sqlite)?;
        transaction.commit().map_err(sqlite)?;
        Ok(name)
    }

    fn unfinished(&self, question: &Question) -> Result<Option<String>, StoreError> {
        self.connection
            .query_row(
                "SELECT name FROM study WHERE asks = ?1 AND ending IS NULL ORDER BY rowid DESC LIMIT 1",
                [question.asks()],
                |row| row.get(0),
            )
            .optional()
            .map_err(self.sqlite())
    }

    fn append(&mut self, study: &str, observation: &Observation) -> Result<(), StoreError> {
        self.connection
            .execute(
                "INSERT INTO observation (study, trial, body) VALUES (?1, ?2, ?3)",
                params![study, observation.trial, json(study, observation)?],
            )
            .map(|_| ())
            .map_err(self.sqlite())
    }

    fn observations(&self, study: &str) -> Result<Vec<Observation>, StoreError> {
        let mut statement = self
            .connection
            .prepare("SELECT body FROM observation WHERE study = ?1 ORDER BY trial")
            .map_err(self.sqlite())?;
        let bodies = statement
            .query_map([study], |row| row.get::<_, String>(0))
            .map_err(self.sqlite())?;
        bodies
            .map(|body| {
                let body = body.map_err(self.sqlite())?;
                serde_json::from_str(&body).map_err(|error| StoreError::Corrupt {
                    study: study.to_owned(),
                    error,
                })
            })
            .collect()
    }

    fn finish(&mut self, study: &str, end: &StudyEnd) -> Result<(), StoreError> {
        self.connection
            .execute(
                "UPDATE study SET ending = ?2 WHERE name = ?1",
                params![study, json(study, end)?],
            )
            .map(|_| ())
            .map_err(self.sqlite())
    }

    fn study(&self, name: &str) -> Result<Listed, StoreError> {
        let found: Option<(String, Option<String>)> = self
            .connection
            .query_row(
                "SELECT question, ending FROM study WHERE name = ?1",
                [name],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()
            .map_err(self.sqlite())?;
        match found {
            Some((question, ending)) => self.listed(name, &question, ending.as_deref()),
            None => {
                let all = self.studies()?;
                let names = crate::source::nearest_first(name, all.iter().map(|s| s.name.as_str()));
                let names = names.into_iter().map(str::to_owned).collect();
                Err(StoreError::Unknown {
                    wanted: name.to_owned(),
                    names,
                })
            }
        }
    }

    fn studies(&self) -> Result<Vec<Listed>, StoreError> {
        let mut statement = self
            .connection
            .prepare("SELECT name, question, ending FROM study ORDER BY rowid")
            .map_err(self.sqlite())?;
        let rows = statement
            .query_map([], |row| {
                Ok((
                    row.get::<_, String>(0)?,
                    row.get::<_, String>(1)?,
                    row.get::<_, Option<String>>(2)?,
                ))
            })
            .map_err(self.sqlite())?;
        rows.map(|row| {
            let (name, question, ending) = row.map_err(self.sqlite())?;
            self.listed(&name, &question, ending.as_deref())
        })
        .collect()
    }

    fn remove(&mut self, name: &str) -> Result<(), StoreError> {
        self.study(name)?;
        let path = self.path.clone();
        let sqlite = |error| StoreError::Sqlite {
            path: path.clone(),
            error,
        };
        let transaction = self.connection.transaction().map_err(sqlite)?;
        transaction
            .execute("DELETE FROM observation WHERE study = ?1", [name])
            .map_err(sqlite)?;
        transaction
            .execute("DELETE FROM study WHERE name = ?1", [name])
            .map_err(sqlite)?;
        transaction.commit().map_err(sqlite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::{Isolation, Outcome, Role};

    fn observation(trial: u32) -> Observation {
        Observation {
            trial,
            role: Role::Search,
            config: Default::default(),
            scaled: Default::default(),
            outcome: Outcome::Failed { reason: "no".into() },
            isolation: Isolation::None,
            wall_s: 1.0,
            started: 0.0,
        }
    }

    #[test]
    fn observations_come_back_once_and_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sqlite");
        let question = Question::example();
        let mut store = SqliteStore::open(&path).unwrap();
        let name = store.create(&question).unwrap();
        store.append(&name, &observation(2)).unwrap();
        store.append(&name, &observation(1)).unwrap();
        assert!(
            store.append(&name, &observation(1)).is_err(),
            "the same trial twice"
        );
        drop(store);
        let mut store = SqliteStore::open(&path).unwrap();
        assert_eq!(
            store.observations(&name).unwrap(),
            [observation(1), observation(2)]
        );
        assert_eq!(store.unfinished(&question).unwrap(), Some(name.clone()));
        assert_eq!(
            store
                .unfinished(&Question {
                    seed: 99,
                    ..question.clone()
                })
                .unwrap(),
            None
        );
        let second = store.create(&question).unwrap();
        assert_ne!(second, name);
        assert!(store.study("nothing").unwrap_err().to_string().contains(&name));
        store.remove(&second).unwrap();
        assert_eq!(store.studies().unwrap().len(), 1);
    }

    #[test]
    fn a_store_of_another_version_or_no_store_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.sqlite");
        drop(SqliteStore::open(&path).unwrap());
        Connection::open(&path)
            .unwrap()
            .pragma_update(None, "user_version", 99)
            .unwrap();
        assert!(matches!(
            SqliteStore::open(&path),
            Err(StoreError::Schema { found: 99, .. })
        ));
        std::fs::write(
            folder.path().join("text"),
            "this is not a database, it is a text of some length",
        )
        .unwrap();
        assert!(matches!(
            SqliteStore::open(&folder.path().join("text")),
            Err(StoreError::Open { .. })
        ));
    }
}
