use crate::{catalog::Variable, study::StudyEnd, units::Bytes};

/// What takes memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What, with its arithmetic.
    pub what: String,
    /// Bytes at most.
    pub bytes: u64,
}

/// The most memory that the recommendation can take, by part, against the RAM of the profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The parts.
    pub parts: Vec<Part>,
    /// RAM in bytes.
    pub ram: u64,
}

/// Control blocks, page hash and adaptive hash index take 5% to 10% of the pool beside it.
const POOL_OVERHEAD_PERCENT: u64 = 8;
/// Allocated once.
const SHARED: [&str; 5] = [
    "innodb_log_buffer_size",
    "key_buffer_size",
    "aria_pagecache_buffer_size",
    "query_cache_size",
    "innodb_additional_mem_pool_size",
];
/// Allocated by each connection that needs it.
const PER_CONNECTION: [&str; 5] = [
    "sort_buffer_size",
    "join_buffer_size",
    "read_buffer_size",
    "read_rnd_buffer_size",
    "thread_stack",
];

impl Memory {
    /// The sum of the parts.
    pub fn total(&self) -> u64 {
        self.parts
            .iter()
            .fold(0, |sum, part| sum.saturating_add(part.bytes))
    }

    /// The sum over RAM.
    pub fn share(&self) -> f64 {
        self.total() as f64 / self.ram as f64
    }
}

/// Adds up what the recommended settings, and the defaults of the rest, can take. Formula: pool with its overhead + shared buffers
/// + connections x their buffers (as MySQLTuner counts). A variable that `lookup` does not know counts nothing.
pub fn memory<'v>(end: &StudyEnd, lookup: impl Fn(&str) -> Option<&'v Variable>) -> Memory {
    let value = |name: &str| bytes_of(end, &lookup, name);
    let mut parts = Vec::new();
    if let Some(pool) = value("innodb_buffer_pool_size") {
        parts.push(Part {
            what: format!("innodb_buffer_pool_size {}", Bytes(pool)),
            bytes: pool,
        });
        let what = format!("{POOL_OVERHEAD_PERCENT}% of the pool for its control blocks and hash indexes");
        parts.push(Part {
            what,
            bytes: pool / 100 * POOL_OVERHEAD_PERCENT,
        });
    }
    for name in SHARED {
        if let Some(bytes) = value(name).filter(|b| *b > 0) {
            parts.push(Part {
                what: format!("{name} {}", Bytes(bytes)),
                bytes,
            });
        }
    }
    if let Some(connections) = value("max_connections") {
        let known: Vec<(&str, u64)> = PER_CONNECTION
            .into_iter()
            .filter_map(|name| Some((name, value(name)?)))
            .collect();
        let each = known
            .iter()
            .fold(0u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
        let names: Vec<String> = known
            .iter()
            .map(|(name, bytes)| format!("{name} {}", Bytes(*bytes)))
            .collect();
        if each > 0 {
            let what = format!(
                "max_connections {connections} x ({}), if all are used at once",
                names.join(" + ")
            );
            parts.push(Part {
                what,
                bytes: each.saturating_mul(connections),
            });
        }
    }
    Memory { parts, ram: end.ram }
}

/// Size of the whole redo log that the recommendation leads to; none where it is not known.
pub fn redo_bytes<'v>(end: &StudyEnd, lookup: impl Fn(&str) -> Option<&'v Variable>) -> Option<u64> {
    let value = |name: &str| bytes_of(end, &lookup, name);
    value("innodb_redo_log_capacity").or_else(|| {
        Some(value("innodb_log_file_size")?.saturating_mul(value("innodb_log_files_in_group").unwrap_or(1)))
    })
}

/// What `name` is under the recommendation: its line, else its default.
fn bytes_of<'v>(end: &StudyEnd, lookup: &impl Fn(&str) -> Option<&'v Variable>, name: &str) -> Option<u64> {
    let line = end.settings.iter().find(|s| s.name == name).map(|s| &s.value);
    let value = line.or_else(|| lookup(name).map(|v| &v.default))?;
    value.number().map(|n| n as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::sample;

    #[test]
    fn adds_settings_and_defaults() {
        let (end, variables) = sample::mariadb();
        let memory = memory(&end, |name| variables.get(name));
        let pool = 11u64 << 30;
        assert_eq!(memory.parts[0].bytes, pool);
        assert_eq!(
            memory.parts[2],
            Part {
                what: "innodb_log_buffer_size 16M".into(),
                bytes: 16 << 20
            }
        );
        assert_eq!(
            memory.parts[3].what,
            "max_connections 151 x (sort_buffer_size 2M), if all are used at once"
        );
        assert_eq!(
            memory.total(),
            pool + pool / 100 * 8 + (16 << 20) + 151 * (2 << 20)
        );
        assert!((memory.share() - 0.762).abs() < 0.001, "{}", memory.share());
        assert_eq!(redo_bytes(&end, |name| variables.get(name)), Some(2816 << 20));
    }

    #[test]
    fn a_redo_log_of_several_files() {
        let (mut end, mut variables) = sample::mariadb();
        variables.insert(
            "innodb_log_files_in_group".into(),
            sample::variable("innodb_log_files_in_group", crate::units::Value::Int(2)),
        );
        assert_eq!(
            redo_bytes(&end, |name| variables.get(name)),
            Some(2 * (2816 << 20))
        );
        end.settings.clear();
        assert_eq!(redo_bytes(&end, |_| None), None);
    }
}
