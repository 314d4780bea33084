//! Every dependency is under a licence that the product may be shipped with (the list of deny.toml).

use serde_json::Value;
use std::{fs, path::Path, process::Command};

#[test]
fn every_dependency_has_an_allowed_licence() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let deny: toml::Value = toml::from_str(&fs::read_to_string(root.join("deny.toml")).unwrap()).unwrap();
    let allowed: Vec<&str> = deny["licenses"]["allow"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_str().unwrap())
        .collect();
    // Only what is built here: the rest need not have been downloaded.
    let rustc = Command::new("rustc").arg("-vV").output().unwrap();
    let rustc = String::from_utf8_lossy(&rustc.stdout).into_owned();
    let host = rustc
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap();
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--offline",
            "--locked",
            "--filter-platform",
            host,
        ])
        .current_dir(root)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 50);
    let mut wrong = Vec::new();
    for package in packages {
        let licence = package["license"].as_str().unwrap_or("none").replace('/', " OR ");
        // An expression holds if one side of an OR does, and both sides of an AND.
        let holds = |part: &str| {
            part.split(" AND ")
                .all(|l| allowed.contains(&l.trim().trim_matches(['(', ')'])))
        };
        let whole = licence.replace(['(', ')'], "");
        if !whole.split(" OR ").any(holds) {
            wrong.push(format!("{} {}", package["name"], licence));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
