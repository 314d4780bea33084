//! The scratch file: one without a name, with direct I/O where the file system takes it, and aligned buffers for it.

use rustix::fs::{Advice, OFlags};
use std::{fs::File, io, os::unix::fs::FileExt, path::Path};

/// Alignment that direct I/O asks for at most: a page, and a sector of today's disks.
const ALIGNMENT: usize = 4096;

/// A file that goes when it is closed, however the program ends.
pub(super) struct Scratch {
    pub file: File,
    /// Whether reads and writes pass by the page cache.
    pub direct: bool,
}

impl Scratch {
    /// Makes one in `folder`, and asks for direct I/O by trying a write.
    pub fn new(folder: &Path) -> io::Result<Self> {
        let file = tempfile::tempfile_in(folder)?;
        let flags = rustix::fs::fcntl_getfl(&file)?;
        let mut direct = rustix::fs::fcntl_setfl(&file, flags | OFlags::DIRECT).is_ok();
        if direct && let Err(error) = file.write_all_at(Buffer::new(ALIGNMENT, 0).bytes(), 0) {
            if error.kind() != io::ErrorKind::InvalidInput {
                return Err(error);
            }
            rustix::fs::fcntl_setfl(&file, flags)?;
            direct = false;
        }
        Ok(Self { file, direct })
    }

    /// Puts what was written on the disk and, where the page cache is in between, out of memory.
    pub fn settle(&self) -> io::Result<()> {
        self.file.sync_all()?;
        if !self.direct {
            rustix::fs::fadvise(&self.file, 0, None, Advice::DontNeed)?;
        }
        Ok(())
    }
}

/// A buffer for direct I/O, full of noise, so that nothing below can make it small.
pub(super) struct Buffer {
    room: Vec<u8>,
    start: usize,
    length: usize,
}

impl Buffer {
    /// One of `length` bytes; its noise follows from `seed`.
    pub fn new(length: usize, seed: u64) -> Self {
        let mut room = vec![0; length + ALIGNMENT];
        let start = room.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        let mut state = seed;
        for chunk in room.chunks_mut(8) {
            state = mix(state);
            chunk.copy_from_slice(&state.to_ne_bytes()[..chunk.len()]);
        }
        Self { room, start, length }
    }

    /// The aligned bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.room[self.start..self.start + self.length]
    }

    /// The aligned bytes, to be read into.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.room[self.start..self.start + self.length]
    }
}

/// One step of SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
pub(super) fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_noisy() {
        for length in [4096, 16 << 10, 1 << 20] {
            let mut buffer = Buffer::new(length, 7);
            assert_eq!(buffer.bytes().as_ptr().align_offset(ALIGNMENT), 0);
            assert_eq!(buffer.bytes_mut().len(), length);
            let ones: u32 = buffer.bytes().iter().map(|b| b.count_ones()).sum();
            let share = f64::from(ones) / (8 * length) as f64;
            assert!((0.48..0.52).contains(&share), "{share}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(folder.path()).unwrap();
        let (written, mut read) = (Buffer::new(16384, 1), Buffer::new(16384, 2));
        scratch.file.write_all_at(written.bytes(), 16384).unwrap();
        scratch.settle().unwrap();
        scratch.file.read_exact_at(read.bytes_mut(), 16384).unwrap();
        assert!(read.bytes() == written.bytes());
    }
}
