//! The thinking of a model, and what its provider needs to accept it again.

use serde::{Deserialize, Serialize};

/// The maximum size of a seal, in bytes. Larger ones are not kept.
pub(crate) const SEAL_MAX: usize = 1024 * 1024;

/// What a provider needs to accept thinking of its model again. It is stored, but not shown to clients.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThinkingSeal {
    /// The provider and the model. Other models do not get the thinking.
    pub model: String,
    /// How many tool calls of the same reply precede the thinking.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub calls: usize,
    /// The seal itself.
    #[serde(flatten)]
    pub content: SealedContent,
}

/// The seal of a provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SealedContent {
    /// The signature of a text (Anthropic).
    Signature {
        /// The signature.
        signature: String,
    },
    /// Encrypted thinking without a text (Anthropic).
    Redacted {
        /// The encrypted thinking.
        data: String,
    },
    /// Encrypted thinking with a summary (OpenAI).
    Reasoning {
        /// The id of the item.
        id: String,
        /// The paragraphs of the summary.
        summary: Vec<String>,
        /// The encrypted thinking.
        encrypted: String,
    },
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl ThinkingSeal {
    /// Returns the size of the texts, in bytes.
    pub(crate) fn size(&self) -> usize {
        self.model.len() + self.content.size()
    }

    /// Returns all texts.
    pub(crate) fn texts(&self) -> Vec<&str> {
        let mut texts = vec![self.model.as_str()];
        match &self.content {
            SealedContent::Signature { signature: text } | SealedContent::Redacted { data: text } => {
                texts.push(text);
            }
            SealedContent::Reasoning { id, summary, encrypted } => {
                texts.extend([id.as_str(), encrypted.as_str()]);
                texts.extend(summary.iter().map(String::as_str));
            }
        }
        texts
    }
}

impl SealedContent {
    /// Returns the size of the texts, in bytes.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Signature { signature: text } | Self::Redacted { data: text } => text.len(),
            Self::Reasoning { id, summary, encrypted } => {
                id.len() + encrypted.len() + summary.iter().map(String::len).sum::<usize>()
            }
        }
    }
}
