//! What each system variable is, by server flavor: kind, unit, range, default, when a change takes effect, dimension, what decides it
//! and what it risks. The facts are the `*.toml` files beside this one.

mod durability;
mod file;
mod flavor;
mod kind;
mod variable;

pub use durability::Durability;
pub use flavor::{Family, Flavor, FlavorError, Servers, Version};
pub use kind::Kind;
pub use variable::{DecidedBy, Dimension, TakesEffect, ValueError, Variable};

use crate::source::{Source, SourceError};
use std::collections::BTreeMap;

/// The shipped files, one concept each.
const SHIPPED: [(&str, &str); 8] = [
    ("memory", include_str!("memory.toml")),
    ("redo", include_str!("redo.toml")),
    ("flushing", include_str!("flushing.toml")),
    ("reads", include_str!("reads.toml")),
    ("change-buffer", include_str!("change-buffer.toml")),
    ("durability", include_str!("durability.toml")),
    ("concurrency", include_str!("concurrency.toml")),
    ("purge", include_str!("purge.toml")),
];

/// The variables of one server flavor, by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Catalog {
    flavor: Flavor,
    variables: BTreeMap<String, Variable>,
}

impl Catalog {
    /// What the shipped files say about `flavor`; empty for a server they do not cover (they begin at MariaDB 10.5 and MySQL 8.0).
    ///
    /// # Errors
    /// Where a shipped file is broken, which the tests rule out.
    pub fn for_flavor(flavor: Flavor) -> Result<Self, SourceError> {
        let mut catalog = Self {
            flavor,
            variables: BTreeMap::new(),
        };
        for (name, text) in SHIPPED {
            catalog.add(&Source::new(format!("built-in:catalog/{name}.toml"), text))?;
        }
        Ok(catalog)
    }

    fn add(&mut self, source: &Source) -> Result<(), SourceError> {
        for (span, variable) in file::read(source, self.flavor)? {
            let name = variable.name.clone();
            if self.variables.insert(name.clone(), variable).is_some() {
                return Err(source.error(span, format!("{name} is described twice")));
            }
        }
        Ok(())
    }

    /// Keeps the variables that the server itself has (`told`: name and default as it prints them), and takes its word for the default
    /// of a volume: builds differ, and the defaults are the baseline.
    pub fn keep_what_is_told(&mut self, told: &BTreeMap<String, String>) {
        self.variables.retain(|name, _| told.contains_key(name));
        for variable in self
            .variables
            .values_mut()
            .filter(|v| v.dimension == Dimension::Volume)
        {
            // 0 stands for a value that the server works out when it starts.
            let default = variable.parse(&told[&variable.name]).ok();
            if let Some(default) = default.filter(|value| value.number() != Some(0.0)) {
                variable.default = default;
            }
        }
    }

    /// The server described.
    pub fn flavor(&self) -> Flavor {
        self.flavor
    }

    /// The variable of this name (with underscores), if this server has it.
    pub fn get(&self, name: &str) -> Option<&Variable> {
        self.variables.get(name)
    }

    /// All variables in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Variable> {
        self.variables.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Value;

    const FLAVORS: [&str; 16] = [
        "mariadb-10.5",
        "mariadb-10.5.29",
        "mariadb-10.6.20",
        "mariadb-10.11.2",
        "mariadb-10.11.19",
        "mariadb-11.0.1",
        "mariadb-11.4.2",
        "mariadb-11.4.9",
        "mariadb-11.8.9",
        "mysql-8.0.11",
        "mysql-8.0.29",
        "mysql-8.0.36",
        "mysql-8.4.3",
        "mysql-9.1",
        "mysql-9.7.4",
        "percona-8.0.36",
    ];

    fn catalog(flavor: &str) -> Catalog {
        Catalog::for_flavor(flavor.parse().unwrap()).unwrap()
    }

    #[test]
    fn the_shipped_files_describe_every_covered_server_soundly() {
        for flavor in FLAVORS {
            let catalog = catalog(flavor);
            assert!(
                catalog.iter().count() >= 35,
                "{flavor}: {}",
                catalog.iter().count()
            );
            for v in catalog.iter() {
                let name = format!("{} on {flavor}", v.name);
                assert_eq!(v.accepts(&v.default), Ok(()), "default of {name}");
                assert!(
                    !v.about.is_empty() && v.about.chars().count() <= 90,
                    "{name}: {}",
                    v.about
                );
                assert!(!v.source.is_empty(), "{name} has no source");
                assert_eq!(
                    v.class(&v.default) == Durability::Strict,
                    v.name != "sync_binlog" || v.default == Value::Int(1),
                    "{name}"
                );
                assert_eq!(
                    v.classes.is_empty(),
                    v.durability.is_empty() || UNCLASSED.contains(&&*v.name),
                    "{name}"
                );
                if let (Some(min), Some(block)) = (v.min, v.block) {
                    assert_eq!(min % block as f64, 0.0, "{name}");
                }
            }
        }
    }

    /// What costs something only beside another setting, or is a risk that no class names.
    const UNCLASSED: [&str; 2] = ["innodb_flush_log_at_timeout", "innodb_change_buffering"];

    #[test]
    fn servers_differ() {
        let value = |flavor: &str, name: &str| catalog(flavor).get(name).map(|v| v.default.to_string());
        assert_eq!(
            value("mariadb-10.11.19", "innodb_change_buffering").as_deref(),
            Some("none")
        );
        assert_eq!(value("mariadb-11.8.9", "innodb_change_buffering"), None);
        assert_eq!(
            value("mysql-9.7.4", "innodb_change_buffering").as_deref(),
            Some("all")
        );
        assert_eq!(
            value("mysql-8.4.3", "innodb_io_capacity").as_deref(),
            Some("10000")
        );
        assert_eq!(value("mysql-8.0.29", "innodb_redo_log_capacity"), None);
        assert_eq!(
            value("mysql-8.0.36", "innodb_redo_log_capacity").as_deref(),
            Some("100M")
        );
        assert_eq!(value("percona-8.0.36", "innodb_log_file_size"), None);
        assert_eq!(
            value("mariadb-10.5", "innodb_flush_method").as_deref(),
            Some("fsync")
        );
        assert_eq!(
            value("mariadb-10.11.19", "innodb_purge_batch_size").as_deref(),
            Some("127")
        );
        assert_eq!(catalog("mysql-5.7.40").iter().count(), 0);
    }

    #[test]
    fn classes_of_values() {
        let catalog = catalog("mysql-8.0.36");
        let class = |name: &str, value: Value| catalog.get(name).unwrap().class(&value);
        assert_eq!(
            class("innodb_flush_log_at_trx_commit", Value::Int(2)),
            Durability::OsCrash
        );
        assert_eq!(
            class("innodb_flush_log_at_trx_commit", Value::Int(0)),
            Durability::ProcessCrash
        );
        assert_eq!(class("sync_binlog", Value::Int(100)), Durability::OsCrash);
        assert_eq!(class("sync_binlog", Value::Int(1)), Durability::Strict);
        assert_eq!(
            class("innodb_doublewrite", Value::Text("DETECT_ONLY".into())),
            Durability::Unsafe
        );
        assert_eq!(
            class("innodb_buffer_pool_size", Value::Bytes(1 << 30)),
            Durability::Strict
        );
    }

    #[test]
    fn a_variable_described_twice_is_an_error() {
        let text = "schema = 1\n".to_owned()
            + &"[[variable]]\nname = 'a'\ndimension = 'count'\ndecided_by = 'array'\nabout = 'x'\nsource = 'y'\n\
                [[variable.on]]\nservers = ['mysql']\nkind = 'int'\ndefault = 1\ntakes_effect = 'dynamic'\n"
                .repeat(2);
        let mut catalog = Catalog {
            flavor: "mysql-8.0".parse().unwrap(),
            variables: BTreeMap::new(),
        };
        let error = catalog.add(&Source::new("x.toml", text)).unwrap_err();
        assert!(
            error.to_string().starts_with("x.toml:14:8: a is described twice"),
            "{error}"
        );
    }
}
