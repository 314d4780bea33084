//! Measures this machine and writes down what it is as a [`Profile`].

mod disk;
mod event;
mod guess;
mod machine;
mod scratch;
mod volume;

pub use event::{Event, Measure, Remark};

use super::{FileSystem, Profile, Raid, Storage, StorageKind};
use crate::units::Bytes;
use std::{io, path::Path};

/// Why this machine could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum DetectError {
    /// The folder has no room for a scratch file.
    #[error("failed to measure the disk of {folder}: {} free, and it takes {}; make room or name another folder",
        free.rounded(), needed.rounded())]
    Room {
        /// The folder.
        folder: String,
        /// What is free there.
        free: Bytes,
        /// What it takes.
        needed: Bytes,
    },
    /// The disk, or the folder, refused.
    #[error("failed to {doing} in {folder}: {error}")]
    Disk {
        /// What was tried.
        doing: &'static str,
        /// The folder.
        folder: String,
        /// Why not.
        error: io::Error,
    },
    /// The kernel's account of the machine could not be read.
    #[error("failed to read {file}: {error}")]
    Machine {
        /// The file.
        file: &'static str,
        /// Why not.
        error: String,
    },
}

/// Measures this machine and the disk under `folder`, in about 10 seconds, and calls the result `name`.
///
/// One disk without RAID stands for whatever array there is, with the figures measured on the whole. What was guessed is
/// under `assumed`. The speed of a core compares only between optimised builds.
///
/// # Errors
/// When less than 256 MiB are free in `folder`, it cannot be written, or `/proc` cannot be read. The scratch file has no name
/// in the folder (or loses it at once), so that nothing of it can stay behind.
pub fn detect(folder: &Path, name: &str, on_event: &mut dyn FnMut(Event)) -> Result<Profile, DetectError> {
    run(folder, name, &disk::Plan::default(), on_event)
}

fn run(
    folder: &Path,
    name: &str,
    plan: &disk::Plan,
    on_event: &mut dyn FnMut(Event),
) -> Result<Profile, DetectError> {
    let machine = machine::read()?;
    let volume = volume::of(folder)?;
    let mut remarks = Vec::new();
    let mut listen = |event: Event| {
        if let Event::Remark(remark) = &event {
            remarks.push(remark.to_string());
        }
        on_event(event);
    };
    if let Err(unknown) = &volume.file_system {
        listen(Event::Remark(Remark::UnknownFileSystem(unknown.clone())));
    }
    listen(Event::Begun(Measure::CoreSpeed));
    let speed = machine::core_speed();
    listen(Event::Measured(Measure::CoreSpeed, speed));
    let measured = disk::measure(folder, plan, &mut listen)?;
    let mut profile = assemble(name, folder, machine, &volume, &measured);
    profile.cpu.speed = Some((speed * 10.0).round() / 10.0);
    if !remarks.is_empty() {
        profile.origin = format!("{}; {}", profile.origin, remarks.join("; "));
    }
    Ok(profile)
}

fn assemble(
    name: &str,
    folder: &Path,
    machine: machine::Machine,
    volume: &volume::Volume,
    measured: &disk::Figures,
) -> Profile {
    let kind = guess::kind(&volume.device, volume.rotational, machine.is_virtual, measured);
    let write_cache = guess::write_cache(kind, measured.sync_latency);
    let file_system = volume.file_system.as_ref().copied().unwrap_or(FileSystem::Ext4);
    let mut guessed = machine.guessed;
    guessed.extend([
        "storage.kind",
        "storage.disks",
        "storage.raid",
        "storage.rpm",
        "storage.write_cache",
    ]);
    if volume.file_system.is_err() {
        guessed.push("file_system.type");
    }
    let storage = Storage {
        kind,
        disks: 1,
        raid: Raid::None,
        stripe: None,
        rpm: (kind == StorageKind::Hdd).then_some(7200),
        read_iops: measured.read_iops,
        write_iops: measured.write_iops,
        read_bandwidth: measured.read_bandwidth,
        write_bandwidth: measured.write_bandwidth,
        write_cache,
        sync_latency: measured.sync_latency,
        capacity: volume.capacity,
    };
    let mut profile = Profile {
        name: name.to_owned(),
        summary: format!(
            "{} cores, {}, {kind} with {file_system}",
            machine.cpu.cores,
            machine.ram.rounded()
        ),
        origin: format!("measured by tune detect in {}", folder.display()),
        assumed: Vec::new(),
        cpu: machine.cpu,
        ram: machine.ram,
        storage,
        file_system,
        os: machine.os,
    };
    // In the order of the figures, and without `rpm` where there is none: as a file that is read back has them.
    profile.assumed = profile
        .figures()
        .iter()
        .map(|f| f.key)
        .filter(|key| guessed.contains(key))
        .map(str::to_owned)
        .collect();
    profile
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;
    use std::time::Duration;

    #[test]
    fn this_machine_is_measured_and_nothing_stays_behind() {
        let folder = tempfile::tempdir().unwrap();
        let plan = disk::Plan {
            scratch: Bytes(8 * Bytes::MIB),
            sequential: Duration::from_millis(200),
            random: Duration::from_millis(100),
            sync: Duration::from_millis(100),
        };
        let mut events = Vec::new();
        let profile = run(folder.path(), "here", &plan, &mut |event| events.push(event)).unwrap();

        assert_eq!(
            Profile::parse(&Source::new("here.toml", profile.to_toml())).unwrap(),
            profile
        );
        assert!(profile.is_assumed("storage.disks") && !profile.is_assumed("storage.read_iops"));
        assert!(profile.cpu.speed.unwrap() > 0.1);
        let measured: Vec<_> = events
            .iter()
            .filter_map(|e| {
                if let Event::Measured(m, _) = e {
                    Some(*m)
                } else {
                    None
                }
            })
            .collect();
        assert_eq!(measured, Measure::ALL);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_missing_folder_is_an_error_that_names_it() {
        let error = detect(Path::new("/nonexistent/folder"), "x", &mut |_| {})
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("failed to ") && error.contains("/nonexistent/folder"),
            "{error}"
        );
    }
}
