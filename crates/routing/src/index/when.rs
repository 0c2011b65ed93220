//! Sentences of a description that say when to use the skill.

/// What such a sentence has, in lower case.
const MARKS: &[&str] = &[
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

/// The sentences of a text, each with whether it says when to use the skill.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = (&str, bool)> {
    text.split_inclusive(['.', '\n', '。', ';', '；']).map(|sentence| {
        let lower = sentence.to_lowercase();
        (sentence, MARKS.iter().any(|mark| lower.contains(mark)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_say_when() {
        let told: Vec<_> = sentences("Merges PDFs. Use when files are many! 适用于文档。End").collect();
        assert_eq!(
            told,
            [("Merges PDFs.", false), (" Use when files are many! 适用于文档。", true), ("End", false)]
        );
    }
}
