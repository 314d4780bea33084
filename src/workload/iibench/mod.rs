//! The insert benchmark as published in April 2009 (mdcallag/mytools, `iibench.py` of 2009-04-18): one session inserts batches of a
//! thousand rows and commits each; the second test has four query sessions beside it on a table that is loaded, from a cold start.

mod load;
mod queries;
mod rows;
mod run;

use super::{Dataset, LoadProgress, Run, RunError, Watch};
use mysql_async::OptsBuilder;

/// Rows in a batch, which is one INSERT and one COMMIT (`rows_per_commit`).
pub(super) const ROWS_PER_COMMIT: u64 = 1000;

/// The published second test had 50 million rows on a machine with 2 GiB of RAM: about 3.3 times memory. 40 million are 2.7 times memory,
/// as far out of cache for the inserts, and leave a fifth more of each trial to measure.
const ROWS_PER_RAM_BYTE: f64 = 40e6 / (2u64 << 30) as f64;

/// What a row takes in the table and its three secondary indexes, measured on MariaDB 10.11 after a load at [`load::FILL_FACTOR`].
const BYTES_PER_ROW: u64 = 143;

/// The table of the published driver script.
pub(super) const TABLE: &str = "purchases_index";

/// Database that the tables live in.
pub(super) const DATABASE: &str = "tune";

/// The insert benchmark at a given size.
#[derive(Clone, Debug)]
pub struct Iibench {
    /// Rows in the table before a trial.
    rows: u64,
    /// Whether the four query sessions run.
    queries: bool,
}

impl Iibench {
    /// The published second test, with the data as many times memory as they were there, rounded to whole batches.
    pub fn second_test(ram: f64, rows: Option<u64>) -> Self {
        let rows = rows
            .unwrap_or_else(|| ((ram * ROWS_PER_RAM_BYTE) as u64 / ROWS_PER_COMMIT).max(1) * ROWS_PER_COMMIT);
        Self { rows, queries: true }
    }

    /// The published first test: an empty table (or one of `rows` rows) and no queries.
    pub fn first_test(rows: Option<u64>) -> Self {
        Self {
            rows: rows.unwrap_or(0),
            queries: false,
        }
    }

    pub(super) fn dataset(&self) -> Dataset {
        Dataset {
            rows: self.rows,
            bytes: self.rows * BYTES_PER_ROW,
            key: format!("iibench-2009-v1-{}", self.rows),
        }
    }

    pub(super) async fn load(
        &self,
        opts: OptsBuilder,
        progress: &mut dyn FnMut(LoadProgress),
    ) -> Result<(), RunError> {
        load::load(opts, self.rows, progress).await
    }

    pub(super) async fn run(
        &self,
        opts: OptsBuilder,
        seed: u64,
        watch: &mut dyn Watch,
    ) -> Result<Run, RunError> {
        run::run(opts, self.rows, self.queries, seed, watch).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_are_several_times_memory() {
        let iibench = Iibench::second_test((2u64 << 30) as f64, None);
        assert_eq!(iibench.rows, 40_000_000);
        assert!(iibench.dataset().bytes as f64 > 2.5 * (2u64 << 30) as f64);
        assert_eq!(Iibench::second_test(1e9, Some(1234)).rows, 1234);
        assert_eq!(Iibench::first_test(None).rows, 0);
    }
}
