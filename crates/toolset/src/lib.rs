//! Toolsets: the tools that a skill brings, in JavaScript or TypeScript, run in an engine inside this process; or in any
//! language, as a program in the script sandbox ([`Programs`]).
//!
//! What must always hold: a module sees no file, no network, no clock finer than a millisecond and no object of the
//! host; only text crosses the border. Each skill has an engine of its own, with a limit on memory, stack and time, and
//! whatever goes wrong in it ends there and is told as what it was. Nothing is read but regular files inside the skill,
//! through [`prowess::resource`], which refuses a skill that is untrusted, disabled or modified.
//!
//! Nothing is loaded before it is asked for. [`Toolsets`] keeps the engines that were used last.

mod answer;
mod border;
mod engine;
mod error;
mod fault;
mod host;
mod limits;
mod lint;
mod loads;
mod machine;
mod modules;
mod program;
mod resolve;
mod sources;
mod strip;
mod watch;

pub use answer::{Definition, ToolCall, ToolResult};
pub use error::{Place, ToolsetError};
pub use fault::{Fault, PROTOCOL};
pub use host::{Loaded, Toolsets, is_module};
pub use limits::{Cancel, Limits};
pub use lint::lint;
pub use program::{Conversation, ProgramLimits, Programs};
