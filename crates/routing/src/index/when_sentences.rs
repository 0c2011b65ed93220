//! Sentences of a description that state when to use the skill, and when not.

/// Phrases of such sentences, in lower case.
const WHEN_PHRASES: &[&str] = &[
    "use when",
    "use this",
    "use it",
    "use for",
    "when the user",
    "when you",
    "when asked",
    "whenever",
    "user asks",
    "user says",
    "trigger",
    "适用",
    "当用户",
    "使用场景",
    "触发",
    "用于",
];

/// Phrases that start a statement about what the skill is not for, in lower case. It extends to the end of the
/// sentence.
const WHEN_NOT_PHRASES: &[&str] = &[
    "do not use",
    "don't use",
    "don’t use",
    "never use",
    "not for ",
    "not for: ",
    "not when ",
    "do not trigger",
    "don't trigger",
    "do not activate",
    "skip if",
    "skip when",
    "skip only when",
    "不适用",
    "不用于",
    "不要用于",
];

/// What a sentence says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SentenceKind {
    /// Anything else.
    Plain,
    /// When to use the skill.
    When,
    /// What the skill is not for.
    WhenNot,
}

/// Returns the sentences of a text. A sentence that also says what the skill is not for is split there.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = (&str, SentenceKind)> {
    text.split_inclusive(['.', '\n', '。', ';', '；']).flat_map(|sentence| {
        let lower = sentence.to_ascii_lowercase();
        let end = WHEN_NOT_PHRASES.iter().filter_map(|phrase| find_words(&lower, phrase)).min();
        let (start, rest) = sentence.split_at(end.unwrap_or(sentence.len()));
        let is_when = WHEN_PHRASES.iter().any(|phrase| lower[..start.len()].contains(phrase));
        let kind = if is_when { SentenceKind::When } else { SentenceKind::Plain };
        [(start, kind), (rest, SentenceKind::WhenNot)].into_iter().filter(|(part, _)| !part.is_empty())
    })
}

/// Returns the offset of a phrase that does not start within a word.
fn find_words(text: &str, phrase: &str) -> Option<usize> {
    let is_start = |offset: &usize| !text[..*offset].ends_with(|c: char| c.is_ascii_alphanumeric());
    text.match_indices(phrase).map(|(offset, _)| offset).find(is_start)
}

#[cfg(test)]
mod tests {
    use super::SentenceKind::{Plain, When, WhenNot};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sentences_that_state_when_are_marked() {
        let marked: Vec<_> = sentences("Merges PDFs. Use when files are many! 适用于文档。End").collect();
        assert_eq!(
            marked,
            [("Merges PDFs.", Plain), (" Use when files are many! 适用于文档。", When), ("End", Plain)]
        );
    }

    #[test]
    fn statements_about_other_uses_are_split_off() {
        let marked: Vec<_> =
            sentences("Use for tables, not for slides. Do NOT use this for PDFs; also knot for rope")
                .collect();
        assert_eq!(
            marked,
            [
                ("Use for tables, ", When),
                ("not for slides.", WhenNot),
                (" ", Plain),
                ("Do NOT use this for PDFs;", WhenNot),
                (" also knot for rope", Plain),
            ]
        );
    }

    proptest! {
        #[test]
        fn the_sentences_are_the_text(text in "(do not use|not for |use when|[a-zé译 .;\n]){0,12}") {
            prop_assert_eq!(sentences(&text).map(|(sentence, _)| sentence).collect::<String>(), text);
        }
    }
}
