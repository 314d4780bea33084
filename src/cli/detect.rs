//! `tune detect`: this machine as a hardware profile.

use super::{Done, args::Detect, error::Failure};
use std::{fs, io::Write};
use tune::profile::{Event, detect as probe};

/// Measures and writes the file; an existing one is not overwritten.
pub fn detect(options: &Detect) -> Done {
    if options.out.exists() {
        return Err(
            Failure::usage(format!("{} exists and is not overwritten", options.out.display()))
                .help("name another file with --out"),
        );
    }
    let name = options
        .out
        .file_stem()
        .map(|s| s.to_string_lossy().into_owned())
        .unwrap_or_default();
    let mut listen = |event: Event| {
        if !options.quiet {
            match event {
                Event::Begun(measure) => eprint!("{measure} ... "),
                Event::Measured(measure, value) => eprintln!("{}", measure.show(value)),
                Event::Remark(remark) => eprintln!("{remark}"),
            }
        }
    };
    let profile = probe(&options.dir, &name, &mut listen).map_err(Failure::work)?;
    let failed = |e: std::io::Error| Failure::work(format!("failed to write {}: {e}", options.out.display()));
    if let Some(folder) = options.out.parent().filter(|f| !f.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let folder = options
        .out
        .parent()
        .filter(|f| !f.as_os_str().is_empty())
        .unwrap_or(std::path::Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(profile.to_toml().as_bytes()).map_err(failed)?;
    // Never over a file that has appeared in the meantime.
    file.persist_noclobber(&options.out)
        .map_err(|e| failed(e.error))?;
    println!("{}", options.out.display());
    Ok(())
}
