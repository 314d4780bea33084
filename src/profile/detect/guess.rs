//! What was not told, from what was measured.

use super::disk;
use crate::{
    profile::{StorageKind, WriteCache},
    units::Seconds,
};

/// What the disk may be. Virtual disks often claim to rotate, so platters must also be as slow as platters are.
pub(super) fn kind(
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
pub(super) fn write_cache(kind: StorageKind, sync: Seconds) -> WriteCache {
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
    use crate::units::{Bytes, Rate};

    #[test]
    fn kinds_and_caches_are_guessed_from_what_was_measured() {
        let disk = |iops| disk::Figures {
            read_iops: Rate(iops),
            write_iops: Rate(iops),
            read_bandwidth: Bytes(Bytes::MIB),
            write_bandwidth: Bytes(Bytes::MIB),
            sync_latency: Seconds(1e-3),
        };
        for (device, rotational, is_virtual, iops, guess) in [
            ("sda", Some(true), false, 150.0, StorageKind::Hdd),
            ("vda", Some(true), true, 20_000.0, StorageKind::CloudSsd),
            ("nvme0n1", Some(false), false, 90_000.0, StorageKind::Nvme),
            ("nvme1n1", Some(false), true, 3000.0, StorageKind::CloudSsd),
            ("sda", Some(false), false, 30_000.0, StorageKind::SataSsd),
            ("", None, true, 100.0, StorageKind::CloudSsd),
        ] {
            assert_eq!(
                kind(device, rotational, is_virtual, &disk(iops)),
                guess,
                "{device} {iops}"
            );
        }
        assert_eq!(write_cache(StorageKind::Hdd, Seconds(8e-3)), WriteCache::None);
        assert_eq!(
            write_cache(StorageKind::Hdd, Seconds(0.2e-3)),
            WriteCache::Battery
        );
        assert_eq!(
            write_cache(StorageKind::Nvme, Seconds(40e-6)),
            WriteCache::Protected
        );
        assert_eq!(write_cache(StorageKind::Nvme, Seconds(1e-3)), WriteCache::None);
    }
}
