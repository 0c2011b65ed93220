//! The triggers of all skills, matched in one pass over a message.
//!
//! Keywords, verbs, names and the required literals of patterns are in one Aho–Corasick automaton; a pattern
//! runs only if one of its literals occurs. Invariants: the result is the same as if each trigger were searched
//! separately, and the time is linear in the length of the message.

mod build;

use aho_corasick::AhoCorasick;
use prowess_format::{Diagnostic, Manifest};

use super::pattern::TriggerPattern;
use super::text::{QUERY_MAX, fold, fold_case, is_whole_word, is_word, truncate};
use build::TriggerIndexBuilder;

/// The maximum number of triggers of one kind per skill.
pub const TRIGGERS_MAX: usize = 200;

/// The maximum length of a keyword or verb, in characters.
pub const KEYWORD_MAX: usize = 200;

/// The maximum number of steps of all patterns together for one message.
const STEPS_MAX: u64 = 1 << 32;

prowess_format::named_enum! {
    /// The kind of a trigger, the strongest first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum TriggerKind {
        /// The skill's own name. It counts only together with another trigger.
        Name = "name",
        /// A keyword of several words.
        Phrase = "phrase",
        /// A keyword of one word.
        Keyword = "keyword",
        /// A verb.
        Verb = "verb",
        /// A regular expression.
        Pattern = "pattern",
    }
}

/// A trigger that matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TriggerHit<'i> {
    /// The number of the skill, as given when the index was built.
    pub skill: usize,
    /// The kind of the trigger.
    pub kind: TriggerKind,
    /// The trigger as written.
    pub text: &'i str,
    /// The rarity of the trigger, from 0 to 100. Everyday words have 0, a keyword of only one skill has 100, and
    /// keywords that several skills share have less. Names and patterns have 100.
    pub weight: u8,
}

/// The weight of a trigger that nothing else uses.
const WEIGHT_MAX: u8 = 100;

/// The weight below which a trigger does not activate its skill.
const WEIGHT_MIN: u8 = 30;

impl TriggerHit<'_> {
    /// Returns `true` if the trigger is rare enough to activate its skill.
    pub fn is_specific(&self) -> bool {
        self.weight >= WEIGHT_MIN
    }
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
/// let hits = index.matches("Please fill  a FORM");
/// assert_eq!((hits[0].kind, hits[0].text), (TriggerKind::Phrase, "fill a form"));
/// assert!(index.matches("reform").is_empty());
/// ```
#[derive(Debug, Default)]
pub struct TriggerIndex {
    /// `None` if there is nothing to search.
    automaton: Option<AhoCorasick>,
    /// The uses of each text of the automaton.
    uses: Vec<Vec<TextUse>>,
    words: Vec<TriggerWord>,
    patterns: Vec<(usize, TriggerPattern)>,
    /// Patterns without required literals, which always run.
    always: Vec<u32>,
    skills: usize,
}

#[derive(Debug, Clone, Copy)]
enum TextUse {
    Pattern(u32),
    Word(u32),
    Name(u32),
}

/// How a text occurs: anywhere, as whole words, or as a separate name.
const ANYWHERE: u8 = 1;
const WHOLE: u8 = 2;
const SEPARATE: u8 = 4;

impl TextUse {
    /// Returns how the text must occur.
    fn needs(self) -> u8 {
        match self {
            Self::Pattern(_) => ANYWHERE,
            Self::Word(_) => WHOLE,
            Self::Name(_) => SEPARATE,
        }
    }
}

/// Returns how a text occurs at a position. Words are only searched in the folded message.
fn occurrence(text: &str, folded: usize, span: aho_corasick::Span) -> u8 {
    match text.get(..folded) {
        Some(text) if span.end <= folded && is_whole_word(text, span.start, span.end) => {
            ANYWHERE | WHOLE | if is_separate(text, span.start, span.end) { SEPARATE } else { 0 }
        }
        _ => ANYWHERE,
    }
}

#[derive(Debug)]
struct TriggerWord {
    skill: usize,
    kind: TriggerKind,
    text: Box<str>,
    weight: u8,
}

impl TriggerIndex {
    /// Creates the index of numbered skills. Invalid triggers are left out and reported.
    pub fn new<'m>(skills: impl Iterator<Item = (usize, &'m Manifest)>) -> (Self, Vec<(usize, Diagnostic)>) {
        let mut builder = TriggerIndexBuilder::default();
        for (skill, manifest) in skills {
            builder.add(skill, manifest);
        }
        builder.finish()
    }

    /// Returns the number of skills with triggers.
    pub fn len(&self) -> usize {
        self.skills
    }

    /// Returns `true` if no skill has triggers.
    pub fn is_empty(&self) -> bool {
        self.skills == 0
    }

    /// Returns the triggers that are too general to activate their skills, as written, by skill.
    pub fn general_triggers(&self) -> impl Iterator<Item = (usize, &str)> {
        let general = self.words.iter().filter(|word| word.weight < WEIGHT_MIN);
        general.map(|word| (word.skill, &*word.text))
    }

    /// Returns every trigger that matches a message, by skill, the strongest of each skill first. Only the
    /// first [`QUERY_MAX`] bytes of the message count.
    pub fn matches(&self, query: &str) -> Vec<TriggerHit<'_>> {
        let query = truncate(query, QUERY_MAX);
        let mut text = fold(query);
        let folded = text.len();
        if !query.is_ascii() {
            // Patterns see the message as written, so their literals are searched in it.
            text.push('\n');
            text.extend(fold_case(query));
        }
        let mut hits = Vec::new();
        let mut patterns = Vec::new();
        // One occurrence of each kind is enough.
        let mut occurrences = vec![0u8; self.uses.len()];
        for occurrence_match in
            self.automaton.iter().flat_map(|automaton| automaton.find_overlapping_iter(&text))
        {
            let id = occurrence_match.pattern().as_usize();
            let new = occurrence(&text, folded, occurrence_match.span()) & !occurrences[id];
            if new == 0 {
                continue;
            }
            occurrences[id] |= new;
            for text_use in self.uses[id].iter().filter(|text_use| text_use.needs() & new != 0) {
                match *text_use {
                    TextUse::Pattern(pattern) => patterns.push(pattern),
                    TextUse::Word(word) | TextUse::Name(word) => {
                        let TriggerWord { skill, kind, text, weight } = &self.words[word as usize];
                        hits.push(TriggerHit { skill: *skill, kind: *kind, text, weight: *weight });
                    }
                }
            }
        }
        self.run_patterns(query, patterns, &mut hits);
        hits.sort_unstable();
        hits.dedup();
        hits
    }

    /// Runs the patterns whose literals occurred, then those without literals.
    fn run_patterns<'i>(&'i self, query: &str, mut patterns: Vec<u32>, hits: &mut Vec<TriggerHit<'i>>) {
        patterns.sort_unstable();
        patterns.dedup();
        let mut steps = 0u64;
        for id in patterns.iter().chain(&self.always) {
            let (skill, pattern) = &self.patterns[*id as usize];
            steps = steps.saturating_add(pattern.steps(query.len()));
            if steps > STEPS_MAX {
                break;
            }
            if pattern.matches(query) {
                hits.push(TriggerHit {
                    skill: *skill,
                    kind: TriggerKind::Pattern,
                    text: pattern.source(),
                    weight: WEIGHT_MAX,
                });
            }
        }
    }
}

/// Returns `true` if a name is not part of a longer one, or of a path.
fn is_separate(text: &str, start: usize, end: usize) -> bool {
    let joins = |c: Option<char>| c.is_some_and(|c| matches!(c, '-' | '_' | '/' | '\\'));
    let before = text[..start].chars().next_back();
    let mut after = text[end..].chars();
    let next = after.next();
    let continues = joins(next) && after.next().is_some_and(is_word);
    !joins(before) && !continues
}

#[cfg(test)]
mod tests;
