//! What all workloads share: the clock of a run, its windows, and how it is watched and ended.

use crate::observation::Window;
use hdrhistogram::Histogram;
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// Why a load or a run did not end well.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A statement failed, or the connection did.
    #[error("failed to {what}: {error}")]
    Statement {
        /// What was being done.
        what: String,
        /// The server's or the connection's answer.
        error: mysql_async::Error,
    },
    /// What the workload promises does not hold afterwards.
    #[error("the check after the run failed: {0}")]
    Check(String),
    /// Nothing came back for too long.
    #[error("no operation was completed within {0} s")]
    Stuck(u64),
}

impl RunError {
    /// For `map_err`: what was being done when it failed.
    pub(super) fn when(what: impl Into<String>) -> impl FnOnce(mysql_async::Error) -> RunError {
        let what = what.into();
        move |error| RunError::Statement { what, error }
    }
}

/// How far a load has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadProgress {
    /// What is being done: `rows`, `indexes`.
    pub phase: &'static str,
    /// Share of the whole load that is done, as far as it can be told.
    pub share: f64,
}

/// Watches a run; asked after every second.
pub trait Watch: Send {
    /// Whether to go on, given all complete windows so far.
    fn go_on(&mut self, windows: &[Window]) -> bool;
}

impl<F: FnMut(&[Window]) -> bool + Send> Watch for F {
    fn go_on(&mut self, windows: &[Window]) -> bool {
        self(windows)
    }
}

/// What a run recorded.
#[derive(Clone, Debug)]
pub struct Run {
    /// One-second windows from the start, only those in which all sessions' work is known.
    pub windows: Vec<Window>,
    /// Latency of an operation's statement (iibench: of a batch with its commit) in milliseconds: 50th, 95th, 99th percentile.
    pub latency_ms: [f64; 3],
    /// Processor seconds of the load generator for each second of the run.
    pub client_cpu: f64,
}

/// How long a run may go without a completed operation before it is given up.
pub(super) const STUCK: Duration = Duration::from_secs(120);

/// What the sessions of a run share.
pub(super) struct Clock {
    start: Instant,
    stop: AtomicBool,
    queries: AtomicU64,
    batches: Mutex<Batches>,
}

/// Spans of completed work, and their latencies.
struct Batches {
    spans: Vec<Span>,
    /// Queries seen at the end of each second.
    queries: Vec<u64>,
    latency_us: Histogram<u64>,
}

/// `operations` done evenly between `start` and `end`, in seconds of the run.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: f64,
    end: f64,
    operations: f64,
}

impl Clock {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            start: Instant::now(),
            stop: AtomicBool::new(false),
            queries: AtomicU64::new(0),
            batches: Mutex::new(Batches {
                spans: Vec::new(),
                queries: Vec::new(),
                latency_us: Histogram::new(3).expect("3 significant figures are valid"),
            }),
        })
    }

    /// Seconds since the run began.
    pub(super) fn now(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// A query beside the operations was answered.
    pub(super) fn query(&self) {
        self.queries.fetch_add(1, Ordering::Relaxed);
    }

    /// `operations` were completed by a statement that began at `start` and ended now.
    pub(super) fn completed(&self, start: f64, operations: f64) {
        let end = self.now();
        let mut batches = self.batches.lock().unwrap_or_else(|e| e.into_inner());
        batches.spans.push(Span {
            start,
            end,
            operations,
        });
        batches.latency_us.saturating_record(((end - start) * 1e6) as u64);
    }

    /// To be called at the end of each second: notes the queries so far and gives the complete windows.
    pub(super) fn tick(&self) -> Vec<Window> {
        let queries = self.queries.load(Ordering::Relaxed);
        let mut batches = self.batches.lock().unwrap_or_else(|e| e.into_inner());
        batches.queries.push(queries);
        windows(&batches.spans, &batches.queries)
    }

    /// Seconds since something was last completed.
    pub(super) fn idle(&self) -> f64 {
        let batches = self.batches.lock().unwrap_or_else(|e| e.into_inner());
        self.now() - batches.spans.last().map_or(0.0, |span| span.end)
    }

    pub(super) fn latency_ms(&self) -> [f64; 3] {
        let batches = self.batches.lock().unwrap_or_else(|e| e.into_inner());
        [0.5, 0.95, 0.99].map(|q| batches.latency_us.value_at_quantile(q) as f64 / 1000.0)
    }
}

/// Complete one-second windows: those that end no later than the last completed span, with each span's operations spread evenly over
/// its time, so that a batch of a thousand rows that takes two seconds does not look like a second of silence and one of haste.
fn windows(spans: &[Span], queries: &[u64]) -> Vec<Window> {
    let known = spans.last().map_or(0.0, |span| span.end);
    let count = (known.floor() as usize).min(queries.len());
    let mut operations = vec![0.0; count];
    for span in spans {
        let length = (span.end - span.start).max(1e-9);
        for (second, total) in operations.iter_mut().enumerate().skip(span.start as usize) {
            let overlap = span.end.min(second as f64 + 1.0) - span.start.max(second as f64);
            if overlap <= 0.0 {
                break;
            }
            *total += span.operations * overlap / length;
        }
    }
    let queries_before = |second: usize| if second == 0 { 0 } else { queries[second - 1] };
    (0..count)
        .map(|second| Window {
            end: second as f64 + 1.0,
            seconds: 1.0,
            operations: operations[second],
            queries: (queries[second] - queries_before(second)) as f64,
        })
        .collect()
}

/// Calls `watch` at every full second until it says stop or nothing has been completed for [`STUCK`].
pub(super) async fn watch_seconds(clock: &Clock, watch: &mut dyn Watch) -> Result<Vec<Window>, RunError> {
    for second in 1u64.. {
        tokio::time::sleep_until((clock.start + Duration::from_secs(second)).into()).await;
        let windows = clock.tick();
        if !watch.go_on(&windows) {
            return Ok(windows);
        }
        if clock.idle() > STUCK.as_secs_f64() {
            break;
        }
    }
    Err(RunError::Stuck(STUCK.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_spread_over_the_time_they_took() {
        let span = |start, end, operations| Span {
            start,
            end,
            operations,
        };
        let spans = [
            span(0.0, 0.5, 100.0),
            span(0.5, 2.5, 1000.0),
            span(2.5, 3.2, 70.0),
        ];
        let windows = windows(&spans, &[5, 9, 9, 20]);
        let operations: Vec<f64> = windows.iter().map(|w| w.operations).collect();
        assert_eq!(windows.len(), 3, "the fourth second is not known yet");
        for (got, want) in operations.iter().zip([350.0, 500.0, 300.0]) {
            assert!((got - want).abs() < 1e-9, "{operations:?}");
        }
        assert_eq!(
            windows.iter().map(|w| w.queries).collect::<Vec<_>>(),
            [5.0, 4.0, 0.0]
        );
    }

    #[test]
    fn nothing_completed_is_no_window() {
        assert!(windows(&[], &[0, 0, 0]).is_empty());
    }
}
