use super::{
    group::grouped,
    words::{
        effect, estimate, gain, isolation, on_off, over_rule, reason, repeat, scale, server, takes_effect,
    },
};
use crate::{
    catalog::Variable,
    optionfile::Writer,
    study::{Setting, StudyEnd},
};

/// Columns of the command in a comment, so that the comment fits 100.
const COMMAND_WIDTH: usize = 94;

/// The recommended option file at full size. Its head says where it comes from and what it was measured to do, and above each line
/// stands what the variable does, why it is set, its effect, its default and when a change takes effect. ASCII.
pub fn mycnf<'v>(end: &StudyEnd, lookup: impl Fn(&str) -> Option<&'v Variable>) -> String {
    let mut file = Writer::new();
    head(&mut file, end);
    file.blank();
    file.group("mysqld");
    for (group, settings) in grouped(end) {
        file.blank();
        file.comment(&format!("---- {} ----", group.title()));
        for setting in settings {
            file.blank();
            line(&mut file, setting, lookup(&setting.name));
        }
    }
    file.finish()
}

fn head(file: &mut Writer, end: &StudyEnd) {
    file.comment(&format!(
        "InnoDB settings for workload {} on hardware profile {}, found by tune.",
        end.workload, end.profile
    ));
    file.verbatim("");
    file.comment(&format!("Study: {}", end.study));
    file.comment(&format!("Hardware: {}: {}", end.profile, end.profile_summary));
    if !end.profile_assumed.is_empty() {
        file.item(&format!(
            "assumed in the profile, not stated by its source: {}",
            end.profile_assumed.join(", ")
        ));
    }
    file.comment(&format!(
        "Measured on: {}. On another server or version some lines may not be known, or do something else.",
        server(end)
    ));
    file.comment(&format!(
        "Trials: {} at scale {} ({} rows), seed {}, optimizer {}. The values below are for full size.",
        end.trials,
        scale(end),
        end.rows,
        end.seed,
        end.optimizer
    ));
    file.comment(&format!("Isolation: {}", isolation(end)));
    for cannot in &end.cannot {
        file.item(cannot);
    }
    file.comment(&format!(
        "Durability: {}: {}. Binary log {}.",
        end.durability,
        end.durability.promise(),
        on_off(end.binlog)
    ));
    file.comment(&format!(
        "Throughput: {} (mean and 95% interval)",
        estimate(&end.best, &end.unit)
    ));
    file.item(&format!("over the server's defaults: {}", gain(&end.gain)));
    file.item(&format!("over the rule of thumb: {}", over_rule(end)));
    file.comment("Repeat it with:");
    for line in repeat(end, COMMAND_WIDTH) {
        file.verbatim(&format!("  {line}"));
    }
}

fn line(file: &mut Writer, setting: &Setting, variable: Option<&Variable>) {
    if let Some(about) = variable
        .map(|v| v.about.as_str())
        .filter(|about| !about.is_empty())
    {
        file.comment(about);
    }
    file.comment(&format!("why: {}", reason(&setting.reason)));
    file.comment(&format!("effect: {}", effect(setting.effect.as_ref())));
    file.comment(&format!(
        "default: {}; {}",
        setting.default,
        takes_effect(variable)
    ));
    if let Some(durability) = variable
        .map(|v| v.durability.as_str())
        .filter(|text| !text.is_empty())
    {
        file.comment(&format!("durability: {durability}"));
    }
    file.setting(&setting.name, &setting.value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::sample;

    fn mariadb() -> String {
        let (end, variables) = sample::mariadb();
        mycnf(&end, |name| variables.get(name))
    }

    #[test]
    fn each_line_says_why_it_is_there() {
        let text = mariadb();
        let block = "# What innodb_buffer_pool_size does.\n\
                     # why: searched by the study, part of the smallest change that gives the gain\n\
                     # effect: +34% [+28%, +40%], measured\n\
                     # default: 128M; can be set while running\n\
                     innodb_buffer_pool_size = 11G\n";
        assert!(text.contains(block), "{text}");
        assert!(text.contains("# effect: no difference found (+1.0% [-2.0%, +3.0%], modelled)\n# default: 8M; fixed when the data directory is made\n"));
        assert!(text.contains("# why: set by rule, not searched: the array's cache >= the data\n# effect: not measured\n# default: O_DIRECT; needs a restart\ninnodb_flush_method = fsync\n"));
        assert!(text.contains("# why: held in every trial: the study keeps the durability class strict\n"));
        assert!(text.contains(
            "# durability: 0 or 2 lose about a second of commits.\ninnodb_flush_log_at_trx_commit = 1\n"
        ));
        assert!(text.contains("innodb_adaptive_flushing_lwm = 12.5\n"));
    }

    #[test]
    fn the_head_says_where_it_comes_from() {
        let text = mariadb();
        for line in [
            "# Hardware: xeon5345-raid10: 2 x quad-core Xeon 5345, 16 GB, RAID 10\n",
            "#  - assumed in the profile, not stated by its source: storage.disks, os.kernel\n",
            "# Measured on: MariaDB 10.11.19.",
            "# Trials: 24 at scale 1/16 (3000000 rows), seed 7, optimizer bayes.",
            "# Isolation: none: the trials ran on this host as it is",
            "#  - the disks: trials ran on the host's own\n",
            "# Durability: strict: a committed transaction survives power loss. Binary log off.\n",
            "#  - over the server's defaults: +51% [+46%, +56%], 5 pairs\n",
            "#  - over the rule of thumb: no difference found (+1.5% [-1.0%, +4.0%], 5 pairs)\n",
            "#   tune --profile xeon5345-raid10 --workload iibench",
        ] {
            assert!(text.contains(line), "{line}\nin\n{text}");
        }
    }

    #[test]
    fn groups_stand_in_order() {
        let text = mariadb();
        let places: Vec<usize> = [
            "[mysqld]",
            "-- Memory",
            "-- Redo log",
            "-- Flushing and I/O",
            "-- Durability",
        ]
        .iter()
        .map(|title| text.find(title).expect(title))
        .collect();
        assert!(places.is_sorted(), "{places:?}");
    }

    proptest::proptest! {
        #[test]
        fn only_settings_are_not_comments(study: String, summary: String, why: String, about: String) {
            let (mut end, mut variables) = sample::mysql();
            end.study = study;
            end.profile_summary = summary.clone();
            end.cannot = vec![summary];
            end.settings[0].reason = crate::study::Reason::Rule(why);
            variables.get_mut("innodb_io_capacity").unwrap().about = about;
            let text = mycnf(&end, |name| variables.get(name));
            proptest::prop_assert!(text.is_ascii());
            let bare: Vec<&str> = text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')).collect();
            proptest::prop_assert_eq!(bare[0], "[mysqld]");
            proptest::prop_assert_eq!(bare.len(), 1 + end.settings.len());
            proptest::prop_assert!(text.lines().all(|l| l.len() <= 100));
        }
    }
}
