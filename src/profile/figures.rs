//! A profile as a list of figures, and as the text of its file.

use super::Profile;
use crate::units::{Bytes, Rate, Seconds};
use std::fmt::Write;

/// One figure of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Its key: table and key in the file, `storage.disks`.
    pub key: &'static str,
    /// Its value as the file has it: `"16G"`, `8`.
    pub value: String,
    /// What it is.
    pub about: &'static str,
    /// Whether the origin does not state it.
    pub assumed: bool,
}

impl Profile {
    /// All figures in the order of the file; what a profile leaves out (`cpu.speed`, `storage.stripe`, `storage.rpm`) is not there.
    pub fn figures(&self) -> Vec<Figure> {
        let Profile { cpu, storage, .. } = self;
        let figures = [
            ("cpu.model", Some(text(&cpu.model)), "as its maker calls it"),
            ("cpu.sockets", Some(cpu.sockets.to_string()), "sockets in use"),
            (
                "cpu.cores",
                Some(cpu.cores.to_string()),
                "physical cores, all sockets together",
            ),
            (
                "cpu.threads",
                Some(cpu.threads.to_string()),
                "hardware threads, all cores together",
            ),
            ("cpu.ghz", Some(cpu.ghz.to_string()), "nominal clock"),
            (
                "cpu.speed",
                cpu.speed.map(|x| x.to_string()),
                "one core, million rounds/s of tune's loop",
            ),
            (
                "memory.ram",
                Some(bytes(self.ram)),
                "for the server, its data and the page cache",
            ),
            (
                "storage.kind",
                Some(text(storage.kind.name())),
                "hdd, sata-ssd, cloud-ssd or nvme",
            ),
            ("storage.disks", Some(storage.disks.to_string()), "in the array"),
            (
                "storage.raid",
                Some(text(storage.raid.name())),
                "none, 0, 1, 10, 5 or 6",
            ),
            (
                "storage.stripe",
                storage.stripe.map(bytes),
                "on one disk before the next one's turn",
            ),
            (
                "storage.rpm",
                storage.rpm.map(|x| x.to_string()),
                "rotations a minute",
            ),
            (
                "storage.read_iops",
                Some(rate(storage.read_iops)),
                "random 16 KiB reads/s of one disk",
            ),
            (
                "storage.write_iops",
                Some(rate(storage.write_iops)),
                "random 16 KiB writes/s of one disk",
            ),
            (
                "storage.read_bandwidth",
                Some(bytes(storage.read_bandwidth)),
                "sequential bytes/s of one disk",
            ),
            (
                "storage.write_bandwidth",
                Some(bytes(storage.write_bandwidth)),
                "sequential bytes/s of one disk",
            ),
            (
                "storage.write_cache",
                Some(text(storage.write_cache.name())),
                "none, battery or power-loss-protected",
            ),
            (
                "storage.sync_latency",
                Some(text(&time(storage.sync_latency))),
                "a small append and its flush",
            ),
            (
                "storage.capacity",
                Some(bytes(storage.capacity)),
                "of the array's file system",
            ),
            (
                "file_system.type",
                Some(text(self.file_system.name())),
                "of the data directory",
            ),
            ("os.name", Some(text(&self.os)), "operating system"),
        ];
        let given = figures
            .into_iter()
            .filter_map(|(key, value, about)| Some((key, value?, about)));
        given
            .map(|(key, value, about)| Figure {
                key,
                value,
                about,
                assumed: self.is_assumed(key),
            })
            .collect()
    }

    /// The text of a file that [`Profile::parse`] reads back as this profile, each figure with a comment.
    pub fn to_toml(&self) -> String {
        let mut out = format!(
            "schema = 1\nsummary = {}\norigin = {}\n",
            text(&self.summary),
            text(&self.origin)
        );
        let assumed: Vec<_> = self
            .assumed
            .iter()
            .map(|key| format!("    {},\n", text(key)))
            .collect();
        if assumed.is_empty() {
            out.push_str("assumed = []\n");
        } else {
            let _ = write!(
                out,
                "# Not stated by the origin.\nassumed = [\n{}]\n",
                assumed.concat()
            );
        }
        let mut table = "";
        for Figure {
            key, value, about, ..
        } in &self.figures()
        {
            let (of, key) = key.split_once('.').unwrap_or(("", key));
            if of != table {
                let _ = write!(out, "\n[{of}]\n");
                table = of;
            }
            let _ = writeln!(out, "{key} = {value} # {about}");
        }
        out
    }
}

fn text(text: &str) -> String {
    toml::Value::from(text).to_string()
}

fn bytes(bytes: Bytes) -> String {
    text(&bytes.to_string())
}

fn rate(rate: Rate) -> String {
    rate.0.to_string()
}

/// The shortest of `us`, `ms` and seconds that reads back as exactly this time.
fn time(time: Seconds) -> String {
    [("us", 1e6), ("ms", 1e3)]
        .into_iter()
        .map(|(unit, factor)| format!("{}{unit}", (time.0 * factor * 1e3).round() / 1e3))
        .filter(|text| text.parse() == Ok(time))
        .min_by_key(String::len)
        .unwrap_or_else(|| format!("{}s", time.0))
}
