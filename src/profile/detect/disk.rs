//! What the disk under a folder does: bandwidth, random operations, sync latency.

use super::{
    DetectError, Event, Measure, Remark,
    scratch::{Buffer, Scratch, mix},
    volume,
};
use crate::units::{Bytes, Rate, Seconds};
use std::{
    io::{self, Write},
    os::unix::fs::FileExt,
    path::Path,
    time::{Duration, Instant},
};

/// InnoDB's page.
const PAGE: usize = 16 << 10;
/// One sequential transfer.
const TRANSFER: usize = 1 << 20;
/// Random operations in flight: enough to keep the channels of one SSD or the queue of one disk busy.
const IN_FLIGHT: u64 = 8;
/// Less room than this is refused.
const LEAST_ROOM: Bytes = Bytes(256 * Bytes::MIB);
/// A smaller scratch file may fit a cache below, and is short of seeks: worth a remark.
const LEAST_SCRATCH: Bytes = Bytes(256 * Bytes::MIB);

/// How much and how long is measured.
pub(super) struct Plan {
    /// Largest scratch file.
    pub scratch: Bytes,
    /// Longest time to write, and half of the longest time to read, the scratch file in order.
    pub sequential: Duration,
    /// Time of random reads, and of random writes.
    pub random: Duration,
    /// Time of small appends.
    pub sync: Duration,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            scratch: Bytes(Bytes::GIB),
            sequential: Duration::from_secs(3),
            random: Duration::from_secs(2),
            sync: Duration::from_secs(1),
        }
    }
}

/// What was measured, rounded to what a person would write.
pub(super) struct Figures {
    pub read_iops: Rate,
    pub write_iops: Rate,
    pub read_bandwidth: Bytes,
    pub write_bandwidth: Bytes,
    pub sync_latency: Seconds,
}

/// Measures the disk under `folder` with a scratch file of half its room at most.
pub(super) fn measure(
    folder: &Path,
    plan: &Plan,
    on_event: &mut dyn FnMut(Event),
) -> Result<Figures, DetectError> {
    let shown = || folder.display().to_string();
    let failed = |doing| {
        move |error| DetectError::Disk {
            doing,
            folder: shown(),
            error,
        }
    };
    let (_, free) = volume::space(folder).map_err(failed("read the size of the disk"))?;
    let size = scratch_size(free, plan.scratch).ok_or_else(|| DetectError::Room {
        folder: shown(),
        free,
        needed: LEAST_ROOM,
    })?;
    let scratch = Scratch::new(folder).map_err(failed("make a scratch file"))?;
    if !scratch.direct {
        on_event(Event::Remark(Remark::NoDirectIo));
    }

    on_event(Event::Begun(Measure::WriteBandwidth));
    let (written, rate) =
        write_in_order(&scratch, size, plan.sequential).map_err(failed("write a scratch file"))?;
    let write_bandwidth = bandwidth(rate);
    on_event(Event::Measured(Measure::WriteBandwidth, write_bandwidth.0 as f64));
    if written < LEAST_SCRATCH {
        on_event(Event::Remark(Remark::SmallScratch(written)));
    }

    on_event(Event::Begun(Measure::ReadBandwidth));
    let rate =
        read_in_order(&scratch, written, plan.sequential / 2).map_err(failed("read a scratch file"))?;
    let read_bandwidth = bandwidth(rate);
    on_event(Event::Measured(Measure::ReadBandwidth, read_bandwidth.0 as f64));

    let mut random = |measure, operation, doing| {
        on_event(Event::Begun(measure));
        let rate = at_random(&scratch, written, plan.random, operation).map_err(failed(doing))?;
        let rate = rate.round().max(1.0);
        on_event(Event::Measured(measure, rate));
        Ok(Rate(rate))
    };
    let read_iops = random(Measure::ReadIops, Operation::Read, "read a scratch file")?;
    let write_iops = random(Measure::WriteIops, Operation::Write, "write a scratch file")?;

    on_event(Event::Begun(Measure::SyncLatency));
    let latency = median_sync(folder, plan.sync).map_err(failed("sync a scratch file"))?;
    let sync_latency = Seconds((latency * 1e6).round().clamp(1.0, 1e7) * 1e-6);
    on_event(Event::Measured(Measure::SyncLatency, sync_latency.0));
    Ok(Figures {
        read_iops,
        write_iops,
        read_bandwidth,
        write_bandwidth,
        sync_latency,
    })
}

/// Half of what is free, in whole MiB, at most `largest`; none where too little is free.
fn scratch_size(free: Bytes, largest: Bytes) -> Option<Bytes> {
    (free >= LEAST_ROOM).then(|| Bytes((free.0 / 2).min(largest.0) / Bytes::MIB * Bytes::MIB))
}

fn bandwidth(bytes_per_second: f64) -> Bytes {
    Bytes((bytes_per_second as u64 / Bytes::MIB).max(1) * Bytes::MIB)
}

/// Writes up to `size` in order, and flushes it: bytes written, and bytes a second. Without direct I/O it flushes as it goes, or
/// all of it would wait in memory for the end.
fn write_in_order(scratch: &Scratch, size: Bytes, longest: Duration) -> io::Result<(Bytes, f64)> {
    let buffer = Buffer::new(TRANSFER, 1);
    let start = Instant::now();
    let mut written = 0;
    while written < size.0 && (written == 0 || start.elapsed() < longest) {
        scratch.file.write_all_at(buffer.bytes(), written)?;
        written += TRANSFER as u64;
        if !scratch.direct && written.is_multiple_of(16 * TRANSFER as u64) {
            scratch.file.sync_data()?;
        }
    }
    scratch.settle()?;
    Ok((Bytes(written), written as f64 / start.elapsed().as_secs_f64()))
}

/// Reads up to `size` in order: bytes a second.
fn read_in_order(scratch: &Scratch, size: Bytes, longest: Duration) -> io::Result<f64> {
    let mut buffer = Buffer::new(TRANSFER, 2);
    let start = Instant::now();
    let mut read = 0;
    while read < size.0 && (read == 0 || start.elapsed() < longest) {
        scratch.file.read_exact_at(buffer.bytes_mut(), read)?;
        read += TRANSFER as u64;
    }
    let rate = read as f64 / start.elapsed().as_secs_f64();
    scratch.settle()?;
    Ok(rate)
}

#[derive(Clone, Copy)]
enum Operation {
    Read,
    Write,
}

/// Pages read or written a second at random places of the first `size` bytes, [`IN_FLIGHT`] at a time. Without direct I/O each
/// write is flushed; with it, the flush at the end counts.
fn at_random(scratch: &Scratch, size: Bytes, time: Duration, operation: Operation) -> io::Result<f64> {
    let pages = size.0 / PAGE as u64;
    let start = Instant::now();
    let one = |seed: u64| -> io::Result<u64> {
        let mut buffer = Buffer::new(PAGE, seed);
        let mut random = mix(seed);
        let mut done = 0;
        while start.elapsed() < time {
            random = mix(random);
            let place = random % pages * PAGE as u64;
            match operation {
                Operation::Read => scratch.file.read_exact_at(buffer.bytes_mut(), place)?,
                Operation::Write => {
                    scratch.file.write_all_at(buffer.bytes(), place)?;
                    if !scratch.direct {
                        scratch.file.sync_data()?;
                    }
                }
            }
            done += 1;
        }
        Ok(done)
    };
    let counts: Vec<io::Result<u64>> = std::thread::scope(|scope| {
        let one = &one;
        let threads: Vec<_> = (1..=IN_FLIGHT)
            .map(|seed| scope.spawn(move || one(seed)))
            .collect();
        let died = |_| Err(io::Error::other("a measuring thread died"));
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(died))
            .collect()
    });
    let mut done = 0;
    for count in counts {
        done += count?;
    }
    scratch.settle()?;
    Ok(done as f64 / start.elapsed().as_secs_f64())
}

/// Median seconds of a 4 KiB append and its flush, as a log file grows, to a file of its own of 64 MiB at most.
fn median_sync(folder: &Path, time: Duration) -> io::Result<f64> {
    let mut log = tempfile::tempfile_in(folder)?;
    let record = Buffer::new(4096, 3);
    let most = (64 * Bytes::MIB) as usize / record.bytes().len();
    let start = Instant::now();
    let mut times = Vec::new();
    while times.len() < 3 || (times.len() < most && start.elapsed() < time) {
        let before = start.elapsed();
        log.write_all(record.bytes())?;
        log.sync_data()?;
        times.push((start.elapsed() - before).as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scratch_file_leaves_half_of_the_room() {
        let mib = |n| Bytes(n * Bytes::MIB);
        assert_eq!(scratch_size(mib(255), mib(1024)), None);
        assert_eq!(scratch_size(mib(256), mib(1024)), Some(mib(128)));
        assert_eq!(scratch_size(mib(5000), mib(1024)), Some(mib(1024)));
    }

    #[test]
    fn without_direct_io_the_same_is_measured() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = Scratch {
            file: tempfile::tempfile_in(folder.path()).unwrap(),
            direct: false,
        };
        let short = Duration::from_millis(30);
        let (written, rate) =
            write_in_order(&scratch, Bytes(2 * Bytes::MIB), Duration::from_secs(5)).unwrap();
        assert_eq!(written, Bytes(2 * Bytes::MIB));
        assert!(rate > 0.0);
        assert!(read_in_order(&scratch, written, short).unwrap() > 0.0);
        for operation in [Operation::Read, Operation::Write] {
            assert!(at_random(&scratch, written, short, operation).unwrap() > 0.0);
        }
    }
}
