/// An option that cannot be written into an option file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not the name of a server option: letters, digits, '_', '-' and '.' only")]
pub struct OptionError(pub String);

/// The `[mysqld]` group of an option file, one line an option in the order given (of two with one name the last counts).
/// Values are quoted and escaped where the server's parser would change them.
///
/// # Errors
/// A name that would not be read back as one.
pub fn option_text(options: &[(String, String)]) -> Result<String, OptionError> {
    let mut text = String::from("[mysqld]\n");
    for (name, value) in options {
        let fits = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        if name.is_empty() || !name.chars().all(fits) {
            return Err(OptionError(name.clone()));
        }
        text.push_str(&format!("{name} = {}\n", quoted(value)));
    }
    Ok(text)
}

/// As the server's parser of option files takes it (my_default.c): `#` opens a comment and backslashes escape.
fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-+.,:;/=%@*()".contains(c);
    if value.chars().all(plain) {
        return value.to_owned();
    }
    let escaped = value
        .replace('\\', "\\\\")
        .replace('\n', "\\n")
        .replace('\r', "\\r")
        .replace('\t', "\\t");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str, value: &str) -> Result<String, OptionError> {
        option_text(&[(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn writes_what_the_server_reads_back() {
        assert_eq!(
            text("innodb_buffer_pool_size", "4G").unwrap(),
            "[mysqld]\ninnodb_buffer_pool_size = 4G\n"
        );
        assert_eq!(
            text("socket", "/a b/#1").unwrap(),
            "[mysqld]\nsocket = \"/a b/#1\"\n"
        );
        assert_eq!(text("x", "a\nb\\").unwrap(), "[mysqld]\nx = \"a\\nb\\\\\"\n");
        assert_eq!(
            text("secure_file_priv", "").unwrap(),
            "[mysqld]\nsecure_file_priv = \n"
        );
        for name in ["", "a b", "x]\n[mysqld", "a=b", "#"] {
            assert!(text(name, "1").is_err(), "{name}");
        }
    }

    proptest::proptest! {
        #[test]
        fn one_option_is_one_line(value: String) {
            let text = text("x", &value).unwrap();
            proptest::prop_assert_eq!(text.matches('\n').count(), 2);
        }
    }
}
