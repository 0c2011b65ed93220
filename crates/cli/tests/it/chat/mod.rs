//! `prowess chat` and `prowess chats`, with a scripted model server and without a model.

mod agents;
mod documented;
mod events;
mod files;
mod interruptions;
mod invalid_input;
mod line_editor;
mod providers;
mod secrets;
mod single_messages;
mod stored_chats;
mod stores;
pub(crate) mod support;
mod terminal;
