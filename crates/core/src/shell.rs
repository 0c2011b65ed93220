//! Quoting for shell commands that are shown to the user, so that they can be pasted.

use std::borrow::Cow;
use std::path::Path;

/// Quotes a word for a POSIX shell, with single quotes only if necessary.
///
/// ```
/// use prowess::shell::quote;
///
/// assert_eq!(quote("pdf-forms"), "pdf-forms");
/// assert_eq!(quote("/my skills/it's"), r"'/my skills/it'\''s'");
/// ```
pub fn quote(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    // A leading tilde must stay unquoted, so that the shell expands it to the home directory.
    let (home, rest) = match word.strip_prefix("~/") {
        Some(rest) => ("~/", rest),
        None => ("", word),
    };
    if !word.is_empty() && rest.chars().all(is_plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("{home}'{}'", rest.replace('\'', r"'\''")))
}

/// Quotes a path for a POSIX shell.
pub fn quote_path(path: &Path) -> String {
    quote(&path.to_string_lossy()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_shell_would_change_are_quoted() {
        for (word, quoted) in [
            ("a/b.c", "a/b.c"),
            ("", "''"),
            ("a b", "'a b'"),
            ("$HOME", "'$HOME'"),
            ("~/a b", "~/'a b'"),
            ("a;b", "'a;b'"),
            ("it's", r"'it'\''s'"),
            ("é", "'é'"),
        ] {
            assert_eq!(quote(word), quoted);
        }
    }
}
