//! Bad input: exit code 2 (3 where there is no server), one clear message, nothing written.

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

fn tune(home: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tune"))
        .current_dir(home)
        .env("XDG_STATE_HOME", home.join("state"))
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .args(args)
        .output()
        .unwrap()
}

/// Runs it and gives its message; nothing but the (empty) state folders may have been made.
fn refused(home: &Path, args: &[&str], code: i32) -> String {
    let output = tune(home, args);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
    assert!(output.stdout.is_empty(), "{args:?}");
    assert!(!home.join("tune-out").exists(), "{args:?}");
    assert!(!home.join("state/tune/datasets").exists(), "{args:?}");
    assert!(!home.join("state/tune/tune.sqlite").exists(), "{args:?}");
    assert_eq!(
        message.lines().filter(|l| l.starts_with("error: ")).count(),
        1,
        "{message}"
    );
    message
}

const GOOD: &str = include_str!("../hardware-profiles/iibench-2disk-raid0.toml");

#[test]
fn profiles() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let with = |text: &str| {
        fs::write(home.join("p.toml"), text).unwrap();
        refused(home, &["--profile", "p.toml", "--workload", "iibench"], 2)
    };
    let unknown = with(&GOOD.replace("[memory]", "[memory]\ncolour = \"red\""));
    assert!(
        unknown.contains("p.toml:") && unknown.contains("colour"),
        "{unknown}"
    );
    let zero = with(&GOOD.replace("ram = \"2G\"", "ram = \"0\""));
    assert!(zero.contains("p.toml:"), "{zero}");
    let name = refused(home, &["--profile", "xeon5345-raid1", "--workload", "iibench"], 2);
    assert!(name.contains("there are: xeon5345-raid10, "), "{name}");
}

#[test]
fn workloads_budgets_and_scales() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let base = ["--profile", "iibench-2disk-raid0", "--workload", "iibench"];
    let with = |more: &[&str]| refused(home, &[&base[..], more].concat(), 2);
    let name = refused(home, &["--profile", "xeon5345-raid10", "--workload", "iibnch"], 2);
    assert!(name.contains("there are: iibench, iibench-load"), "{name}");
    assert!(with(&["--budget", "2s", "--scale", "1/16"]).contains("shorter than one trial"));
    let small = with(&["--scale", "1/512"]);
    assert!(
        small.contains("too small") && small.contains("innodb_buffer_pool_size"),
        "{small}"
    );
    let room = with(&["--scale", "1/16", "--rows", "900000000000"]);
    assert!(room.contains("of disk"), "{room}");
    refused(home, &["--profile", "xeon5345-raid10"], 2);
    let none = refused(home, &[&base[..], &["--server", "/bin/true"]].concat(), 3);
    assert!(none.contains("/bin/true"), "{none}");
}

#[test]
fn spaces() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let with = |text: &str| {
        fs::write(home.join("s.toml"), text).unwrap();
        refused(
            home,
            &[
                "--profile",
                "iibench-2disk-raid0",
                "--workload",
                "iibench",
                "--space",
                "s.toml",
            ],
            2,
        )
    };
    let knob = |name: &str, low: &str, high: &str| {
        format!(
            "schema = 1\nname = \"s\"\nsummary = \"x\"\n[[knob]]\nname = \"{name}\"\nlow = \"{low}\"\nhigh = \"{high}\"\n"
        )
    };
    let crossed = with(&knob("innodb_buffer_pool_size", "80% of ram", "5% of ram"));
    assert!(crossed.contains("s.toml:6:"), "{crossed}");
    let unknown = with(&knob("innodb_warp_factor", "1", "9"));
    assert!(
        unknown.contains("s.toml:5:") && unknown.contains("innodb_warp_factor"),
        "{unknown}"
    );
}

#[test]
fn a_state_folder_that_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    fs::write(home.join("state"), "a file in the way").unwrap();
    let message = refused(
        home,
        &["--profile", "iibench-2disk-raid0", "--workload", "iibench"],
        2,
    );
    assert!(message.contains("state"), "{message}");
}
