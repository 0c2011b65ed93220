//! Completion of skill names.
//!
//! This module defines the matches and their order for any skills. [`Router`](super::Router) gives the same
//! result for a whole snapshot [from an index](index), and tolerates typos if nothing else is found.

mod index;
mod words;

use prowess_format::Manifest;

use super::text::{fold_trimmed, is_word, truncate};

pub(super) use index::CompletionIndex;

/// The maximum number of completions.
pub const COMPLETIONS_MAX: usize = 50;

/// A skill that completes the typed text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion<'s> {
    /// The name.
    pub name: &'s str,
    /// The brief description.
    pub description: &'s str,
    /// The hint for the arguments.
    pub argument_hint: Option<&'s str>,
}

/// Returns the skills that complete the typed text, the best first, at most [`COMPLETIONS_MAX`]: names that
/// start with it, names that contain it, names that contain its letters in order, then descriptions with a word
/// that starts with it. Skills that users cannot invoke are left out.
///
/// ```
/// use prowess::format::{Rules, parse};
/// use prowess_routing::complete;
///
/// let skill = |source: &str| parse(source.as_bytes(), None, &Rules::standard()).document.unwrap().manifest;
/// let skills = [
///     skill("---\nname: deploy\ndescription: Ships it.\nargument-hint: TARGET\n---\nx"),
///     skill("---\nname: code-review\ndescription: Reads code.\n---\nx"),
/// ];
/// assert_eq!(complete("rev", skills.iter())[0].name, "code-review");
/// assert_eq!(complete("", skills.iter()).len(), 2);
/// ```
pub fn complete<'s>(prefix: &str, skills: impl Iterator<Item = &'s Manifest>) -> Vec<Completion<'s>> {
    complete_named(prefix, skills.map(|manifest| (manifest.name().as_str(), manifest)))
}

/// Like [`complete`], for skills with a name other than that in their manifest.
pub fn complete_named<'s>(
    prefix: &str,
    skills: impl Iterator<Item = (&'s str, &'s Manifest)>,
) -> Vec<Completion<'s>> {
    let typed = fold_typed(prefix);
    let mut matches: Vec<(MatchQuality, &str, &Manifest)> = skills
        .filter(|(_, manifest)| manifest.user_invocable())
        .filter_map(|(name, manifest)| Some((match_quality(&typed, name, manifest)?, name, manifest)))
        .collect();
    matches.sort_by_key(|(quality, name, _)| (*quality, *name));
    let completion = |(_, name, manifest): (MatchQuality, &'s str, &'s Manifest)| Completion {
        name,
        description: manifest.brief_description(),
        argument_hint: manifest.argument_hint(),
    };
    matches.into_iter().take(COMPLETIONS_MAX).map(completion).collect()
}

/// How well a skill matches, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum MatchQuality {
    Name,
    Prefix,
    WordOfName,
    PartOfName,
    LettersOfName,
    Description,
}

/// Normalizes the typed text.
fn fold_typed(typed: &str) -> String {
    fold_trimmed(truncate(typed, 1024))
}

/// Normalizes a description.
fn fold_description(description: &str) -> String {
    fold_trimmed(truncate(description, 4096))
}

fn match_quality(typed: &str, name: &str, manifest: &Manifest) -> Option<MatchQuality> {
    let name = fold_trimmed(name);
    if name == typed {
        Some(MatchQuality::Name)
    } else if name.starts_with(typed) {
        Some(MatchQuality::Prefix)
    } else if starts_word(typed, &name) {
        Some(MatchQuality::WordOfName)
    } else if name.contains(typed) {
        Some(MatchQuality::PartOfName)
    } else if is_subsequence(typed, &name) {
        Some(MatchQuality::LettersOfName)
    } else if starts_word(typed, &fold_description(manifest.description())) {
        Some(MatchQuality::Description)
    } else {
        None
    }
}

fn starts_word(typed: &str, text: &str) -> bool {
    text.match_indices(typed).any(|(start, _)| text[..start].chars().next_back().is_none_or(is_separator))
}

/// Returns `true` for characters between words.
fn is_separator(c: char) -> bool {
    c == '_' || !is_word(c)
}

/// Returns `true` if the name contains all letters in this order.
fn is_subsequence(typed: &str, name: &str) -> bool {
    let mut letters = name.chars();
    typed.chars().all(|letter| letters.any(|c| c == letter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use prowess_format::{Rules, parse};

    fn skill(name: &str, description: &str, more: &str) -> Manifest {
        let source = format!("---\nname: {name}\ndescription: {description}\n{more}---\nx");
        parse(source.as_bytes(), None, &Rules::standard()).document.unwrap().manifest
    }

    #[test]
    fn completions_are_ordered() {
        let skills = [
            skill("review", "Reads. More.", "argument-hint: FILE\n"),
            skill("code-review", "Reads code.", ""),
            skill("preview", "Shows.", ""),
            skill("read-view", "Shows.", ""),
            skill("notes", "Reviews notes.", ""),
            skill("reviewer", "Hidden.", "user-invocable: false\n"),
            skill("pdf", "Merges.", ""),
        ];
        let names = |typed| complete(typed, skills.iter()).iter().map(|found| found.name).collect::<Vec<_>>();
        assert_eq!(names("Review"), ["review", "code-review", "preview", "read-view", "notes"]);
        assert_eq!(names("rvw"), ["code-review", "preview", "read-view", "review"]);
        assert_eq!(names("zzz"), [] as [&str; 0]);
        assert_eq!(names("").len(), 6);
        let review = Completion { name: "review", description: "Reads.", argument_hint: Some("FILE") };
        assert_eq!(complete("review", skills.iter())[0], review);
    }

    #[test]
    fn completions_are_bounded() {
        let skills: Vec<_> = (0..100).map(|n| skill(&format!("s{n}"), "d", "")).collect();
        assert_eq!(complete("s", skills.iter()).len(), COMPLETIONS_MAX);
    }
}
