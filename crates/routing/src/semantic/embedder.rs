//! Who turns texts into vectors.

use std::fmt;

use super::vectors::DIMENSIONS_MAX;

/// What a text is. Some models want to be told, and somebody who waits for an answer waits for a message only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Skills: many, once, and nobody asks for each of them.
    Skills,
    /// A message: one, now.
    Message,
}

/// Turns texts into vectors that are close where the texts mean nearly the same. It may block, within bounds of its own.
///
/// ```
/// use prowess_routing::semantic::{EmbedError, Embedder, Purpose};
///
/// /// How long texts are, which says little of what they mean.
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
    /// Says which model it is, with everything that changes what it makes of a text. Vectors of another identity are
    /// not compared with its own.
    fn identity(&self) -> Result<String, EmbedError>;

    /// How many texts it is given at once, at most.
    fn batch(&self) -> usize {
        32
    }

    /// One vector for each text, in the same order, all of the same length.
    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// Why there are no vectors. The texts are for people, and hold no secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// Whoever makes them says why not.
    #[error("{0}")]
    Failed(String),
    /// Not one for each text.
    #[error("{wanted} texts were sent, and {given} vectors came back")]
    Count {
        /// How many texts there were.
        wanted: usize,
        /// How many vectors came.
        given: usize,
    },
    /// Not of the length of the others.
    #[error("a vector has {given} numbers, and the others have {wanted}")]
    Dimensions {
        /// The length of the others.
        wanted: usize,
        /// Its length.
        given: usize,
    },
    /// Longer than any model's, or empty.
    #[error("a vector has {0} numbers; from 1 to {DIMENSIONS_MAX} are taken")]
    Length(usize),
    /// Infinite, or not a number at all.
    #[error("a vector has something in it that is not a number")]
    NotANumber,
}
