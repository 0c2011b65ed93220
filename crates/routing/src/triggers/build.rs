//! Building the index from manifests.

use std::collections::{HashMap, HashSet};

use aho_corasick::AhoCorasick;
use prowess_format::everyday::is_everyday_keyword;
use prowess_format::{Code, Diagnostic, Manifest};

use super::super::pattern::TriggerPattern;
use super::super::text::fold_trimmed;
use super::{KEYWORD_MAX, TRIGGERS_MAX, TextUse, TriggerIndex, TriggerKind, TriggerWord, WEIGHT_MAX};

#[derive(Default)]
pub(super) struct TriggerIndexBuilder {
    index: TriggerIndex,
    texts: HashMap<String, u32>,
    problems: Vec<(usize, Diagnostic)>,
}

impl TriggerIndexBuilder {
    pub(super) fn add(&mut self, skill: usize, manifest: &Manifest) {
        let Some(triggers) = manifest.triggers().filter(|triggers| !triggers.is_empty()) else { return };
        self.index.skills += 1;
        self.add_word(skill, TriggerKind::Name, manifest.name().as_str());
        self.check_count(skill, "keywords", triggers.keywords.len());
        for keyword in triggers.keywords.iter().take(TRIGGERS_MAX) {
            let phrase = keyword.split_whitespace().nth(1).is_some();
            self.add_word(skill, if phrase { TriggerKind::Phrase } else { TriggerKind::Keyword }, keyword);
        }
        self.check_count(skill, "verbs", triggers.verbs.len());
        for verb in triggers.verbs.iter().take(TRIGGERS_MAX) {
            self.add_word(skill, TriggerKind::Verb, verb);
        }
        self.check_count(skill, "patterns", triggers.patterns.len());
        for pattern in triggers.patterns.iter().take(TRIGGERS_MAX) {
            self.add_pattern(skill, pattern);
        }
    }

    fn check_count(&mut self, skill: usize, kind: &str, count: usize) {
        if count > TRIGGERS_MAX {
            self.warn(
                skill,
                format!("{count} {kind}; only the first {TRIGGERS_MAX} are used"),
                "remove the weaker ones",
            );
        }
    }

    fn add_word(&mut self, skill: usize, kind: TriggerKind, source: &str) {
        let folded = fold_trimmed(source);
        let length = folded.chars().count();
        if length > KEYWORD_MAX && kind != TriggerKind::Name {
            let message =
                format!("a {} has {length} characters; at most {KEYWORD_MAX} are allowed", kind.as_str());
            self.warn(skill, message, "shorten it");
        } else if length > 0 {
            let id = to_u32(self.index.words.len());
            let text = source.split_whitespace().collect::<Vec<_>>().join(" ");
            self.index.words.push(TriggerWord { skill, kind, text: text.into(), weight: WEIGHT_MAX });
            self.add_text(
                folded,
                if kind == TriggerKind::Name { TextUse::Name(id) } else { TextUse::Word(id) },
            );
        }
    }

    fn add_pattern(&mut self, skill: usize, source: &str) {
        match TriggerPattern::new(source) {
            Ok((pattern, literals)) => {
                let id = to_u32(self.index.patterns.len());
                self.index.patterns.push((skill, pattern));
                if literals.is_empty() {
                    self.index.always.push(id);
                }
                for literal in literals {
                    self.add_text(literal, TextUse::Pattern(id));
                }
            }
            Err(reason) => {
                let escaped: String = source.chars().take(60).flat_map(char::escape_debug).collect();
                let message = format!("invalid pattern \"{escaped}\": {reason}");
                self.warn(skill, message, "use a regular expression without look-around");
            }
        }
    }

    fn add_text(&mut self, text: String, text_use: TextUse) {
        let next = to_u32(self.texts.len());
        let id = *self.texts.entry(text).or_insert(next);
        if id == next {
            self.index.uses.push(Vec::new());
        }
        if let Some(uses) = self.index.uses.get_mut(id as usize) {
            uses.push(text_use);
        }
    }

    fn warn(&mut self, skill: usize, message: String, help: &str) {
        self.problems.push((skill, Diagnostic::warning(Code::TriggerForm, message).help(help)));
    }

    /// Weighs keywords and verbs by their rarity in language and in the collection.
    fn weigh(&mut self) {
        let skills = self.index.skills as f32;
        for uses in &self.index.uses {
            let words: Vec<usize> = uses
                .iter()
                .filter_map(|text_use| match text_use {
                    TextUse::Word(word) => Some(*word as usize),
                    TextUse::Name(_) | TextUse::Pattern(_) => None,
                })
                .collect();
            let users: HashSet<usize> =
                words.iter().filter_map(|word| Some(self.index.words.get(*word)?.skill)).collect();
            let rarity = (skills / users.len().max(1) as f32).ln_1p() / skills.ln_1p();
            for word in words {
                if let Some(word) = self.index.words.get_mut(word) {
                    let is_everyday = is_everyday_keyword(&word.text);
                    word.weight =
                        if is_everyday { 0 } else { (rarity * f32::from(WEIGHT_MAX)).round() as u8 };
                }
            }
        }
    }

    pub(super) fn finish(mut self) -> (TriggerIndex, Vec<(usize, Diagnostic)>) {
        self.weigh();
        let mut texts: Vec<(String, u32)> = self.texts.into_iter().collect();
        texts.sort_unstable_by_key(|(_, id)| *id);
        if !texts.is_empty() {
            // Building fails only beyond 2³¹ states, which do not fit into memory.
            self.index.automaton = AhoCorasick::new(texts.iter().map(|(text, _)| text)).ok();
        }
        (self.index, self.problems)
    }
}

fn to_u32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
