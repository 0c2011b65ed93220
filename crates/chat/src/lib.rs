//! Chats that use skills, and that are kept.

mod event;
mod message;
pub mod provider;
pub mod rehearsal;
pub mod store;
pub mod turn;

pub use event::Event;
pub use message::{Message, Part, Role, State, Usage};
