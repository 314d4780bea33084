use super::group::grouped;
use crate::{
    catalog::{Family, TakesEffect, Variable, Version},
    optionfile::{ascii, wrap},
    study::{Setting, StudyEnd},
    units::Value,
};
use std::fmt::Write as _;

/// A low mark that the server keeps at or below its high mark.
const BOUNDED: [(&str, &str); 2] = [
    ("innodb_io_capacity", "innodb_io_capacity_max"),
    ("innodb_max_dirty_pages_pct_lwm", "innodb_max_dirty_pages_pct"),
];

/// Why [`in_safe_order`] repeats a line.
const TWICE: &str =
    "A line that stands twice is meant: a server moves one mark of a pair when the other would cross it.";

/// Statements that bring a running server to the recommendation, as far as it takes changes while running: SET PERSIST on MySQL since 8.0,
/// SET GLOBAL elsewhere. Prints the values from before first, as statements that bring them back. Comments list what waits for a restart.
pub fn apply_sql<'v>(end: &StudyEnd, lookup: impl Fn(&str) -> Option<&'v Variable>) -> String {
    let (dynamic, waiting) = split(end, &lookup);
    let mut sql = String::new();
    comment(
        &mut sql,
        &format!(
            "Recommendation of study {} for workload {} on {}.",
            end.study, end.workload, end.profile
        ),
    );
    if persists(end) {
        comment(
            &mut sql,
            "SET PERSIST also writes the value to mysqld-auto.cnf, which wins over my.cnf until RESET PERSIST.",
        );
    } else {
        comment(
            &mut sql,
            "SET GLOBAL lasts until the server stops; my.cnf makes it last.",
        );
    }
    if !dynamic.is_empty() {
        sql.push('\n');
        comment(
            &mut sql,
            "What is set now, as statements that bring it back: keep this output.",
        );
        sql.push_str(&save(&dynamic));
        sql.push('\n');
        comment(&mut sql, TWICE);
        let verb = if persists(end) { "PERSIST" } else { "GLOBAL" };
        for setting in in_safe_order(&dynamic, |s| &s.value) {
            let _ = writeln!(sql, "SET {verb} {} = {};", setting.name, literal(&setting.value));
        }
    }
    wait(&mut sql, &waiting, "These wait for a restart with my.cnf:", |s| {
        &s.value
    });
    sql
}

/// Statements that bring a running server back from [`apply_sql`] to its defaults, which is where the study started from.
/// A comment holds the query that saves the values of a server that did not run with its defaults.
pub fn rollback_sql<'v>(end: &StudyEnd, lookup: impl Fn(&str) -> Option<&'v Variable>) -> String {
    let (dynamic, waiting) = split(end, &lookup);
    let mut sql = String::new();
    comment(
        &mut sql,
        "Goes back from apply.sql to the defaults of this server. If yours did not run with its defaults, run after this what \
         apply.sql printed; or run this query before apply.sql, and its output after this:",
    );
    for line in save(&dynamic).lines() {
        let _ = writeln!(sql, "--   {line}");
    }
    if !dynamic.is_empty() {
        sql.push('\n');
        comment(&mut sql, TWICE);
        for setting in in_safe_order(&dynamic, |s| &s.default) {
            let _ = writeln!(
                sql,
                "SET GLOBAL {} = {};",
                setting.name,
                literal(&setting.default)
            );
        }
        if persists(end) {
            sql.push('\n');
            comment(
                &mut sql,
                "Takes the lines out of mysqld-auto.cnf, so that the next start does not bring them back.",
            );
            for setting in &dynamic {
                let _ = writeln!(sql, "RESET PERSIST IF EXISTS {};", setting.name);
            }
        }
    }
    wait(
        &mut sql,
        &waiting,
        "These go back when their lines are taken out of my.cnf and the server restarts:",
        |s| &s.default,
    );
    sql
}

/// Whether the server keeps SET PERSIST over a restart.
fn persists(end: &StudyEnd) -> bool {
    end.flavor.family != Family::MariaDb && end.flavor.version >= Version::new(8, 0, 0)
}

/// What can be set while running, and what cannot or is not known.
fn split<'e, 'v>(
    end: &'e StudyEnd,
    lookup: &impl Fn(&str) -> Option<&'v Variable>,
) -> (Vec<&'e Setting>, Vec<&'e Setting>) {
    let dynamic = |s: &&Setting| lookup(&s.name).is_some_and(|v| v.takes_effect == TakesEffect::Dynamic);
    grouped(end)
        .into_iter()
        .flat_map(|(_, settings)| settings)
        .partition(dynamic)
}

/// Puts the high mark of each pair before its low mark where the high mark is raised, after it where it is lowered: in between, the low
/// mark would be above the high one, and the server would move one of them. The first of the two comes again after the second, for a
/// server whose marks were not those that the study knows.
fn in_safe_order<'e>(
    settings: &[&'e Setting],
    target: impl Fn(&'e Setting) -> &'e Value,
) -> Vec<&'e Setting> {
    let mut ordered = settings.to_vec();
    for (low, high) in BOUNDED {
        let place = |name: &str| ordered.iter().position(|s| s.name == name);
        let (Some(l), Some(h)) = (place(low), place(high)) else {
            continue;
        };
        let to = target(ordered[h]);
        let from = if *to == ordered[h].value {
            &ordered[h].default
        } else {
            &ordered[h].value
        };
        let raised = to.number() >= from.number();
        if raised != (h < l) {
            ordered.swap(l, h);
        }
        ordered.insert(l.max(h) + 1, ordered[l.min(h)]);
    }
    ordered
}

/// A query whose output is the statements that set what is set now.
fn save(settings: &[&Setting]) -> String {
    let mut sql = String::new();
    let ordered = in_safe_order(settings, |s| &s.default);
    for (i, Setting { name, value, .. }) in ordered.iter().enumerate() {
        let current = match value {
            Value::Text(_) => format!("QUOTE(@@GLOBAL.{name})"),
            _ => format!("@@GLOBAL.{name}"),
        };
        let (head, title) = if i == 0 {
            ("SELECT", " AS before_tune")
        } else {
            ("UNION ALL SELECT", "")
        };
        let end = if i + 1 == ordered.len() { ";" } else { "" };
        let _ = writeln!(
            sql,
            "{head} CONCAT('SET GLOBAL {name} = ', {current}, ';'){title}{end}"
        );
    }
    sql
}

fn wait<'e>(
    sql: &mut String,
    settings: &[&'e Setting],
    title: &str,
    target: impl Fn(&'e Setting) -> &'e Value,
) {
    if !settings.is_empty() {
        sql.push('\n');
        comment(sql, title);
        for setting in settings {
            comment(sql, &format!("{} = {}", setting.name, target(setting)));
        }
    }
}

/// A value in SQL, where a size takes no suffix.
fn literal(value: &Value) -> String {
    match value {
        Value::Bytes(n) => n.to_string(),
        Value::Text(text) => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''")),
        Value::Int(_) | Value::Real(_) | Value::Switch(_) => value.to_string(),
    }
}

fn comment(sql: &mut String, text: &str) {
    for line in wrap(&ascii(text), 97) {
        let _ = writeln!(sql, "-- {line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::sample;

    fn statements(sql: &str, verb: &str) -> Vec<String> {
        sql.lines()
            .filter(|l| l.starts_with(verb))
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn mariadb_takes_globals_in_a_safe_order() {
        let (end, variables) = sample::mariadb();
        let lookup = |name: &str| variables.get(name);
        let apply = apply_sql(&end, lookup);
        assert_eq!(
            statements(&apply, "SET"),
            [
                "SET GLOBAL innodb_buffer_pool_size = 11811160064;",
                "SET GLOBAL innodb_log_file_size = 2952790016;",
                "SET GLOBAL innodb_adaptive_flushing_lwm = 12.5;",
                "SET GLOBAL innodb_io_capacity_max = 4000;",
                "SET GLOBAL innodb_io_capacity = 2500;",
                "SET GLOBAL innodb_io_capacity_max = 4000;",
                "SET GLOBAL innodb_flush_log_at_trx_commit = 1;",
            ]
        );
        assert!(
            apply.contains(
                "restart with my.cnf:\n-- innodb_log_buffer_size = 16M\n-- innodb_flush_method = fsync\n"
            ),
            "{apply}"
        );
        assert!(apply.contains("SELECT CONCAT('SET GLOBAL innodb_buffer_pool_size = ', @@GLOBAL.innodb_buffer_pool_size, ';') AS before_tune\n"));
        let query: Vec<&str> = apply.lines().filter(|l| l.contains("SELECT CONCAT")).collect();
        assert_eq!(query.len(), 7, "as many as are set");
        assert!(
            query[6].ends_with(';') && query[..6].iter().all(|l| !l.ends_with(';')),
            "one statement"
        );
        let rollback = rollback_sql(&end, lookup);
        let sets = statements(&rollback, "SET");
        assert_eq!(
            sets[3..5],
            [
                "SET GLOBAL innodb_io_capacity = 200;",
                "SET GLOBAL innodb_io_capacity_max = 2000;"
            ]
        );
        assert!(rollback.contains("-- innodb_flush_method = O_DIRECT\n"));
        assert!(
            rollback
                .lines()
                .all(|l| !l.starts_with("SELECT") && !l.starts_with("UNION")),
            "the query is a comment here"
        );
    }

    #[test]
    fn mysql_persists_and_forgets() {
        let (end, variables) = sample::mysql();
        let apply = apply_sql(&end, |name| variables.get(name));
        assert!(
            apply.contains("\nSET PERSIST innodb_redo_log_capacity = 4294967296;\n"),
            "{apply}"
        );
        assert!(!apply.contains("\nSET GLOBAL"));
        let rollback = rollback_sql(&end, |name| variables.get(name));
        assert!(
            rollback.contains("\nSET GLOBAL innodb_redo_log_capacity = 104857600;\n"),
            "{rollback}"
        );
        assert!(rollback.contains("\nRESET PERSIST IF EXISTS innodb_redo_log_capacity;\n"));
    }

    #[test]
    fn a_lowered_pair_goes_the_other_way() {
        let (mut end, variables) = sample::mariadb();
        for setting in &mut end.settings {
            if setting.name.starts_with("innodb_io_capacity") {
                std::mem::swap(&mut setting.value, &mut setting.default);
            }
        }
        let names = |sql: String| -> Vec<String> {
            statements(&sql, "SET GLOBAL innodb_io")
                .iter()
                .map(|l| l.split(' ').nth(2).unwrap().to_owned())
                .collect()
        };
        assert_eq!(
            names(apply_sql(&end, |n| variables.get(n))),
            [
                "innodb_io_capacity",
                "innodb_io_capacity_max",
                "innodb_io_capacity"
            ]
        );
        assert_eq!(
            names(rollback_sql(&end, |n| variables.get(n))),
            [
                "innodb_io_capacity_max",
                "innodb_io_capacity",
                "innodb_io_capacity_max"
            ]
        );
    }

    #[test]
    fn texts_are_quoted_and_comments_stay_comments() {
        assert_eq!(literal(&Value::Text("a'b\\c".into())), "'a''b\\\\c'");
        let (mut end, _) = sample::mariadb();
        end.study = "x\nDROP DATABASE mysql;".into();
        let sql = apply_sql(&end, |_| None) + &rollback_sql(&end, |_| None);
        assert!(sql.lines().all(|l| l.is_empty() || l.starts_with("-- ")), "{sql}");
    }
}
