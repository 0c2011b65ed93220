//! Word prefixes marked with a star: `kube*`.
//!
//! Stars also mark emphasis, list items and shell patterns. A prefix is a word followed by one star and then
//! nothing or the end of a clause, in a line where no star has opened anything.

use super::text::is_word;

/// The minimum length of a prefix, in characters.
const PREFIX_MIN: usize = 2;

/// The maximum number of prefixes in a message.
const PREFIXES_MAX: usize = 4;

/// Calls `visit` for each prefix.
pub(super) fn prefixes<'t>(text: &'t str, mut visit: impl FnMut(&'t str)) {
    if !text.contains('*') {
        return;
    }
    let mut count = 0;
    for line in text.lines() {
        for (star, _) in line.match_indices('*') {
            let (before, after) = (&line[..star], &line[star + 1..]);
            if opens(before, after) {
                break;
            }
            let start = before.trim_end_matches(is_word).len();
            let word = &before[start..];
            let is_separate = !before[..start].ends_with(['*', '/', '\\', '.']);
            if is_separate && ends_clause(after) && word.chars().count() >= PREFIX_MIN && count < PREFIXES_MAX
            {
                count += 1;
                visit(word);
            }
        }
    }
}

/// Returns `true` if a star between these texts opens emphasis.
fn opens(before: &str, after: &str) -> bool {
    !before.ends_with(is_word) && after.starts_with(|c: char| !c.is_whitespace())
}

fn ends_clause(after: &str) -> bool {
    let rest = after.trim_start_matches(['.', ',', ';', ':', '!', '?', ')', '"', '\'', '”', '“', '»', '」']);
    rest.is_empty() || rest.starts_with(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        prefixes(text, |word| found.push(word));
        found
    }

    #[test]
    fn prefixes_are_found() {
        assert_eq!(found("kube*"), ["kube"]);
        assert_eq!(found("deploy with kube* or (dock*), üb*."), ["kube", "dock", "üb"]);
        assert_eq!(found("* a list with kube*\n* and ter*"), ["kube", "ter"]);
    }

    #[test]
    fn other_stars_are_ignored() {
        for text in [
            "*kube*",
            "**kube**",
            "make *it fast*",
            "src/*.rs",
            "kube*.yaml",
            "a/kube*",
            "2*3",
            "k*",
            "kube**",
            "*",
        ] {
            assert_eq!(found(text), [] as [&str; 0], "{text}");
        }
        assert_eq!(found(&"kube* ".repeat(20)).len(), PREFIXES_MAX);
    }

    proptest! {
        #[test]
        fn found_prefixes_are_words(text in "[aé* .\n]{0,40}") {
            prop_assert!(found(&text).iter().all(|word| word.chars().all(is_word)));
        }
    }
}
