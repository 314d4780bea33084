//! The run loop over simulated trials: budget, trial count, resume, failures, reduction, and what is recommended.

use std::{collections::BTreeMap, path::Path};
use tune::{
    catalog::{Catalog, Durability},
    observation::{Observation, Outcome, Role},
    space::{self, Hardware, Space},
    study::{
        About, Ended, Facts, Plan, Question, SqliteStore, StudyEnd, StudyError, StudyStore, Task, ending, run,
    },
    trial::Simulated,
    units::{Bytes, Config, Value},
};

const RAM: Bytes = Bytes(16 << 30);

fn task(seed: u64, trials: Option<u32>, name: &str) -> Task {
    let flavor = "mariadb-10.11.19".parse().unwrap();
    let catalog = Catalog::for_flavor(flavor).unwrap();
    let source = space::SHELF.find("core", Path::new("/nonexistent")).unwrap();
    let hardware = Hardware {
        ram: RAM,
        cores: 8,
        write_iops: 400.0,
    };
    let rule = vec![
        (
            "innodb_buffer_pool_size".to_owned(),
            Value::Bytes(11 << 30),
            "70% of RAM".to_owned(),
        ),
        (
            "innodb_io_capacity".to_owned(),
            Value::Int(300),
            "the array".to_owned(),
        ),
    ];
    let plan = Plan::without_twin(Facts {
        space: Space::read(&source, &catalog, &hardware).unwrap(),
        catalog,
        rule,
        profile_cores: 8,
        host_cores: 2,
        array: "4 x hdd, RAID 10".into(),
        ram: RAM.rounded(),
        durability: Durability::Strict,
        binlog: false,
    });
    let question = Question {
        profile: "box".into(),
        profile_text: String::new(),
        workload: "iibench".into(),
        rows: None,
        space: "core".into(),
        space_text: String::new(),
        server: "simulated".into(),
        scale: 0.0625,
        durability: Durability::Strict,
        binlog: false,
        optimizer: "bayes".into(),
        seed,
        trials,
        budget_s: 300.0,
    };
    plan.task(name.to_owned(), question, ("rows_per_s", "rows/s"))
}

fn number(config: &Config, name: &str) -> f64 {
    config.get(name).and_then(Value::number).unwrap_or(f64::NAN)
}

/// Throughput grows with the pool (scaled: up to 800 MiB) and by half with change buffering; nothing else matters. A pool over 720 MiB dies.
fn surface(config: &Config) -> Result<f64, String> {
    let pool = number(config, "innodb_buffer_pool_size") / (1u64 << 20) as f64;
    if pool > 720.0 {
        return Err("InnoDB: Cannot allocate memory for the buffer pool".into());
    }
    let buffering = config
        .get("innodb_change_buffering")
        .is_some_and(|v| v.to_string() == "all");
    Ok((1000.0 + 10.0 * pool) * if buffering { 1.5 } else { 1.0 })
}

fn store(folder: &Path) -> (SqliteStore, String) {
    let mut store = SqliteStore::open(&folder.join("s.sqlite")).unwrap();
    let name = store.create(&task(1, None, "").question).unwrap();
    (store, name)
}

fn study(task: &Task, store: &mut SqliteStore, stop_after: usize) -> Result<(Ended, u32), StudyError> {
    let mut runner = Simulated::new(surface, 0.02, task.question.seed);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let ended = std::cell::Cell::new(0);
    let interrupted = || ended.get() >= stop_after;
    let done = runtime.block_on(async {
        let counter = std::sync::atomic::AtomicUsize::new(0);
        let stop = || {
            ended.set(counter.load(std::sync::atomic::Ordering::Relaxed));
            interrupted()
        };
        let mut listen = |event: tune::study::Event<'_>| {
            if matches!(event, tune::study::Event::Ended { .. }) {
                counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
        };
        run(task, &mut runner, store, &stop, &mut listen).await
    });
    done.map(|ended| (ended, runner.runs))
}

fn end(task: &Task, ended: &Ended) -> StudyEnd {
    let about = About {
        profile_summary: String::new(),
        profile_assumed: Vec::new(),
        ram: RAM.0,
        server: String::new(),
        load_s: 0.0,
        profile_asked: String::new(),
        rows: 1,
    };
    ending(task, ended, about).unwrap()
}

fn count(observations: &[Observation], role: Role) -> usize {
    observations.iter().filter(|o| o.role == role).count()
}

#[test]
fn a_study_finds_what_matters_and_leaves_the_rest_at_its_default() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, name) = store(folder.path());
    let task = task(3, None, &name);
    let (ended, _) = study(&task, &mut store, usize::MAX).unwrap();
    let end = end(&task, &ended);
    assert_eq!(end.trials, 20, "300 s at 15 s each");
    assert_eq!(count(&ended.observations, Role::Baseline), 1);
    assert_eq!(
        ended.observations[0].config,
        Config::new(),
        "the server's defaults"
    );
    assert_eq!(
        ended.observations[0].scaled["innodb_buffer_pool_size"],
        Value::Bytes(8 << 20),
        "scaled by the same rule"
    );
    assert!(
        end.gain.ci95[0] > 1.0 && end.gain_over_rule.unwrap().ci95[0] > 1.3,
        "{:?} {:?}",
        end.gain,
        end.gain_over_rule
    );
    let settings: BTreeMap<&str, &Value> = end.settings.iter().map(|s| (s.name.as_str(), &s.value)).collect();
    assert_eq!(settings["innodb_change_buffering"].to_string(), "all");
    assert_eq!(settings["innodb_io_capacity"], &Value::Int(300), "set by rule");
    let searched = end
        .settings
        .iter()
        .filter(|s| matches!(s.reason, tune::study::Reason::Searched))
        .count();
    assert!(searched <= 4, "what does nothing goes back: {settings:?}");
    for o in &ended.observations {
        let died = number(&o.scaled, "innodb_buffer_pool_size") > 720.0 * 1048576.0;
        assert_eq!(
            matches!(o.outcome, Outcome::Failed { .. }),
            died,
            "a death is an observation"
        );
    }
    assert!(end.not_searched.iter().any(|n| n.name == "innodb_io_capacity"));
    assert!(
        end.not_searched
            .iter()
            .any(|n| n.name == "innodb_adaptive_hash_index"),
        "fewer cores than the profile"
    );
}

#[test]
fn a_study_that_was_cut_off_goes_on_as_if_it_had_not_been() {
    let whole = {
        let folder = tempfile::tempdir().unwrap();
        let (mut store, name) = store(folder.path());
        let task = task(1, Some(9), &name);
        study(&task, &mut store, usize::MAX).unwrap().0.observations
    };
    let folder = tempfile::tempdir().unwrap();
    let (mut store, name) = store(folder.path());
    let task = task(1, Some(9), &name);
    let mut total = 0;
    for stop_after in [1, 3, 4, usize::MAX] {
        match study(&task, &mut store, stop_after) {
            Ok((ended, runs)) => {
                total += runs;
                let within = ended
                    .observations
                    .iter()
                    .filter(|o| o.role != Role::Confirmation)
                    .count();
                assert_eq!(within, 9, "the count that was asked for");
                assert_eq!(ended.observations.len(), whole.len());
                let numbers: Vec<u32> = ended.observations.iter().map(|o| o.trial).collect();
                assert_eq!(numbers, (1..=numbers.len() as u32).collect::<Vec<_>>());
            }
            Err(StudyError::Interrupted) => total += stop_after as u32,
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(total as usize, whole.len(), "no trial was run twice");
}

#[test]
fn the_same_seed_gives_the_same_study() {
    let trials = |seed| {
        let folder = tempfile::tempdir().unwrap();
        let (mut store, name) = store(folder.path());
        let task = task(seed, Some(8), &name);
        let ended = study(&task, &mut store, usize::MAX).unwrap().0;
        ended
            .observations
            .into_iter()
            .map(|o| (o.config, o.outcome))
            .collect::<Vec<_>>()
    };
    assert_eq!(trials(5), trials(5));
    assert_ne!(trials(5), trials(6));
}

#[test]
fn a_server_whose_defaults_do_not_start_ends_the_study_with_its_words() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, name) = store(folder.path());
    let task = task(1, None, &name);
    let mut runner = Simulated::new(|_: &Config| Err("no such disk".to_owned()), 0.0, 1);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let done = runtime.block_on(run(&task, &mut runner, &mut store, &|| false, &mut |_| {}));
    match done {
        Err(StudyError::NoBaseline(reason)) => assert_eq!(reason, "no such disk"),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it ended"),
    }
    assert_eq!(
        store.observations(&name).unwrap().len(),
        1,
        "the failure is stored"
    );
}

#[test]
fn a_rule_of_thumb_that_does_not_work_is_a_failed_trial_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let (mut store, name) = store(folder.path());
    let task = task(2, Some(12), &name);
    let rule = task.scaled(&task.rule_of_thumb());
    let mut runner = Simulated::new(
        |config: &Config| {
            if *config == rule {
                Err("no room for it".to_owned())
            } else {
                surface(config)
            }
        },
        0.02,
        2,
    );
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let ended = runtime
        .block_on(run(&task, &mut runner, &mut store, &|| false, &mut |_| {}))
        .unwrap();
    let end = end(&task, &ended);
    assert!(end.failed >= 1 && end.gain_over_rule.is_none() && end.rule_of_thumb.is_none());
    assert!(end.gain.ci95[0] > 1.0);
    assert_eq!(
        count(&ended.observations, Role::Confirmation),
        10,
        "five rounds of two"
    );
}

#[test]
fn a_grid_uses_the_whole_budget() {
    for trials in [7, 12, 14] {
        let folder = tempfile::tempdir().unwrap();
        let (mut store, name) = store(folder.path());
        let mut task = task(1, Some(trials), &name);
        task.question.optimizer = "grid".into();
        let (ended, _) = study(&task, &mut store, usize::MAX).unwrap();
        assert_eq!(end(&task, &ended).trials, trials);
    }
}
