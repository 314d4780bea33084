//! What the main job works on: read and checked before anything is made.

use super::{
    args::{self, Run},
    context,
    error::Failure,
};
use std::path::Path;
use tune::{
    advise::{RuleFacts, rule_of_thumb},
    catalog::{Catalog, Family},
    profile::{self, Profile, StorageKind},
    server::Server,
    source::Source,
    space::{self, Hardware, Space},
    study::{Facts, Listed, Plan, Question, scale},
    trial::{self, Limits},
    units::Seconds,
    workload::Workload,
};

/// Seconds that a trial takes beside its restore and its measuring: start, checks, stop.
const TRIAL_OVERHEAD_S: f64 = 3.0;
/// Bytes a second that a restore by copying is sure to move; slower disks make fewer trials.
const RESTORE_BYTES_PER_S: f64 = 450e6;
/// Measured seconds under which a trial is not worth its restore.
const LEAST_MEASURED_S: f64 = 4.0;
/// Trials that a budget is divided among, before anything is known of their length.
const TRIALS_IN_BUDGET: f64 = 16.0;

/// Everything that a study is made from.
pub struct Job {
    /// The hardware.
    pub profile: Profile,
    profile_source: Source,
    space_source: Source,
    /// The server.
    pub server: Server,
    /// Its variables.
    pub catalog: Catalog,
    /// What is searched and what is not.
    pub plan: Plan,
    /// The workload at the study's scale.
    pub workload: Workload,
    /// The scale.
    pub scale: f64,
    /// How long a trial measures.
    pub limits: Limits,
    /// Whether there is a binary log.
    pub binlog: bool,
    /// Processors of this machine.
    pub processors: usize,
}

impl Job {
    /// The question that a study of it asks.
    pub fn question(&self, options: &Run, workload: &str) -> Question {
        Question {
            profile: self.profile.name.clone(),
            profile_text: self.profile_source.text.to_string(),
            workload: workload.to_owned(),
            rows: options.rows,
            space: options.space.clone(),
            space_text: self.space_source.text.to_string(),
            server: format!("{} {}", self.server.build, self.server.build_id),
            scale: self.scale,
            durability: options.durability,
            binlog: self.binlog,
            optimizer: options.optimizer.to_string(),
            seed: options.seed,
            trials: options.trials,
            budget_s: options.budget.0,
        }
    }
}

/// Reads and checks profile, workload, space and server, and finds the scale; `state` is where data will be. With `--scale auto`
/// an unfinished study of the same question among `resumable` keeps its scale, whatever is free now.
pub fn read(
    options: &Run,
    wanted: &str,
    workload: &str,
    state: &Path,
    resumable: &[Listed],
) -> Result<Job, Failure> {
    // A wrong name is said before anything is looked for.
    Workload::named(workload, 0.0, options.rows).map_err(Failure::usage)?;
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
    if plan.space.knobs.is_empty() {
        let why = plan
            .not_searched
            .iter()
            .map(|n| format!("{}: {}", n.name, n.why))
            .collect::<Vec<_>>()
            .join("; ");
        return Err(Failure::usage(format!(
            "nothing in space {} can be searched on this machine: {why}",
            options.space
        )));
    }
    let mut job = Job {
        profile,
        profile_source,
        space_source,
        server,
        catalog,
        plan,
        workload: Workload::named(workload, 0.0, options.rows).map_err(Failure::usage)?,
        scale: 0.0,
        limits: Limits::default(),
        binlog,
        processors,
    };
    let unfinished = resumable
        .iter()
        .rev()
        .filter(|study| study.end.is_none())
        .find(|study| {
            let with_its_scale = Question {
                scale: study.question.scale,
                ..job.question(options, workload)
            };
            with_its_scale.asks() == study.question.asks()
        });
    job.scale = match (options.scale, unfinished) {
        (args::Scale::Auto, Some(study)) => study.question.scale,
        _ => job.choose_scale(options, workload, state)?,
    };
    job.workload = job.workload_at(options, workload, job.scale)?;
    job.limits = limits(options, &job.workload)?;
    Ok(job)
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

impl Job {
    fn workload_at(&self, options: &Run, name: &str, s: f64) -> Result<Workload, Failure> {
        Workload::named(name, self.profile.ram.0 as f64 * s, options.rows).map_err(Failure::usage)
    }

    /// The scale asked for, or the one that fits.
    fn choose_scale(&self, options: &Run, name: &str, state: &Path) -> Result<f64, Failure> {
        let at = |s: f64| self.workload_at(options, name, s).ok();
        let data = |s: f64| at(s).map_or(0.0, |workload| workload.dataset().bytes as f64);
        let cached = |s: f64| at(s).is_some_and(|w| trial::dataset_folder(state, &self.server, &w).is_dir());
        let load = scale::Load {
            ram: self.profile.ram,
            data: &data,
            cached: &cached,
            volumes: self.plan.volumes(),
        };
        match options.scale {
            args::Scale::Share(s) => scale::check(&load, &self.catalog, room(state)?, s).map(|()| s),
            args::Scale::Auto => scale::auto(&load, &self.catalog, room(state)?),
        }
        .map_err(Failure::usage)
    }
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
