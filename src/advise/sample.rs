//! Two small finished studies for tests.

use crate::{
    catalog::{DecidedBy, Dimension, Kind, TakesEffect, Variable},
    observation::Isolation,
    space::Space,
    study::{
        Dropped, Durability, Effect, Estimate, FailedTrial, Known, NotSearched, Ratio, Reason, Setting,
        StudyEnd,
    },
    units::{Config, Value},
};
use std::collections::BTreeMap;

/// Variables by name.
pub type Variables = BTreeMap<String, Variable>;

/// A dynamic variable with a default.
pub fn variable(name: &str, default: Value) -> Variable {
    Variable {
        name: name.into(),
        flavor: "mariadb-10.11.19".parse().unwrap(),
        kind: Kind::Int,
        min: None,
        max: None,
        block: None,
        default,
        dimension: Dimension::Count,
        fixed_part: 0,
        takes_effect: TakesEffect::Dynamic,
        decided_by: DecidedBy::Volumes,
        about: format!("What {name} does."),
        durability: String::new(),
        classes: Default::default(),
        source: "test".into(),
    }
}

fn setting(name: &str, value: Value, default: Value, effect: Option<Effect>, reason: Reason) -> Setting {
    Setting {
        name: name.into(),
        value,
        default,
        effect,
        reason,
    }
}

fn effect(ratio: f64, low: f64, high: f64, known: Known) -> Option<Effect> {
    Some(Effect {
        ratio,
        ci95: [low, high],
        known,
    })
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

/// A study of MariaDB without isolation, with a gain over the defaults and none over the rule of thumb.
pub fn mariadb() -> (StudyEnd, Variables) {
    let rule = |why: &str| Reason::Rule(why.into());
    let settings = vec![
        setting(
            "innodb_io_capacity_max",
            Value::Int(4000),
            Value::Int(2000),
            None,
            rule("twice innodb_io_capacity"),
        ),
        setting(
            "innodb_io_capacity",
            Value::Int(2500),
            Value::Int(200),
            None,
            rule("three quarters of the array's writes"),
        ),
        setting(
            "innodb_flush_method",
            text("fsync"),
            text("O_DIRECT"),
            None,
            rule("the array's cache \u{2265} the data"),
        ),
        setting(
            "innodb_log_file_size",
            Value::Bytes(2816 << 20),
            Value::Bytes(96 << 20),
            effect(1.12, 1.04, 1.2, Known::Modelled),
            Reason::Searched,
        ),
        setting(
            "innodb_log_buffer_size",
            Value::Bytes(16 << 20),
            Value::Bytes(8 << 20),
            effect(1.01, 0.98, 1.03, Known::Modelled),
            Reason::Searched,
        ),
        setting(
            "innodb_buffer_pool_size",
            Value::Bytes(11 << 30),
            Value::Bytes(128 << 20),
            effect(1.34, 1.28, 1.4, Known::Measured),
            Reason::Searched,
        ),
        setting(
            "innodb_flush_log_at_trx_commit",
            Value::Int(1),
            Value::Int(1),
            None,
            Reason::Held("the study keeps the durability class strict".into()),
        ),
        setting(
            "innodb_adaptive_flushing_lwm",
            Value::Real(12.5),
            Value::Real(10.0),
            None,
            rule("a little later"),
        ),
    ];
    let mut variables: Variables = settings
        .iter()
        .map(|s| (s.name.clone(), variable(&s.name, s.default.clone())))
        .collect();
    for (name, takes_effect) in [
        ("innodb_flush_method", TakesEffect::Restart),
        ("innodb_log_buffer_size", TakesEffect::Init),
    ] {
        variables.get_mut(name).unwrap().takes_effect = takes_effect;
    }
    variables
        .get_mut("innodb_flush_log_at_trx_commit")
        .unwrap()
        .durability = "0 or 2 lose about a second of commits.".into();
    for (name, default) in [
        ("max_connections", Value::Int(151)),
        ("sort_buffer_size", Value::Bytes(2 << 20)),
    ] {
        variables.insert(name.into(), variable(name, default));
    }
    let end = StudyEnd {
        study: "2024-raid10".into(),
        profile: "xeon5345-raid10".into(),
        profile_asked: "xeon5345-raid10".into(),
        profile_summary: "2 \u{d7} quad-core Xeon 5345, 16 GB, RAID 10".into(),
        profile_assumed: vec!["storage.disks".into(), "os.kernel".into()],
        ram: 16 << 30,
        workload: "iibench".into(),
        space: "core".into(),
        objective: "rows_per_s".into(),
        unit: "rows/s".into(),
        flavor: "mariadb-10.11.19".parse().unwrap(),
        server: "/usr/sbin/mariadbd".into(),
        optimizer: "bayes".into(),
        seed: 7,
        scale: 0.0625,
        isolation: Isolation::None,
        cannot: vec![
            "the disks: trials ran on the host's own".into(),
            "8 cores: the host has 2".into(),
        ],
        durability: Durability::Strict,
        binlog: false,
        trials: 24,
        failed: 1,
        void: 0,
        load_s: 50.0,
        wall_s: 600.0,
        measured_s: 480.0,
        rows: 3_000_000,
        rows_asked: Some(3_000_000),
        trials_asked: Some(24),
        budget_s: 600.0,
        baseline: Estimate {
            mean: 1000.0,
            ci95: [980.0, 1020.0],
        },
        rule_of_thumb: Some(Estimate {
            mean: 1490.0,
            ci95: [1450.0, 1530.0],
        }),
        rule_config: Config::from([("innodb_buffer_pool_size".into(), Value::Bytes(11 << 30))]),
        best: Estimate {
            mean: 1512.3,
            ci95: [1480.0, 1545.0],
        },
        gain: Ratio {
            ratio: 1.51,
            ci95: [1.46, 1.56],
            pairs: 5,
        },
        gain_over_rule: Some(Ratio {
            ratio: 1.015,
            ci95: [0.99, 1.04],
            pairs: 5,
        }),
        settings,
        dropped: vec![Dropped {
            name: "innodb_purge_threads".into(),
            tried: Value::Int(8),
            default: Value::Int(4),
            effect: effect(1.0, 0.97, 1.03, Known::Measured),
        }],
        searched: Space {
            name: "core".into(),
            summary: String::new(),
            knobs: Vec::new(),
            memory: None,
        },
        baseline_config: Default::default(),
        baseline_in_space: false,
        not_searched: vec![NotSearched {
            name: "innodb_read_io_threads".into(),
            why: "the array decides it".into(),
        }],
        failures: vec![FailedTrial {
            trial: 9,
            reason: "did not start: [ERROR] InnoDB: Cannot allocate | out of memory\nsecond line".into(),
            config: Config::from([("innodb_buffer_pool_size".into(), Value::Bytes(64 << 30))]),
        }],
        stalls: 0.02,
        drain_s: None,
    };
    (end, variables)
}

/// A study of MySQL on a complete twin.
pub fn mysql() -> (StudyEnd, Variables) {
    let (mut end, mut variables) = mariadb();
    end.flavor = "mysql-9.7.0".parse().unwrap();
    end.server = "/opt/my sql/bin/mysqld".into();
    end.isolation = Isolation::Twin;
    end.cannot.clear();
    end.binlog = true;
    end.profile_assumed.clear();
    end.drain_s = Some(12.5);
    end.gain_over_rule = Some(Ratio {
        ratio: 1.08,
        ci95: [1.05, 1.11],
        pairs: 5,
    });
    end.settings
        .retain(|s| !["innodb_log_file_size", "innodb_adaptive_flushing_lwm"].contains(&s.name.as_str()));
    end.settings.push(setting(
        "innodb_redo_log_capacity",
        Value::Bytes(4 << 30),
        Value::Bytes(100 << 20),
        effect(1.12, 1.04, 1.2, Known::Measured),
        Reason::Searched,
    ));
    variables.remove("innodb_log_file_size");
    variables.insert(
        "innodb_redo_log_capacity".into(),
        variable("innodb_redo_log_capacity", Value::Bytes(100 << 20)),
    );
    (end, variables)
}
