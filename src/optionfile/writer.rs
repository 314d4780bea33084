use super::{ascii, wrap};
use crate::units::Value;

/// Columns of a line of comment.
const WIDTH: usize = 100;

/// Builds an option file that MariaDB's and MySQL's own readers take: a comment is a line that starts with `#`,
/// all in ASCII, no line over 100 columns but a setting's own.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    text: String,
}

impl Writer {
    /// An empty file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Comment lines with `text`, wrapped.
    pub fn comment(&mut self, text: &str) {
        self.hang("# ", "# ", text);
    }

    /// A point of a list, as comment lines.
    pub fn item(&mut self, text: &str) {
        self.hang("#  - ", "#    ", text);
    }

    /// One comment line as it is, for a command to copy.
    pub fn verbatim(&mut self, line: &str) {
        self.line(format!("# {}", ascii(line)).trim_end());
    }

    /// An empty line.
    pub fn blank(&mut self) {
        self.line("");
    }

    /// The header of a group: `[mysqld]`.
    pub fn group(&mut self, name: &str) {
        self.line(&format!("[{name}]"));
    }

    /// A variable and its value. A text that the readers would cut or change is quoted.
    pub fn setting(&mut self, name: &str, value: &Value) {
        let line = match (name, value) {
            // As a value, both servers take OFF and ON here for the name of the log's files.
            ("log_bin", Value::Switch(on)) => if *on { "log_bin" } else { "skip_log_bin" }.to_owned(),
            (_, Value::Text(text)) => format!("{name} = {}", quoted(text)),
            _ => format!("{name} = {value}"),
        };
        self.line(&line);
    }

    /// The file's text.
    pub fn finish(self) -> String {
        self.text
    }

    fn hang(&mut self, first: &str, rest: &str, text: &str) {
        for (i, line) in wrap(&ascii(text), WIDTH - first.len()).iter().enumerate() {
            self.line(&format!("{}{line}", if i == 0 { first } else { rest }));
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }
}

/// `text` as the readers give it back: they drop blanks at the ends and outer quotes, cut at `#` and know escapes with a backslash.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,+@=%*".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_reads_as_it_should() {
        let mut file = Writer::new();
        file.comment("first\n[evil]\nsecond");
        file.item(&"word ".repeat(30));
        file.group("mysqld");
        file.setting("innodb_buffer_pool_size", &Value::Bytes(11 << 30));
        file.setting("innodb_flush_method", &Value::Text("O_DIRECT".into()));
        file.setting("init_connect", &Value::Text("SET a = \"#\\\"".into()));
        file.setting("innodb_max_dirty_pages_pct", &Value::Real(90.0));
        file.setting("log_bin", &Value::Switch(false));
        let text = file.finish();
        assert!(
            text.starts_with("# first [evil] second\n#  - word word"),
            "{text}"
        );
        assert!(text.contains("\n#    word"), "{text}");
        assert!(text.ends_with(
            "[mysqld]\ninnodb_buffer_pool_size = 11G\ninnodb_flush_method = O_DIRECT\n\
             init_connect = \"SET a = \\\"#\\\\\\\"\"\ninnodb_max_dirty_pages_pct = 90\nskip_log_bin\n"
        ));
    }

    proptest::proptest! {
        #[test]
        fn whatever_a_comment_holds_stays_a_comment(text: String) {
            let mut file = Writer::new();
            file.comment(&text);
            file.item(&text);
            file.verbatim(&text);
            for line in file.finish().lines() {
                proptest::prop_assert!(line.starts_with('#') && line.is_ascii());
            }
        }
    }
}
