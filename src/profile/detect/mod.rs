//! Measures this machine and writes down what it is as a [`Profile`].

mod disk;
mod machine;
mod scratch;
mod volume;

use super::{Profile, Raid, Storage, StorageKind, WriteCache};
use crate::units::{Bytes, Seconds};
use std::{fmt, io, path::Path};

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

/// What is measured, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Million rounds a second of a fixed integer and hash loop on one core.
    CoreSpeed,
    /// Sequential bytes written a second.
    WriteBandwidth,
    /// Sequential bytes read a second.
    ReadBandwidth,
    /// Random 16 KiB reads a second.
    ReadIops,
    /// Random 16 KiB writes a second.
    WriteIops,
    /// Median seconds of a 4 KiB append and its flush.
    SyncLatency,
}

impl Measure {
    /// All, in their order.
    pub const ALL: [Measure; 6] = [
        Self::CoreSpeed,
        Self::WriteBandwidth,
        Self::ReadBandwidth,
        Self::ReadIops,
        Self::WriteIops,
        Self::SyncLatency,
    ];
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CoreSpeed => "speed of one core",
            Self::WriteBandwidth => "sequential write bandwidth",
            Self::ReadBandwidth => "sequential read bandwidth",
            Self::ReadIops => "random 16 KiB reads",
            Self::WriteIops => "random 16 KiB writes",
            Self::SyncLatency => "sync latency",
        })
    }
}

/// What happens while the machine is measured.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A measurement starts.
    Begun(Measure),
    /// A measurement is done, with its figure in the unit that [`Measure`] names.
    Measured(Measure, f64),
    /// The figures are worth less than they could be.
    Remark(Remark),
}

/// Why a figure is worth less than it could be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// Direct I/O was refused: writes were flushed one by one, and reads may have come from memory.
    NoDirectIo,
    /// A profile does not know this file system; ext4 is written in its place.
    UnknownFileSystem(String),
    /// The scratch file is smaller than 1 GiB: there was little room, or little speed.
    SmallScratch(Bytes),
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDirectIo => f.write_str(
                "direct I/O was refused: writes were flushed one by one, reads may have come from memory",
            ),
            Self::UnknownFileSystem(name) => {
                write!(
                    f,
                    "the folder is on {name}, which profiles do not know; ext4 stands in its place"
                )
            }
            Self::SmallScratch(size) => write!(f, "the scratch file was only {}", size.rounded()),
        }
    }
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
    let kind = guess_kind(&volume.device, volume.rotational, machine.is_virtual, measured);
    let write_cache = guess_write_cache(kind, measured.sync_latency);
    let file_system = volume
        .file_system
        .as_ref()
        .copied()
        .unwrap_or(super::FileSystem::Ext4);
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

/// What the disk may be. Virtual disks often claim to rotate, so platters must also be as slow as platters are.
fn guess_kind(
    device: &str,
    rotational: Option<bool>,
    is_virtual: bool,
    measured: &disk::Figures,
) -> StorageKind {
    /// More random reads a second than any single rotating disk serves.
    const FASTER_THAN_PLATTERS: f64 = 1000.0;
    if rotational == Some(true) && measured.read_iops.0 < FASTER_THAN_PLATTERS {
        StorageKind::Hdd
    } else if device.starts_with("nvme") && !is_virtual {
        StorageKind::Nvme
    } else if is_virtual {
        StorageKind::CloudSsd
    } else {
        StorageKind::SataSsd
    }
}

/// A cache is there when a flush returns sooner than the medium could: well under a rotation, or under half a millisecond on flash.
fn guess_write_cache(kind: StorageKind, sync: Seconds) -> WriteCache {
    match kind {
        StorageKind::Hdd if sync.0 < 2e-3 => WriteCache::Battery,
        StorageKind::SataSsd | StorageKind::CloudSsd | StorageKind::Nvme if sync.0 < 0.5e-3 => {
            WriteCache::Protected
        }
        _ => WriteCache::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{source::Source, units::Rate};
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

    #[test]
    fn kinds_and_caches_are_guessed_from_what_was_measured() {
        let disk = |iops| disk::Figures {
            read_iops: Rate(iops),
            write_iops: Rate(iops),
            read_bandwidth: Bytes(Bytes::MIB),
            write_bandwidth: Bytes(Bytes::MIB),
            sync_latency: Seconds(1e-3),
        };
        for (device, rotational, is_virtual, iops, kind) in [
            ("sda", Some(true), false, 150.0, StorageKind::Hdd),
            ("vda", Some(true), true, 20_000.0, StorageKind::CloudSsd),
            ("nvme0n1", Some(false), false, 90_000.0, StorageKind::Nvme),
            ("nvme1n1", Some(false), true, 3000.0, StorageKind::CloudSsd),
            ("sda", Some(false), false, 30_000.0, StorageKind::SataSsd),
            ("", None, true, 100.0, StorageKind::CloudSsd),
        ] {
            assert_eq!(
                guess_kind(device, rotational, is_virtual, &disk(iops)),
                kind,
                "{device} {iops}"
            );
        }
        assert_eq!(
            guess_write_cache(StorageKind::Hdd, Seconds(8e-3)),
            WriteCache::None
        );
        assert_eq!(
            guess_write_cache(StorageKind::Hdd, Seconds(0.2e-3)),
            WriteCache::Battery
        );
        assert_eq!(
            guess_write_cache(StorageKind::Nvme, Seconds(40e-6)),
            WriteCache::Protected
        );
        assert_eq!(
            guess_write_cache(StorageKind::Nvme, Seconds(1e-3)),
            WriteCache::None
        );
    }
}
