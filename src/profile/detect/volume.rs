//! Which file system and which device lie under a folder.

use super::DetectError;
use crate::{profile::FileSystem, units::Bytes};
use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

pub(super) struct Volume {
    /// The file system, or the kernel's name of one that profiles do not know.
    pub file_system: Result<FileSystem, String>,
    /// Name of the block device, `sda` or `nvme0n1`; empty where there is none to see.
    pub device: String,
    /// Whether the device says that it rotates.
    pub rotational: Option<bool>,
    /// Size of the file system.
    pub capacity: Bytes,
}

/// What lies under `folder`.
pub(super) fn of(folder: &Path) -> Result<Volume, DetectError> {
    let failed = |doing| {
        let folder = folder.display().to_string();
        move |error: io::Error| DetectError::Disk { doing, folder, error }
    };
    let real = folder.canonicalize().map_err(failed("find the disk"))?;
    let device_number = fs::metadata(&real).map_err(failed("find the disk"))?.dev();
    let (total, _) = space(&real).map_err(failed("read the size of the disk"))?;
    let mounts = procfs::process::Process::myself().and_then(|me| me.mountinfo());
    let mounts = mounts.map_err(|e| DetectError::Machine {
        file: "/proc/self/mountinfo",
        error: e.to_string(),
    })?;
    // Later mounts lie over earlier ones of the same path, and `max_by_key` takes the last of equals.
    let mount = mounts
        .0
        .into_iter()
        .filter(|mount| real.starts_with(&mount.mount_point))
        .max_by_key(|mount| mount.mount_point.as_os_str().len());
    let (kind, source) = mount.map_or_else(Default::default, |m| {
        (m.fs_type, m.mount_source.unwrap_or_default())
    });
    let block = block_device(device_number, &source);
    let rotational = block
        .as_ref()
        .and_then(|path| fs::read_to_string(path.join("queue/rotational")).ok());
    Ok(Volume {
        file_system: FileSystem::ALL
            .iter()
            .copied()
            .find(|known| known.name() == kind)
            .ok_or(kind),
        device: block
            .as_deref()
            .and_then(Path::file_name)
            .map_or_else(String::new, |n| n.to_string_lossy().into_owned()),
        rotational: rotational.map(|text| text.trim() == "1"),
        capacity: total,
    })
}

/// Size and free room of the file system under `folder`, in whole MiB.
pub(super) fn space(folder: &Path) -> io::Result<(Bytes, Bytes)> {
    let stat = rustix::fs::statvfs(folder)?;
    let bytes = |blocks: u64| Bytes(blocks.saturating_mul(stat.f_frsize) / Bytes::MIB * Bytes::MIB);
    Ok((bytes(stat.f_blocks), bytes(stat.f_bavail)))
}

/// The folder in `/sys` of the whole block device: by the file system's device number, else (Btrfs has numbers of its own) by
/// the source of the mount.
fn block_device(number: u64, source: &str) -> Option<PathBuf> {
    let numbered = format!(
        "/sys/dev/block/{}:{}",
        rustix::fs::major(number),
        rustix::fs::minor(number)
    );
    let named = || {
        let real = Path::new(source).canonicalize().ok()?;
        Path::new("/sys/class/block")
            .join(real.file_name()?)
            .canonicalize()
            .ok()
    };
    let path = Path::new(&numbered).canonicalize().ok().or_else(named)?;
    if path.join("partition").exists() {
        path.parent().map(Path::to_owned)
    } else {
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_system_of_a_virtual_one_is_told_by_its_name() {
        let proc = of(Path::new("/proc")).unwrap();
        assert_eq!(proc.file_system, Err("proc".to_owned()));
        assert_eq!((proc.device.as_str(), proc.rotational), ("", None));
    }
}
