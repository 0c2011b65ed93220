//! A text in the tokens of a vocabulary, as `tokenizer.json` says.
//!
//! Two kinds are understood: WordPiece as BERT has it, and byte pairs over whole words as Llama has them. Those are what
//! tables of token embeddings come with; any other is refused by name, never guessed at.

mod pairs;
mod pieces;

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use pairs::Pairs;
use pieces::Pieces;

/// The most tokens of a vocabulary, and the most pairs.
const TOKENS_MAX: usize = 4_000_000;

/// A vocabulary, and how a text is cut into it.
#[derive(Debug)]
pub struct Tokenizer {
    tokens: usize,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Pieces(Pieces),
    Pairs(Pairs),
}

/// Why a vocabulary is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenizerError {
    /// It is not what the library `tokenizers` writes.
    #[error("is not a tokenizer.json")]
    Form,
    /// Cut in a way that is not understood.
    #[error(
        "cuts texts in a way that is not understood here ({0}); WordPiece as BERT has it and byte pairs as Llama has them are"
    )]
    Kind(String),
    /// More than any model has.
    #[error("has more than {TOKENS_MAX} tokens")]
    Many,
}

#[derive(Deserialize)]
struct File {
    normalizer: Option<Value>,
    pre_tokenizer: Option<Value>,
    model: Model,
}

#[derive(Deserialize)]
struct Typed {
    model: TypedModel,
}

#[derive(Deserialize)]
struct TypedModel {
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Model {
    vocab: HashMap<String, u32>,
    #[serde(default)]
    merges: Vec<Merge>,
    unk_token: Option<String>,
    continuing_subword_prefix: Option<String>,
    max_input_chars_per_word: Option<usize>,
    #[serde(default)]
    byte_fallback: bool,
}

/// Two tokens that become one: both spellings are in use.
#[derive(Deserialize)]
#[serde(untagged)]
enum Merge {
    Spaced(String),
    Two(String, String),
}

impl Tokenizer {
    /// Takes the text of a `tokenizer.json` over.
    pub fn of(text: &[u8]) -> Result<Self, TokenizerError> {
        // Of another kind, the rest has another form.
        let typed: Typed = serde_json::from_slice(text).map_err(|_| TokenizerError::Form)?;
        let kind = typed.model.kind.unwrap_or_else(|| "no type".to_owned());
        if !matches!(&*kind, "WordPiece" | "BPE") {
            return Err(TokenizerError::Kind(named(&kind)));
        }
        let file: File = serde_json::from_slice(text).map_err(|_| TokenizerError::Form)?;
        if file.model.vocab.len() > TOKENS_MAX || file.model.merges.len() > TOKENS_MAX {
            return Err(TokenizerError::Many);
        }
        let tokens = file.model.vocab.values().map(|number| *number as usize + 1).max().unwrap_or_default();
        let kind = match &*kind {
            "WordPiece" => Kind::Pieces(Pieces::of(file)?),
            _ => Kind::Pairs(Pairs::of(file)?),
        };
        Ok(Self { tokens, kind })
    }

    /// How many rows a table needs.
    pub fn len(&self) -> usize {
        self.tokens
    }

    /// Whether there are no tokens at all.
    pub fn is_empty(&self) -> bool {
        self.tokens == 0
    }

    /// Calls for each token of a text. What the vocabulary does not have is left out.
    pub fn tokens(&self, text: &str, each: impl FnMut(u32)) {
        match &self.kind {
            Kind::Pieces(pieces) => pieces.tokens(text, each),
            Kind::Pairs(pairs) => pairs.tokens(text, each),
        }
    }
}

/// What a step is called, fit for a message.
fn named(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).take(40).collect()
}

/// The steps of a normaliser or pre-tokenizer, one by one.
fn steps(value: Option<Value>, inner: &str) -> Vec<Value> {
    match value {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Object(mut step)) if step.get("type").and_then(Value::as_str) == Some("Sequence") => {
            match step.remove(inner) {
                Some(Value::Array(steps)) => steps,
                _ => vec![Value::Object(step)],
            }
        }
        Some(step) => vec![step],
    }
}

fn kind_of(step: &Value) -> &str {
    step.get("type").and_then(Value::as_str).unwrap_or("no type")
}

#[cfg(test)]
mod tests;
