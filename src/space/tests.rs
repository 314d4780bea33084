//! The shipped spaces, errors in spaces that people write, and the way to the cube and back.

use super::*;
use proptest::prelude::*;

const BOXES: [Hardware; 4] = [
    Hardware {
        ram: Bytes(2 << 30),
        cores: 2,
        write_iops: 120.0,
    },
    Hardware {
        ram: Bytes(16 << 30),
        cores: 8,
        write_iops: 250.0,
    },
    Hardware {
        ram: Bytes(64 << 30),
        cores: 16,
        write_iops: 50_000.0,
    },
    Hardware {
        ram: Bytes(512 << 30),
        cores: 64,
        write_iops: 200_000.0,
    },
];
const FLAVORS: [&str; 8] = [
    "mariadb-10.5.20",
    "mariadb-10.11.19",
    "mariadb-11.4.5",
    "mariadb-11.8.9",
    "mysql-8.0.28",
    "mysql-8.0.36",
    "mysql-8.4.3",
    "mysql-9.7.4",
];

fn catalog(flavor: &str) -> Catalog {
    Catalog::for_flavor(flavor.parse().unwrap()).unwrap()
}

fn shipped(name: &str, flavor: &str, hardware: &Hardware) -> Space {
    let source = SHELF.find(name, std::path::Path::new("/nonexistent")).unwrap();
    Space::read(&source, &catalog(flavor), hardware).unwrap_or_else(|e| panic!("{flavor}: {e}"))
}

fn written(text: &str) -> Result<Space, String> {
    let source = Source::new("s.toml", format!("schema = 1\nname = 's'\nsummary = 'x'\n{text}"));
    Space::read(&source, &catalog("mariadb-10.11.19"), &BOXES[1]).map_err(|e| e.to_string())
}

#[test]
fn shipped_spaces_suit_every_server_and_machine() {
    for flavor in FLAVORS {
        for hardware in &BOXES {
            let core = shipped("core", flavor, hardware);
            let full = shipped("full", flavor, hardware);
            assert!(
                (11..=13).contains(&core.knobs.len()),
                "{flavor} core: {}",
                core.knobs.len()
            );
            assert!(
                (25..=30).contains(&full.knobs.len()),
                "{flavor} full: {}",
                full.knobs.len()
            );
            let first = |space: &Space| {
                space
                    .knobs
                    .iter()
                    .take(core.knobs.len())
                    .map(|k| k.name.clone())
                    .collect::<Vec<_>>()
            };
            assert_eq!(
                first(&core),
                first(&full),
                "the full space begins with the core one"
            );
            assert_eq!(core.knobs[0].name, "innodb_buffer_pool_size");
        }
    }
}

#[test]
fn ranges_never_contradict_each_other() {
    for hardware in &BOXES {
        let space = shipped("full", "mysql-8.0.36", hardware);
        let ends = |name: &str| match &space.knobs.iter().find(|k| k.name == name).unwrap().domain {
            Domain::Number { low, high, .. } => (*low, *high),
            Domain::Choice(_) => panic!("{name} has choices"),
        };
        assert!(ends("innodb_io_capacity").1 <= ends("innodb_io_capacity_max").0);
        assert!(ends("innodb_max_dirty_pages_pct_lwm").1 <= ends("innodb_max_dirty_pages_pct").0);
    }
}

#[test]
fn values_are_at_full_size_and_readable() {
    let space = shipped("core", "mariadb-10.11.19", &BOXES[1]);
    let ends = |i: usize| [0.0, 0.5, 1.0].map(|u| space.knobs[i].decode(u).to_string());
    assert_eq!(ends(0), ["832M", "3264M", "13056M"]);
    assert_eq!(ends(1), ["96M", "624M", "4G"]);
    assert_eq!(ends(2), ["100", "220", "500"]);
}

#[test]
fn a_configuration_that_sets_less_is_at_the_defaults() {
    let space = shipped("core", "mariadb-10.11.19", &BOXES[1]);
    assert_eq!(
        space.encode(&Config::new()),
        None,
        "the default pool is below 5% of 16 GiB"
    );
    let config = Config::from([("innodb_buffer_pool_size".to_owned(), Value::Bytes(8 << 30))]);
    let point = space.encode(&config).unwrap();
    assert_eq!(space.decode(&point)["innodb_flush_neighbors"], Value::Int(1));
    assert_eq!(space.nearest(&Config::new())[0], 0.0);
    assert_eq!(space.decode(&[]).len(), space.knobs.len());
}

#[test]
fn a_durability_class_takes_out_what_it_rules_out() {
    let names = |space: &Space| space.knobs.iter().map(|k| k.name.clone()).collect::<Vec<_>>();
    let catalog = catalog("mariadb-10.11.19");
    let full = shipped("full", "mariadb-10.11.19", &BOXES[1]);
    let mut strict = full.clone();
    assert_eq!(
        strict.keep_within(Durability::Strict, &catalog),
        ["innodb_doublewrite", "innodb_flush_log_at_trx_commit"]
    );
    assert_eq!(names(&strict).len(), full.knobs.len() - 2);
    let method = strict
        .knobs
        .iter()
        .find(|k| k.name == "innodb_flush_method")
        .unwrap();
    assert_eq!(
        method.domain,
        Domain::Choice(vec![Value::Text("O_DIRECT".into()), Value::Text("fsync".into())])
    );

    let mut os_crash = full.clone();
    os_crash.keep_within(Durability::OsCrash, &catalog);
    let log = os_crash
        .knobs
        .iter()
        .find(|k| k.name == "innodb_flush_log_at_trx_commit")
        .unwrap();
    assert_eq!(log.domain, Domain::Choice(vec![Value::Int(1), Value::Int(2)]));

    let mut free = full.clone();
    assert!(free.keep_within(Durability::Unsafe, &catalog).is_empty());
    assert_eq!(free, full);

    let mut binlog = written("[[knob]]\nname = 'sync_binlog'\nlow = 1\nhigh = 100\n").unwrap();
    assert_eq!(binlog.keep_within(Durability::Strict, &catalog), ["sync_binlog"]);
}

#[test]
fn memory_is_checked_before_a_trial() {
    let mut space = shipped("core", "mariadb-10.11.19", &BOXES[1]);
    let mut config = space.decode(&vec![1.0; space.knobs.len()]);
    assert_eq!(space.memory_ok(&config), Ok(()));
    config.insert("innodb_buffer_pool_size".to_owned(), Value::Bytes(14 << 30));
    assert_eq!(
        space.memory_ok(&config).unwrap_err().to_string(),
        "1.05 x innodb_buffer_pool_size 14G + innodb_log_buffer_size 256M + 256M = 15.2 GiB is more than the 14.4 GiB of memory that may be used"
    );
    space.memory = None;
    assert_eq!(space.memory_ok(&config), Ok(()));
}

#[test]
fn errors_point_at_the_place() {
    for (text, expected) in [
        ("", "s.toml: space s has no knob for mariadb-10.11.19"),
        (
            "[[knob]]\nname = 'innodb_redo_log_capacity'\nservers = ['mysql']\nlow = 1\nhigh = 2\n",
            "s.toml: space s has no knob for mariadb-10.11.19",
        ),
        (
            "[[knob]]\nname = 'innodb_redo_log_capacity'\nlow = '1G'\nhigh = '2G'\n",
            "s.toml:5:8: mariadb-10.11.19 has no variable innodb_redo_log_capacity",
        ),
        ("colour = 3\n", "s.toml:4:1: unknown field `colour`"),
        (
            "[[knob]]\nname = 'innodb_io_capacity'\nlow = 900\nhigh = 200\n",
            "s.toml:6:7: low is 900, above high, which is 200",
        ),
        (
            "[[knob]]\nname = 'innodb_io_capacity'\nlow = 50\nhigh = 200\n",
            "s.toml:6:7: innodb_io_capacity = 50 is below 100, the least that mariadb-10.11.19 takes",
        ),
        (
            "[[knob]]\nname = 'innodb_old_blocks_pct'\nlow = 5\nhigh = 99\n",
            "s.toml:7:8: innodb_old_blocks_pct = 99 is above 95, the most",
        ),
        (
            "[[knob]]\nname = 'innodb_buffer_pool_size'\nlow = '5% of disk'\nhigh = '2G'\n",
            "s.toml:6:7: '5% of disk' is not a bound",
        ),
        (
            "[[knob]]\nname = 'innodb_buffer_pool_size'\nlow = '1G'\nhigh = '1G'\n",
            "s.toml:7:8: from 1G to 1G there are not two values",
        ),
        (
            "[[knob]]\nname = 'innodb_spin_wait_delay'\nlow = 0\nhigh = 9\nscale = 'log'\n",
            "s.toml:6:7: a logarithmic scale needs a low above 0",
        ),
        (
            "[[knob]]\nname = 'innodb_spin_wait_delay'\nspecial = [3]\nlow = 1\nhigh = 9\n",
            "s.toml:6:12: special value 3 lies between low and high",
        ),
        (
            "[[knob]]\nname = 'innodb_flush_method'\nchoices = ['O_DIRECT', 'O_FAST']\n",
            "s.toml:6:24: innodb_flush_method takes one of fsync, O_DSYNC",
        ),
        (
            "[[knob]]\nname = 'innodb_flush_neighbors'\nchoices = [0, 3]\n",
            "s.toml:6:15: innodb_flush_neighbors = 3 is above 2",
        ),
        (
            "[[knob]]\nname = 'innodb_flush_neighbors'\nchoices = [0, 0]\n",
            "s.toml:6:15: 0 is stated twice",
        ),
        (
            "[[knob]]\nname = 'innodb_flush_neighbors'\nchoices = [0]\n",
            "s.toml:6:11: a knob needs at least two choices",
        ),
        (
            "[[knob]]\nname = 'innodb_flush_sync'\nlow = 0\nhigh = 1\n",
            "s.toml:5:8: innodb_flush_sync takes ON or OFF: it needs",
        ),
        (
            "[[knob]]\nname = 'innodb_io_capacity'\nlow = 100\n",
            "s.toml:5:8: innodb_io_capacity needs either low and high",
        ),
        (
            "[[knob]]\nname = 'innodb_io_capacity'\nlow = 100\nhigh = 200\nstep = 0.5\n",
            "s.toml:8:8: a step must be a whole number above 0",
        ),
        (
            "[[knob]]\nname = 'innodb_flush_sync'\nchoices = [true, false]\n\
             [[knob]]\nname = 'innodb_flush_sync'\nchoices = [true, false]\n",
            "s.toml:8:8: innodb_flush_sync is stated twice",
        ),
        (
            "[memory]\nlimit = '90% of ram'\nparts = ['innodb_bufer_pool_size']\n\
             [[knob]]\nname = 'innodb_flush_sync'\nchoices = [true, false]\n",
            "s.toml:6:10: mariadb-10.11.19 has no variable innodb_bufer_pool_size",
        ),
    ] {
        let error = written(text).expect_err(text);
        assert!(error.starts_with(expected), "{error}\nexpected {expected}");
    }
    let error = Space::read(
        &Source::new("s.toml", "schema = 2\nname = 's'\nsummary = 'x'\n"),
        &catalog("mysql-8.4"),
        &BOXES[0],
    );
    assert!(
        error
            .unwrap_err()
            .to_string()
            .starts_with("s.toml:1:10: this space has schema 2")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn to_the_cube_and_back(
        seed in prop::collection::vec(0.0..=1.0f64, 30), full: bool, flavor in 0..FLAVORS.len(), hardware in 0..BOXES.len(),
    ) {
        let catalog = catalog(FLAVORS[flavor]);
        let space = shipped(if full { "full" } else { "core" }, FLAVORS[flavor], &BOXES[hardware]);
        let config = space.decode(&seed);
        let point = space.encode(&config).expect("what was decoded can be encoded");
        prop_assert_eq!(space.decode(&point), config.clone());
        prop_assert_eq!(space.nearest(&config), point.clone());
        for ((knob, u), dim) in space.knobs.iter().zip(&point).zip(space.dims()) {
            let (value, variable) = (&config[&knob.name], catalog.get(&knob.name).unwrap());
            prop_assert_eq!(variable.accepts(value), Ok(()));
            if let (Value::Bytes(n), Some(block)) = (value, variable.block) {
                prop_assert_eq!(n % block, 0);
            }
            prop_assert!((dim.snap(*u) - u).abs() < 1e-9, "{} {}", knob.name, u);
        }
    }

    #[test]
    fn a_broken_text_is_an_error_and_no_panic(cut in 0..4000usize, insert in ".{0,6}", skip in 0..40usize) {
        let text = SHELF.shipped[0].1;
        let floor = |mut i: usize| { i = i.min(text.len()); while !text.is_char_boundary(i) { i -= 1 } i };
        let broken = format!("{}{insert}{}", &text[..floor(cut)], &text[floor(cut + skip)..]);
        let _ = Space::read(&Source::new("s.toml", broken), &catalog("mariadb-10.11.19"), &BOXES[1]);
    }

    #[test]
    fn any_ends_are_an_error_or_a_domain(low in any::<f64>(), high in any::<f64>(), step in any::<f64>(), log: bool) {
        for name in ["innodb_io_capacity", "innodb_buffer_pool_size", "innodb_max_dirty_pages_pct"] {
            for step in [String::new(), format!("step = {step:?}\n")] {
                let scale = if log { "log" } else { "linear" };
                let text = format!("[[knob]]\nname = '{name}'\nlow = {low:?}\nhigh = {high:?}\nscale = '{scale}'\n{step}");
                if let Ok(space) = written(&text) {
                    let config = space.decode(&[0.3]);
                    prop_assert_eq!(space.decode(&space.encode(&config).unwrap()), config);
                }
            }
        }
    }

    #[test]
    fn any_text_is_no_panic(text: String) {
        let _ = written(&text);
    }
}
