//! Processors, memory and operating system, as the kernel tells them.

use super::DetectError;
use crate::{profile::Cpu, units::Bytes};
use procfs::Current;
use std::{
    collections::BTreeSet,
    fs,
    hint::black_box,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

pub(super) struct Machine {
    pub cpu: Cpu,
    pub ram: Bytes,
    pub os: String,
    /// Whether a hypervisor is below.
    pub is_virtual: bool,
    /// Keys of what the kernel did not tell.
    pub guessed: Vec<&'static str>,
}

/// What this process may use of the machine: the processors of its affinity and quota, the memory of its groups.
pub(super) fn read() -> Result<Machine, DetectError> {
    let failed = |file, error: &dyn std::fmt::Display| DetectError::Machine {
        file,
        error: error.to_string(),
    };
    let info = procfs::CpuInfo::current().map_err(|e| failed("/proc/cpuinfo", &e))?;
    let memory = procfs::Meminfo::current()
        .map_err(|e| failed("/proc/meminfo", &e))?
        .mem_total;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limit = memory_limit(&groups, Path::new("/sys/fs/cgroup")).unwrap_or(u64::MAX);

    let mut guessed = Vec::new();
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    let (sockets, cores) = sockets_and_cores(&info);
    let cores = cores.clamp(1, threads);
    let model = ["model name", "Model", "cpu model", "cpu"]
        .iter()
        .find_map(|field| info.get_field(0, field));
    let field = |name| fs::read_to_string(Path::new("/sys/devices/system/cpu/cpu0/cpufreq").join(name)).ok();
    let khz = field("base_frequency").or_else(|| field("cpuinfo_max_freq"));
    let ghz = clock(model, khz.as_deref(), info.get_field(0, "cpu MHz"));
    if model.is_none() {
        guessed.push("cpu.model");
    }
    if ghz.is_none() {
        guessed.push("cpu.ghz");
    }
    Ok(Machine {
        cpu: Cpu {
            model: model.map_or_else(|| std::env::consts::ARCH.to_owned(), str::to_owned),
            sockets: sockets.clamp(1, cores),
            cores,
            threads,
            ghz: ghz.unwrap_or(2.0),
            speed: None,
        },
        ram: Bytes(memory.min(limit) / Bytes::MIB * Bytes::MIB),
        os: os_name(&fs::read_to_string("/etc/os-release").unwrap_or_default()),
        is_virtual: info.flags(0).is_some_and(|flags| flags.contains(&"hypervisor")),
        guessed,
    })
}

/// Sockets and physical cores among the processors this process may run on; one core a processor where the kernel is silent.
fn sockets_and_cores(info: &procfs::CpuInfo) -> (u32, u32) {
    let allowed = rustix::thread::sched_getaffinity(None).ok();
    let may_run = |cpu: usize| {
        allowed
            .as_ref()
            .is_none_or(|set| cpu >= rustix::thread::CpuSet::MAX_CPU || set.is_set(cpu))
    };
    let mut sockets = BTreeSet::new();
    let mut cores = BTreeSet::new();
    for cpu in 0..info.num_cores() {
        let number = |field| {
            info.get_field(cpu, field)
                .and_then(|text| text.trim().parse::<usize>().ok())
        };
        let processor = number("processor").unwrap_or(cpu);
        if may_run(processor) {
            let socket = number("physical id").unwrap_or(0);
            sockets.insert(socket);
            // A processor without a core of its own must not fall together with one that has.
            cores.insert(number("core id").map_or((socket, None, processor), |core| (socket, Some(core), 0)));
        }
    }
    (sockets.len() as u32, cores.len() as u32)
}

/// Nominal clock in GHz: of the model's name (`@ 2.33GHz`), else of the frequency driver, else what runs now.
fn clock(model: Option<&str>, khz: Option<&str>, mhz: Option<&str>) -> Option<f64> {
    let named = model.and_then(|m| {
        m.rsplit_once('@')?
            .1
            .trim()
            .strip_suffix("GHz")?
            .trim()
            .parse::<f64>()
            .ok()
    });
    let driver = || {
        khz.and_then(|text| text.trim().parse::<f64>().ok())
            .map(|khz| khz / 1e6)
    };
    let now = || {
        mhz.and_then(|text| text.trim().parse::<f64>().ok())
            .map(|mhz| mhz / 1e3)
    };
    let ghz = named.or_else(driver).or_else(now)?;
    (0.1..=20.0).contains(&ghz).then(|| (ghz * 100.0).round() / 100.0)
}

/// The lowest memory limit of this process's groups and those above them, cgroup v1 and v2, mounted below `mount`.
///
/// A container may see only the root of its own tree, so groups that are not there are passed over.
fn memory_limit(groups: &str, mount: &Path) -> Option<u64> {
    let mut lowest = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (parts.next(), parts.next()) else {
            continue;
        };
        let (roots, file): (&[&str], _) = if controllers.is_empty() {
            (&["", "unified"], "memory.max")
        } else if controllers.split(',').any(|c| c == "memory") {
            (&["memory"], "memory.limit_in_bytes")
        } else {
            continue;
        };
        for root in roots {
            let root = mount.join(root);
            let group = Path::new(group.trim_start_matches('/'));
            for above in group.ancestors() {
                let path: PathBuf = root.join(above).join(file);
                let limit = fs::read_to_string(path)
                    .ok()
                    .and_then(|text| text.trim().parse::<u64>().ok());
                lowest = lowest.into_iter().chain(limit).min();
            }
        }
    }
    lowest
}

/// The name for people in an `os-release` file, else `Linux`.
fn os_name(os_release: &str) -> String {
    let named = os_release
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="));
    let name = named.map_or("", |name| name.trim().trim_matches(['"', '\'']));
    if name.is_empty() {
        "Linux".to_owned()
    } else {
        name.to_owned()
    }
}

/// Million rounds a second on one core: the best of five windows, so that neighbours do not count.
pub(super) fn core_speed() -> f64 {
    const WINDOW: Duration = Duration::from_millis(80);
    (0..5)
        .map(|_| rounds_per_second(WINDOW) / 1e6)
        .fold(0.1, f64::max)
}

/// A chain of hashes (SplitMix64's mixing) through a table of 32 KiB with a branch that cannot be foreseen: like a
/// server's hot loops it leans on latency, the first cache and the branch unit.
fn rounds_per_second(window: Duration) -> f64 {
    const ROUNDS: u64 = 20_000;
    let mut table = vec![0_u64; 4096];
    let mut hash = 1_u64;
    let mut rounds = 0;
    let start = Instant::now();
    while start.elapsed() < window {
        for _ in 0..ROUNDS {
            hash = super::scratch::mix(hash);
            let slot = &mut table[(hash >> 52) as usize];
            if *slot & 1 == 0 {
                *slot ^= hash;
            } else {
                hash = hash.rotate_left(7).wrapping_add(*slot);
                *slot = slot.wrapping_add(hash);
            }
        }
        rounds += ROUNDS;
    }
    black_box((hash, table));
    rounds as f64 / start.elapsed().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, file: &str, text: &str) {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn the_lowest_memory_limit_on_the_way_up_counts() {
        let v2 = tempfile::tempdir().unwrap();
        put(v2.path(), "a/memory.max", "500\n");
        put(v2.path(), "a/b/memory.max", "max\n");
        assert_eq!(memory_limit("0::/a/b\n", v2.path()), Some(500));
        assert_eq!(memory_limit("0::/\n", v2.path()), None);

        let v1 = tempfile::tempdir().unwrap();
        put(v1.path(), "memory/memory.limit_in_bytes", "9223372036854771712\n");
        put(v1.path(), "memory/x/memory.limit_in_bytes", "700\n");
        assert_eq!(
            memory_limit("4:cpu:/\n3:hugetlb,memory:/x\n0::/\n", v1.path()),
            Some(700)
        );
        assert_eq!(
            memory_limit("3:memory:/outside/this/container\n", v1.path()),
            Some(9223372036854771712)
        );
        assert_eq!(memory_limit("nonsense\n:\n", v1.path()), None);
    }

    #[test]
    fn the_clock_is_the_nominal_one_where_it_is_told() {
        let xeon = Some("Intel(R) Xeon(R) CPU E5345 @ 2.33GHz");
        assert_eq!(clock(xeon, Some("3000000"), Some("1600.1")), Some(2.33));
        assert_eq!(
            clock(Some("AMD EPYC"), Some("2450000\n"), Some("1600.1")),
            Some(2.45)
        );
        assert_eq!(clock(None, None, Some("2445.404")), Some(2.45));
        assert_eq!(clock(Some("@ fast"), None, None), None);
    }

    #[test]
    fn the_system_has_a_name() {
        assert_eq!(
            os_name("ID=x\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n"),
            "Debian GNU/Linux 12"
        );
        assert_eq!(os_name("PRETTY_NAME=\"\""), "Linux");
    }

    #[test]
    fn this_machine_is_plausible() {
        let machine = read().unwrap();
        assert!(machine.cpu.sockets >= 1 && machine.cpu.cores >= machine.cpu.sockets);
        assert!(machine.cpu.threads >= machine.cpu.cores);
        assert!(machine.ram >= Bytes(64 * Bytes::MIB), "{}", machine.ram);
    }
}
