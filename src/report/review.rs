use super::{
    group::changed,
    words::{
        effect, estimate, figure, gain, isolation, on_off, over_rule, reason, repeat, scale, server,
        takes_effect,
    },
};
use crate::{
    advise::{hand_review, holds_one, memory},
    catalog::{Family, TakesEffect, Variable, Version},
    study::{Dropped, Effect, Reason, Setting, StudyEnd},
    units::{Bytes, Seconds},
};
use std::fmt::Write as _;

/// The review of a study in Markdown: the answer first, then what changes, what it costs, what is not known, how it was measured, how to
/// repeat, apply and undo it.
pub fn review<'v>(end: &StudyEnd, lookup: impl Fn(&str) -> Option<&'v Variable>) -> String {
    let lookup: &dyn Fn(&str) -> Option<&'v Variable> = &lookup;
    let mut text = format!("# {} on {}\n\n", end.workload, end.profile);
    let sections = [
        ("", answer(end, lookup)),
        ("Findings", findings(end, lookup)),
        ("What changes", changes(end, lookup)),
        ("What it costs", costs(end, lookup)),
        ("What was not reproduced of the hardware", not_reproduced(end)),
        ("What went back to its default", dropped(end)),
        ("What was not searched", not_searched(end)),
        ("Failed trials", failures(end)),
        ("How it was measured", measured(end)),
        ("How to repeat it", code("sh", &repeat(end, 100).join("\n"))),
        ("How to apply it, and how to go back", apply(end, lookup)),
    ];
    for (title, body) in sections {
        if !title.is_empty() {
            let _ = write!(text, "## {title}\n\n");
        }
        let _ = write!(text, "{}\n\n", body.trim_end());
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

type Lookup<'l, 'v> = &'l dyn Fn(&str) -> Option<&'v Variable>;

fn answer(end: &StudyEnd, lookup: Lookup) -> String {
    let changed = changed(end);
    let waiting = changed.iter().filter(|s| !is_dynamic(lookup(&s.name))).count();
    let verdict = match end.gain.ci95 {
        ci if holds_one(ci) => "No difference from the server's defaults was found.",
        ci if ci[0] > 1.0 => "The recommendation is faster than the server's defaults.",
        _ => "The recommendation is slower than the server's defaults: keep them.",
    };
    format!(
        "**{verdict}** Throughput with the recommended `my.cnf`: {best}.\n\n\
         | against | throughput | gain |\n|---|---|---|\n\
         | the server's defaults | {baseline} | {gain} |\n\
         | the rule of thumb | {rule} | {over_rule} |\n\n\
         Settings changed: {n}, of which {waiting} wait for a restart. Durability class: {durability} ({promise}). Intervals are 95%.",
        best = estimate(&end.best, &end.unit),
        baseline = estimate(&end.baseline, &end.unit),
        gain = gain(&end.gain),
        rule = end
            .rule_of_thumb
            .as_ref()
            .map_or_else(|| "its trials failed".into(), |e| estimate(e, &end.unit)),
        over_rule = over_rule(end),
        n = changed.len(),
        durability = end.durability,
        promise = end.durability.promise(),
    )
}

fn findings(end: &StudyEnd, lookup: Lookup) -> String {
    list(
        hand_review(end, lookup)
            .into_iter()
            .map(|f| format!("**{}**: {}", plain(&f.about), plain(&f.text))),
        "Nothing stood out.",
    )
}

fn changes(end: &StudyEnd, lookup: Lookup) -> String {
    let mut text = String::from(
        "| variable | default | recommended | effect | takes effect | why |\n|---|---|---|---|---|---|\n",
    );
    for setting in changed(end) {
        let Setting {
            name, value, default, ..
        } = setting;
        let _ = writeln!(
            text,
            "| `{name}` | {} | {} | {} | {} | {} |",
            plain(&default.to_string()),
            plain(&value.to_string()),
            effect(setting.effect.as_ref()),
            takes_effect(lookup(name)),
            plain(&reason(&setting.reason)),
        );
    }
    let same: Vec<String> = end
        .settings
        .iter()
        .filter(|s| s.value == s.default)
        .map(|s| format!("`{}` = {}", s.name, plain(&s.value.to_string())))
        .collect();
    if !same.is_empty() {
        let _ = write!(
            text,
            "\nWritten out although they are the default: {}.",
            same.join(", ")
        );
    }
    text
}

fn costs(end: &StudyEnd, lookup: Lookup) -> String {
    let mut text = format!(
        "**Durability**: {} in every trial: {}. Binary log {}.\n\n",
        end.durability,
        end.durability.promise(),
        on_off(end.binlog)
    );
    for setting in &end.settings {
        if let Some(variable) = lookup(&setting.name).filter(|v| !v.durability.is_empty()) {
            let _ = writeln!(
                text,
                "- `{}` = {}: {}",
                setting.name,
                plain(&setting.value.to_string()),
                plain(&variable.durability)
            );
        }
    }
    let memory = memory(end, lookup);
    let _ = write!(text, "\n**Memory**, at most:\n\n| what | size |\n|---|---:|\n");
    for part in &memory.parts {
        let _ = writeln!(text, "| {} | {} |", part.what, Bytes(part.bytes).rounded());
    }
    let _ = write!(
        text,
        "| **sum** | **{}** |\n\n{} of {} RAM is {:.0}%. What is not listed comes on top: the server's own code, its table \
         caches, buffers of connections, the operating system.",
        Bytes(memory.total()).rounded(),
        Bytes(memory.total()).rounded(),
        Bytes(memory.ram).rounded(),
        memory.share() * 100.0
    );
    text
}

fn not_reproduced(end: &StudyEnd) -> String {
    let mut text = format!("Isolation {}\n\n", isolation(end));
    text += &list(end.cannot.iter().map(|c| plain(c)), "");
    if !end.profile_assumed.is_empty() {
        let _ = write!(
            text,
            "\nThe profile assumes what its source does not state: {}.",
            end.profile_assumed.join(", ")
        );
    }
    text
}

fn dropped(end: &StudyEnd) -> String {
    if end.dropped.is_empty() {
        return "Nothing: every change of the model's best stayed.".into();
    }
    let mut text = String::from(
        "| variable | tried | default | effect of the tried value | why |\n|---|---|---|---|---|\n",
    );
    for Dropped {
        name,
        tried,
        default,
        effect: known,
    } in &end.dropped
    {
        let _ = writeln!(
            text,
            "| `{name}` | {} | {} | {} | {} |",
            plain(&tried.to_string()),
            plain(&default.to_string()),
            effect(known.as_ref()),
            why_dropped(known.as_ref())
        );
    }
    text
}

fn why_dropped(effect: Option<&Effect>) -> &'static str {
    match effect.map(|e| e.ci95) {
        None => "nothing shows that it helps",
        Some(ci) if holds_one(ci) => "its effect cannot be told from none",
        Some(ci) if ci[1] < 1.0 => "it costs throughput",
        Some(_) => "the gain is there without it",
    }
}

fn not_searched(end: &StudyEnd) -> String {
    let by_rule = |name: &str| {
        end.settings
            .iter()
            .any(|s| s.name == name && matches!(s.reason, Reason::Rule(_) | Reason::RuleStands(_)))
    };
    let points = end.not_searched.iter().map(|n| {
        let rest = if by_rule(&n.name) { " (set by rule)" } else { "" };
        format!("`{}`: {}{rest}", n.name, plain(&n.why))
    });
    list(
        points,
        &format!("Nothing: all knobs of the space {} were searched.", end.space),
    )
}

fn failures(end: &StudyEnd) -> String {
    let points = end.failures.iter().map(|f| {
        let config: Vec<String> = f
            .config
            .iter()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        format!(
            "Trial {}: {}\n  with {}",
            f.trial,
            plain(&f.reason),
            plain(&config.join(", "))
        )
    });
    let void = match end.void {
        0 => String::new(),
        1 => "\n1 trial was void: it measured something else than the server.".into(),
        n => format!("\n{n} trials were void: they measured something else than the server."),
    };
    list(points, "None.\n") + &void
}

fn measured(end: &StudyEnd) -> String {
    let drain = match end.drain_s {
        Some(seconds) => format!(
            "At its end the server needed {} to work off what it had put off.",
            Seconds(seconds)
        ),
        None => "How long the server works off what it puts off was not measured.".into(),
    };
    format!(
        "- Server: {server}. Workload {workload}, {rows} rows, space {space}, objective `{objective}`.\n\
         - Scale {scale}: sizes are multiplied by it in the trials, rates and counts are not; `my.cnf` is at full size.\n\
         - {trials} trials by optimizer {optimizer}, seed {seed}: {failed} failed, {void} void. {measured} measured of {wall} in all, {load} \
         of it loading.\n\
         - The gains come from {pairs} interleaved runs of the recommendation and the defaults, and {rule_pairs} of it and the rule of thumb.\n\
         - Stalls: {stalls}% of the seconds of the recommendation did less than half its mean. {drain}\n\
         - The rule of thumb: {rule}.",
        server = server(end),
        workload = end.workload,
        rows = end.rows,
        space = end.space,
        objective = end.objective,
        scale = scale(end),
        trials = end.trials,
        optimizer = end.optimizer,
        seed = end.seed,
        failed = end.failed,
        void = end.void,
        measured = Seconds(end.measured_s),
        wall = Seconds(end.wall_s),
        load = Seconds(end.load_s),
        pairs = end.gain.pairs,
        rule_pairs = end.gain_over_rule.map_or(0, |r| r.pairs),
        stalls = figure(end.stalls * 100.0),
        rule = end
            .rule_config
            .iter()
            .map(|(n, v)| format!("`{n}` = {v}"))
            .collect::<Vec<_>>()
            .join(", "),
    )
}

fn apply(end: &StudyEnd, lookup: Lookup) -> String {
    let mariadb = end.flavor.family == Family::MariaDb;
    let (server, client) = if mariadb {
        ("mariadbd", "mariadb")
    } else {
        ("mysqld", "mysql")
    };
    let validate = !mariadb && end.flavor.version >= Version::new(8, 0, 16);
    let check = if validate {
        "--validate-config"
    } else {
        "--help --verbose > /dev/null"
    };
    let mut text = format!(
        "1. Keep a copy of your option file, and take the lines of `my.cnf` into it (`{server} --help --verbose` says which files it reads).\n\
         2. Check that the server takes it: `{server} --defaults-file=my.cnf {check}`\n\
         3. While running: `{client} --skip-column-names < apply.sql > before.sql` sets what can be set and keeps what was set in `before.sql`.\n\
         4. Restart the server for the rest.\n"
    );
    let fixed: Vec<String> = end
        .settings
        .iter()
        .filter(|s| {
            s.value != s.default && lookup(&s.name).is_some_and(|v| v.takes_effect == TakesEffect::Init)
        })
        .map(|s| format!("`{}`", s.name))
        .collect();
    if !fixed.is_empty() {
        let _ = writeln!(
            text,
            "5. {} {} fixed when the data directory is made: dump the data, make a new directory and load them, or leave {} out.",
            fixed.join(", "),
            if fixed.len() == 1 { "is" } else { "are" },
            if fixed.len() == 1 { "it" } else { "them" },
        );
    }
    let _ = write!(
        text,
        "\nTo go back: `{client} < rollback.sql` sets the defaults, and `{client} < before.sql` after it what you had, if that was \
         something else; then take the lines out of the option file and restart."
    );
    text
}

fn is_dynamic(variable: Option<&Variable>) -> bool {
    variable.is_some_and(|v| v.takes_effect == TakesEffect::Dynamic)
}

fn list(points: impl Iterator<Item = String>, none: &str) -> String {
    let text: String = points.map(|point| format!("- {point}\n")).collect();
    if text.is_empty() { none.to_owned() } else { text }
}

fn code(language: &str, text: &str) -> String {
    format!("```{language}\n{text}\n```")
}

/// `text` on one line, with nothing that Markdown would take for a cell or a tag.
fn plain(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('|', "\\|")
        .replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::sample;

    #[test]
    fn it_answers_first_and_covers_all() {
        let (end, variables) = sample::mariadb();
        let text = review(&end, |name| variables.get(name));
        assert!(text.starts_with(
            "# iibench on xeon5345-raid10\n\n**The recommendation is faster than the server's defaults.** \
             Throughput with the recommended `my.cnf`: 1512 rows/s [1480, 1545].\n"
        ));
        for line in [
            "| the server's defaults | 1000 rows/s [980, 1020] | +51% [+46%, +56%], 5 pairs |",
            "| the rule of thumb | 1490 rows/s [1450, 1530] | no difference found (+1.5% [-1.0%, +4.0%], 5 pairs) |",
            "Settings changed: 7, of which 2 wait for a restart.",
            "- **innodb_io_capacity**: It is set by rule from figures of the array that the profile assumes (storage.disks).",
            "| `innodb_buffer_pool_size` | 128M | 11G | +34% [+28%, +40%], measured | can be set while running | searched",
            "Written out although they are the default: `innodb_flush_log_at_trx_commit` = 1.",
            "- `innodb_flush_log_at_trx_commit` = 1: 0 or 2 lose about a second of commits.",
            "12.2 GiB of 16 GiB RAM is 76%.",
            "- 8 cores: the host has 2",
            "| `innodb_purge_threads` | 8 | 4 | no difference found (+0.0% [-3.0%, +3.0%], measured) | its effect cannot be told from none |",
            "- `innodb_read_io_threads`: the array decides it",
            "- Trial 9: did not start: [ERROR] InnoDB: Cannot allocate \\| out of memory second line\n  with innodb_buffer_pool_size = 64G",
            "8m measured of 10m in all, 50s of it loading",
            "tune --profile xeon5345-raid10 --workload iibench",
            "`mariadbd --defaults-file=my.cnf --help --verbose > /dev/null`",
            "5. `innodb_log_buffer_size` is fixed when the data directory is made",
        ] {
            assert!(text.contains(line), "{line}\nin\n{text}");
        }
    }

    #[test]
    fn no_gain_is_said_in_the_first_words() {
        let (mut end, variables) = sample::mysql();
        end.gain.ci95 = [0.98, 1.05];
        let text = review(&end, |name| variables.get(name));
        assert!(
            text.contains("\n\n**No difference from the server's defaults was found.**"),
            "{text}"
        );
        assert!(text.contains("`mysqld --defaults-file=my.cnf --validate-config`"));
        end.gain.ci95 = [0.8, 0.9];
        assert!(review(&end, |name| variables.get(name)).contains("**The recommendation is slower"));
    }

    #[test]
    fn tables_keep_their_columns() {
        let (mut end, variables) = sample::mariadb();
        end.settings[0].reason = Reason::Rule("a | b\n| c <script>".into());
        let text = review(&end, |name| variables.get(name));
        let mut columns = 0;
        for line in text.lines() {
            let bars = line.replace("\\|", "").matches('|').count();
            assert!(
                !line.starts_with('|') || columns == 0 || bars == columns,
                "{line}"
            );
            columns = if line.starts_with('|') { bars } else { 0 };
        }
        assert!(!text.contains("<script>"));
    }
}
