//! Closeness in meaning, beside words: an optional stage.
//!
//! Somebody else turns texts into vectors ([`Embedder`]); here they are kept, compared, and fused with what words found.
//! What must always hold: without this stage, or where it fails, routing is what words alone make of it; a message is
//! never refused and never waits for longer than the embedder's own bound; and what only vectors found does not *fit*, so
//! that nothing is activated because of it.
//!
//! | module | subject |
//! |---|---|
//! | `embedder` | who turns texts into vectors |
//! | `vectors` | many vectors, a byte a number, and how close each is to another |
//! | `table` | which text has which vector, and the bytes of that on disk |
//! | `kept` | the file of a collection |
//! | `stage` | what is embedded when, and what becomes of failures |
//! | `fuse` | what words and vectors come to |

mod embedder;
mod fuse;
mod kept;
mod stage;
mod table;
mod vectors;

pub use embedder::{EmbedError, Embedder, Purpose};
pub use fuse::{CONSIDERED, Fused, fuse};
pub use stage::{Semantic, WEIGHT};
pub use vectors::{DIMENSIONS_MAX, Vectors};

pub(super) use fuse::{close_reason, matched};
pub(super) use stage::{Placed, Until};

#[doc(hidden)]
pub use table::read_for_fuzzing;
