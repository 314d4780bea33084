//! How figures and facts of a study are said, in ASCII.

use crate::{
    advise::holds_one,
    catalog::{TakesEffect, Variable},
    observation::Isolation,
    study::{Effect, Estimate, Known, Ratio, Reason, StudyEnd},
    units::{Fraction, Seconds},
};

/// A figure to about three places: `1512`, `15.1`, `1.51`.
pub fn figure(x: f64) -> String {
    let decimals = match x.abs() {
        a if a >= 100.0 => 0,
        a if a >= 10.0 => 1,
        _ => 2,
    };
    format!("{x:.decimals$}")
}

/// `1512 rows/s [1480, 1545]`.
pub fn estimate(estimate: &Estimate, unit: &str) -> String {
    format!("{} {unit} {}", figure(estimate.mean), figures(estimate.ci95))
}

/// An interval of figures: `[1480, 1545]`.
pub fn figures(ci95: [f64; 2]) -> String {
    format!("[{}, {}]", figure(ci95[0]), figure(ci95[1]))
}

/// A ratio as a change: 1.34 is `+34%`, 1.042 `+4.2%`.
pub fn percent(ratio: f64) -> String {
    let change = (ratio - 1.0) * 100.0;
    let decimals = usize::from(change.abs() < 9.95);
    // Adding 0 makes a negative zero positive.
    format!("{:+.decimals$}%", (change * 10.0).round() / 10.0 + 0.0)
}

fn change(ratio: f64, ci95: [f64; 2]) -> String {
    format!("{} [{}, {}]", percent(ratio), percent(ci95[0]), percent(ci95[1]))
}

/// What a setting does: `+34% [+28%, +40%], measured`, `no difference found (...)` or `not measured`.
pub fn effect(effect: Option<&Effect>) -> String {
    let Some(effect) = effect.filter(|e| e.ratio.is_finite()) else {
        return "not measured".into();
    };
    let known = match effect.known {
        Known::Measured => "measured",
        Known::Modelled => "modelled",
    };
    let change = change(effect.ratio, effect.ci95);
    if holds_one(effect.ci95) {
        format!("no difference found ({change}, {known})")
    } else {
        format!("{change}, {known}")
    }
}

/// What a setting does, without the interval where that holds 1, for a narrow column.
pub fn short_effect(known: Option<&Effect>) -> String {
    match known {
        Some(e) if e.ratio.is_finite() && holds_one(e.ci95) => "no difference found".into(),
        _ => effect(known),
    }
}

/// The gain over the rule of thumb, or that there is none to state.
pub fn over_rule(end: &StudyEnd) -> String {
    end.gain_over_rule
        .as_ref()
        .map_or_else(|| "not measured: its trials failed".into(), gain)
}

/// A gain: `+51% [+46%, +56%], 5 pairs` or `no difference found (...)`.
pub fn gain(ratio: &Ratio) -> String {
    if ratio.pairs == 0 || !ratio.ratio.is_finite() {
        return "not measured".into();
    }
    let text = format!(
        "{}, {} {}",
        change(ratio.ratio, ratio.ci95),
        ratio.pairs,
        if ratio.pairs == 1 { "pair" } else { "pairs" }
    );
    if holds_one(ratio.ci95) {
        format!("no difference found ({text})")
    } else {
        text
    }
}

/// When a change of the variable takes effect.
pub fn takes_effect(variable: Option<&Variable>) -> &'static str {
    match variable.map(|v| v.takes_effect) {
        Some(TakesEffect::Dynamic) => "can be set while running",
        Some(TakesEffect::Restart) => "needs a restart",
        Some(TakesEffect::Init) => "fixed when the data directory is made",
        None => "not in the catalog: take it to need a restart",
    }
}

/// Why a setting is there.
pub fn reason(reason: &Reason) -> String {
    match reason {
        Reason::Searched => "searched by the study, part of the smallest change that gives the gain".into(),
        Reason::Rule(text) => format!("set by rule, not searched: {text}"),
        Reason::RuleStands(text) => {
            format!("set by rule, and the search found nothing clearly better: {text}")
        }
        Reason::Held(text) => format!("held in every trial: {text}"),
    }
}

/// The isolation in plain words; leads over to the list of what is missing, where there is one.
pub fn isolation(end: &StudyEnd) -> String {
    let words = match end.isolation {
        Isolation::Twin => "twin: the trials ran on a reproduction of the profile's disks, memory and cores.",
        Isolation::Partial => "partial: the trials ran on a reproduction of part of the profile's hardware.",
        Isolation::None => "none: the trials ran on this host as it is, not on the profile's hardware.",
    };
    format!(
        "{words}{}",
        if end.cannot.is_empty() {
            ""
        } else {
            " Not reproduced:"
        }
    )
}

/// `MariaDB 10.11.19`.
pub fn server(end: &StudyEnd) -> String {
    format!("{} {}", end.flavor.family.title(), end.flavor.version)
}

/// `1/16`.
pub fn scale(end: &StudyEnd) -> String {
    Fraction(end.scale).to_string()
}

/// `on` or `off`.
pub fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// The command that repeats the study, in lines of at most `width` columns where its words allow, each but the last with a backslash.
pub fn repeat(end: &StudyEnd, width: usize) -> Vec<String> {
    let isolation = match end.isolation {
        Isolation::Twin => "twin",
        Isolation::Partial => "auto",
        Isolation::None => "none",
    };
    let mut options = vec![
        ("profile", end.profile_asked.clone()),
        ("workload", end.workload.clone()),
        ("space", end.space.clone()),
        ("server", end.server.clone()),
        ("optimizer", end.optimizer.clone()),
        ("seed", end.seed.to_string()),
        ("budget", Seconds(end.budget_s).to_string()),
        ("scale", scale(end)),
        ("isolation", isolation.into()),
        ("durability", end.durability.name().into()),
        ("binlog", on_off(end.binlog).into()),
    ];
    options.extend(end.trials_asked.map(|n| ("trials", n.to_string())));
    options.extend(end.rows_asked.map(|n| ("rows", n.to_string())));
    let mut lines = Vec::new();
    let mut line = String::from("tune");
    for (name, value) in options {
        let word = format!(" --{name} {}", shell_word(&value));
        if line.len() + word.len() + 2 > width {
            lines.push(format!("{line} \\"));
            line = String::from("   ");
        }
        line.push_str(&word);
    }
    lines.push(line);
    lines
}

/// `text` as one word of a shell's command line.
fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,+@=%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::sample;

    #[test]
    fn changes_and_figures() {
        let texts: Vec<String> = [1.34, 1.042, 0.995, 0.99999, 1.0999, 0.5, 11.0]
            .into_iter()
            .map(percent)
            .collect();
        assert_eq!(
            texts,
            ["+34%", "+4.2%", "-0.5%", "+0.0%", "+10%", "-50%", "+1000%"]
        );
        assert_eq!(
            [figure(1512.3), figure(15.123), figure(1.0)],
            ["1512", "15.1", "1.00"]
        );
    }

    #[test]
    fn an_interval_that_holds_one_is_no_difference() {
        let ratio = |ratio, low, high, pairs| {
            gain(&Ratio {
                ratio,
                ci95: [low, high],
                pairs,
            })
        };
        assert_eq!(ratio(1.4, 1.3, 1.5, 5), "+40% [+30%, +50%], 5 pairs");
        assert_eq!(
            ratio(1.01, 0.98, 1.04, 1),
            "no difference found (+1.0% [-2.0%, +4.0%], 1 pair)"
        );
        assert_eq!(ratio(0.8, 0.7, 0.9, 3), "-20% [-30%, -10%], 3 pairs");
        assert_eq!(ratio(f64::NAN, 0.7, 0.9, 3), "not measured");
        assert_eq!(effect(None), "not measured");
    }

    #[test]
    fn the_command_can_be_pasted() {
        let (end, _) = sample::mysql();
        let lines = repeat(&end, 60);
        assert!(lines.iter().all(|l| l.len() <= 60), "{lines:?}");
        let joined = lines.join("\n").replace(" \\\n   ", "");
        assert_eq!(
            joined,
            "tune --profile xeon5345-raid10 --workload iibench --space core --server '/opt/my sql/bin/mysqld' --optimizer bayes --seed 7 \
             --budget 10m --scale 1/16 --isolation twin --durability strict --binlog on --trials 24 --rows 3000000"
        );
    }
}
