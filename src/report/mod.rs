//! What a person or a script gets at the end of a study: the commented my.cnf, review.md, apply.sql and rollback.sql, the table on the
//! terminal and the JSON object.

mod group;
mod json;
mod mycnf;
mod review;
mod sql;
mod table;
mod words;
mod write;

pub use json::json;
pub use mycnf::mycnf;
pub use review::review;
pub use sql::{apply_sql, rollback_sql};
pub use table::table;
pub use write::{Files, Kept, WriteError, check_folder, write_all};
