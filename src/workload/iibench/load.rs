//! The load: rows in key order through LOAD DATA, then the three secondary indexes by sorted build.

use super::{
    DATABASE, TABLE,
    rows::{LOAD_SEED, Rows, write_line},
};
use crate::workload::{LoadProgress, RunError};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use mysql_async::{Conn, OptsBuilder, prelude::Queryable};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// Per cent of a page that the sorted build of a secondary index fills: what random inserts leave behind in the long run (ln 2 = 69%,
/// Yao 1978), so that the table behaves as one that was filled by inserts, as the published one was.
const FILL_FACTOR: u32 = 69;

const COLUMNS: &str = "transactionid INT NOT NULL AUTO_INCREMENT, dateandtime DATETIME, cashregisterid INT NOT NULL, \
     customerid INT NOT NULL, productid INT NOT NULL, price FLOAT NOT NULL, PRIMARY KEY (transactionid)";

const INDEXES: &str = "ADD KEY marketsegment (price, customerid), ADD KEY registersegment (cashregisterid, price, customerid), \
     ADD KEY pdc (price, dateandtime, customerid)";

/// Rows in one piece of what LOAD DATA reads.
const CHUNK: u64 = 4000;

/// Rows a second that a sorted build of the three indexes takes in, about (measured as below); only the progress shown depends on it.
const INDEXED_ROWS_PER_S: f64 = 200_000.0;

/// How the time of a load divides: the rows, then the indexes (measured, MariaDB 10.11).
const ROWS_SHARE: f64 = 0.35;

pub(super) async fn load(
    opts: OptsBuilder,
    rows: u64,
    progress: &mut dyn FnMut(LoadProgress),
) -> Result<(), RunError> {
    let mut conn = Conn::new(opts)
        .await
        .map_err(RunError::when("connect for the load"))?;
    for statement in [
        format!("CREATE DATABASE {DATABASE}"),
        format!("USE {DATABASE}"),
        format!("CREATE TABLE {TABLE} ({COLUMNS}) ENGINE=InnoDB"),
        // Into an empty table without checks MariaDB builds the index in bulk.
        "SET unique_checks=0, foreign_key_checks=0".to_owned(),
    ] {
        conn.query_drop(&statement)
            .await
            .map_err(RunError::when(format!("run {statement}")))?;
    }
    if rows > 0 {
        load_rows(&mut conn, rows, progress).await?;
    }
    let began = Instant::now();
    let alter = format!("ALTER TABLE {TABLE} {INDEXES}");
    conn.query_drop(format!("SET GLOBAL innodb_fill_factor={FILL_FACTOR}"))
        .await
        .map_err(RunError::when("set innodb_fill_factor"))?;
    // The server does not tell how far a sorted build is: the share is estimated from the time it usually takes.
    with_progress(conn.query_drop(&alter), progress, || {
        let expected = rows as f64 / INDEXED_ROWS_PER_S;
        let part = 1.0 - (-began.elapsed().as_secs_f64() / expected.max(0.1)).exp();
        LoadProgress {
            phase: "indexes",
            share: ROWS_SHARE + (1.0 - ROWS_SHARE) * part,
        }
    })
    .await
    .map_err(RunError::when("build the secondary indexes"))?;
    conn.disconnect()
        .await
        .map_err(RunError::when("disconnect after the load"))
}

async fn load_rows(
    conn: &mut Conn,
    rows: u64,
    progress: &mut dyn FnMut(LoadProgress),
) -> Result<(), RunError> {
    let sent = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&sent);
    conn.set_infile_handler(async move { Ok(generate(rows, counter)) });
    let statement = format!("LOAD DATA LOCAL INFILE 'rows' INTO TABLE {TABLE}");
    with_progress(conn.query_drop(statement), progress, || LoadProgress {
        phase: "rows",
        share: ROWS_SHARE * sent.load(Ordering::Relaxed) as f64 / rows as f64,
    })
    .await
    .map_err(RunError::when("load the rows"))
}

/// Waits for `work`, and says four times a second how far it is.
async fn with_progress<T>(
    work: impl Future<Output = T>,
    progress: &mut dyn FnMut(LoadProgress),
    now: impl Fn() -> LoadProgress,
) -> T {
    tokio::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            () = tokio::time::sleep(Duration::from_millis(250)) => progress(now()),
        }
    }
}

/// The lines of all rows; made on a thread of their own, two pieces ahead of the server.
fn generate(rows: u64, sent: Arc<AtomicU64>) -> mysql_async::InfileData {
    let (sender, receiver) = tokio::sync::mpsc::channel::<Bytes>(2);
    std::thread::spawn(move || {
        let mut random = Rows::new(LOAD_SEED);
        let mut next = 1;
        while next <= rows {
            let end = (next + CHUNK - 1).min(rows);
            let mut chunk = Vec::with_capacity(52 * CHUNK as usize);
            for n in next..=end {
                write_line(&mut chunk, n, random.row());
            }
            // The receiver is gone when the load failed.
            if sender.blocking_send(chunk.into()).is_err() {
                return;
            }
            next = end + 1;
            sent.store(end, Ordering::Relaxed);
        }
    });
    stream::unfold(receiver, |mut receiver| async move {
        Some((Ok(receiver.recv().await?), receiver))
    })
    .boxed()
}
