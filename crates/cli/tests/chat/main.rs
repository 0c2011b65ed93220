//! `prowess chat` and `prowess chats`, with a model server that does what it is told, and without any model.

#![allow(clippy::unwrap_used, clippy::panic, unreachable_pub)]

#[path = "../world/mod.rs"]
mod world;

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
