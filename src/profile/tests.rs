use super::*;
use crate::{
    source::Source,
    units::{Bytes, Rate, Seconds},
};
use proptest::prelude::*;

fn shipped(name: &str) -> Profile {
    load(name, Path::new("/nonexistent")).unwrap()
}

/// The message about a shipped profile in which `from` was replaced.
fn refusal(name: &str, from: &str, to: &str) -> String {
    let (_, text) = SHELF.shipped.iter().find(|(n, _)| *n == name).unwrap();
    assert!(text.contains(from), "{name} has no {from}");
    Profile::parse(&Source::new("p.toml", text.replacen(from, to, 1)))
        .unwrap_err()
        .to_string()
}

#[test]
fn all_shipped_profiles_load_and_survive_a_round_trip() {
    let files = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(SHELF.folder)).unwrap();
    assert_eq!(
        files.count(),
        SHELF.shipped.len(),
        "every file of the folder is shipped"
    );
    for (name, _) in SHELF.shipped {
        let profile = shipped(name);
        assert_eq!(profile.name, *name);
        let again = Profile::parse(&Source::new(format!("{name}.toml"), profile.to_toml())).unwrap();
        assert_eq!(again, profile);
    }
}

#[test]
fn the_published_figures_are_stated_and_the_rest_is_assumed() {
    let xeon = shipped("xeon5345-raid10");
    assert_eq!(
        (xeon.cpu.sockets, xeon.cpu.cores, xeon.ram),
        (2, 8, Bytes(16 << 30))
    );
    assert!(xeon.is_assumed("storage.disks") && !xeon.is_assumed("storage.raid"));
    let insert = shipped("iibench-2disk-raid0");
    assert_eq!(insert.storage.stripe, Some(Bytes(1 << 20)));
    assert!(!insert.is_assumed("storage.disks") && !insert.is_assumed("file_system.type"));
    let modern = shipped("nvme-16c-64g");
    assert!(
        modern.figures().iter().all(|figure| figure.assumed),
        "a table's name stands for all its keys"
    );
}

#[test]
fn arrays_follow_the_closed_forms() {
    let disk = shipped("xeon5345-raid10").storage;
    let mib = |n| Bytes(n * Bytes::MIB);
    // disks x IOPS / penalty; bandwidth of mirrors: all read, half write; of parity: all but the parities.
    for (raid, disks, reads, writes, read, write) in [
        (Raid::None, 1, 100.0, 200.0, 50, 40),
        (Raid::Raid0, 6, 600.0, 1200.0, 300, 240),
        (Raid::Raid1, 2, 200.0, 200.0, 100, 40),
        (Raid::Raid10, 6, 600.0, 600.0, 300, 120),
        (Raid::Raid5, 6, 600.0, 300.0, 250, 200),
        (Raid::Raid6, 6, 600.0, 200.0, 200, 160),
    ] {
        let array = Storage {
            raid,
            disks,
            read_iops: Rate(100.0),
            write_iops: Rate(200.0),
            read_bandwidth: mib(50),
            write_bandwidth: mib(40),
            ..disk.clone()
        };
        assert_eq!(array.array_read_iops(), Rate(reads), "{raid}");
        assert_eq!(array.array_write_iops(), Rate(writes), "{raid}");
        assert_eq!(array.array_read_bandwidth(), mib(read), "{raid}");
        assert_eq!(array.array_write_bandwidth(), mib(write), "{raid}");
    }
}

#[test]
fn what_is_wrong_is_said_at_its_place() {
    let xeon = |from, to| refusal("xeon5345-raid10", from, to);
    for (message, says) in [
        (
            xeon("ram = \"16G\"", "ram = \"0\""),
            "p.toml:18:7: memory.ram is 0; it must lie between 64M and",
        ),
        (
            xeon("ram = \"16G\"", "ram = \"16 apples\""),
            "p.toml:18:7: '16 apples' is not a size",
        ),
        (
            xeon("ram = \"16G\"", "rom = \"16G\""),
            "p.toml:18:1: unknown field `rom`",
        ),
        (xeon("ram = \"16G\"", ""), "missing field `ram`"),
        (xeon("cores = 8", "cores = 0"), "p.toml:13:9: cpu.cores is 0"),
        (
            xeon("cores = 8", "cores = -8"),
            "p.toml:13:9: invalid value: integer `-8`",
        ),
        (
            xeon("cores = 8", "cores = 1"),
            "p.toml:13:9: cpu.cores counts all sockets together",
        ),
        (
            xeon("threads = 8", "threads = 4"),
            "p.toml:14:11: cpu.threads counts all cores together",
        ),
        (xeon("ghz = 2.33", "ghz = nan"), "p.toml:15:7: cpu.ghz is NaN"),
        (xeon("disks = 4", "disks = 0"), "p.toml:22:9: storage.disks is 0"),
        (
            xeon("disks = 4", "disks = 5"),
            "RAID 10 takes an even number of disks, at least 4, not 5",
        ),
        (
            xeon("disks = 4", "disks = 2"),
            "RAID 10 takes an even number of disks, at least 4, not 2",
        ),
        (
            xeon("raid = \"10\"", "raid = \"1\""),
            "p.toml:22:9: RAID 1 takes exactly 2 disks, not 4",
        ),
        (
            xeon("raid = \"10\"", "raid = \"none\""),
            "no RAID takes exactly 1 disk, not 4",
        ),
        (
            xeon("raid = \"10\"", "raid = \"50\""),
            "p.toml:23:8: '50' is not a RAID level; there are: none, 0, 1, 10, 5, 6",
        ),
        (xeon("rpm = 15000", ""), "storage of kind hdd needs rpm"),
        (
            xeon("read_iops = 180", "read_iops = -180"),
            "storage.read_iops is -180",
        ),
        (
            xeon("read_iops = 180", "read_iops = inf"),
            "storage.read_iops is inf",
        ),
        (xeon("\"200us\"", "\"0\""), "storage.sync_latency is 0 s"),
        (
            xeon("schema = 1", "schema = 2"),
            "p.toml:1:10: schema 2 is not known",
        ),
        (
            xeon("\"storage.disks\"", "\"storage.disk\""),
            "p.toml:5:21: assumed names 'storage.disk', which is no figure",
        ),
        (
            xeon("model = \"Intel Xeon 5345\"", "model = \"\""),
            "cpu.model is empty",
        ),
        (
            refusal("xeon-3ghz-raid5", "disks = 6", "disks = 2"),
            "RAID 5 takes at least 3 disks, not 2",
        ),
        (
            refusal(
                "nvme-16c-64g",
                "raid = \"none\"",
                "raid = \"none\"\nstripe = \"64K\"",
            ),
            "storage.stripe is for striped",
        ),
        (
            refusal("nvme-16c-64g", "disks = 1", "disks = 1\nrpm = 7200"),
            "storage.rpm is for kind hdd",
        ),
    ] {
        assert!(message.contains(says), "{message}\nshould say\n{says}");
    }
    assert!(
        refusal("nvme-64c-512g", "raid = \"10\"", "raid = \"6\"\nfoo = 1").contains("unknown field `foo`")
    );
}

#[test]
fn an_assumed_key_that_is_not_there_gets_the_nearest_one() {
    let text = shipped("m5000")
        .to_toml()
        .replacen("storage.rpm", "storage.rmp", 1);
    let error = Profile::parse(&Source::new("p.toml", text)).unwrap_err();
    assert_eq!(error.help.as_deref(), Some("did you mean storage.rpm?"));
}

proptest! {
    #[test]
    fn parsing_never_panics(text: String) {
        let _ = Profile::parse(&Source::new("p.toml", text));
    }

    #[test]
    fn parsing_a_mutilated_profile_never_panics(
        which in 0..SHELF.shipped.len(), from in 0_usize..3000, length in 0_usize..40, instead in "[ -~\n\"é]{0,12}",
    ) {
        let text: Vec<char> = SHELF.shipped[which].1.chars().collect();
        let from = from.min(text.len());
        let to = (from + length).min(text.len());
        let text: String = text[..from].iter().copied().chain(instead.chars()).chain(text[to..].iter().copied()).collect();
        let _ = Profile::parse(&Source::new("p.toml", text));
    }

    #[test]
    fn any_figures_and_texts_survive_a_round_trip(
        summary in "[^\\p{Cc}\\s].*", iops in 1.0..1e8, ghz in 0.1..20.0, ram in (64 * Bytes::MIB)..(1 << 50), sync in 1e-6..10.0,
    ) {
        let mut profile = shipped("m5000");
        profile.summary = summary;
        profile.storage.read_iops = Rate(iops);
        profile.cpu.ghz = ghz;
        profile.cpu.speed = Some(ghz);
        profile.ram = Bytes(ram);
        profile.storage.sync_latency = Seconds(sync);
        let again = Profile::parse(&Source::new("m5000.toml", profile.to_toml())).unwrap();
        prop_assert_eq!(again, profile);
    }
}
