//! The interface of embedding models.

use std::fmt;

use super::vectors::DIMENSIONS_MAX;

/// What a text is embedded for. Some models treat the two differently, and only a message makes a user wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Skills: many texts, embedded once.
    Skills,
    /// A message: one text, needed now.
    Message,
}

/// Turns texts into vectors that are close if the texts have a similar meaning. May block, with its own timeout.
///
/// ```
/// use prowess_routing::semantic::{EmbedError, Embedder, Purpose};
///
/// /// Embeds the length of a text.
/// #[derive(Debug)]
/// struct Length;
///
/// impl Embedder for Length {
///     fn identity(&self) -> Result<String, EmbedError> {
///         Ok("length, version 1".to_owned())
///     }
///
///     fn embed(&self, texts: &[&str], _: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
///         Ok(texts.iter().map(|text| vec![text.len() as f32, 1.0]).collect())
///     }
/// }
/// assert_eq!(Length.embed(&["abc"], Purpose::Message).unwrap(), [[3.0, 1.0]]);
/// ```
pub trait Embedder: fmt::Debug + Send + Sync {
    /// Identifies the model and everything that affects its vectors. Vectors of different identities are never
    /// compared.
    fn identity(&self) -> Result<String, EmbedError>;

    /// Returns the maximum number of texts per call.
    fn batch_size(&self) -> usize {
        32
    }

    /// Returns one vector for each text, in the same order, all of the same length.
    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// Why there are no vectors. The messages are for users, and contain no secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// The embedder failed with this message.
    #[error("{0}")]
    Failed(String),
    /// The number of vectors is wrong.
    #[error("sent {expected} texts, but received {actual} vectors")]
    Count {
        /// The number of texts.
        expected: usize,
        /// The number of vectors.
        actual: usize,
    },
    /// The length of a vector differs from the others.
    #[error("a vector has {actual} numbers instead of {expected}")]
    Dimensions {
        /// The expected length.
        expected: usize,
        /// The actual length.
        actual: usize,
    },
    /// A vector is empty or too long.
    #[error("a vector has {0} numbers; 1 to {DIMENSIONS_MAX} are allowed")]
    Length(usize),
    /// A vector contains an infinity or NaN.
    #[error("a vector contains a value that is not a number")]
    NotANumber,
}
