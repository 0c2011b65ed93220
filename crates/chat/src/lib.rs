//! Chats that use skills, and that are kept.
//!
//! | module | subject |
//! |---|---|
//! | [`provider`] | models behind other people's interfaces, all alike from here |
//! | [`turn`] | a message comes in, the model is asked, its tools are called, until it is done |
//! | [`store`] | chats, kept: in a file or a database |

mod ending;
mod event;
mod message;
pub mod provider;
pub mod store;
pub mod turn;

pub use ending::{End, Ending};
pub use event::Event;
pub use message::{Message, Part, Role, State, Usage};
