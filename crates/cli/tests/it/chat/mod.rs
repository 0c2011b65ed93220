//! `prowess chat` and `prowess chats`, with a model server that does what it is told, and without any model.

mod agents;
mod bad;
mod documented;
mod ending;
mod events;
mod kept;
mod once;
mod providers;
mod secrets;
mod stores;
mod talking;
mod terminal;
mod typing;
