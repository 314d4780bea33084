//! What a machine is made of, and what its array of disks can do together.

use crate::units::{Bytes, Rate, Seconds};
use serde::{Deserialize, Deserializer, de};
use std::fmt;

/// A machine. Built by [`Profile::parse`] or [`super::detect`], so its figures are checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Its name: that of its file, without `.toml`.
    pub name: String,
    /// What it is, in a line.
    pub summary: String,
    /// Where its figures come from.
    pub origin: String,
    /// Keys of the figures that the origin does not state (`storage.disks`), in the order of [`Profile::figures`].
    pub assumed: Vec<String>,
    /// Processors.
    pub cpu: Cpu,
    /// Memory that the server and its data may use.
    pub ram: Bytes,
    /// The array that holds the data directory.
    pub storage: Storage,
    /// File system of the data directory.
    pub file_system: FileSystem,
    /// Operating system.
    pub os: String,
}

impl Profile {
    /// Whether the figure of this key is an assumption, not stated by the profile's origin.
    pub fn is_assumed(&self, key: &str) -> bool {
        self.assumed.iter().any(|assumed| assumed == key)
    }
}

/// Processors.
#[derive(Clone, Debug, PartialEq)]
pub struct Cpu {
    /// As its maker calls it.
    pub model: String,
    /// Sockets in use.
    pub sockets: u32,
    /// Physical cores, all sockets together.
    pub cores: u32,
    /// Hardware threads, all cores together.
    pub threads: u32,
    /// Nominal clock in GHz.
    pub ghz: f64,
    /// Speed of one core as `tune detect` measures it: millions of rounds a second of a fixed integer and hash loop.
    pub speed: Option<f64>,
}

/// The array that holds the data directory.
#[derive(Clone, Debug, PartialEq)]
pub struct Storage {
    /// What the disks are.
    pub kind: StorageKind,
    /// Number of disks in the array.
    pub disks: u32,
    /// How they are put together.
    pub raid: Raid,
    /// Bytes on one disk before the next one's turn; of a striped array.
    pub stripe: Option<Bytes>,
    /// Rotations a minute; of platters.
    pub rpm: Option<u32>,
    /// Random reads of 16 KiB a second, of one disk.
    pub read_iops: Rate,
    /// Random writes of 16 KiB a second, of one disk.
    pub write_iops: Rate,
    /// Sequential bytes read a second, of one disk.
    pub read_bandwidth: Bytes,
    /// Sequential bytes written a second, of one disk.
    pub write_bandwidth: Bytes,
    /// Cache that answers a flush before the disks have it.
    pub write_cache: WriteCache,
    /// Time of a small append and its flush, one at a time.
    pub sync_latency: Seconds,
    /// Bytes that the array offers to its file system.
    pub capacity: Bytes,
}

impl Storage {
    /// Random 16 KiB reads a second of the whole array: every disk serves them, of mirrors too.
    pub fn array_read_iops(&self) -> Rate {
        Rate(f64::from(self.disks) * self.read_iops.0)
    }

    /// Random 16 KiB writes a second of the whole array: those of all disks, divided by the RAID write penalty.
    pub fn array_write_iops(&self) -> Rate {
        Rate(f64::from(self.disks) * self.write_iops.0 / f64::from(self.raid.write_penalty()))
    }

    /// Bytes a second of several sequential readers: mirrors serve them with every disk, parity is skipped.
    pub fn array_read_bandwidth(&self) -> Bytes {
        let disks = match self.raid {
            Raid::None | Raid::Raid0 | Raid::Raid1 | Raid::Raid10 => self.disks,
            Raid::Raid5 | Raid::Raid6 => self.raid.data_disks(self.disks),
        };
        Bytes(u64::from(disks) * self.read_bandwidth.0)
    }

    /// Bytes a second of a sequential writer of full stripes: the disks that hold data, not copies or parity.
    pub fn array_write_bandwidth(&self) -> Bytes {
        Bytes(u64::from(self.raid.data_disks(self.disks)) * self.write_bandwidth.0)
    }
}

/// An enum whose variants have names in TOML: the list of all, the name of each, reading and printing.
macro_rules! named {
    ($(#[$about:meta])* $type:ident, $noun:literal: $($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $type {
            $($(#[$doc])* $variant,)*
        }

        impl $type {
            /// All there are.
            pub const ALL: &[$type] = &[$($type::$variant),*];

            /// As written in a profile.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $name,)*
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::ALL.iter().copied().find(|x| x.name() == text).ok_or_else(|| {
                    let names: Vec<_> = Self::ALL.iter().map(|x| x.name()).collect();
                    de::Error::custom(format!("'{text}' is not a {}; there are: {}", $noun, names.join(", ")))
                })
            }
        }
    };
}

named! {
    /// What the disks are.
    StorageKind, "kind of storage":
    /// Rotating platters.
    Hdd = "hdd",
    /// Flash on SATA or SAS.
    SataSsd = "sata-ssd",
    /// A provider's network volume on flash.
    CloudSsd = "cloud-ssd",
    /// Flash on PCI Express.
    Nvme = "nvme",
}

named! {
    /// How the disks of an array are put together.
    Raid, "RAID level":
    /// One disk.
    None = "none",
    /// Stripes.
    Raid0 = "0",
    /// One mirror of two disks.
    Raid1 = "1",
    /// Stripes over mirrors.
    Raid10 = "10",
    /// Stripes with one parity.
    Raid5 = "5",
    /// Stripes with two parities.
    Raid6 = "6",
}

impl Raid {
    /// Physical operations that one small random write costs: the copy on each mirror, or reading and writing data and
    /// parities. The storage industry's usual figures, e.g. <https://virtualtarzan.com/raid-penalty-calculations>.
    pub fn write_penalty(self) -> u32 {
        match self {
            Raid::None | Raid::Raid0 => 1,
            Raid::Raid1 | Raid::Raid10 => 2,
            Raid::Raid5 => 4,
            Raid::Raid6 => 6,
        }
    }

    /// How many of `disks` hold data rather than a copy or a parity.
    pub fn data_disks(self, disks: u32) -> u32 {
        match self {
            Raid::None | Raid::Raid0 => disks,
            Raid::Raid1 | Raid::Raid10 => disks / 2,
            Raid::Raid5 => disks.saturating_sub(1),
            Raid::Raid6 => disks.saturating_sub(2),
        }
    }

    /// Whether it spreads data in stripes.
    pub fn is_striped(self) -> bool {
        !matches!(self, Raid::None | Raid::Raid1)
    }

    /// The number of disks it takes, in words, when `disks` is not such a number.
    pub(super) fn refuses(self, disks: u32) -> Option<&'static str> {
        let (fits, wants) = match self {
            Raid::None => (disks == 1, "exactly 1 disk"),
            Raid::Raid0 => (disks >= 2, "at least 2 disks"),
            Raid::Raid1 => (disks == 2, "exactly 2 disks"),
            Raid::Raid10 => (
                disks >= 4 && disks.is_multiple_of(2),
                "an even number of disks, at least 4",
            ),
            Raid::Raid5 => (disks >= 3, "at least 3 disks"),
            Raid::Raid6 => (disks >= 4, "at least 4 disks"),
        };
        if fits { None } else { Some(wants) }
    }
}

named! {
    /// Cache that answers a flush before the disks have it, and survives a power loss.
    WriteCache, "write cache":
    /// None: a flush waits for the disks.
    None = "none",
    /// Of a RAID controller, kept by its battery.
    Battery = "battery",
    /// Of a flash drive or volume, kept by its capacitors.
    Protected = "power-loss-protected",
}

named! {
    /// File system of the data directory.
    FileSystem, "file system":
    /// XFS.
    Xfs = "xfs",
    /// ext3.
    Ext3 = "ext3",
    /// ext4.
    Ext4 = "ext4",
    /// Btrfs.
    Btrfs = "btrfs",
    /// ZFS.
    Zfs = "zfs",
    /// UFS, of Solaris and the BSDs.
    Ufs = "ufs",
}
