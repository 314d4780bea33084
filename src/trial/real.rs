//! A trial on a real server.

use super::{Dataset, Found, Limits, Runner, TrialError, effective};
use crate::{
    catalog::{Catalog, Durability},
    observation::{Measurement, Outcome, Window},
    server::{Launch, Ledger, RunFolder, Running, Server, StartError, restore_tree, status},
    units::Config,
    workload::{Run, RunError, Workload},
};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// How long a server may take to accept connections: it starts from a clean shutdown.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// Share of the processors left for it above which the load generator measured itself.
const CLIENT_SHARE: f64 = 0.8;

/// Threads that the load generator works on.
const CLIENT_THREADS: usize = 2;

/// Counters kept of each trial: what the server has put off, and what it read and wrote.
const COUNTERS: [&str; 12] = [
    "innodb_buffer_pool_pages_total",
    "innodb_buffer_pool_pages_dirty",
    "innodb_buffer_pool_reads",
    "innodb_buffer_pool_read_requests",
    "innodb_buffer_pool_pages_flushed",
    "innodb_buffer_pool_wait_free",
    "innodb_checkpoint_age",
    "innodb_checkpoint_max_age",
    "innodb_history_list_length",
    "innodb_ibuf_size",
    "innodb_log_waits",
    "innodb_os_log_written",
];

/// Runs trials of one workload on one server.
pub struct Real {
    /// Where run folders are made.
    pub ledger: Ledger,
    /// The server.
    pub server: Server,
    /// Its variables.
    pub catalog: Catalog,
    /// What is run.
    pub workload: Workload,
    /// What each trial starts from.
    pub dataset: Dataset,
    /// How long a trial measures.
    pub limits: Limits,
    /// Seed of the workload's parameters: the same rows in every trial.
    pub seed: u64,
    /// The class that every trial must keep.
    pub durability: Durability,
    /// Whether there is a binary log.
    pub binlog: bool,
    /// Processors of this machine.
    pub processors: usize,
    /// Set when the person wants to stop.
    pub interrupted: Arc<AtomicBool>,
    /// The folder that all trials run in, one after the other; made by the first.
    pub run: Option<RunFolder>,
}

/// What ends a trial early.
enum End {
    Failed(String),
    Void(String),
    Error(TrialError),
}

impl Runner for Real {
    async fn run(
        &mut self,
        scaled: &Config,
        tell: &mut (dyn FnMut(&Window) + Send),
    ) -> Result<Found, TrialError> {
        let began = Instant::now();
        let outcome = match self.measured(scaled, tell).await {
            Ok(measurement) => Outcome::Measured(measurement),
            Err(End::Failed(reason)) => Outcome::Failed { reason },
            Err(End::Void(reason)) => Outcome::Void { reason },
            Err(End::Error(error)) => return Err(error),
        };
        Ok(Found {
            outcome,
            wall_s: began.elapsed().as_secs_f64(),
        })
    }
}

impl Real {
    async fn measured(
        &mut self,
        scaled: &Config,
        tell: &mut (dyn FnMut(&Window) + Send),
    ) -> Result<Measurement, End> {
        let error = |what: &str, reason: String| {
            End::Error(TrialError {
                what: what.to_owned(),
                reason,
            })
        };
        let run = match &self.run {
            Some(run) => run.clone(),
            None => RunFolder::new(&self.ledger)
                .map_err(|e| error("make a folder for the trials", e.to_string()))?,
        };
        self.run = Some(run.clone());
        let (from, to) = (self.dataset.folder.clone(), run.data());
        tokio::task::spawn_blocking(move || restore_tree(&from, &to))
            .await
            .map_err(|e| error("restore the data", e.to_string()))?
            .map_err(|e| error("restore the data", e.to_string()))?;

        let options: Vec<(String, String)> = scaled
            .iter()
            .map(|(name, value)| (name.clone(), value.to_string()))
            .collect();
        let launch = Launch {
            options: &options,
            binlog: self.binlog,
            ready_within: READY_WITHIN,
        };
        let mut running = Running::start(&self.server, &run, launch)
            .await
            .map_err(|e| match e {
                StartError::Died { .. } | StartError::Timeout { .. } => End::Failed(e.to_string()),
                StartError::Option(_) | StartError::Io { .. } => error("start the server", e.to_string()),
            })?;
        self.check_settings(&running, scaled).await?;

        let mut heard = 0;
        let mut watch = |windows: &[Window]| {
            windows[heard.min(windows.len())..].iter().for_each(&mut *tell);
            heard = heard.max(windows.len());
            !self.limits.done(windows) && !self.interrupted.load(Ordering::Relaxed)
        };
        let ran = match self
            .workload
            .run(running.connection(), self.seed, &mut watch)
            .await
        {
            Ok(ran) => ran,
            // A statement that failed because the server is gone is the server's failure: its own words say why.
            Err(failure) => return Err(End::Failed(last_words(&mut running, failure).await)),
        };
        let counters = self.counters(&running).await.map_err(End::Failed)?;
        running.kill();
        self.measurement(ran, counters)
    }

    /// Whether the server runs with what it was given and keeps the durability class: nothing is changed in silence.
    async fn check_settings(&self, running: &Running, scaled: &Config) -> Result<(), End> {
        let ask = async {
            let mut conn = running.connect().await?;
            let variables = effective::variables(&mut conn).await?;
            conn.disconnect().await?;
            Ok::<_, mysql_async::Error>(variables)
        };
        let variables = ask
            .await
            .map_err(|e| End::Failed(format!("the server does not tell its variables: {e}")))?;
        let changed = effective::changed(scaled, &variables);
        let weak = effective::weaker_than(self.durability, &self.catalog, &variables, self.binlog);
        match changed.into_iter().chain(weak).next() {
            Some(complaint) => Err(End::Failed(complaint)),
            None => Ok(()),
        }
    }

    async fn counters(&self, running: &Running) -> Result<BTreeMap<String, f64>, String> {
        let ask = async {
            let mut conn = running.connect().await?;
            let all = status(&mut conn).await?;
            conn.disconnect().await?;
            Ok::<_, mysql_async::Error>(all)
        };
        let all = ask
            .await
            .map_err(|e| format!("the server does not tell its status: {e}"))?;
        let lower: BTreeMap<String, f64> = all
            .into_iter()
            .map(|(name, value)| (name.to_lowercase(), value))
            .collect();
        Ok(COUNTERS
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), *lower.get(*name)?)))
            .collect())
    }

    fn measurement(&self, ran: Run, counters: BTreeMap<String, f64>) -> Result<Measurement, End> {
        // On a machine of one processor, server and generator share it.
        let share = CLIENT_SHARE * (self.processors.max(2) - 1).min(CLIENT_THREADS) as f64;
        if ran.client_cpu > share {
            return Err(End::Void(format!(
                "the load generator used {:.2} processors, more than {share:.2}: it was the bottleneck",
                ran.client_cpu
            )));
        }
        let Some(steady) = self.limits.steady(&ran.windows) else {
            return Err(End::Void(format!(
                "fewer than {} s could be measured",
                self.limits.min_s
            )));
        };
        let kept = &ran.windows[steady.cut..];
        Ok(Measurement {
            mean: steady.mean,
            stderr: steady.stderr,
            measured_s: steady.seconds,
            warmup_s: ran.windows[..steady.cut].iter().map(|w| w.seconds).sum(),
            queries_per_s: kept.iter().map(|w| w.queries).sum::<f64>() / steady.seconds,
            stalls: steady.stalls,
            latency_ms: ran.latency_ms,
            windows: ran.windows,
            client_cpu: ran.client_cpu,
            counters,
        })
    }
}

/// Why a run failed: the server's last error line where it has died, else what the workload met.
async fn last_words(running: &mut Running, failure: RunError) -> String {
    // A server that dies closes its connections a moment before it is gone.
    for _ in 0..20 {
        if let Some(died) = running.died() {
            return format!("the server died in the middle of the trial ({died})");
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    failure.to_string()
}
