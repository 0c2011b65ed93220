//! Every integration test of this crate, by topic, in one program.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, unreachable_pub)]

mod checklists;
mod compaction;
mod conformance;
mod consent;
mod dialects;
mod failures;
mod long_conversations;
mod mentions;
mod rehearsal;
mod requests;
mod store;
mod streams;
mod support;
mod thinking;
mod tls;
mod turn;
mod workspace;
