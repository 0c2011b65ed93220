//! From manifests to the index.

use std::collections::HashMap;

use aho_corasick::AhoCorasick;
use prowess_format::{Code, Diagnostic, Manifest};

use super::super::pattern::Pattern;
use super::super::text::fold_trimmed;
use super::{KEYWORD_MAX, Meaning, TRIGGERS_MAX, TriggerIndex, TriggerKind, Word};

#[derive(Default)]
pub(super) struct Builder {
    index: TriggerIndex,
    texts: HashMap<String, u32>,
    problems: Vec<(usize, Diagnostic)>,
}

impl Builder {
    pub(super) fn add(&mut self, skill: usize, manifest: &Manifest) {
        let Some(triggers) = manifest.triggers().filter(|triggers| !triggers.is_empty()) else { return };
        self.index.skills += 1;
        self.word(skill, TriggerKind::Name, manifest.name().as_str());
        self.bound(skill, "keywords", triggers.keywords.len());
        for keyword in triggers.keywords.iter().take(TRIGGERS_MAX) {
            let phrase = keyword.split_whitespace().nth(1).is_some();
            self.word(skill, if phrase { TriggerKind::Phrase } else { TriggerKind::Keyword }, keyword);
        }
        self.bound(skill, "verbs", triggers.verbs.len());
        for verb in triggers.verbs.iter().take(TRIGGERS_MAX) {
            self.word(skill, TriggerKind::Verb, verb);
        }
        self.bound(skill, "patterns", triggers.patterns.len());
        for pattern in triggers.patterns.iter().take(TRIGGERS_MAX) {
            self.pattern(skill, pattern);
        }
    }

    fn bound(&mut self, skill: usize, what: &str, count: usize) {
        if count > TRIGGERS_MAX {
            self.say(
                skill,
                format!("{count} {what}; the first {TRIGGERS_MAX} count"),
                "leave out the weaker ones",
            );
        }
    }

    fn word(&mut self, skill: usize, kind: TriggerKind, written: &str) {
        let folded = fold_trimmed(written);
        let length = folded.chars().count();
        if length > KEYWORD_MAX && kind != TriggerKind::Name {
            let message =
                format!("a {} has {length} characters; at most {KEYWORD_MAX} are allowed", kind.as_str());
            self.say(skill, message, "shorten it");
        } else if length > 0 {
            let id = number(self.index.words.len());
            let text = written.split_whitespace().collect::<Vec<_>>().join(" ");
            self.index.words.push(Word { skill, kind, text: text.into() });
            self.mean(folded, if kind == TriggerKind::Name { Meaning::Name(id) } else { Meaning::Word(id) });
        }
    }

    fn pattern(&mut self, skill: usize, source: &str) {
        match Pattern::new(source) {
            Ok((pattern, literals)) => {
                let id = number(self.index.patterns.len());
                self.index.patterns.push((skill, pattern));
                if literals.is_empty() {
                    self.index.always.push(id);
                }
                for literal in literals {
                    self.mean(literal, Meaning::Pattern(id));
                }
            }
            Err(why) => {
                let shown: String = source.chars().take(60).flat_map(char::escape_debug).collect();
                let message = format!("the pattern \"{shown}\" cannot be used: {why}");
                self.say(skill, message, "patterns are linear-time regular expressions without look-around");
            }
        }
    }

    fn mean(&mut self, text: String, meaning: Meaning) {
        let next = number(self.texts.len());
        let id = *self.texts.entry(text).or_insert(next);
        if id == next {
            self.index.meanings.push(Vec::new());
        }
        if let Some(meanings) = self.index.meanings.get_mut(id as usize) {
            meanings.push(meaning);
        }
    }

    fn say(&mut self, skill: usize, message: String, help: &str) {
        self.problems.push((skill, Diagnostic::warning(Code::TriggerForm, message).help(help)));
    }

    pub(super) fn finish(mut self) -> (TriggerIndex, Vec<(usize, Diagnostic)>) {
        let mut texts: Vec<(String, u32)> = self.texts.into_iter().collect();
        texts.sort_unstable_by_key(|(_, id)| *id);
        if !texts.is_empty() {
            // It fails only beyond the 2³¹ states that no memory holds.
            self.index.automaton = AhoCorasick::new(texts.iter().map(|(text, _)| text)).ok();
        }
        (self.index, self.problems)
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
