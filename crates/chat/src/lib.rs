//! Chats that use skills, and that are kept.

mod event;
mod message;
pub mod store;

pub use event::Event;
pub use message::{Message, Part, Role, State, Usage};
