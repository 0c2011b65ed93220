//! The triggers of all skills, matched in one pass over a message.
//!
//! Keywords, verbs, names and the texts that patterns cannot do without stand in one Aho–Corasick automaton; a pattern
//! is run only where its text occurred. What must always hold: the result is the same as if each trigger were looked
//! for on its own, and the time is linear in the message.

mod build;

use aho_corasick::AhoCorasick;
use prowess_format::{Diagnostic, Manifest};

use super::pattern::Pattern;
use super::text::{QUERY_MAX, fold, fold_simply, head, is_whole, is_word};
use build::Builder;

/// The most triggers of one skill, of each kind.
pub const TRIGGERS_MAX: usize = 200;

/// The longest keyword or verb, in characters.
pub const KEYWORD_MAX: usize = 200;

/// The most steps that all patterns together may take for one message.
const STEPS_MAX: u64 = 1 << 32;

/// What a trigger is, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TriggerKind {
    /// The skill's own name. It counts only beside another trigger.
    Name,
    /// A keyword of several words.
    Phrase,
    /// A keyword of one word.
    Keyword,
    /// A verb.
    Verb,
    /// A regular expression.
    Pattern,
}

impl TriggerKind {
    /// The word that stands in reasons.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Phrase => "phrase",
            Self::Keyword => "keyword",
            Self::Verb => "verb",
            Self::Pattern => "pattern",
        }
    }
}

/// A trigger that matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hit<'i> {
    /// The skill, as it was numbered when the index was built.
    pub skill: usize,
    /// What the trigger is.
    pub kind: TriggerKind,
    /// The trigger as it is written.
    pub text: &'i str,
}

/// The triggers of all skills.
///
/// ```
/// use prowess::format::{Rules, parse};
/// use prowess_routing::{TriggerIndex, TriggerKind};
///
/// let source = b"---\nname: pdf\ndescription: d\ntriggers:\n  keywords: [pdf, fill a form]\n---\nx";
/// let manifest = parse(source, None, &Rules::standard()).document.unwrap().manifest;
/// let (index, problems) = TriggerIndex::new([(0, &manifest)].into_iter());
/// assert!(problems.is_empty());
/// let hits = index.hits("Please fill  a FORM");
/// assert_eq!((hits[0].kind, hits[0].text), (TriggerKind::Phrase, "fill a form"));
/// assert!(index.hits("reform").is_empty());
/// ```
#[derive(Debug, Default)]
pub struct TriggerIndex {
    /// `None` where there is nothing to look for.
    automaton: Option<AhoCorasick>,
    /// What each text of the automaton stands for.
    meanings: Vec<Vec<Meaning>>,
    words: Vec<Word>,
    patterns: Vec<(usize, Pattern)>,
    /// Patterns that have no text of their own to wait for.
    always: Vec<u32>,
    skills: usize,
}

#[derive(Debug, Clone, Copy)]
enum Meaning {
    Pattern(u32),
    Word(u32),
    Name(u32),
}

/// How a text was seen: anywhere, as whole words, or as a name of its own.
const ANYWHERE: u8 = 1;
const WHOLE: u8 = 2;
const ALONE: u8 = 4;

impl Meaning {
    /// How its text must be seen.
    fn needs(self) -> u8 {
        match self {
            Self::Pattern(_) => ANYWHERE,
            Self::Word(_) => WHOLE,
            Self::Name(_) => ALONE,
        }
    }
}

/// How a text is seen at one place; words are looked for in the folded message alone.
fn sightings(text: &str, folded: usize, at: aho_corasick::Span) -> u8 {
    match text.get(..folded) {
        Some(text) if at.end <= folded && is_whole(text, at.start, at.end) => {
            ANYWHERE | WHOLE | if stands_alone(text, at.start, at.end) { ALONE } else { 0 }
        }
        _ => ANYWHERE,
    }
}

#[derive(Debug)]
struct Word {
    skill: usize,
    kind: TriggerKind,
    text: Box<str>,
}

impl TriggerIndex {
    /// Takes the triggers of numbered skills. A trigger that cannot be used is left out, and said.
    pub fn new<'m>(skills: impl Iterator<Item = (usize, &'m Manifest)>) -> (Self, Vec<(usize, Diagnostic)>) {
        let mut builder = Builder::default();
        for (skill, manifest) in skills {
            builder.add(skill, manifest);
        }
        builder.finish()
    }

    /// How many skills have triggers.
    pub fn len(&self) -> usize {
        self.skills
    }

    /// Whether no skill has any.
    pub fn is_empty(&self) -> bool {
        self.skills == 0
    }

    /// Every trigger that a message matches, by skill, the strongest of each skill first. Of a message longer than
    /// [`QUERY_MAX`] only the beginning counts.
    pub fn hits(&self, query: &str) -> Vec<Hit<'_>> {
        let query = head(query, QUERY_MAX);
        let mut text = fold(query);
        let folded = text.len();
        if !query.is_ascii() {
            // Patterns see the message as it was written; what they wait for is looked for in that.
            text.push('\n');
            text.extend(fold_simply(query));
        }
        let mut hits = Vec::new();
        let mut waiting = Vec::new();
        // What of each text has been seen already: once is enough, however often it occurs.
        let mut seen = vec![0u8; self.meanings.len()];
        for found in self.automaton.iter().flat_map(|automaton| automaton.find_overlapping_iter(&text)) {
            let id = found.pattern().as_usize();
            let new = sightings(&text, folded, found.span()) & !seen[id];
            if new == 0 {
                continue;
            }
            seen[id] |= new;
            for meaning in self.meanings[id].iter().filter(|meaning| meaning.needs() & new != 0) {
                match *meaning {
                    Meaning::Pattern(pattern) => waiting.push(pattern),
                    Meaning::Word(word) | Meaning::Name(word) => {
                        let Word { skill, kind, text } = &self.words[word as usize];
                        hits.push(Hit { skill: *skill, kind: *kind, text });
                    }
                }
            }
        }
        self.run(query, waiting, &mut hits);
        hits.sort_unstable();
        hits.dedup();
        hits
    }

    /// Runs the patterns whose text occurred, then those that wait for none.
    fn run<'i>(&'i self, query: &str, mut waiting: Vec<u32>, hits: &mut Vec<Hit<'i>>) {
        waiting.sort_unstable();
        waiting.dedup();
        let mut steps = 0u64;
        for id in waiting.iter().chain(&self.always) {
            let (skill, pattern) = &self.patterns[*id as usize];
            steps = steps.saturating_add(pattern.steps(query.len()));
            if steps > STEPS_MAX {
                break;
            }
            if pattern.matches(query) {
                hits.push(Hit { skill: *skill, kind: TriggerKind::Pattern, text: pattern.source() });
            }
        }
    }
}

/// Whether a name is not a part of a longer one, or of a path.
fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let joins = |c: Option<char>| c.is_some_and(|c| matches!(c, '-' | '_' | '/' | '\\'));
    let before = text[..start].chars().next_back();
    let mut after = text[end..].chars();
    let next = after.next();
    let goes_on = joins(next) && after.next().is_some_and(is_word);
    !joins(before) && !goes_on
}

#[cfg(test)]
mod tests;
