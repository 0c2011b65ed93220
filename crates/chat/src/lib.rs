//! Chats that use skills: model providers, the turn loop and persistent storage.
//!
//! | module | subject |
//! |---|---|
//! | [`provider`] | language models behind a common interface |
//! | [`turn`] | the turn loop: ask the model, run its tool calls, repeat until it is done |
//! | [`store`] | chats stored in SQLite or PostgreSQL |

mod event;
mod message;
mod outcome;
pub mod provider;
pub mod store;
mod thinking;
pub mod turn;

pub use event::{AccessRow, ConsentQuestion, TurnEvent};
pub use message::{Message, MessageState, Part, Role, TokenUsage};
pub use outcome::{EndReason, TurnOutcome};
pub use thinking::{SealedContent, ThinkingSeal};
