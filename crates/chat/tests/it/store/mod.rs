//! The store, on both databases. Where a test has no backend in its name, it is about one alone.

mod chats;
mod child;
mod dying;
mod following;
mod keeping;
mod migrating;
mod secured;
mod several;
mod texts;
mod transferring;
mod trouble;
mod turns;
mod world;
