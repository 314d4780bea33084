//! What the server really runs with.

use crate::{
    catalog::{Catalog, Durability},
    units::{Config, Value},
};
use mysql_async::{Conn, prelude::Queryable};
use std::collections::BTreeMap;

/// All global variables as the server tells them, names in lower case.
pub async fn variables(conn: &mut Conn) -> Result<BTreeMap<String, String>, mysql_async::Error> {
    let rows: Vec<(String, String)> = conn.query("SHOW GLOBAL VARIABLES").await?;
    Ok(rows
        .into_iter()
        .map(|(name, value)| (name.to_lowercase(), value))
        .collect())
}

/// Settings that the server has changed, a sentence each.
pub fn changed(given: &Config, variables: &BTreeMap<String, String>) -> Vec<String> {
    given
        .iter()
        .filter_map(|(name, value)| {
            let has = variables.get(name)?;
            (!same(value, has))
                .then(|| format!("the server changed {name} from {value} to {has} without a word"))
        })
        .collect()
}

/// Variables whose value is in a weaker class than `class`, a sentence each.
pub fn weaker_than(
    class: Durability,
    catalog: &Catalog,
    variables: &BTreeMap<String, String>,
    binlog: bool,
) -> Vec<String> {
    catalog
        .iter()
        .filter(|variable| binlog || variable.name != "sync_binlog")
        .filter_map(|variable| {
            let has = variables.get(&variable.name)?;
            let found = variable.class(&variable.kind.parse(has)?);
            (found > class).then(|| format!("{} = {has} is {found}, the study keeps {class}", variable.name))
        })
        .collect()
}

fn same(given: &Value, has: &str) -> bool {
    match given {
        Value::Switch(on) => {
            let has = has.to_ascii_uppercase();
            if *on {
                matches!(has.as_str(), "ON" | "1" | "TRUE")
            } else {
                matches!(has.as_str(), "OFF" | "0" | "FALSE")
            }
        }
        Value::Text(text) => text.eq_ignore_ascii_case(has),
        Value::Bytes(_) | Value::Int(_) | Value::Real(_) => {
            let wanted = given.number().unwrap_or(f64::NAN);
            has.parse::<f64>()
                .is_ok_and(|has| (has - wanted).abs() <= 1e-6 * wanted.abs())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect()
    }

    #[test]
    fn what_the_server_rounds_is_noticed() {
        let given = Config::from([
            ("innodb_buffer_pool_size".into(), Value::Bytes(5 << 20)),
            ("innodb_adaptive_hash_index".into(), Value::Switch(true)),
            ("innodb_change_buffering".into(), Value::Text("ALL".into())),
            ("innodb_max_dirty_pages_pct".into(), Value::Real(75.0)),
            ("not_a_variable".into(), Value::Int(1)),
        ]);
        let has = variables(&[
            ("innodb_buffer_pool_size", "6291456"),
            ("innodb_adaptive_hash_index", "ON"),
            ("innodb_change_buffering", "all"),
            ("innodb_max_dirty_pages_pct", "75.000000"),
        ]);
        let changed = changed(&given, &has);
        assert_eq!(changed.len(), 1, "{changed:?}");
        assert!(changed[0].contains("from 5M to 6291456"));
    }

    #[test]
    fn a_weaker_class_is_noticed() {
        let catalog = Catalog::for_flavor("mariadb-10.11.19".parse().unwrap()).unwrap();
        let weak = |binlog, pairs: &[(&str, &str)]| {
            weaker_than(Durability::Strict, &catalog, &variables(pairs), binlog).len()
        };
        assert_eq!(
            weak(
                false,
                &[
                    ("innodb_flush_log_at_trx_commit", "1"),
                    ("innodb_doublewrite", "ON")
                ]
            ),
            0
        );
        assert_eq!(weak(false, &[("innodb_flush_log_at_trx_commit", "2")]), 1);
        assert_eq!(
            weak(
                false,
                &[
                    ("innodb_doublewrite", "OFF"),
                    ("innodb_flush_log_at_trx_commit", "0")
                ]
            ),
            2
        );
        assert_eq!(weak(false, &[("sync_binlog", "0")]), 0, "there is no binary log");
        assert_eq!(weak(true, &[("sync_binlog", "0")]), 1);
    }
}
