//! A profile's TOML, and the checks between it and a [`Profile`].

use super::{Cpu, FileSystem, Profile, Raid, Storage, StorageKind, WriteCache};
use crate::{
    source::{Source, SourceError, from_toml, nearest_first},
    units::{Bytes, Rate, Seconds},
};
use serde::Deserialize;
use std::fmt::Display;
use toml::Spanned;

/// Version of the file's layout.
const SCHEMA: u32 = 1;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawProfile {
    schema: Spanned<u32>,
    summary: Spanned<String>,
    origin: Spanned<String>,
    #[serde(default)]
    assumed: Vec<Spanned<String>>,
    cpu: RawCpu,
    memory: RawMemory,
    storage: RawStorage,
    file_system: RawFileSystem,
    os: RawOs,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCpu {
    model: Spanned<String>,
    sockets: Spanned<u32>,
    cores: Spanned<u32>,
    threads: Spanned<u32>,
    ghz: Spanned<f64>,
    speed: Option<Spanned<f64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMemory {
    ram: Spanned<Bytes>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStorage {
    kind: StorageKind,
    disks: Spanned<u32>,
    raid: Raid,
    stripe: Option<Spanned<Bytes>>,
    rpm: Option<Spanned<u32>>,
    read_iops: Spanned<f64>,
    write_iops: Spanned<f64>,
    read_bandwidth: Spanned<Bytes>,
    write_bandwidth: Spanned<Bytes>,
    write_cache: WriteCache,
    sync_latency: Spanned<Seconds>,
    capacity: Spanned<Bytes>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFileSystem {
    r#type: FileSystem,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOs {
    name: Spanned<String>,
}

impl Profile {
    /// Reads and checks a profile; its name is that of the source without folder and `.toml`.
    ///
    /// # Errors
    /// The first thing that is wrong, at its line and column: not TOML, an unknown, missing or mistyped key, a number out of
    /// its range, disks that do not fit the RAID level, a key under `assumed` that the file does not have.
    pub fn parse(source: &Source) -> Result<Profile, SourceError> {
        let raw: RawProfile = from_toml(source)?;
        if *raw.schema.get_ref() != SCHEMA {
            let message = format!(
                "schema {} is not known; this program reads schema {SCHEMA}",
                raw.schema.get_ref()
            );
            return Err(source.error(raw.schema.span(), message));
        }
        let file = source.name.rsplit('/').next().unwrap_or_default();
        let mut profile = Profile {
            name: file.strip_suffix(".toml").unwrap_or(file).to_owned(),
            summary: said(source, "summary", raw.summary)?,
            origin: said(source, "origin", raw.origin)?,
            assumed: Vec::new(),
            cpu: raw.cpu.check(source)?,
            ram: within(
                source,
                "memory.ram",
                &raw.memory.ram,
                Bytes(64 * Bytes::MIB),
                Bytes(1 << 50),
            )?,
            storage: raw.storage.check(source)?,
            file_system: raw.file_system.r#type,
            os: said(source, "os.name", raw.os.name)?,
        };
        profile.assumed = assumed(source, &raw.assumed, &profile)?;
        Ok(profile)
    }
}

impl RawCpu {
    fn check(self, source: &Source) -> Result<Cpu, SourceError> {
        let sockets = within(source, "cpu.sockets", &self.sockets, 1, 1024)?;
        let cores = within(source, "cpu.cores", &self.cores, 1, 65536)?;
        let threads = within(source, "cpu.threads", &self.threads, 1, 65536)?;
        if cores < sockets {
            let message =
                format!("cpu.cores counts all sockets together: {cores} cannot fill {sockets} sockets");
            return Err(source.error(self.cores.span(), message));
        }
        if threads < cores {
            let message =
                format!("cpu.threads counts all cores together: {threads} is less than the {cores} cores");
            return Err(source.error(self.threads.span(), message));
        }
        let ghz = within(source, "cpu.ghz", &self.ghz, 0.1, 20.0)?;
        let speed = self
            .speed
            .map(|speed| within(source, "cpu.speed", &speed, 0.1, 1e6))
            .transpose()?;
        Ok(Cpu {
            model: said(source, "cpu.model", self.model)?,
            sockets,
            cores,
            threads,
            ghz,
            speed,
        })
    }
}

impl RawStorage {
    fn check(self, source: &Source) -> Result<Storage, SourceError> {
        let (kind, raid) = (self.kind, self.raid);
        let disks = within(source, "storage.disks", &self.disks, 1, 10_000)?;
        if let Some(wanted) = raid.refuses(disks) {
            let level = if raid == Raid::None {
                "no RAID".to_owned()
            } else {
                format!("RAID {raid}")
            };
            return Err(source.error(self.disks.span(), format!("{level} takes {wanted}, not {disks}")));
        }
        if let Some(stripe) = &self.stripe
            && !raid.is_striped()
        {
            return Err(source.error(
                stripe.span(),
                format!("storage.stripe is for striped arrays; raid {raid} has no stripes"),
            ));
        }
        match (&self.rpm, kind) {
            (Some(rpm), StorageKind::SataSsd | StorageKind::CloudSsd | StorageKind::Nvme) => {
                return Err(source.error(
                    rpm.span(),
                    format!("storage.rpm is for kind hdd; {kind} has no platters"),
                ));
            }
            (None, StorageKind::Hdd) => {
                return Err(source.error(self.disks.span(), "storage of kind hdd needs rpm, such as 7200"));
            }
            _ => {}
        }
        let iops = |key, value| within(source, key, value, 1.0, 1e8).map(Rate);
        let bandwidth = |key, value| within(source, key, value, Bytes(64 << 10), Bytes(1 << 40));
        let stripe = |value| within(source, "storage.stripe", value, Bytes(4 << 10), Bytes(Bytes::GIB));
        let latency = self.sync_latency.get_ref().0;
        if !(1e-6..=10.0).contains(&latency) {
            let message = format!("storage.sync_latency is {latency} s; it must lie between 1us and 10s");
            return Err(source.error(self.sync_latency.span(), message));
        }
        Ok(Storage {
            kind,
            disks,
            raid,
            stripe: self.stripe.as_ref().map(stripe).transpose()?,
            rpm: self
                .rpm
                .map(|rpm| within(source, "storage.rpm", &rpm, 1000, 30_000))
                .transpose()?,
            read_iops: iops("storage.read_iops", &self.read_iops)?,
            write_iops: iops("storage.write_iops", &self.write_iops)?,
            read_bandwidth: bandwidth("storage.read_bandwidth", &self.read_bandwidth)?,
            write_bandwidth: bandwidth("storage.write_bandwidth", &self.write_bandwidth)?,
            write_cache: self.write_cache,
            sync_latency: Seconds(latency),
            capacity: within(
                source,
                "storage.capacity",
                &self.capacity,
                Bytes(256 * Bytes::MIB),
                Bytes(1 << 60),
            )?,
        })
    }
}

/// The keys under `assumed`, those of a whole table (`storage`) written out, each once, in the order of the file.
fn assumed(
    source: &Source,
    named: &[Spanned<String>],
    profile: &Profile,
) -> Result<Vec<String>, SourceError> {
    let figures = profile.figures();
    let means =
        |name: &str, key: &str| key == name || key.split_once('.').is_some_and(|(table, _)| table == name);
    for name in named {
        if !figures.iter().any(|figure| means(name.get_ref(), figure.key)) {
            let nearest = nearest_first(name.get_ref(), figures.iter().map(|figure| figure.key));
            let message = format!(
                "assumed names '{}', which is no figure of this file",
                name.get_ref()
            );
            let help = format!("did you mean {}?", nearest.first().unwrap_or(&"storage"));
            return Err(source.error(name.span(), message).with_help(help));
        }
    }
    let keys = figures.iter().map(|figure| figure.key);
    Ok(keys
        .filter(|key| named.iter().any(|name| means(name.get_ref(), key)))
        .map(str::to_owned)
        .collect())
}

/// The value, if it lies in `low` to `high`; NaN lies nowhere.
fn within<T: Copy + PartialOrd + Display>(
    source: &Source,
    key: &str,
    value: &Spanned<T>,
    low: T,
    high: T,
) -> Result<T, SourceError> {
    let got = *value.get_ref();
    if low <= got && got <= high {
        Ok(got)
    } else {
        Err(source.error(
            value.span(),
            format!("{key} is {got}; it must lie between {low} and {high}"),
        ))
    }
}

/// The text, if it says something.
fn said(source: &Source, key: &str, text: Spanned<String>) -> Result<String, SourceError> {
    if text.get_ref().trim().is_empty() {
        return Err(source.error(text.span(), format!("{key} is empty")));
    }
    Ok(text.into_inner())
}
