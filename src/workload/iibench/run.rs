//! The run: one inserting session, four query sessions beside it in the second test, and the check of what was promised.

use super::{
    DATABASE, ROWS_PER_COMMIT, TABLE,
    queries::Query,
    rows::{Rows, insert_statement},
};
use crate::workload::{
    Run, RunError, Watch,
    driver::{Clock, STUCK, watch_seconds},
};
use mysql_async::{Conn, OptsBuilder, prelude::Queryable};
use std::{sync::Arc, time::Duration};
use tokio::{sync::mpsc, task::JoinSet};

pub(super) async fn run(
    opts: OptsBuilder,
    rows: u64,
    queries: bool,
    seed: u64,
    watch: &mut dyn Watch,
) -> Result<Run, RunError> {
    let opts = opts.db_name(Some(DATABASE));
    let connect = || async {
        Conn::new(opts.clone())
            .await
            .map_err(RunError::when("connect for the run"))
    };
    let inserter = connect().await?;
    let mut readers = Vec::new();
    for query in Query::ALL.into_iter().filter(|_| queries) {
        readers.push((query, connect().await?));
    }

    let cpu = processor_seconds();
    let clock = Clock::new();
    let mut sessions = JoinSet::new();
    for (i, (query, conn)) in readers.into_iter().enumerate() {
        let random = Rows::new(seed.wrapping_mul(31).wrapping_add(1 + i as u64));
        let clock = Arc::clone(&clock);
        sessions.spawn(async move { read(conn, query, random, rows, clock).await.map(|()| 0) });
    }
    sessions.spawn(insert(inserter, Rows::new(seed), rows, Arc::clone(&clock)));

    // A session ends before it is told to only when something is wrong.
    let windows = tokio::select! {
        windows = watch_seconds(&clock, watch) => windows?,
        Some(ended) = sessions.join_next() => {
            return Err(match ended {
                Ok(Err(error)) => error,
                Ok(Ok(_)) => RunError::Check("a session ended early".into()),
                Err(panic) => RunError::Check(format!("a session broke off: {panic}")),
            });
        }
    };
    let seconds = clock.now();
    let client_cpu = (processor_seconds() - cpu) / seconds;
    clock.stop();
    let mut inserted = 0;
    let ending = async {
        while let Some(ended) = sessions.join_next().await {
            inserted += ended.map_err(|e| RunError::Check(format!("a session broke off: {e}")))??;
        }
        Ok::<(), RunError>(())
    };
    tokio::time::timeout(STUCK, ending)
        .await
        .map_err(|_| RunError::Stuck(STUCK.as_secs()))??;
    check(connect().await?, rows, inserted).await?;
    Ok(Run {
        windows,
        latency_ms: clock.latency_ms(),
        client_cpu,
    })
}

/// Inserts batches until stopped; says how many rows were acknowledged. The next statement is made while the server works on this one,
/// as the published client's second process does with its queue of depth 1.
async fn insert(mut conn: Conn, mut random: Rows, rows: u64, clock: Arc<Clock>) -> Result<u64, RunError> {
    let (sender, mut statements) = mpsc::channel(1);
    let maker = std::thread::spawn(move || {
        let mut first = rows;
        while sender
            .blocking_send(insert_statement(&mut random, first, ROWS_PER_COMMIT))
            .is_ok()
        {
            first += ROWS_PER_COMMIT;
        }
    });
    conn.query_drop("SET autocommit=0")
        .await
        .map_err(RunError::when("set autocommit"))?;
    let mut inserted = 0;
    while !clock.stopped() {
        let Some(statement) = statements.recv().await else {
            break;
        };
        let start = clock.now();
        conn.query_drop(statement)
            .await
            .map_err(RunError::when("insert a batch"))?;
        conn.query_drop("COMMIT")
            .await
            .map_err(RunError::when("commit a batch"))?;
        clock.completed(start, ROWS_PER_COMMIT as f64);
        inserted += ROWS_PER_COMMIT;
    }
    drop(statements);
    let _ = maker.join();
    Ok(inserted)
}

/// Loops one query type until stopped.
async fn read(
    mut conn: Conn,
    query: Query,
    mut random: Rows,
    rows: u64,
    clock: Arc<Clock>,
) -> Result<(), RunError> {
    conn.query_drop("SET autocommit=0")
        .await
        .map_err(RunError::when("set autocommit"))?;
    while !clock.stopped() {
        for _ in 0..4 {
            if clock.stopped() {
                break;
            }
            conn.query_drop(query.statement(&mut random, rows))
                .await
                .map_err(RunError::when("run a query"))?;
            clock.query();
        }
        conn.query_drop("COMMIT")
            .await
            .map_err(RunError::when("commit after queries"))?;
    }
    Ok(())
}

/// Every acknowledged row is there, and no other.
async fn check(mut conn: Conn, rows: u64, inserted: u64) -> Result<(), RunError> {
    let statement = format!("SELECT COUNT(*) FROM {TABLE} WHERE transactionid > {rows}");
    let found: Option<u64> = tokio::time::timeout(Duration::from_secs(60), conn.query_first(statement))
        .await
        .map_err(|_| RunError::Stuck(60))?
        .map_err(RunError::when("count the rows"))?;
    match found {
        Some(found) if found == inserted => Ok(()),
        found => Err(RunError::Check(format!(
            "{inserted} rows were acknowledged, the table has {} new ones",
            found.unwrap_or(0)
        ))),
    }
}

/// User and system time of this process in seconds.
fn processor_seconds() -> f64 {
    let ticks = procfs::ticks_per_second() as f64;
    procfs::process::Process::myself()
        .and_then(|me| me.stat())
        .map_or(0.0, |stat| (stat.utime + stat.stime) as f64 / ticks)
}
