//! Semantic similarity in addition to words: an optional stage.
//!
//! An [`Embedder`] turns texts into vectors; this module caches them, compares them, and fuses the similarities
//! with the lexical ranking. Invariants: without this stage, or if it fails, routing uses words only; a message
//! is never rejected and never waits longer than the embedder's own timeout; and a skill found only by
//! similarity is never confident, so that nothing is activated because of it.
//!
//! | module | subject |
//! |---|---|
//! | `embedder` | the interface of embedding models |
//! | `vectors` | quantized vectors and their similarities |
//! | `table` | the vectors of texts, and their format on disk |
//! | `vector_cache` | the cache file of a collection |
//! | `stage` | embedding on demand, and handling failures |
//! | `fuse` | fusing lexical ranking and similarities |

mod embedder;
mod fuse;
mod stage;
mod table;
mod vector_cache;
mod vectors;

pub use embedder::{EmbedError, Embedder, Purpose};
pub use fuse::{FusedSkill, LEXICAL_CANDIDATES, fuse};
pub use stage::{DEFAULT_WEIGHT, SemanticStage};
pub use vectors::{DIMENSIONS_MAX, Vectors};

pub(super) use fuse::{fused_match, similarity_reason};
pub(super) use stage::{EmbedUntil, SkillVectors};

#[doc(hidden)]
pub use table::read_for_fuzzing;
