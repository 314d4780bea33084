//! The main job, end to end, on the real server of this machine.

use serde_json::Value;
use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

/// The program with a state folder of its own; its environment holds nothing else of ours.
fn tune(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tune"));
    command
        .current_dir(home)
        .env("XDG_STATE_HOME", home.join("state"))
        .env("NO_COLOR", "1")
        .stdin(Stdio::null());
    command
}

/// A small study: the insert benchmark's box at 1/16, few rows.
fn small(home: &Path, more: &[&str]) -> Command {
    let mut command = tune(home);
    command.args([
        "--profile",
        "iibench-2disk-raid0",
        "--workload",
        "iibench",
        "--scale",
        "1/16",
        "--rows",
        "300000",
    ]);
    command
        .args(["--budget", "40s", "--seed", "1", "--json"])
        .args(more);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn last_line(output: &Output) -> Value {
    let stdout = text(&output.stdout);
    serde_json::from_str(stdout.lines().last().unwrap_or_default())
        .unwrap_or_else(|e| panic!("{e}: {stdout}\n{}", text(&output.stderr)))
}

/// Servers that run on a data directory below `home`.
fn servers_below(home: &Path) -> Vec<String> {
    let home = home.canonicalize().unwrap().display().to_string();
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| fs::read(entry.ok()?.path().join("cmdline")).ok())
        .map(|line| text(&line).replace('\0', " "))
        .filter(|line| line.contains(&home) && line.contains("--defaults-file"))
        .collect()
}

fn nothing_left(home: &Path) {
    assert_eq!(servers_below(home), Vec::<String>::new());
    for folder in ["run", "ledger"] {
        let left: Vec<_> = fs::read_dir(home.join("state/tune").join(folder))
            .unwrap()
            .collect();
        assert!(left.is_empty(), "{folder}: {left:?}");
    }
}

#[test]
fn a_study_ends_with_a_reviewed_option_file_and_survives_being_killed() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();

    // Killed in the middle of its third trial or so.
    let mut child = small(home, &[])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let stored = || -> Vec<Value> {
        let shown = tune(home)
            .args(["study", "show", "iibench-2disk-raid0-iibench-1", "--json"])
            .output()
            .unwrap();
        match serde_json::from_str::<Value>(text(&shown.stdout).trim()) {
            Ok(value) => value["observations"].as_array().cloned().unwrap_or_default(),
            Err(_) => Vec::new(),
        }
    };
    let began = Instant::now();
    while stored().len() < 2 {
        assert!(began.elapsed() < Duration::from_secs(120), "no trial was stored");
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(200));
    }
    std::thread::sleep(Duration::from_secs(2));
    child.kill().unwrap();
    child.wait().unwrap();
    let before = stored();
    assert!(before.len() >= 2);

    let output = small(home, &["--resume"]).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let end = last_line(&output);
    let after = stored();
    assert_eq!(
        after[..before.len()],
        before[..],
        "finished observations are kept as they were"
    );
    let trials: Vec<u64> = after.iter().map(|o| o["trial"].as_u64().unwrap()).collect();
    assert_eq!(
        trials,
        (1..=trials.len() as u64).collect::<Vec<_>>(),
        "none lost, none doubled"
    );
    nothing_left(home);

    assert_eq!(end["server"]["flavor"], "mariadb");
    assert_eq!(end["isolation"], "none");
    assert_eq!(end["scale"], 0.0625);
    assert!(end["trials"].as_u64().unwrap() >= 4, "{end}");
    assert!(end["gain"]["pairs"].as_u64().unwrap() >= 5);
    assert!(end["gain"]["ci95"][0].as_f64().unwrap() < end["gain"]["ci95"][1].as_f64().unwrap());
    let mycnf = fs::read_to_string(home.join("tune-out/my.cnf")).unwrap();
    assert!(
        mycnf.contains("[mysqld]") && mycnf.contains("innodb_buffer_pool_size"),
        "{mycnf}"
    );
    for file in ["mycnf", "review", "apply", "rollback"] {
        let path = end["files"][file].as_str().unwrap();
        assert!(home.join(path).is_file(), "{path}");
    }
    for observation in &after {
        let scaled = observation["scaled"].to_string();
        assert!(
            !scaled.contains("flush_log_at_trx_commit"),
            "strict durability is the server's default"
        );
    }

    // What-if, from the study just made.
    let ask = |set: &str| {
        let args = [
            "what-if",
            "--study",
            "iibench-2disk-raid0-iibench-1",
            "--json",
            "--set",
            set,
        ];
        tune(home).args(args).output().unwrap()
    };
    let inside = last_line(&ask("innodb_buffer_pool_size=1G"));
    let prediction = &inside["predictions"][0];
    let (low, mean, high) = (
        &prediction["ci95"][0],
        &prediction["mean"],
        &prediction["ci95"][1],
    );
    assert!(
        low.as_f64().unwrap() <= mean.as_f64().unwrap() && mean.as_f64().unwrap() <= high.as_f64().unwrap()
    );
    let outside = last_line(&ask("innodb_io_capacity=5000"));
    assert_eq!(outside["predictions"][0]["extrapolating"], true);
    assert!(outside["predictions"][0]["mean"].is_null());
    for nonsense in [
        "innodb_bufer_pool_size=1G",
        "innodb_buffer_pool_size=lots",
        "innodb_buffer_pool_size=64G",
    ] {
        let refused = ask(nonsense);
        assert_eq!(
            refused.status.code(),
            Some(2),
            "{nonsense}: {}",
            text(&refused.stderr)
        );
    }
}
