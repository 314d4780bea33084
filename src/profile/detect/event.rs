//! What happens while a machine is measured.

use crate::units::Bytes;
use std::fmt;

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

    /// A figure of this measure for people, with its unit.
    pub fn show(self, figure: f64) -> String {
        match self {
            Self::CoreSpeed => format!("{figure:.0} million rounds/s"),
            Self::WriteBandwidth | Self::ReadBandwidth => format!("{}/s", Bytes(figure as u64).rounded()),
            Self::ReadIops | Self::WriteIops => format!("{figure:.0}/s"),
            Self::SyncLatency => format!("{:.0} us", figure * 1e6),
        }
    }
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
    /// The scratch file is so small (there was little room, or little speed) that a cache may have held it.
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
            Self::SmallScratch(size) => write!(
                f,
                "the scratch file was only {}, which a cache may have held",
                size.rounded()
            ),
        }
    }
}
