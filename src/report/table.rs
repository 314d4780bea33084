use super::{
    Files,
    group::changed,
    words::{figure, figures, gain, isolation, scale, server, short_effect},
};
use crate::{
    advise::holds_one,
    optionfile::wrap,
    study::{Estimate, Ratio, StudyEnd},
};

/// How a line looks where there is colour: SGR parameters, none for plain.
type Style = &'static str;
const PLAIN: Style = "";
const BOLD: Style = "1";
const DIM: Style = "2";
const GOOD: Style = "32";
const UNSURE: Style = "33";

/// What a study ends with on a terminal: throughputs, gains, changed settings, what was not reproduced, files. No line is wider than
/// `width` characters; `color` adds SGR sequences, which take no room.
pub fn table(end: &StudyEnd, files: &Files, width: usize, color: bool) -> String {
    let mut page = Page {
        width: width.max(1),
        color,
        text: String::new(),
    };
    page.line(
        BOLD,
        0,
        &format!(
            "{} on {} with {}, scale {}, {}",
            end.workload,
            end.profile,
            server(end),
            scale(end),
            end.durability
        ),
    );
    page.blank();
    throughputs(&mut page, end);
    page.blank();
    gain_line(&mut page, "gain over defaults", &end.gain);
    if let Some(over_rule) = &end.gain_over_rule {
        gain_line(&mut page, "gain over rule of thumb", over_rule);
    }
    page.blank();
    settings(&mut page, end);
    page.blank();
    page.line(PLAIN, 0, &format!("isolation {}", isolation(end)));
    for cannot in &end.cannot {
        page.line(DIM, 4, &format!("  - {cannot}"));
    }
    page.blank();
    let paths = [
        Some(&files.mycnf),
        Some(&files.review),
        files.report.as_ref(),
        Some(&files.apply),
        Some(&files.rollback),
    ];
    for path in paths.into_iter().flatten() {
        page.line(PLAIN, 2, &path.display().to_string());
    }
    for kept in &files.kept {
        page.line(
            UNSURE,
            2,
            &format!(
                "{} was there and differed: kept as {}",
                kept.file.display(),
                kept.backup.display()
            ),
        );
    }
    page.text
}

fn throughputs(page: &mut Page, end: &StudyEnd) {
    let row = |name: &str, e: &Estimate| [name.to_owned(), figure(e.mean), figures(e.ci95)];
    let rows = [
        ["".into(), end.unit.clone(), "95% interval".into()],
        row("server's defaults", &end.baseline),
        end.rule_of_thumb.as_ref().map_or_else(
            || ["rule of thumb".into(), "-".into(), "its trials failed".into()],
            |e| row("rule of thumb", e),
        ),
        row("recommendation", &end.best),
    ];
    page.columns(&rows, [false, true, false]);
}

fn gain_line(page: &mut Page, name: &str, ratio: &Ratio) {
    let style = if holds_one(ratio.ci95) || ratio.ci95[1] < 1.0 {
        UNSURE
    } else {
        GOOD
    };
    page.line(style, 4, &format!("{name}: {}", gain(ratio)));
}

fn settings(page: &mut Page, end: &StudyEnd) {
    let changed = changed(end);
    if changed.is_empty() {
        page.line(PLAIN, 0, "nothing changed: the defaults stay");
        return;
    }
    let mut rows = vec![[
        "setting".into(),
        "default".into(),
        "value".into(),
        "effect".into(),
    ]];
    rows.extend(changed.iter().map(|s| {
        [
            s.name.clone(),
            s.default.to_string(),
            s.value.to_string(),
            short_effect(s.effect.as_ref()),
        ]
    }));
    page.columns(&rows, [false, true, true, false]);
}

/// Text of a fixed width.
struct Page {
    width: usize,
    color: bool,
    text: String,
}

impl Page {
    fn blank(&mut self) {
        self.text.push('\n');
    }

    /// `text`, wrapped; lines after the first are indented by `hang` (less where the page is narrow). Blanks at its start stay.
    fn line(&mut self, style: Style, hang: usize, text: &str) {
        let start = text.len() - text.trim_start_matches(' ').len();
        let (start, hang) = (start.min(self.width / 4), hang.min(self.width / 4));
        let words = wrap(text, self.width - start.max(hang));
        for (i, line) in words.iter().enumerate() {
            let indent = " ".repeat(if i == 0 { start } else { hang });
            match (self.color, style) {
                (true, style) if style != PLAIN => self
                    .text
                    .push_str(&format!("{indent}\x1b[{style}m{line}\x1b[0m\n")),
                _ => self.text.push_str(&format!("{indent}{line}\n")),
            }
        }
    }

    /// Rows in columns, the first row as a dim head; the right-aligned ones are marked. A last cell that does not fit goes on the
    /// next line; where the page is narrower than the other columns, each row is wrapped as it is.
    fn columns<const N: usize>(&mut self, rows: &[[String; N]], right: [bool; N]) {
        const GAP: usize = 2;
        let length = |cell: &String| cell.chars().count();
        let mut widths = [0; N];
        for row in rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(length(cell));
            }
        }
        let lead: usize = widths[..N - 1].iter().map(|w| w + GAP).sum();
        for (i, row) in rows.iter().enumerate() {
            let style = if i == 0 { DIM } else { PLAIN };
            if lead > self.width {
                self.line(style, 4, &row.join("  "));
                continue;
            }
            let mut line = String::new();
            for (n, cell) in row[..N - 1].iter().enumerate() {
                let pad = " ".repeat(widths[n] - length(cell));
                let (before, after) = if right[n] {
                    (pad.as_str(), "")
                } else {
                    ("", pad.as_str())
                };
                line.push_str(&format!("{before}{}{after}  ", printable(cell)));
            }
            if lead + length(&row[N - 1]) <= self.width {
                line.push_str(&printable(&row[N - 1]));
                self.raw(style, line.trim_end());
            } else {
                self.raw(style, line.trim_end());
                self.line(style, 4, &format!("    {}", row[N - 1]));
            }
        }
    }

    /// A line that fits, blanks and all.
    fn raw(&mut self, style: Style, line: &str) {
        match (self.color, style) {
            (true, style) if style != PLAIN => self.text.push_str(&format!("\x1b[{style}m{line}\x1b[0m\n")),
            _ => self.text.push_str(&format!("{line}\n")),
        }
    }
}

/// `cell` without what would move the cursor.
fn printable(cell: &str) -> String {
    cell.chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{advise::sample, report::Kept};

    fn files() -> Files {
        Files {
            mycnf: "tuned/my.cnf".into(),
            review: "tuned/review.md".into(),
            report: None,
            apply: "tuned/apply.sql".into(),
            rollback: "tuned/rollback.sql".into(),
            kept: vec![Kept {
                file: "tuned/my.cnf".into(),
                backup: "tuned/my.cnf.bak-1".into(),
            }],
        }
    }

    #[test]
    fn at_eighty_columns() {
        let text = table(&sample::mariadb().0, &files(), 80, false);
        for line in [
            "iibench on xeon5345-raid10 with MariaDB 10.11.19, scale 1/16, strict\n",
            "                   rows/s  95% interval\nserver's defaults    1000  [980, 1020]\n",
            "recommendation       1512  [1480, 1545]\n",
            "gain over defaults: +51% [+46%, +56%], 5 pairs\n",
            "gain over rule of thumb: no difference found (+1.5% [-1.0%, +4.0%], 5 pairs)\n",
            "innodb_buffer_pool_size           128M    11G  +34% [+28%, +40%], measured\n",
            "innodb_log_buffer_size              8M    16M  no difference found\n",
            "innodb_io_capacity                 200   2500  not measured\n",
            "  - 8 cores: the host has 2\n",
            "tuned/rollback.sql\n",
            "kept as tuned/my.cnf.bak-1\n",
        ] {
            assert!(text.contains(line), "{line}\nin\n{text}");
        }
        assert!(
            !text.contains("innodb_flush_log_at_trx_commit"),
            "what is as by default is not a change"
        );
        assert!(!text.contains('\x1b'));
    }

    /// Takes the SGR sequences out.
    fn bare(text: &str) -> String {
        let mut parts = text.split("\x1b[");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |out, part| {
            out + part.split_once('m').map_or("", |(_, rest)| rest)
        })
    }

    #[test]
    fn colour_adds_no_width() {
        let (end, _) = sample::mysql();
        let colored = table(&end, &files(), 80, true);
        assert!(colored.contains("\x1b[32mgain over defaults"), "{colored}");
        assert_eq!(bare(&colored), table(&end, &files(), 80, false));
    }

    proptest::proptest! {
        #[test]
        fn never_wider_than_asked(width in 60usize..=120, color: bool, mysql: bool, name: String, cannot: String, mean in 0.0f64..1e300) {
            let (mut end, _) = if mysql { sample::mysql() } else { sample::mariadb() };
            end.profile = name.clone();
            end.settings[0].name = name;
            end.cannot.push(cannot);
            end.best.mean = mean;
            let text = bare(&table(&end, &files(), width, color));
            for line in text.lines() {
                proptest::prop_assert!(line.chars().count() <= width, "{}: {}", width, line);
            }
        }

        #[test]
        fn even_where_there_is_hardly_room(width in 0usize..20) {
            let text = table(&sample::mariadb().0, &files(), width, false);
            proptest::prop_assert!(text.lines().all(|l| l.chars().count() <= width.max(1)));
        }
    }
}
