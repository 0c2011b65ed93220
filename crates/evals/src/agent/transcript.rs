//! Builds transcripts of bounded size.

use super::TranscriptEntry;

/// The maximum length of a text, in bytes.
const TEXT_MAX: usize = 64 * 1024;

/// The maximum length of the arguments and of the result of a tool call, in bytes.
const CALL_TEXT_MAX: usize = 8 * 1024;

/// The maximum length of a name, in bytes.
const NAME_MAX: usize = 200;

/// The maximum number of entries. Later ones are not recorded.
const ENTRIES_MAX: usize = 2_000;

/// The maximum length of a reply, in bytes.
pub(super) const REPLY_MAX: usize = 256 * 1024;

/// A transcript that is being built.
#[derive(Debug, Default)]
pub(super) struct TranscriptBuilder {
    entries: Vec<TranscriptEntry>,
    /// The ids of tool calls, with the index of their entries.
    calls: Vec<(String, usize)>,
}

impl TranscriptBuilder {
    pub(super) fn add_text(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.push(TranscriptEntry::Text { text: shorten(text, TEXT_MAX) });
        }
    }

    /// Adds a call whose result follows.
    pub(super) fn add_call(&mut self, id: &str, name: &str, arguments: &str) {
        let added = self.push(TranscriptEntry::ToolCall {
            name: shorten(name, NAME_MAX),
            arguments: shorten(arguments, CALL_TEXT_MAX),
            result: String::new(),
            failed: false,
        });
        if let Some(index) = added {
            self.calls.push((shorten(id, NAME_MAX), index));
        }
    }

    /// Returns `true` if a call with this id was added.
    pub(super) fn has_call(&self, id: &str) -> bool {
        self.find_call(id).is_some()
    }

    fn find_call(&self, id: &str) -> Option<usize> {
        let id = shorten(id, NAME_MAX);
        self.calls.iter().rev().find(|(call, _)| *call == id).map(|(_, index)| *index)
    }

    /// Replaces the name and the arguments of a call, if they are given.
    pub(super) fn update_call(&mut self, id: &str, new_name: Option<&str>, new_arguments: Option<&str>) {
        let index = self.find_call(id);
        if let Some(TranscriptEntry::ToolCall { name, arguments, .. }) =
            index.and_then(|index| self.entries.get_mut(index))
        {
            if let Some(new_name) = new_name {
                *name = shorten(new_name, NAME_MAX);
            }
            if let Some(new_arguments) = new_arguments {
                *arguments = shorten(new_arguments, CALL_TEXT_MAX);
            }
        }
    }

    /// Sets the result of a call. Unknown calls are ignored.
    pub(super) fn set_result(&mut self, id: &str, text: &str, has_failed: bool) {
        let index = self.find_call(id);
        if let Some(TranscriptEntry::ToolCall { result, failed, .. }) =
            index.and_then(|index| self.entries.get_mut(index))
        {
            *result = shorten(text, CALL_TEXT_MAX);
            *failed = has_failed;
        }
    }

    fn push(&mut self, entry: TranscriptEntry) -> Option<usize> {
        (self.entries.len() < ENTRIES_MAX).then(|| {
            self.entries.push(entry);
            self.entries.len() - 1
        })
    }

    pub(super) fn finish(self) -> Vec<TranscriptEntry> {
        self.entries
    }
}

/// Returns at most `max` bytes of a text, and how much is missing.
pub(super) fn shorten(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(max);
    let (kept, rest) = text.split_at(end);
    format!("{kept}… ({} more bytes)", rest.len())
}

/// Returns the last lines of the standard error of a program for a message, escaped.
pub(super) fn last_lines(stderr: &[u8]) -> String {
    const LINES: usize = 5;
    const BYTES: usize = 2_000;
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let first = lines.len().saturating_sub(LINES);
    let last = lines.get(first..).unwrap_or_default().join(" | ");
    let start = last.ceil_char_boundary(last.len().saturating_sub(BYTES));
    prowess::format::hidden::escape_for_display(last.get(start..).unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_shortened_at_a_character() {
        assert_eq!(shorten("aä", 2), "a… (2 more bytes)");
        assert_eq!(shorten("aä", 3), "aä");
    }

    #[test]
    fn messages_have_the_last_lines_without_control_characters() {
        assert_eq!(last_lines(b"1\n2\n3\n\n4\n5\n\x1b[31m6\xff\n"), "2 | 3 | 4 | 5 | \\u{1b}[31m6\u{fffd}");
    }

    #[test]
    fn results_belong_to_their_calls_and_the_number_of_entries_is_limited() {
        let mut transcript = TranscriptBuilder::default();
        transcript.add_call("1", "a", "{}");
        transcript.add_call("2", "b", "{}");
        transcript.set_result("1", "one", true);
        transcript.set_result("3", "ignored", true);
        for _ in 0..ENTRIES_MAX {
            transcript.add_text("x");
        }
        transcript.add_call("4", "c", "{}");
        assert!(!transcript.has_call("4"));
        let entries = transcript.finish();
        assert_eq!(entries.len(), ENTRIES_MAX);
        let expected = TranscriptEntry::ToolCall {
            name: "a".into(),
            arguments: "{}".into(),
            result: "one".into(),
            failed: true,
        };
        assert_eq!(entries[0], expected);
    }
}
