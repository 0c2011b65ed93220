//! WordPiece as BERT has it: words, and the longest beginnings of them that the vocabulary knows.

use std::collections::HashMap;

use serde_json::Value;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::{File, TokenizerError, kind_of, named, steps};

/// The longest word, in characters, where the file does not say.
const WORD_MAX: usize = 100;

#[derive(Debug)]
pub(super) struct Pieces {
    vocabulary: HashMap<String, u32>,
    /// What stands before a piece that does not begin a word.
    inside: String,
    unknown: Option<u32>,
    word_max: usize,
    lowercase: bool,
    strip_accents: bool,
}

impl Pieces {
    pub(super) fn of(file: File) -> Result<Self, TokenizerError> {
        let (mut lowercase, mut strip_accents) = (false, false);
        for step in steps(file.normalizer, "normalizers") {
            let says = |key: &str| step.get(key).and_then(Value::as_bool);
            match kind_of(&step) {
                "BertNormalizer" => {
                    lowercase = says("lowercase").unwrap_or(true);
                    // Where nobody says, accents go with capitals.
                    strip_accents = says("strip_accents").unwrap_or(lowercase);
                }
                "Lowercase" => lowercase = true,
                "StripAccents" => strip_accents = true,
                "NFD" | "NFC" | "NFKC" | "NFKD" => {}
                other => return Err(TokenizerError::Kind(named(other))),
            }
        }
        for step in steps(file.pre_tokenizer, "pretokenizers") {
            let kind = kind_of(&step);
            if !matches!(kind, "BertPreTokenizer" | "Whitespace" | "WhitespaceSplit" | "Punctuation") {
                return Err(TokenizerError::Kind(named(kind)));
            }
        }
        let unknown = file.model.unk_token.and_then(|token| file.model.vocab.get(&token).copied());
        Ok(Self {
            unknown,
            vocabulary: file.model.vocab,
            inside: file.model.continuing_subword_prefix.unwrap_or_else(|| "##".to_owned()),
            word_max: file.model.max_input_chars_per_word.unwrap_or(WORD_MAX).min(1_000),
            lowercase,
            strip_accents,
        })
    }

    pub(super) fn tokens(&self, text: &str, mut each: impl FnMut(u32)) {
        let mut found = Vec::new();
        for word in words(&self.normal(text)) {
            found.clear();
            if self.word(word, &mut found) {
                found.iter().filter(|token| Some(**token) != self.unknown).for_each(|token| each(*token));
            }
        }
    }

    fn normal(&self, text: &str) -> String {
        let clean = text.chars().filter(|c| c.is_whitespace() || !(c.is_control() || *c == '\u{fffd}'));
        let text: String = match self.strip_accents {
            true => clean.nfd().filter(|c| !is_combining_mark(*c)).collect(),
            false => clean.collect(),
        };
        if self.lowercase { text.to_lowercase() } else { text }
    }

    /// Whether the vocabulary has all of a word, in pieces.
    fn word(&self, word: &str, found: &mut Vec<u32>) -> bool {
        if word.chars().count() > self.word_max {
            return false;
        }
        let mut from = 0;
        let mut piece = String::new();
        while from < word.len() {
            let before = if from == 0 { "" } else { &self.inside };
            let mut ends = word[from..].char_indices().rev().map(|(at, c)| from + at + c.len_utf8());
            let longest = ends.find_map(|end| {
                piece.clear();
                piece.push_str(before);
                piece.push_str(&word[from..end]);
                self.vocabulary.get(&piece).map(|token| (end, *token))
            });
            let Some((end, token)) = longest else { return false };
            found.push(token);
            from = end;
        }
        true
    }
}

/// The words of a text: between white space, with each mark and each Chinese character on its own.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let alone = |c: char| is_mark(c) || is_chinese(c);
    text.split(char::is_whitespace).flat_map(move |stretch| {
        stretch.split_inclusive(alone).flat_map(move |part| {
            let last = part.char_indices().next_back().filter(|(_, c)| alone(*c));
            let (word, mark) = part.split_at(last.map_or(part.len(), |(at, _)| at));
            [word, mark].into_iter().filter(|part| !part.is_empty())
        })
    })
}

/// ASCII that is neither letter nor digit counts as punctuation, as do the usual blocks of it elsewhere.
fn is_mark(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(c, '\u{a1}' | '\u{a7}' | '\u{ab}' | '\u{b6}' | '\u{b7}' | '\u{bb}' | '\u{bf}')
        || matches!(c, '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{3001}'..='\u{3003}')
        || matches!(c, '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}' | '\u{30fb}')
        || matches!(c, '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '\u{ff3b}'..='\u{ff3d}' | '\u{ff5b}'..='\u{ff65}')
}

fn is_chinese(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2ceaf}' | '\u{f900}'..='\u{faff}' | '\u{2f800}'..='\u{2fa1f}')
}
