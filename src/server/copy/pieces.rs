use super::{CopyError, failed};
use rustix::fs::{OFlags, SeekFrom, seek};
use std::{
    fs::{File, Metadata, OpenOptions},
    io,
    os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

/// Direct I/O wants memory, offset and length in multiples of the device's block: 4 KiB at most on all common ones.
const BLOCK: u64 = 4096;

/// Large enough that a transfer's fixed cost does not count, small enough to share between threads.
const PIECE: u64 = 4 << 20;

/// One reads while the other writes; more gained nothing on one device (3 GiB: 6.3 s with two, 6.4 s with four).
const THREADS: usize = 2;

/// One file to copy.
pub(super) struct Job {
    pub from: PathBuf,
    pub to: PathBuf,
    pub size: u64,
    pub mode: u32,
    /// Offset and length of what is not a hole, in whole blocks (the last may end past the file's end).
    pub extents: Vec<(u64, u64)>,
}

/// A part of an extent.
struct Piece<'a> {
    job: &'a Job,
    offset: u64,
    len: u64,
}

impl Job {
    pub fn new(from: &Path, to: &Path, found: &Metadata) -> io::Result<Self> {
        let (size, mode) = (found.size(), found.mode());
        let extents = if size == 0 {
            Vec::new()
        } else {
            extents(&File::open(from)?, size)?
        };
        Ok(Self {
            from: from.to_owned(),
            to: to.to_owned(),
            size,
            mode,
            extents,
        })
    }

    /// Bytes of data.
    pub fn bytes(&self) -> u64 {
        self.extents.iter().map(|&(_, len)| len).sum()
    }
}

/// Where a file has data; one extent where the file system does not tell.
fn extents(file: &File, size: u64) -> io::Result<Vec<(u64, u64)>> {
    let mut found: Vec<(u64, u64)> = Vec::new();
    let mut at = 0;
    while at < size {
        let start = match seek(file, SeekFrom::Data(at)) {
            Ok(start) => start / BLOCK * BLOCK,
            Err(rustix::io::Errno::NXIO) => break,
            Err(rustix::io::Errno::INVAL) => return Ok(vec![(0, size.next_multiple_of(BLOCK))]),
            Err(errno) => return Err(errno.into()),
        };
        let end = seek(file, SeekFrom::Hole(start.max(at)))?;
        found.push((start, end.next_multiple_of(BLOCK) - start));
        at = end;
    }
    Ok(found)
}

/// Copies the data of all files into the prepared targets, several pieces at a time.
pub(super) fn copy(jobs: &[Job], direct: bool) -> Result<(), CopyError> {
    let pieces: Vec<_> = jobs.iter().flat_map(pieces).collect();
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let work = || {
        let mut worker = Worker {
            direct,
            buffer: vec![0; (PIECE + BLOCK) as usize],
            open: None,
        };
        while !stop.load(Ordering::Relaxed) {
            let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) else {
                break;
            };
            if let Err(error) = worker.copy(piece) {
                stop.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        let results = threads
            .into_iter()
            .map(|t| t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        results.fold(Ok(()), Result::and)
    })?;
    // Direct writes are whole blocks, so a file can have grown past its end.
    for job in jobs
        .iter()
        .filter(|job| direct && !job.size.is_multiple_of(BLOCK))
    {
        let cut = OpenOptions::new()
            .write(true)
            .open(&job.to)
            .and_then(|file| file.set_len(job.size));
        cut.map_err(failed("write", &job.to))?;
    }
    Ok(())
}

fn pieces(job: &Job) -> impl Iterator<Item = Piece<'_>> {
    job.extents.iter().flat_map(move |&(start, len)| {
        let offsets = (0..len.div_ceil(PIECE)).map(move |i| i * PIECE);
        offsets.map(move |at| Piece {
            job,
            offset: start + at,
            len: PIECE.min(len - at),
        })
    })
}

/// One thread's buffer and the files it has open.
struct Worker<'a> {
    direct: bool,
    buffer: Vec<u8>,
    open: Option<(&'a Path, File, File)>,
}

impl<'a> Worker<'a> {
    fn copy(&mut self, piece: &Piece<'a>) -> Result<(), CopyError> {
        let Job { from, to, size, .. } = piece.job;
        if self.open.as_ref().is_none_or(|(open, ..)| *open != from) {
            let open = |write: bool, path: &Path| {
                let flags = if self.direct && write {
                    OFlags::DIRECT.bits() as i32
                } else {
                    0
                };
                let opened = OpenOptions::new()
                    .read(!write)
                    .write(write)
                    .custom_flags(flags)
                    .open(path);
                opened.map_err(failed("open", path))
            };
            self.open = Some((from, open(false, from)?, open(true, to)?));
        }
        let Some((_, source, target)) = &self.open else {
            return Ok(());
        };
        let start = self.buffer.as_ptr().align_offset(BLOCK as usize);
        let buffer = &mut self.buffer[start..start + piece.len as usize];
        let wanted = piece.len.min(size - piece.offset) as usize;
        let read = read_up_to(source, buffer, piece.offset).map_err(failed("read", from))?;
        if read < wanted {
            let changed = io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "it became shorter while it was copied",
            );
            return Err(failed("read", from)(changed));
        }
        buffer[wanted..].fill(0);
        let whole = if self.direct { buffer.len() } else { wanted };
        target
            .write_all_at(&buffer[..whole], piece.offset)
            .map_err(failed("write", to))
    }
}

/// Fills the buffer, or as much of it as the file has.
fn read_up_to(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        match file.read_at(&mut buffer[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}
