//! Byte pairs over words as Llama has them: each word begins with `▁`, and the two neighbours that were joined earliest
//! when the vocabulary was made are joined first.

use std::collections::HashMap;

use serde_json::Value;

use super::{File, Merge, TokenizerError, kind_of, named, steps};

/// What stands for a space.
const SPACE: char = '\u{2581}';

/// The longest stretch without a space, in characters; a longer one is cut. Joining takes its square.
const WORD_MAX: usize = 200;

#[derive(Debug)]
pub(super) struct Pairs {
    vocabulary: HashMap<String, u32>,
    /// Two tokens, when they are joined, and what they become.
    joined: HashMap<(u32, u32), (u32, u32)>,
    /// The tokens that stand for single bytes, if there are any.
    bytes: Option<Box<[Option<u32>; 256]>>,
}

impl Pairs {
    pub(super) fn of(file: File) -> Result<Self, TokenizerError> {
        let before = steps(file.normalizer, "normalizers");
        for step in before.iter().chain(&steps(file.pre_tokenizer, "pretokenizers")) {
            let spaces = |key: &str| step.get(key).and_then(Value::as_str) == Some("▁");
            let understood = match kind_of(step) {
                "Prepend" => spaces("prepend"),
                "Replace" => spaces("content"),
                "Metaspace" => spaces("replacement"),
                "NFC" | "NFKC" => true,
                _ => false,
            };
            if !understood {
                return Err(TokenizerError::Kind(named(kind_of(step))));
            }
        }
        let vocabulary = file.model.vocab;
        if !vocabulary.keys().any(|token| token.starts_with(SPACE)) {
            return Err(TokenizerError::Kind("byte pairs without spaces".to_owned()));
        }
        let mut joined = HashMap::with_capacity(file.model.merges.len());
        for (rank, merge) in (0..).zip(file.model.merges) {
            let (one, other) = match &merge {
                Merge::Spaced(text) => text.split_once(' ').ok_or(TokenizerError::Form)?,
                Merge::Two(one, other) => (&**one, &**other),
            };
            let token = |text: &str| vocabulary.get(text).copied().ok_or(TokenizerError::Form);
            let both = token(&format!("{one}{other}"))?;
            joined.entry((token(one)?, token(other)?)).or_insert((rank, both));
        }
        let of_byte = |byte: usize| vocabulary.get(&format!("<0x{byte:02X}>")).copied();
        let bytes = file.model.byte_fallback.then(|| Box::new(std::array::from_fn(of_byte)));
        Ok(Self { vocabulary, joined, bytes })
    }

    pub(super) fn tokens(&self, text: &str, mut each: impl FnMut(u32)) {
        let text: String =
            std::iter::once(' ').chain(text.chars()).map(|c| if c == ' ' { SPACE } else { c }).collect();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (word, after) = rest.split_at(word_end(rest));
            self.word(word, &mut each);
            rest = after;
        }
    }

    fn word(&self, word: &str, each: &mut impl FnMut(u32)) {
        let mut tokens: Vec<u32> = Vec::with_capacity(word.len());
        let mut encoded = [0; 4];
        for c in word.chars() {
            let c = c.encode_utf8(&mut encoded);
            match (self.vocabulary.get(c), &self.bytes) {
                (Some(token), _) => tokens.push(*token),
                (None, Some(bytes)) => tokens.extend(c.bytes().filter_map(|byte| bytes[usize::from(byte)])),
                (None, None) => {}
            }
        }
        loop {
            let pairs = tokens.windows(2).enumerate();
            let earliest = pairs
                .filter_map(|(at, pair)| {
                    self.joined.get(&(pair[0], pair[1])).map(|(rank, both)| (*rank, at, *both))
                })
                .min();
            let Some((_, at, both)) = earliest else { break };
            tokens[at] = both;
            tokens.remove(at + 1);
        }
        tokens.into_iter().for_each(each);
    }
}

/// Where a word ends: before the next run of spaces, or where it gets too long.
fn word_end(text: &str) -> usize {
    let inside = text.trim_start_matches(SPACE);
    let spaces = text.len() - inside.len();
    let end = inside.find(SPACE).map_or(text.len(), |at| spaces + at);
    text.char_indices().nth(WORD_MAX).map_or(end, |(at, _)| end.min(at))
}
