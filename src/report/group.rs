use crate::study::{Setting, StudyEnd};

/// Under which heading of the option file a setting stands, in the order of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Pools, caches and buffers.
    Memory,
    /// The redo log.
    Redo,
    /// Flushing, reads and writes.
    Io,
    /// Threads and latches.
    Concurrency,
    /// What a crash may cost.
    Durability,
    /// The rest.
    Other,
}

/// First match wins; a pattern that ends in `*` is a prefix, one that begins with it a suffix.
const PATTERNS: [(Group, &[&str]); 5] = [
    (
        Group::Durability,
        &[
            "innodb_flush_log_at_trx_commit",
            "innodb_flush_log_at_timeout",
            "sync_binlog",
            "log_bin",
            "binlog_*",
            "innodb_doublewrite",
            "innodb_checksum*",
            "innodb_support_xa",
        ],
    ),
    (Group::Redo, &["innodb_log_*", "innodb_redo_*"]),
    (
        Group::Concurrency,
        &[
            "*_threads",
            "*_concurrency",
            "*_instances",
            "innodb_adaptive_hash_index*",
            "innodb_spin_*",
            "innodb_sync_*",
            "thread_*",
            "max_connections",
            "innodb_concurrency_tickets",
            "innodb_*purge*",
        ],
    ),
    (
        Group::Io,
        &[
            "innodb_io_*",
            "innodb_*flush*",
            "innodb_doublewrite_*",
            "innodb_max_dirty_*",
            "innodb_lru_*",
            "innodb_page_cleaners",
            "innodb_*read_ahead*",
            "innodb_change_buffer*",
            "innodb_use_*",
            "innodb_data_file_*",
        ],
    ),
    (
        Group::Memory,
        &[
            "innodb_buffer_pool_*",
            "innodb_old_blocks_*",
            "*_buffer_size",
            "*_cache_size",
            "*_pool_size",
            "*_table_size",
            "table_*",
        ],
    ),
];

impl Group {
    /// The group of a variable, by its name.
    pub fn of(name: &str) -> Self {
        // I/O threads serve the disks, whatever their number is called.
        if name.ends_with("_io_threads") {
            return Group::Io;
        }
        PATTERNS
            .iter()
            .find(|(_, patterns)| patterns.iter().any(|p| fits(name, p)))
            .map_or(Group::Other, |(group, _)| *group)
    }

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Group::Memory => "Memory",
            Group::Redo => "Redo log",
            Group::Io => "Flushing and I/O",
            Group::Concurrency => "Concurrency",
            Group::Durability => "Durability",
            Group::Other => "Other",
        }
    }
}

/// Whether `name` fits `pattern`, in which each `*` stands for any text.
fn fits(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((head, tail)) => name
            .strip_prefix(head)
            .is_some_and(|rest| (0..=rest.len()).any(|i| rest.is_char_boundary(i) && fits(&rest[i..], tail))),
    }
}

/// The settings by group, within a group the most effective first, then those not measured by name.
pub fn grouped(end: &StudyEnd) -> Vec<(Group, Vec<&Setting>)> {
    let mut groups: Vec<(Group, Vec<&Setting>)> = Vec::new();
    for setting in ordered(end.settings.iter(), |s| Group::of(&s.name)) {
        let group = Group::of(&setting.name);
        match groups.last_mut() {
            Some((last, settings)) if *last == group => settings.push(setting),
            _ => groups.push((group, vec![setting])),
        }
    }
    groups
}

/// The settings that differ from their default, the most effective first.
pub fn changed(end: &StudyEnd) -> Vec<&Setting> {
    ordered(end.settings.iter().filter(|s| s.value != s.default), |_| ())
}

fn ordered<'a, K: Ord>(
    settings: impl Iterator<Item = &'a Setting>,
    first: impl Fn(&Setting) -> K,
) -> Vec<&'a Setting> {
    // A setting whose effect is not known is taken to do nothing, and comes last.
    let strength = |s: &Setting| {
        s.effect
            .map(|e| e.ratio)
            .filter(|r| r.is_finite())
            .unwrap_or(f64::NEG_INFINITY)
    };
    let mut all: Vec<&Setting> = settings.collect();
    all.sort_by(|a, b| {
        first(a)
            .cmp(&first(b))
            .then(strength(b).total_cmp(&strength(a)))
            .then_with(|| a.name.cmp(&b.name))
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::sample;

    #[test]
    fn variables_find_their_group() {
        for (name, group) in [
            ("innodb_buffer_pool_size", Group::Memory),
            ("innodb_buffer_pool_instances", Group::Concurrency),
            ("innodb_log_buffer_size", Group::Redo),
            ("innodb_redo_log_capacity", Group::Redo),
            ("innodb_adaptive_flushing_lwm", Group::Io),
            ("innodb_write_io_threads", Group::Io),
            ("innodb_purge_threads", Group::Concurrency),
            ("innodb_flush_log_at_trx_commit", Group::Durability),
            ("innodb_flush_neighbors", Group::Io),
            ("innodb_idle_flush_pct", Group::Io),
            ("innodb_doublewrite_pages", Group::Io),
            ("innodb_doublewrite", Group::Durability),
            ("innodb_max_purge_lag", Group::Concurrency),
            ("key_buffer_size", Group::Memory),
            ("\u{e9}", Group::Other),
        ] {
            assert_eq!(Group::of(name), group, "{name}");
        }
    }

    #[test]
    fn the_most_effective_come_first() {
        let (end, _) = sample::mariadb();
        let names: Vec<&str> = changed(&end).iter().map(|s| s.name.as_str()).collect();
        assert_eq!(
            names[..3],
            [
                "innodb_buffer_pool_size",
                "innodb_log_file_size",
                "innodb_log_buffer_size"
            ]
        );
        assert_eq!(names[3], "innodb_adaptive_flushing_lwm");
        assert!(!names.contains(&"innodb_flush_log_at_trx_commit"));
        let groups: Vec<Group> = grouped(&end).iter().map(|(g, _)| *g).collect();
        assert_eq!(groups, [Group::Memory, Group::Redo, Group::Io, Group::Durability]);
    }
}
