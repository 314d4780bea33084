use crate::{
    catalog::{Family, Flavor, Version},
    units::{Bytes, Value},
};

/// What the rules of thumb look at, at full size.
pub struct RuleFacts<'a> {
    /// The server.
    pub flavor: Flavor,
    /// RAM of the profile.
    pub ram: Bytes,
    /// Cores of the profile.
    pub cores: u32,
    /// Random writes of 16 KiB a second that the array sustains, its RAID penalty applied.
    pub array_write_iops: f64,
    /// Whether the disks rotate.
    pub rotational: bool,
    /// File system of the data directory: `xfs`, `ext4`, `zfs`.
    pub file_system: String,
    /// Whether this server has the variable.
    pub has: &'a dyn Fn(&str) -> bool,
}

/// One setting of the rule-of-thumb configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleSetting {
    /// The variable.
    pub name: String,
    /// Its value at full size.
    pub value: Value,
    /// Which rule, its arithmetic and its source.
    pub why: String,
}

/// The chunk by which MySQL's pool grows, and each of its instances is a multiple of it (`innodb_buffer_pool_chunk_size`).
const CHUNK: u64 = 128 * Bytes::MIB;
/// MariaDB's default since 10.5, the smallest redo log that a new server gets.
const REDO_MIN: u64 = 96 * Bytes::MIB;
/// Cap of MySQLTuner and of innodb_dedicated_server.
const REDO_MAX: u64 = 16 * Bytes::GIB;
/// Just under 4 GiB over two files: what InnoDB took before 5.6.3 in all.
const REDO_MAX_OLD: u64 = 2 * 2047 * Bytes::MIB;
/// Where MySQL's manual says that more is seldom better.
const IO_CAPACITY_CAP: f64 = 20_000.0;

/// The configuration that a person who knows the rules and the hardware would write without measuring. It holds only what this server has.
pub fn rule_of_thumb(facts: &RuleFacts) -> Vec<RuleSetting> {
    let (pool, pool_why) = pool(facts);
    let mut all = vec![setting("innodb_buffer_pool_size", Value::Bytes(pool), pool_why)];
    all.extend(redo(facts, pool));
    all.extend(io_capacity(facts));
    all.extend(flush_method(facts));
    all.push(flush_neighbors(facts));
    all.retain(|s| (facts.has)(&s.name));
    all
}

fn setting(name: &str, value: Value, why: String) -> RuleSetting {
    RuleSetting {
        name: name.to_owned(),
        value,
        why,
    }
}

fn pool(facts: &RuleFacts) -> (u64, String) {
    let share = (u128::from(facts.ram.0) * 7 / 10) as u64;
    let block = pool_block(facts, share);
    let pool = (share / block).max(1) * block;
    let why = format!(
        "70% of {} RAM, rounded down to a multiple of {}{} (MariaDB Knowledge Base and MySQL manual, innodb_buffer_pool_size: 50% to 80% \
         of RAM on a dedicated host)",
        facts.ram.rounded(),
        Bytes(block),
        if block > CHUNK {
            ", the chunk times the instances to which this server would round it up"
        } else {
            ""
        },
    );
    (pool, why)
}

/// What the pool is rounded to, so that the server does not round it up. MySQL since 5.7.5 rounds to chunk x instances: 8 instances
/// from 1 GiB on, since 8.4 the smaller of half the chunks and a quarter of the cores.
fn pool_block(facts: &RuleFacts, pool: u64) -> u64 {
    let rounds = facts.flavor.family != Family::MariaDb && (facts.has)("innodb_buffer_pool_chunk_size");
    let instances = match facts.flavor.version {
        _ if pool < Bytes::GIB => 1,
        version if version >= Version::new(8, 4, 0) => {
            (pool / CHUNK / 2).min(u64::from(facts.cores / 4)).clamp(1, 64)
        }
        _ => 8,
    };
    match (rounds, pool) {
        (true, CHUNK..) => CHUNK * instances,
        (false, Bytes::GIB..) => CHUNK,
        _ => Bytes::MIB,
    }
}

fn redo(facts: &RuleFacts, pool: u64) -> Vec<RuleSetting> {
    let Flavor { family, version } = facts.flavor;
    let max = match family {
        Family::MariaDb => REDO_MAX,
        _ if version >= Version::new(5, 6, 3) => REDO_MAX,
        _ => REDO_MAX_OLD,
    };
    let total = (pool / 4).clamp(REDO_MIN, max) / (2 * Bytes::MIB) * (2 * Bytes::MIB);
    let why = format!(
        "redo log of 25% of the pool ({}), at least {}, at most {}, here {} in all (MySQLTuner: 20% to 30% of the pool, cap 16 GiB; \
         without the redo rate of the real load, an hour of which is the better rule)",
        Bytes(pool),
        Bytes(REDO_MIN),
        Bytes(max),
        Bytes(total),
    );
    if (facts.has)("innodb_redo_log_capacity") {
        return vec![setting("innodb_redo_log_capacity", Value::Bytes(total), why)];
    }
    let grouped = family != Family::MariaDb || version < Version::new(10, 5, 0);
    if grouped && (facts.has)("innodb_log_files_in_group") {
        let files = format!("two files, as by default; {why}");
        return vec![
            setting("innodb_log_file_size", Value::Bytes(total / 2), files.clone()),
            setting("innodb_log_files_in_group", Value::Int(2), files),
        ];
    }
    vec![setting("innodb_log_file_size", Value::Bytes(total), why)]
}

fn io_capacity(facts: &RuleFacts) -> [RuleSetting; 2] {
    let capacity = friendly(facts.array_write_iops * 0.75);
    [
        setting(
            "innodb_io_capacity",
            Value::Int(capacity),
            format!(
                "three quarters of the array's {:.0} random writes a second, rounded down, so that reads have room, between 100 and {IO_CAPACITY_CAP} \
                 (MySQL manual, Configuring InnoDB I/O Capacity: about what the system can do, as low as practical)",
                facts.array_write_iops
            ),
        ),
        setting(
            "innodb_io_capacity_max",
            Value::Int(capacity * 2),
            format!(
                "twice innodb_io_capacity ({capacity}), MySQL's own default ratio, for bursts when the redo log runs full"
            ),
        ),
    ]
}

/// The largest of 100, 150, 200, 250, 300, 400, 500, 600, 800, 1000, 1500, ... that is not above `iops`; 100 to 20,000.
fn friendly(iops: f64) -> i64 {
    const STEPS: [f64; 9] = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0];
    let mut best = 100.0;
    for decade in [100.0, 1000.0, 10_000.0] {
        for step in STEPS {
            if decade * step <= iops && decade * step <= IO_CAPACITY_CAP {
                best = decade * step;
            }
        }
    }
    best as i64
}

fn flush_method(facts: &RuleFacts) -> Option<RuleSetting> {
    // MariaDB 11.0 split the variable up and warns of it; what replaced it is direct by default. ZFS keeps its own cache whatever is asked.
    let split = facts.flavor.family == Family::MariaDb && facts.flavor.version >= Version::new(11, 0, 0);
    (!split && facts.file_system != "zfs").then(|| {
        let why = format!(
            "direct I/O on {}: pages are not cached a second time by the operating system, and data files are still flushed \
             (Percona Toolkit, pt-variable-advisor; the default of MariaDB since 10.6 and MySQL since 8.4)",
            facts.file_system
        );
        setting("innodb_flush_method", Value::Text("O_DIRECT".into()), why)
    })
}

fn flush_neighbors(facts: &RuleFacts) -> RuleSetting {
    let (value, why) = match facts.rotational {
        true => (
            1,
            "1 on rotating disks: dirty neighbours in an extent go in one sweep of the arm (MySQLTuner)",
        ),
        false => (
            0,
            "0 on flash: there is no arm to save, and neighbours would only add writes (MySQLTuner)",
        ),
    };
    setting("innodb_flush_neighbors", Value::Int(value), why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(
        flavor: &str,
        ram: u64,
        cores: u32,
        iops: f64,
        rotational: bool,
        fs: &str,
        lacks: &[&str],
    ) -> Vec<(String, String)> {
        let has = |name: &str| !lacks.contains(&name);
        let facts = RuleFacts {
            flavor: flavor.parse().unwrap(),
            ram: Bytes(ram),
            cores,
            array_write_iops: iops,
            rotational,
            file_system: fs.into(),
            has: &has,
        };
        rule_of_thumb(&facts)
            .into_iter()
            .map(|s| {
                assert!(s.why.len() > 30, "{} says why", s.name);
                (
                    s.name.trim_start_matches("innodb_").to_owned(),
                    s.value.to_string(),
                )
            })
            .collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected
            .iter()
            .map(|(a, b)| (a.to_string(), b.to_string()))
            .collect()
    }

    const MARIADB: [&str; 3] = [
        "innodb_redo_log_capacity",
        "innodb_log_files_in_group",
        "innodb_buffer_pool_instances",
    ];

    #[test]
    fn mariadb_on_a_raid_of_disks() {
        assert_eq!(
            rules("mariadb-10.11.19", 16 << 30, 8, 360.0, true, "xfs", &MARIADB),
            pairs(&[
                ("buffer_pool_size", "11392M"),
                ("log_file_size", "2848M"),
                ("io_capacity", "250"),
                ("io_capacity_max", "500"),
                ("flush_method", "O_DIRECT"),
                ("flush_neighbors", "1"),
            ])
        );
    }

    #[test]
    fn the_smallest_and_the_largest_machine() {
        let small = rules("mariadb-10.11", 512 << 20, 1, 30.0, true, "ext4", &MARIADB);
        assert_eq!(
            small[..3],
            pairs(&[
                ("buffer_pool_size", "358M"),
                ("log_file_size", "96M"),
                ("io_capacity", "100")
            ])
        );
        let large = rules("mariadb-11.8", 512 << 30, 64, 400_000.0, false, "xfs", &MARIADB);
        assert_eq!(
            large,
            pairs(&[
                ("buffer_pool_size", "366976M"),
                ("log_file_size", "16G"),
                ("io_capacity", "20000"),
                ("io_capacity_max", "40000"),
                ("flush_neighbors", "0"),
            ])
        );
    }

    #[test]
    fn mysql_rounds_its_pool_to_chunks_of_all_instances() {
        let pool = |flavor, ram, cores| rules(flavor, ram, cores, 1000.0, false, "ext4", &[])[0].1.clone();
        assert_eq!(
            pool("mysql-8.0.36", 16 << 30, 8),
            "11G",
            "eight instances of 128M"
        );
        assert_eq!(pool("mysql-8.4", 16 << 30, 8), "11G", "two instances");
        assert_eq!(
            pool("mysql-9.7", 512 << 30, 64),
            "358G",
            "sixteen instances of 128M are 2G"
        );
        assert_eq!(
            pool("mysql-8.0.36", 512 << 20, 1),
            "256M",
            "358M would become 384M"
        );
        assert_eq!(pool("percona-8.0", 2 << 30, 2), "1G");
    }

    #[test]
    fn mysql_redo_by_version() {
        let lines = |flavor, lacks: &[&str]| rules(flavor, 16 << 30, 8, 5000.0, false, "zfs", lacks);
        let new = lines(
            "mysql-9.7",
            &["innodb_log_file_size", "innodb_log_files_in_group"],
        );
        assert_eq!(new[1], ("redo_log_capacity".into(), "2816M".into()));
        assert!(
            new.iter()
                .all(|(name, _)| !name.starts_with("log_file") && name != "flush_method"),
            "{new:?}"
        );
        let old = lines("mysql-5.7.44", &["innodb_redo_log_capacity"]);
        assert_eq!(
            old[1..3],
            pairs(&[("log_file_size", "1408M"), ("log_files_in_group", "2")])
        );
        let oldest = rules(
            "mysql-5.5",
            64 << 30,
            8,
            500.0,
            true,
            "xfs",
            &["innodb_redo_log_capacity", "innodb_io_capacity_max"],
        );
        assert_eq!(oldest[1], ("log_file_size".into(), "2047M".into()));
        assert!(
            oldest.iter().all(|(name, _)| name != "io_capacity_max"),
            "what the server lacks is not set"
        );
    }

    #[test]
    fn friendly_figures() {
        for (iops, figure) in [
            (f64::NAN, 100),
            (0.0, 100),
            (99.0, 100),
            (270.0, 250),
            (999.0, 800),
            (1000.0, 1000),
            (15_000.0, 15_000),
            (1e9, 20_000),
        ] {
            assert_eq!(friendly(iops), figure, "{iops}");
        }
    }
}
