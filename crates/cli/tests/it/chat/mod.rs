//! `prowess chat` and `prowess chats`, with a scripted model server and without a model.

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
