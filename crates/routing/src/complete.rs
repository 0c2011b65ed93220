//! Completion of a skill's name, for whoever types one.
//!
//! What fits, and in which order, is said here, over any skills that somebody has at hand. [`Router`](super::Router) gives
//! the same for a whole snapshot [from an index](index), and forgives typing errors where nothing else is found.

mod index;
mod words;

use prowess_format::Manifest;

use super::text::{fold_trimmed, head, is_word};

pub(super) use index::Completions;

/// The most completions that are given.
pub const COMPLETIONS_MAX: usize = 50;

/// A skill that could be meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion<'s> {
    /// Its name.
    pub name: &'s str,
    /// What it does, in brief.
    pub description: &'s str,
    /// What to write behind the name.
    pub argument_hint: Option<&'s str>,
}

/// The skills that what was typed so far could mean, the best first, at most [`COMPLETIONS_MAX`]: names that begin with
/// it, names that have it, names that have its letters in order, then descriptions with a word that begins with it.
/// Skills that are not for people are left out.
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
    complete_called(prefix, skills.map(|manifest| (manifest.name().as_str(), manifest)))
}

/// The same for skills that are called by something else than their manifest's name.
pub fn complete_called<'s>(
    prefix: &str,
    skills: impl Iterator<Item = (&'s str, &'s Manifest)>,
) -> Vec<Completion<'s>> {
    let typed = folded(prefix);
    let mut found: Vec<(Fit, &str, &Manifest)> = skills
        .filter(|(_, manifest)| manifest.user_invocable())
        .filter_map(|(name, manifest)| Some((fit(&typed, name, manifest)?, name, manifest)))
        .collect();
    found.sort_by_key(|(fit, name, _)| (*fit, *name));
    let complete = |(_, name, manifest): (Fit, &'s str, &'s Manifest)| Completion {
        name,
        description: manifest.brief_description(),
        argument_hint: manifest.argument_hint(),
    };
    found.into_iter().take(COMPLETIONS_MAX).map(complete).collect()
}

/// How well a skill fits, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Name,
    Beginning,
    WordOfName,
    PartOfName,
    LettersOfName,
    Description,
}

/// What was typed, as it is compared.
fn folded(typed: &str) -> String {
    fold_trimmed(head(typed, 1024))
}

/// A description, as it is compared.
fn folded_about(description: &str) -> String {
    fold_trimmed(head(description, 4096))
}

fn fit(typed: &str, name: &str, manifest: &Manifest) -> Option<Fit> {
    let name = fold_trimmed(name);
    if name == typed {
        Some(Fit::Name)
    } else if name.starts_with(typed) {
        Some(Fit::Beginning)
    } else if starts_word(typed, &name) {
        Some(Fit::WordOfName)
    } else if name.contains(typed) {
        Some(Fit::PartOfName)
    } else if in_order(typed, &name) {
        Some(Fit::LettersOfName)
    } else if starts_word(typed, &folded_about(manifest.description())) {
        Some(Fit::Description)
    } else {
        None
    }
}

/// Whether a word begins where the text has what was typed.
fn starts_word(typed: &str, text: &str) -> bool {
    text.match_indices(typed).any(|(at, _)| text[..at].chars().next_back().is_none_or(parts_words))
}

/// Whether a character stands between words.
fn parts_words(c: char) -> bool {
    c == '_' || !is_word(c)
}

/// Whether all letters occur in this order.
fn in_order(typed: &str, name: &str) -> bool {
    let mut letters = name.chars();
    typed.chars().all(|wanted| letters.any(|c| c == wanted))
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
    fn the_best_first() {
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
    fn bounded() {
        let skills: Vec<_> = (0..100).map(|n| skill(&format!("s{n}"), "d", "")).collect();
        assert_eq!(complete("s", skills.iter()).len(), COMPLETIONS_MAX);
    }
}
