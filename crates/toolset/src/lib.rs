//! Toolsets: tools of skills, written in JavaScript or TypeScript and run by an engine in this process, or in any language
//! as a program in the script sandbox ([`Programs`]).
//!
//! Invariants: a module cannot access files, the network, a clock finer than a millisecond or objects of the host; only
//! text crosses the boundary. Each skill has its own engine with limits on memory, stack and time, and errors in it are
//! contained and reported. Only regular files of the skill are read, through [`prowess::resources`], which refuses
//! untrusted, disabled and modified skills.
//!
//! Toolsets are loaded on first use. [`Toolsets`] keeps the most recently used engines.

mod bindings;
mod engine;
mod error;
mod host;
mod js_engine;
mod limits;
mod lint;
mod loads;
mod modules;
mod program;
mod program_fault;
mod resolve;
mod response;
mod sources;
mod strip;
mod watch;

pub use error::{SourceLocation, ToolsetError};
pub use host::{LoadedTools, Toolsets, is_module};
pub use limits::ToolsetLimits;
pub use lint::lint;
pub use program::{Conversation, ProgramLimits, Programs};
pub use program_fault::{PROTOCOL_VERSION, ProgramFault};
pub use prowess_sandbox::Cancel;
pub use response::{ToolCall, ToolDescriptor, ToolResult};
