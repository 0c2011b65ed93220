//! Programs that bring tools: any language, one JSON object a line, inside the script sandbox.
//!
//! What must always hold: a program passes every gate of a script, each time it is started and each time it is asked;
//! it runs among files that were verified, and not on after they have changed; it ends with the conversation that it
//! works for; and whatever it does instead of answering ends it, and is told as what it was.

mod heard;
mod host;
mod keeper;
mod limits;
mod pool;
mod protocol;
mod schema;
mod talk;
mod tool;

pub use host::{Conversation, Programs};
pub use limits::ProgramLimits;
