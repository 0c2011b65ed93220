//! Skills mentioned by name: `/name`, `$name`, "use the name skill".
//!
//! The caller provides the known names. The longest name wins.

use prowess_format::name::NAME_MAX;

use super::prose::prose_ranges;
use super::text::{QUERY_MAX, is_boundary, is_spaceless, is_word, truncate};

/// The maximum number of mentions considered in one message.
const MENTIONS_MAX: usize = 1_000;

/// The maximum number of words in the name of "use the NAME skill".
const PHRASE_NAME_WORDS_MAX: usize = 8;

/// A message that starts with `/name`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlashMention<'m> {
    /// The name, as written.
    pub name: &'m str,
    /// The message without the name.
    pub rest: &'m str,
}

/// Finds `/name` at the very start, followed by white space or the end. Anything else, including unknown names,
/// is plain text.
///
/// ```
/// use prowess_routing::mention::{SlashMention, slash};
///
/// let known = |name: &str| name == "pdf";
/// assert_eq!(slash("/pdf  merge these", known), Some(SlashMention { name: "pdf", rest: "merge these" }));
/// assert_eq!(slash("/pdf-tools merge", known), None);
/// assert_eq!(slash(" /pdf", known), None);
/// ```
pub fn slash(message: &str, is_skill: impl Fn(&str) -> bool) -> Option<SlashMention<'_>> {
    let text = message.strip_prefix('/')?;
    // Names can have several words: the longest is tried first.
    let characters = text.char_indices().take(NAME_MAX + 1);
    let mut ends: Vec<usize> =
        characters.filter(|(_, c)| c.is_whitespace()).map(|(offset, _)| offset).collect();
    if text.chars().nth(NAME_MAX).is_none() {
        ends.push(text.len());
    }
    let end = ends.into_iter().rev().find(|end| {
        let name = &text[..*end];
        !name.is_empty() && !name.ends_with(char::is_whitespace) && is_skill(name)
    })?;
    Some(SlashMention { name: &text[..end], rest: text[end..].trim_start() })
}

/// Finds `$name` anywhere outside code, without duplicates, in the order of the message. `find` looks up a name.
///
/// ```
/// use prowess_routing::mention::dollar;
///
/// let find = |name: &str| (name == "pdf").then_some("pdf");
/// assert_eq!(dollar("merge these with $pdf, please", find), ["pdf"]);
/// assert!(dollar("$pdf-tools, `$pdf`, a$pdf and $1", find).is_empty());
/// ```
pub fn dollar<'n>(message: &str, find: impl Fn(&str) -> Option<&'n str>) -> Vec<&'n str> {
    let message = truncate(message, QUERY_MAX);
    let mut names = Vec::new();
    let segments = prose_ranges(message);
    let signs = segments.iter().flat_map(|segment| {
        let text = &message[segment.clone()];
        text.match_indices('$').map(move |(offset, _)| (text, offset))
    });
    for (text, offset) in signs.take(MENTIONS_MAX) {
        let is_free = text[..offset]
            .chars()
            .next_back()
            .is_none_or(|c| !matches!(c, '$' | '\\') && (!is_word(c) || is_spaceless(c)));
        if let Some(name) = is_free.then(|| longest_name(&text[offset + 1..], &find)).flatten()
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names
}

/// Returns the longest known name at the start of a text.
fn longest_name<'n>(text: &str, find: impl Fn(&str) -> Option<&'n str>) -> Option<&'n str> {
    let mut ends = Vec::new();
    for (start, c) in text.char_indices().take(NAME_MAX) {
        let end = start + c.len_utf8();
        if is_word(c) && ends_at(c, &text[end..]) {
            ends.push(end);
        }
    }
    ends.into_iter()
        .rev()
        .map(|end| &text[..end])
        .filter(|name| name.contains(|c: char| !c.is_ascii_digit()))
        .find_map(find)
}

/// Returns `true` if a name may end with `last` before `rest`: not in the middle of a word, nor before a hyphen
/// and a word.
fn ends_at(last: char, rest: &str) -> bool {
    let mut rest = rest.chars();
    match rest.next() {
        Some('-') => !rest.next().is_some_and(is_word),
        next => is_boundary(Some(last), next),
    }
}

/// Finds "use the NAME skill", "use NAME skill" and "with the NAME skill" in any case; the name may be quoted.
/// `find` looks up a name in any case.
///
/// ```
/// use prowess_routing::mention::skill_phrase;
///
/// let find = |name: &str| name.eq_ignore_ascii_case("code-review").then_some("code-review");
/// assert_eq!(skill_phrase("Please use the Code-Review skill.", find), ["code-review"]);
/// assert_eq!(skill_phrase("Check it with the \"code-review\" skill", find), ["code-review"]);
/// assert!(skill_phrase("a code-review takes skill", find).is_empty());
/// ```
pub fn skill_phrase<'n>(message: &str, find: impl Fn(&str) -> Option<&'n str>) -> Vec<&'n str> {
    let message = truncate(message, QUERY_MAX);
    let words: Vec<&str> = message.split_whitespace().collect();
    let is_any = |word: &str, options: &[&str]| {
        options.iter().any(|option| strip_punctuation(word).eq_ignore_ascii_case(option))
    };
    let mut names = Vec::new();
    let mut tried = 0;
    for index in (0..words.len()).filter(|index| is_any(words[*index], &["use", "using", "with"])) {
        let rest = &words[index + 1..];
        let rest = if rest.first().is_some_and(|word| is_any(word, &["the"])) { &rest[1..] } else { rest };
        for end in (1..rest.len().min(PHRASE_NAME_WORDS_MAX + 1))
            .rev()
            .filter(|end| is_any(rest[*end], &["skill", "skills"]))
        {
            tried += 1;
            if tried > MENTIONS_MAX {
                return names;
            }
            let name = rest[..end].join(" ");
            if let Some(name) = find(strip_punctuation(name.trim_start_matches(['$', '/'])))
                && !names.contains(&name)
            {
                names.push(name);
                break;
            }
        }
    }
    names
}

/// Returns a word without surrounding punctuation.
fn strip_punctuation(word: &str) -> &str {
    word.trim_matches(|c: char| !is_word(c))
}

#[cfg(test)]
mod tests;
