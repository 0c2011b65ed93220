//! Programs that provide tools: in any language, with one JSON object per line, in the script sandbox.
//!
//! Invariants: all permissions of scripts are checked whenever a program is started or called; it runs with verified files,
//! and is stopped when they change; it ends with its conversation; and a program that misbehaves is stopped, and its fault
//! is reported.

mod host;
mod limits;
mod output;
mod pool;
mod process;
mod protocol;
mod schema;
mod session;
mod tool;

pub use host::{Conversation, Programs};
pub use limits::ProgramLimits;
