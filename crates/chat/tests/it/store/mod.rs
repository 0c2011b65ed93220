//! The store on both databases. Tests without a backend in their name apply to one only.

mod chats;
mod child;
mod dying;
mod following;
mod keeping;
mod migrating;
mod secured;
mod several;
mod support;
mod texts;
mod transferring;
mod trouble;
mod turns;
