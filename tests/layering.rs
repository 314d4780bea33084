//! Which room of `src` may use which: the table of docs/architecture.md, held against the `use` lines.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A room and what it may use. `cli` belongs to the binary and may use all.
const ROOMS: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("source", &[]),
    ("catalog", &["units", "source"]),
    ("profile", &["units", "source"]),
    ("space", &["units", "source", "catalog", "profile"]),
    ("optionfile", &["units", "source", "catalog"]),
    ("observation", &["units", "space"]),
    ("workload", &["units", "source", "catalog", "observation"]),
    ("server", &["units", "catalog", "optionfile"]),
    (
        "trial",
        &["units", "catalog", "server", "workload", "space", "observation"],
    ),
    (
        "model",
        &["units", "space", "observation", "profile", "catalog", "workload"],
    ),
    ("optimize", &["units", "space", "observation", "model"]),
    (
        "study",
        &[
            "units",
            "source",
            "catalog",
            "profile",
            "space",
            "observation",
            "workload",
            "server",
            "trial",
            "model",
            "optimize",
        ],
    ),
    (
        "advise",
        &[
            "units",
            "source",
            "catalog",
            "space",
            "model",
            "optionfile",
            "observation",
            "study",
        ],
    ),
    (
        "report",
        &["units", "catalog", "advise", "optionfile", "study", "observation"],
    ),
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .collect()
}

/// Rooms named behind `crate::` in `text`, in `use` lines (groups too) and in paths.
fn used(text: &str) -> Vec<String> {
    let mut rooms = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        let rest = &text[at + "crate::".len()..];
        let word = |s: &str| {
            s.chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect::<String>()
        };
        match rest.strip_prefix('{') {
            None => rooms.push(word(rest)),
            Some(group) => {
                let mut depth = 0;
                let mut start = true;
                for (i, c) in group.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => start = true,
                        c if start && c.is_alphabetic() => {
                            rooms.push(word(&group[i..]));
                            start = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    rooms
}

#[test]
fn every_room_uses_only_what_it_may() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for entry in fs::read_dir(&src).unwrap() {
        let folder = entry.unwrap().path();
        let room = folder.file_name().unwrap().to_string_lossy().into_owned();
        if !folder.is_dir() || room == "cli" {
            continue;
        }
        let Some((_, may)) = ROOMS.iter().find(|(name, _)| *name == room) else {
            panic!("src/{room} is not in the table");
        };
        for file in sources(&folder) {
            for other in used(&fs::read_to_string(&file).unwrap()) {
                let is_room = ROOMS.iter().any(|(name, _)| *name == other);
                if is_room && other != room && !may.contains(&other.as_str()) {
                    wrong.push(format!(
                        "{} uses {other}",
                        file.strip_prefix(&src).unwrap().display()
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_library_prints_nothing_and_never_exits() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for file in sources(&src)
        .into_iter()
        .filter(|f| !f.starts_with(src.join("cli")) && !f.ends_with("main.rs"))
    {
        let text = fs::read_to_string(&file).unwrap();
        let code: String = text.split("#[cfg(test)]").next().unwrap().to_owned();
        for word in ["println!", "eprintln!", "print!(", "process::exit", "env::var"] {
            assert!(!code.contains(word), "{} has {word}", file.display());
        }
    }
}

#[test]
fn the_reader_of_use_lines_reads_groups() {
    assert_eq!(
        used("use crate::{units::{A, B}, source};\nuse crate::model::Gp;"),
        ["units", "source", "model"]
    );
}
