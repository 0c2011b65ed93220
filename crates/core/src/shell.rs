//! Words for commands that are shown to the user, quoted so that they can be pasted into a shell.

use std::borrow::Cow;
use std::path::Path;

/// Returns the word as a POSIX shell reads it back, in single quotes where it needs them.
///
/// ```
/// use prowess::shell::quote;
///
/// assert_eq!(quote("pdf-forms"), "pdf-forms");
/// assert_eq!(quote("/my skills/it's"), r"'/my skills/it'\''s'");
/// ```
pub fn quote(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    // A tilde at the beginning is the home directory, which is what is meant by it.
    let (home, rest) = match word.strip_prefix("~/") {
        Some(rest) => ("~/", rest),
        None => ("", word),
    };
    if !word.is_empty() && rest.chars().all(is_plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("{home}'{}'", rest.replace('\'', r"'\''")))
}

/// Returns a path as a POSIX shell reads it back.
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
