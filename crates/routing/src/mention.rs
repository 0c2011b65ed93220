//! Skills that a person calls by name: `/name`, `$name`, "use the name skill".
//!
//! Pure: whoever asks says which names there are. The longest name wins.

use prowess_format::name::NAME_MAX;

use super::prose::prose;
use super::text::{QUERY_MAX, head, is_boundary, is_spaceless, is_word};

/// The most mentions that one message is searched for.
const MENTIONS_MAX: usize = 1_000;

/// The most words of a name that is spoken.
const SPOKEN_WORDS_MAX: usize = 8;

/// A message that begins with `/name`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slash<'m> {
    /// The name, as written.
    pub name: &'m str,
    /// The message without it.
    pub rest: &'m str,
}

/// `/name` at the very start, before white space or the end. Anything else, an unknown name too, is text like any other.
///
/// ```
/// use prowess_routing::mention::{Slash, slash};
///
/// let known = |name: &str| name == "pdf";
/// assert_eq!(slash("/pdf  merge these", known), Some(Slash { name: "pdf", rest: "merge these" }));
/// assert_eq!(slash("/pdf-tools merge", known), None);
/// assert_eq!(slash(" /pdf", known), None);
/// ```
pub fn slash(message: &str, is_skill: impl Fn(&str) -> bool) -> Option<Slash<'_>> {
    let called = message.strip_prefix('/')?;
    // Names of several words exist: the longest is tried first.
    let within = called.char_indices().take(NAME_MAX + 1);
    let mut ends: Vec<usize> = within.filter(|(_, c)| c.is_whitespace()).map(|(at, _)| at).collect();
    if called.chars().nth(NAME_MAX).is_none() {
        ends.push(called.len());
    }
    let end = ends.into_iter().rev().find(|end| {
        let name = &called[..*end];
        !name.is_empty() && !name.ends_with(char::is_whitespace) && is_skill(name)
    })?;
    Some(Slash { name: &called[..end], rest: called[end..].trim_start() })
}

/// `$name` anywhere outside of code, each name once, in the order of the message. `find` gives the skill of a name.
///
/// ```
/// use prowess_routing::mention::dollar;
///
/// let find = |name: &str| (name == "pdf").then_some("pdf");
/// assert_eq!(dollar("merge these with $pdf, please", find), ["pdf"]);
/// assert!(dollar("$pdf-tools, `$pdf`, a$pdf and $1", find).is_empty());
/// ```
pub fn dollar<'n>(message: &str, find: impl Fn(&str) -> Option<&'n str>) -> Vec<&'n str> {
    let message = head(message, QUERY_MAX);
    let mut names = Vec::new();
    let stretches = prose(message);
    let signs = stretches.iter().flat_map(|stretch| {
        let text = &message[stretch.clone()];
        text.match_indices('$').map(move |(at, _)| (text, at))
    });
    for (text, at) in signs.take(MENTIONS_MAX) {
        let free = text[..at]
            .chars()
            .next_back()
            .is_none_or(|c| !matches!(c, '$' | '\\') && (!is_word(c) || is_spaceless(c)));
        if let Some(name) = free.then(|| longest(&text[at + 1..], &find)).flatten()
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names
}

/// The longest name that a text begins with and that ends there.
fn longest<'n>(text: &str, find: impl Fn(&str) -> Option<&'n str>) -> Option<&'n str> {
    let mut ends = Vec::new();
    for (at, c) in text.char_indices().take(NAME_MAX) {
        let end = at + c.len_utf8();
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

/// Whether a name may end with `last` before `rest`: not in the middle of a word, nor where a hyphen goes on.
fn ends_at(last: char, rest: &str) -> bool {
    let mut rest = rest.chars();
    match rest.next() {
        Some('-') => !rest.next().is_some_and(is_word),
        next => is_boundary(Some(last), next),
    }
}

/// "use the NAME skill", "use NAME skill", "with the NAME skill", in any case; the name may stand in quotes. `find` gives
/// the skill of a name, in whatever case it is written.
///
/// ```
/// use prowess_routing::mention::spoken;
///
/// let find = |name: &str| name.eq_ignore_ascii_case("code-review").then_some("code-review");
/// assert_eq!(spoken("Please use the Code-Review skill.", find), ["code-review"]);
/// assert_eq!(spoken("Check it with the \"code-review\" skill", find), ["code-review"]);
/// assert!(spoken("a code-review takes skill", find).is_empty());
/// ```
pub fn spoken<'n>(message: &str, find: impl Fn(&str) -> Option<&'n str>) -> Vec<&'n str> {
    let message = head(message, QUERY_MAX);
    let words: Vec<&str> = message.split_whitespace().collect();
    let is = |word: &str, known: &[&str]| known.iter().any(|known| bare(word).eq_ignore_ascii_case(known));
    let mut names = Vec::new();
    let mut tried = 0;
    for at in (0..words.len()).filter(|at| is(words[*at], &["use", "using", "with"])) {
        let rest = &words[at + 1..];
        let rest = if rest.first().is_some_and(|word| is(word, &["the"])) { &rest[1..] } else { rest };
        for end in
            (1..rest.len().min(SPOKEN_WORDS_MAX + 1)).rev().filter(|end| is(rest[*end], &["skill", "skills"]))
        {
            tried += 1;
            if tried > MENTIONS_MAX {
                return names;
            }
            let name = rest[..end].join(" ");
            if let Some(name) = find(bare(name.trim_start_matches(['$', '/'])))
                && !names.contains(&name)
            {
                names.push(name);
                break;
            }
        }
    }
    names
}

/// A word without the marks around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !is_word(c))
}

#[cfg(test)]
mod tests;
