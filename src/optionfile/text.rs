/// Breaks `text` at blanks into lines of at most `width` characters (at least one); a longer word is cut. Whatever `text` holds,
/// no line holds a line end or another control character.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let mut word: Vec<char> = word
            .chars()
            .map(|c| if c.is_control() { '?' } else { c })
            .collect();
        if length > 0 && length + 1 + word.len() > width {
            lines.push(std::mem::take(&mut line));
            length = 0;
        }
        while word.len() > width {
            lines.push(word.drain(..width).collect());
        }
        if length > 0 {
            line.push(' ');
            length += 1;
        }
        length += word.len();
        line.extend(word);
    }
    if length > 0 {
        lines.push(line);
    }
    lines
}

/// `text` in ASCII: signs that have a plain spelling are spelt out, others and control characters become `?`.
/// Servers read an option file as bytes, and a terminal of an old machine shows nothing else.
pub fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ' '..='~' => out.push(c),
            '\t' | '\n' | '\r' | '\u{a0}' | '\u{2009}' | '\u{202f}' => out.push(' '),
            '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{b7}' => out.push('-'),
            '\u{2018}' | '\u{2019}' => out.push('\''),
            '\u{201c}' | '\u{201d}' => out.push('"'),
            '\u{2026}' => out.push_str("..."),
            '\u{2192}' => out.push_str("->"),
            '\u{d7}' => out.push('x'),
            '\u{b1}' => out.push_str("+/-"),
            '\u{b5}' | '\u{3bc}' => out.push('u'),
            '\u{2264}' => out.push_str("<="),
            '\u{2265}' => out.push_str(">="),
            '\u{2248}' => out.push('~'),
            _ => out.push('?'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_at_blanks_and_cuts_what_is_too_long() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a abcdefghij b", 4), ["a", "abcd", "efgh", "ij b"]);
        assert_eq!(wrap(" \n ", 10), Vec::<String>::new());
        assert_eq!(wrap("a\u{1b}[31m\nb", 80), ["a?[31m b"]);
    }

    #[test]
    fn spells_signs_in_ascii() {
        assert_eq!(
            ascii("4\u{d7} 7200 rpm \u{2014} 5\u{b5}s \u{2265} \u{e9}\u{7}"),
            "4x 7200 rpm - 5us >= ??"
        );
    }

    proptest::proptest! {
        #[test]
        fn lines_fit_and_lose_nothing(text: String, width in 1usize..40) {
            let lines = wrap(&text, width);
            for line in &lines {
                proptest::prop_assert!(line.chars().count() <= width && !line.chars().any(char::is_control));
            }
            let solid = |s: &str| s.chars().filter(|c| !c.is_whitespace()).count();
            proptest::prop_assert_eq!(solid(&lines.concat()), solid(&text));
        }

        #[test]
        fn ascii_is_one_printable_line(text: String) {
            proptest::prop_assert!(ascii(&text).bytes().all(|b| (b' '..=b'~').contains(&b)));
        }
    }
}
