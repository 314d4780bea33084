use super::Files;
use crate::study::{Estimate, Ratio, StudyEnd};
use serde_json::{Value, json};
use std::path::Path;

/// The object with which `tune --json` ends. A figure that is not a number is null.
pub fn json(end: &StudyEnd, files: &Files) -> Value {
    let config: serde_json::Map<String, Value> = end
        .settings
        .iter()
        .map(|s| (s.name.clone(), Value::String(s.value.to_string())))
        .collect();
    let path = |path: &Path| path.to_string_lossy().into_owned();
    json!({
        "study": end.study,
        "objective": { "name": end.objective, "direction": direction(&end.objective) },
        "isolation": end.isolation,
        "cannot": end.cannot,
        "scale": end.scale,
        "durability": end.durability.name(),
        "binlog": end.binlog,
        "server": { "flavor": end.flavor.family.name(), "version": end.flavor.version.to_string() },
        "trials": end.trials,
        "failed": end.failed,
        "void": end.void,
        "load_s": end.load_s,
        "wall_s": end.wall_s,
        "measured_s": end.measured_s,
        "baseline": estimate(&end.baseline),
        "rule_of_thumb": end.rule_of_thumb.as_ref().map(estimate),
        "best": { "config": config, "mean": end.best.mean, "ci95": end.best.ci95 },
        "gain": ratio(&end.gain),
        "gain_over_rule": end.gain_over_rule.as_ref().map(ratio),
        // The sustained rate is not yet told from the raw one, so they are one measurement.
        "raw": { "mean": end.best.mean },
        "stalls": end.stalls,
        "drain_s": end.drain_s,
        "files": {
            "mycnf": path(&files.mycnf),
            "review": path(&files.review),
            "report": files.report.as_deref().map(path),
            "apply": path(&files.apply),
            "rollback": path(&files.rollback),
        },
    })
}

/// A rate is better high; a cost of an operation or a latency is better low.
fn direction(objective: &str) -> &'static str {
    if objective.ends_with("_per_s") {
        "maximize"
    } else {
        "minimize"
    }
}

fn estimate(estimate: &Estimate) -> Value {
    json!({ "mean": estimate.mean, "ci95": estimate.ci95 })
}

fn ratio(ratio: &Ratio) -> Value {
    json!({ "ratio": ratio.ratio, "ci95": ratio.ci95, "pairs": ratio.pairs })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::sample;

    fn files() -> Files {
        Files {
            mycnf: "out/my.cnf".into(),
            review: "out/review.md".into(),
            report: None,
            apply: "out/apply.sql".into(),
            rollback: "out/rollback.sql".into(),
            kept: vec![],
        }
    }

    fn keys(value: &Value) -> Vec<&str> {
        value.as_object().unwrap().keys().map(String::as_str).collect()
    }

    #[test]
    fn it_has_the_shape_of_the_contract() {
        let value = json(&sample::mariadb().0, &files());
        assert_eq!(
            keys(&value),
            [
                "study",
                "objective",
                "isolation",
                "cannot",
                "scale",
                "durability",
                "binlog",
                "server",
                "trials",
                "failed",
                "void",
                "load_s",
                "wall_s",
                "measured_s",
                "baseline",
                "rule_of_thumb",
                "best",
                "gain",
                "gain_over_rule",
                "raw",
                "stalls",
                "drain_s",
                "files"
            ]
        );
        assert_eq!(
            value["objective"],
            json!({"name": "rows_per_s", "direction": "maximize"})
        );
        assert_eq!(value["isolation"], "none");
        assert_eq!(value["durability"], "strict");
        assert_eq!(
            value["server"],
            json!({"flavor": "mariadb", "version": "10.11.19"})
        );
        assert_eq!(
            value["baseline"],
            json!({"mean": 1000.0, "ci95": [980.0, 1020.0]})
        );
        assert_eq!(keys(&value["best"]), ["config", "mean", "ci95"]);
        assert_eq!(value["best"]["config"]["innodb_buffer_pool_size"], "11G");
        assert_eq!(value["best"]["config"]["innodb_io_capacity"], "2500");
        assert_eq!(
            value["gain"],
            json!({"ratio": 1.51, "ci95": [1.46, 1.56], "pairs": 5})
        );
        assert_eq!(
            keys(&value["files"]),
            ["mycnf", "review", "report", "apply", "rollback"]
        );
        assert_eq!(value["files"]["report"], Value::Null);
        assert_eq!(value["files"]["mycnf"], "out/my.cnf");
    }

    #[test]
    fn what_is_not_a_number_is_null() {
        let (mut end, _) = sample::mysql();
        end.best.mean = f64::NAN;
        end.gain.ci95 = [f64::NAN, f64::INFINITY];
        let value = json(&end, &files());
        assert_eq!(value["best"]["mean"], Value::Null);
        assert_eq!(value["gain"]["ci95"], json!([null, null]));
        assert_eq!(value["drain_s"], 12.5);
        assert!(serde_json::from_str::<Value>(&value.to_string()).is_ok());
    }
}
