//! Beginnings of words that somebody put a star behind: `kube*`.
//!
//! Stars are also emphasis, bullets, and what shells take for files. A beginning is a word with one star behind it, then
//! nothing or the end of a clause, in a line where no star has opened anything.

use super::text::is_word;

/// The shortest beginning, in letters.
const SHORTEST: usize = 2;

/// The most beginnings of a message that count.
const MOST: usize = 4;

/// Calls `take` for each beginning.
pub(super) fn starred<'t>(text: &'t str, mut take: impl FnMut(&'t str)) {
    if !text.contains('*') {
        return;
    }
    let mut taken = 0;
    for line in text.lines() {
        for (at, _) in line.match_indices('*') {
            let (before, after) = (&line[..at], &line[at + 1..]);
            if opens(before, after) {
                break;
            }
            let start = before.trim_end_matches(is_word).len();
            let word = &before[start..];
            let alone = !before[..start].ends_with(['*', '/', '\\', '.']);
            if alone && ends_clause(after) && word.chars().count() >= SHORTEST && taken < MOST {
                taken += 1;
                take(word);
            }
        }
    }
}

/// Whether a star with this before and behind it opens what another closes.
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
        starred(text, |word| found.push(word));
        found
    }

    #[test]
    fn beginnings() {
        assert_eq!(found("kube*"), ["kube"]);
        assert_eq!(found("deploy with kube* or (dock*), üb*."), ["kube", "dock", "üb"]);
        assert_eq!(found("* a list with kube*\n* and ter*"), ["kube", "ter"]);
    }

    #[test]
    fn stars_that_mean_something_else() {
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
        assert_eq!(found(&"kube* ".repeat(20)).len(), MOST);
    }

    proptest! {
        #[test]
        fn whatever_has_stars(text in "[aé* .\n]{0,40}") {
            prop_assert!(found(&text).iter().all(|word| word.chars().all(is_word)));
        }
    }
}
