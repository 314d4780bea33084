//! The main job: profile x workload x space -> a reviewed my.cnf.

use super::{
    Done,
    args::{self, Run},
    context,
    error::Failure,
    progress::Progress,
};
use std::{
    fs::File,
    io::IsTerminal,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};
use tune::{
    advise::{RuleFacts, rule_of_thumb},
    catalog::{Catalog, Family},
    profile::{self, Profile, StorageKind},
    report,
    server::{Ledger, Server},
    source::Source,
    space::{self, Hardware, Space},
    study::{self, About, Event, Facts, Plan, Question, SqliteStore, StudyStore, Task, scale},
    trial::{self, Limits, Real},
    units::{Bytes, Seconds},
    workload::{self, Workload},
};

/// Seconds that a trial takes beside its restore and its measuring: start, checks, stop.
const TRIAL_OVERHEAD_S: f64 = 2.0;
/// Bytes a second that a restore by copying is sure to move; slower disks make fewer trials.
const RESTORE_BYTES_PER_S: f64 = 450e6;
/// Measured seconds under which a trial is not worth its restore.
const LEAST_MEASURED_S: f64 = 4.0;
/// Trials that a budget is divided among, before anything is known of their length.
const TRIALS_IN_BUDGET: f64 = 16.0;

/// Everything read and checked before anything is made.
struct Job {
    profile: Profile,
    profile_source: Source,
    space_source: Source,
    server: Server,
    catalog: Catalog,
    plan: Plan,
    binlog: bool,
    processors: usize,
}

/// Runs the main job.
pub fn run(options: &Run) -> Done {
    let began = Instant::now();
    let (Some(profile), Some(workload)) = (&options.profile, &options.workload) else {
        return Err(Failure::usage("a study needs --profile and --workload").help(
            "tune list profiles, tune list workloads; tune detect measures this machine; tune --help",
        ));
    };
    if options.trials.is_some_and(|n| n < 3) {
        return Err(Failure::usage(
            "--trials must be 3 or more: the defaults, the rule of thumb and one to compare with them",
        ));
    }
    // A wrong name is said before anything is looked for.
    Workload::named(workload, 0.0, options.rows).map_err(Failure::usage)?;
    let ledger = open_state()?;
    let job = read(options, profile)?;
    let room = room(ledger.state())?;
    let (scale, workload_) = choose_scale(options, &job, workload, room)?;
    let limits = limits(options, &workload_)?;
    let question = question(options, &job, workload, scale);
    let store_path = options
        .store
        .clone()
        .unwrap_or_else(|| ledger.state().join("tune.sqlite"));
    let mut store = SqliteStore::open(&store_path)?;
    let lock = lock(&ledger)?;
    let name = name(options, &mut store, &question)?;

    let interrupted = Arc::new(AtomicBool::new(false));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|e| Failure::work(format!("failed to start: {e}")))?;
    let mut progress = Progress::new(options.quiet, workload_.unit());
    announce(&progress, &job, &name, scale, &workload_);
    let flag = Arc::clone(&interrupted);
    let result = runtime.block_on(async {
        tokio::spawn(watch_signals(flag));
        work(
            options,
            job,
            question,
            &name,
            workload_,
            limits,
            ledger,
            &mut store,
            &interrupted,
            &mut progress,
            began,
        )
        .await
    });
    progress.finish();
    drop(lock);
    let code = result.as_ref().err().map(|failure| failure.code);
    if code.is_some_and(|code| code != super::error::USAGE) {
        return result.map_err(|failure| {
            failure.help(format!("study {name}: repeat the command with --resume to go on"))
        });
    }
    result
}

/// The part that takes time: load, trials, confirmation, files.
#[allow(clippy::too_many_arguments)]
async fn work(
    options: &Run,
    job: Job,
    question: Question,
    name: &str,
    workload: Workload,
    limits: Limits,
    ledger: Ledger,
    store: &mut SqliteStore,
    interrupted: &Arc<AtomicBool>,
    progress: &mut Progress,
    began: Instant,
) -> Done {
    let mut loading = |at: workload::LoadProgress| {
        progress.hear(&Event::Loading {
            phase: at.phase,
            share: at.share,
        })
    };
    let stop = async {
        while !interrupted.load(Ordering::Relaxed) {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    };
    let dataset = tokio::select! {
        dataset = trial::prepare(&ledger, &job.server, &job.catalog, &workload, &mut loading) => dataset.map_err(Failure::work)?,
        () = stop => return Err(study::StudyError::Interrupted.into()),
    };
    let rows = workload.dataset().rows;
    let objective = (workload.objective(), workload.unit());
    let mut runner = Real {
        ledger,
        server: job.server.clone(),
        catalog: job.catalog.clone(),
        workload,
        dataset: dataset.clone(),
        limits,
        seed: question.seed,
        durability: question.durability,
        binlog: job.binlog,
        processors: job.processors,
        interrupted: Arc::clone(interrupted),
    };
    let task = job.plan.task(name.to_owned(), question, objective);
    let stop = || interrupted.load(Ordering::Relaxed);
    let ended = study::run(&task, &mut runner, store, &stop, &mut |event| {
        progress.hear(&event)
    })
    .await?;
    let about = About {
        profile_summary: job.profile.summary.clone(),
        profile_assumed: job.profile.assumed.clone(),
        ram: job.profile.ram.0,
        server: job.server.path.display().to_string(),
        load_s: dataset.load_s,
        wall_s: began.elapsed().as_secs_f64(),
        rows,
    };
    let end = study::ending(&task, &ended, about).ok_or_else(|| {
        Failure::work("too few rounds of the confirmation could be measured to state a gain")
    })?;
    store.finish(&task.name, &end)?;
    progress.finish();
    hand_over(options, &task, &job.server, &end)
}

/// Writes the files, has the server check the option file, shows the result.
fn hand_over(options: &Run, task: &Task, server: &Server, end: &study::StudyEnd) -> Done {
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

/// Reads and checks profile, space and server.
fn read(options: &Run, wanted: &str) -> Result<Job, Failure> {
    let here = context::here();
    let profile_source = profile::SHELF.find(wanted, &here)?;
    let profile = Profile::parse(&profile_source)?;
    let space_source = space::SHELF.find(&options.space, &here)?;
    let raw = space::RawSpace::parse(&space_source)?;
    let server = Server::find(options.server.as_deref(), &context::search_path())?;
    let mut catalog = Catalog::for_flavor(server.flavor)?;
    let told = server.variables().map_err(Failure::work)?;
    catalog.keep_what_is_told(&told);
    let hardware = Hardware {
        ram: profile.ram,
        cores: profile.cpu.cores,
        write_iops: profile.storage.array_write_iops().0,
    };
    let space: Space = raw.resolve(&catalog, &hardware)?;
    let has = |name: &str| told.contains_key(name);
    let rule = rule_of_thumb(&RuleFacts {
        flavor: server.flavor,
        ram: profile.ram,
        cores: profile.cpu.cores,
        array_write_iops: profile.storage.array_write_iops().0,
        rotational: profile.storage.kind == StorageKind::Hdd,
        file_system: profile.file_system.name().to_owned(),
        has: &has,
    });
    let binlog = match options.binlog {
        Some(toggle) => toggle == args::Toggle::On,
        None => server.flavor.family != Family::MariaDb,
    };
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
    let storage = &profile.storage;
    let plan = Plan::without_twin(Facts {
        catalog: catalog.clone(),
        space,
        rule: rule.into_iter().map(|r| (r.name, r.value, r.why)).collect(),
        profile_cores: profile.cpu.cores,
        host_cores: processors as u32,
        array: format!("{} x {}, RAID {}", storage.disks, storage.kind, storage.raid),
        ram: profile.ram.rounded(),
        durability: options.durability,
        binlog,
    });
    Ok(Job {
        profile,
        profile_source,
        space_source,
        server,
        catalog,
        plan,
        binlog,
        processors,
    })
}

/// Free memory and disk.
fn room(state: &Path) -> Result<scale::Room, Failure> {
    let memory = trial::host::free_memory();
    let disk = rustix::fs::statvfs(state)
        .map_err(|e| Failure::work(format!("failed to ask for the room in {}: {e}", state.display())))?;
    Ok(scale::Room {
        memory,
        disk: disk.f_bavail as f64 * disk.f_frsize as f64,
    })
}

/// The scale asked for, or the one that fits, and the workload at that scale.
fn choose_scale(options: &Run, job: &Job, name: &str, room: scale::Room) -> Result<(f64, Workload), Failure> {
    let ram = job.profile.ram.0 as f64;
    let at = |s: f64| Workload::named(name, ram * s, options.rows).map_err(Failure::usage);
    let data = |s: f64| at(s).map_or(0.0, |workload| workload.dataset().bytes as f64);
    let load = scale::Load {
        ram: job.profile.ram,
        data: &data,
        volumes: job.plan.volumes(),
    };
    let scale = match options.scale {
        args::Scale::Share(s) => scale::check(&load, &job.catalog, room, s).map(|()| s),
        args::Scale::Auto => scale::auto(&load, &job.catalog, room),
    }
    .map_err(Failure::usage)?;
    Ok((scale, at(scale)?))
}

/// How long a trial measures, so that the budget holds enough of them: eight seconds, less for budgets of less than five minutes.
fn limits(options: &Run, workload: &Workload) -> Result<Limits, Failure> {
    let overhead = TRIAL_OVERHEAD_S + workload.dataset().bytes as f64 / RESTORE_BYTES_PER_S;
    let budget = options.budget.0;
    let min_s = (budget / 37.5)
        .floor()
        .clamp(LEAST_MEASURED_S, Limits::default().min_s);
    let least = min_s + overhead;
    if budget < least {
        return Err(Failure::usage(format!(
            "a budget of {} is shorter than one trial, which takes about {}",
            options.budget,
            Seconds(least.ceil())
        ))
        .help("give a longer --budget, or fewer --rows"));
    }
    let cap_s = (budget / TRIALS_IN_BUDGET - overhead).clamp(1.25 * min_s, Limits::default().cap_s);
    Ok(Limits {
        min_s,
        cap_s,
        ..Limits::default()
    })
}

fn question(options: &Run, job: &Job, workload: &str, scale: f64) -> Question {
    Question {
        profile: job.profile.name.clone(),
        profile_text: job.profile_source.text.to_string(),
        workload: workload.to_owned(),
        rows: options.rows,
        space: options.space.clone(),
        space_text: job.space_source.text.to_string(),
        server: format!("{} {}", job.server.build, job.server.build_id),
        scale,
        durability: options.durability,
        binlog: job.binlog,
        optimizer: options.optimizer.to_string(),
        seed: options.seed,
        trials: options.trials,
        budget_s: options.budget.0,
    }
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

fn announce(progress: &Progress, job: &Job, name: &str, scale: f64, workload: &Workload) {
    let dataset = workload.dataset();
    progress.say(&format!(
        "study {name}: {} on {}",
        job.profile.summary, job.server.build
    ));
    progress.say(&format!(
        "scale {}: {} of memory, {} rows ({})",
        tune::units::Fraction(scale),
        Bytes((job.profile.ram.0 as f64 * scale) as u64).rounded(),
        dataset.rows,
        Bytes(dataset.bytes).rounded()
    ));
    progress.say("isolation none: trials run on this machine as it is");
}

/// Sets the flag at ctrl-c and SIGTERM.
async fn watch_signals(flag: Arc<AtomicBool>) {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
    flag.store(true, Ordering::Relaxed);
}
