//! Sentences of a description that state when to use the skill.

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

/// Returns the sentences of a text, each with whether it states when to use the skill.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = (&str, bool)> {
    text.split_inclusive(['.', '\n', '。', ';', '；']).map(|sentence| {
        let lower = sentence.to_lowercase();
        (sentence, WHEN_PHRASES.iter().any(|phrase| lower.contains(phrase)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_state_when_are_marked() {
        let marked: Vec<_> = sentences("Merges PDFs. Use when files are many! 适用于文档。End").collect();
        assert_eq!(
            marked,
            [("Merges PDFs.", false), (" Use when files are many! 适用于文档。", true), ("End", false)]
        );
    }
}
