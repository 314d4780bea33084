//! The main job: profile x workload x space -> a reviewed my.cnf.

use super::{
    Done,
    args::Run,
    context,
    error::{self, Failure},
    job::{self, Job},
    progress::Progress,
};
use std::{
    fs::File,
    io::IsTerminal,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tune::{
    report,
    server::{Ledger, Server},
    study::{self, About, Event, Question, SqliteStore, StudyEnd, StudyError, StudyStore, Task},
    trial::{self, Real},
    units::{Bytes, Fraction},
    workload,
};

/// Runs the main job.
pub fn run(options: &Run) -> Done {
    let (Some(profile), Some(workload)) = (&options.profile, &options.workload) else {
        return Err(Failure::usage("a study needs --profile and --workload").help(
            "tune list profiles, tune list workloads; tune detect measures this machine; tune --help",
        ));
    };
    if options.trials.is_some_and(|n| n < 3) {
        let why = "the defaults, the rule of thumb and one to compare with them";
        return Err(Failure::usage(format!("--trials must be 3 or more: {why}")));
    }
    let ledger = open_state()?;
    let store_path = store_path(options, &ledger)?;
    let earlier = if options.resume {
        context::open_store(Some(&store_path))?.studies()?
    } else {
        Vec::new()
    };
    let job = job::read(options, profile, workload, ledger.state(), &earlier)?;
    report::check_folder(&options.out).map_err(Failure::usage)?;
    let question = job.question(options, workload);
    let mut store = SqliteStore::open(&store_path)?;
    let lock = lock(&ledger)?;
    let name = name(options, &mut store, &question)?;

    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|e| Failure::work(format!("failed to start: {e}")))?;
    let mut session = Session {
        progress: Progress::new(options.quiet, job.workload.unit()),
        interrupted: Arc::new(AtomicBool::new(false)),
        store,
        ledger,
    };
    announce(&session.progress, &job, &name);
    let result = runtime.block_on(async {
        tokio::spawn(watch_signals(Arc::clone(&session.interrupted)));
        session.work(job, question, &name, profile).await
    });
    session.progress.finish();
    drop(lock);
    match result {
        Ok((task, server, end)) => {
            hand_over(options, &task, &server, &end)?;
            // Not before its files are there: until then --resume writes them.
            Ok(session.store.finish(&task.name, &end)?)
        }
        Err(failure) if failure.code == error::USAGE => Err(failure),
        Err(failure) => Err(failure.help(format!("study {name}: repeat the command with --resume to go on"))),
    }
}

/// What the part that takes time works with.
struct Session {
    progress: Progress,
    interrupted: Arc<AtomicBool>,
    store: SqliteStore,
    ledger: Ledger,
}

impl Session {
    /// Loads, runs the trials and the confirmation, stores the end.
    async fn work(
        &mut self,
        job: Job,
        question: Question,
        name: &str,
        profile_asked: &str,
    ) -> Result<(Task, Server, StudyEnd), Failure> {
        let dataset = self.load(&job).await?;
        let rows = job.workload.dataset().rows;
        let objective = (job.workload.objective(), job.workload.unit());
        let mut runner = Real {
            ledger: self.ledger.clone(),
            server: job.server.clone(),
            catalog: job.catalog,
            workload: job.workload,
            dataset: dataset.clone(),
            limits: job.limits,
            seed: question.seed,
            durability: question.durability,
            binlog: job.binlog,
            processors: job.processors,
            interrupted: Arc::clone(&self.interrupted),
            run: None,
        };
        let task = job.plan.task(name.to_owned(), question, objective);
        let interrupted = Arc::clone(&self.interrupted);
        let stop = || interrupted.load(Ordering::Relaxed);
        let progress = &mut self.progress;
        let mut listen = |event: Event<'_>| progress.hear(&event);
        let ended = study::run(&task, &mut runner, &mut self.store, &stop, &mut listen).await?;
        let about = About {
            profile_asked: profile_asked.to_owned(),
            profile_summary: job.profile.summary,
            profile_assumed: job.profile.assumed,
            ram: job.profile.ram.0,
            server: job.server.path.display().to_string(),
            load_s: dataset.load_s,
            rows,
        };
        let end = study::ending(&task, &ended, about).ok_or_else(|| {
            Failure::work("too few rounds of the confirmation could be measured to state a gain")
        })?;
        Ok((task, job.server, end))
    }

    /// The data, from the cache or loaded now; an interrupt throws away what is half loaded.
    async fn load(&mut self, job: &Job) -> Result<trial::Dataset, Failure> {
        let (progress, interrupted) = (&mut self.progress, &self.interrupted);
        let mut hear = |at: workload::LoadProgress| {
            progress.hear(&Event::Loading {
                phase: at.phase,
                share: at.share,
            });
        };
        let stop = async {
            while !interrupted.load(Ordering::Relaxed) {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::select! {
            dataset = trial::prepare(&self.ledger, &job.server, &job.catalog, &job.workload, &mut hear) => {
                let dataset = dataset.map_err(Failure::work)?;
                dataset.warm();
                Ok(dataset)
            }
            () = stop => Err(StudyError::Interrupted.into()),
        }
    }
}

/// Writes the files, has the server check the option file, shows the result.
fn hand_over(options: &Run, task: &Task, server: &Server, end: &StudyEnd) -> Done {
    let files = report::write_all(&options.out, end, |name| task.catalog.get(name)).map_err(Failure::work)?;
    let complaints = server.check_options(&files.mycnf).map_err(Failure::work)?;
    if !complaints.is_empty() {
        return Err(Failure::work(format!(
            "the server does not take {} as written: {}",
            files.mycnf.display(),
            complaints.join("; ")
        )));
    }
    for kept in &files.kept {
        eprintln!(
            "{} was there and differed: it is now {}",
            kept.file.display(),
            kept.backup.display()
        );
    }
    let terminal = std::io::stdout().is_terminal();
    if options.json {
        if !options.quiet {
            eprint!(
                "{}",
                report::table(end, &files, 80, context::color(std::io::stderr().is_terminal()))
            );
        }
        println!("{}", report::json(end, &files));
    } else {
        print!("{}", report::table(end, &files, 80, context::color(terminal)));
    }
    Ok(())
}

/// Opens the state folder and cleans up after runs that were killed.
fn open_state() -> Result<Ledger, Failure> {
    let state = context::state()?;
    let ledger = Ledger::open(&state)
        .map_err(|e| Failure::usage(e).help("set XDG_STATE_HOME to a folder that can be written"))?;
    let recovered = ledger.recover().map_err(Failure::work)?;
    for pid in &recovered.killed {
        eprintln!("stopped server {pid}, which a tune that was killed had left");
    }
    for left in &recovered.left {
        eprintln!("could not clean up: {left}");
    }
    Ok(ledger)
}

/// The store's file.
fn store_path(options: &Run, ledger: &Ledger) -> Result<std::path::PathBuf, Failure> {
    let Some(path) = &options.store else {
        return Ok(ledger.state().join("tune.sqlite"));
    };
    if path.to_string_lossy().contains("://") {
        return Err(Failure::usage(format!(
            "--store {}: only a file can be a store so far",
            path.display()
        )));
    }
    Ok(path.clone())
}

/// Two studies on one machine would measure each other.
fn lock(ledger: &Ledger) -> Result<File, Failure> {
    let path = ledger.state().join("measuring.lock");
    let file = File::create(&path)
        .map_err(|e| Failure::usage(format!("failed to write {}: {e}", path.display())))?;
    file.try_lock().map_err(|_| {
        Failure::work("another tune is measuring on this machine; two at once would measure each other")
            .help("wait until it has ended")
    })?;
    Ok(file)
}

/// The study to go on with, or a new one.
fn name(options: &Run, store: &mut SqliteStore, question: &Question) -> Result<String, Failure> {
    if !options.resume {
        return Ok(store.create(question)?);
    }
    match store.unfinished(question)? {
        Some(name) => Ok(name),
        None => {
            let open: Vec<String> = store
                .studies()?
                .into_iter()
                .filter(|s| s.end.is_none())
                .map(|s| s.name)
                .collect();
            let help = if open.is_empty() {
                "no study is unfinished; leave --resume out".to_owned()
            } else {
                format!("unfinished studies of other questions: {}", open.join(", "))
            };
            Err(Failure::usage("there is no unfinished study of this very question to resume").help(help))
        }
    }
}

fn announce(progress: &Progress, job: &Job, name: &str) {
    let dataset = job.workload.dataset();
    progress.say(&format!(
        "study {name}: {} on {}",
        job.profile.summary, job.server.build
    ));
    progress.say(&format!(
        "scale {}: {} of memory, {} rows ({})",
        Fraction(job.scale),
        Bytes((job.profile.ram.0 as f64 * job.scale) as u64).rounded(),
        dataset.rows,
        Bytes(dataset.bytes).rounded()
    ));
    progress.say("isolation none: trials run on this machine as it is");
}

/// Sets the flag at ctrl-c, SIGTERM and SIGHUP; the second one ends the program at once, and the servers with it.
async fn watch_signals(flag: Arc<AtomicBool>) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
        signal(SignalKind::hangup()),
    ) else {
        return;
    };
    loop {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(error::INTERRUPTED.into());
        }
    }
}
