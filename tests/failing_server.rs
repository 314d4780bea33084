//! A configuration with which the real server dies at its start is an observation with the server's own words, and the study goes on.

use std::{
    fs,
    process::{Command, Stdio},
};

const SPACE: &str = r#"
schema = 1
name = "too-large"
summary = "Pools that fit, and pools that no machine has"

[[knob]]
name = "innodb_buffer_pool_size"
choices = ["1G", "1536M", "800T"]
"#;

#[test]
fn a_server_that_dies_at_its_start_is_a_failed_trial() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    fs::write(home.join("s.toml"), SPACE).unwrap();
    let tune = |args: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_tune"))
            .current_dir(home)
            .env("XDG_STATE_HOME", home.join("state"))
            .stdin(Stdio::null())
            .args(args)
            .output()
            .unwrap()
    };
    let study = [
        "--profile",
        "iibench-2disk-raid0",
        "--workload",
        "iibench",
        "--scale",
        "1/16",
        "--rows",
        "50000",
    ];
    let how = [
        "--space",
        "s.toml",
        "--optimizer",
        "grid",
        "--budget",
        "38s",
        "--trials",
        "5",
        "--json",
    ];
    let output = tune(&[&study[..], &how[..]].concat());
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{stderr}");
    let end: serde_json::Value = serde_json::from_str(stdout.lines().last().unwrap()).unwrap();
    assert!(end["failed"].as_u64().unwrap() >= 1, "{end}");
    assert!(
        stderr.contains("failed: the server ended while it was starting"),
        "{stderr}"
    );
    assert!(
        stderr.contains("innodb_buffer_pool_size"),
        "its own words: {stderr}"
    );
    let review = fs::read_to_string(home.join("tune-out/review.md")).unwrap();
    assert!(review.contains("Cannot") || review.contains("memory"), "{review}");
}
