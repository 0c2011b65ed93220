//! The store on both databases. Tests without a backend in their name apply to one only.

mod authentication;
mod chats;
mod child;
mod concurrency;
mod crashes;
mod failures;
mod files;
mod migrations;
mod questions;
mod recording;
mod search;
mod subscriptions;
mod support;
mod texts;
mod transfer;
mod turns;
mod versions;
