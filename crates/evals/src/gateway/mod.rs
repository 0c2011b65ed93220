//! The gateway between agents and the model's provider: an HTTP server on this machine through which every agent sends its
//! requests.
//!
//! It is the one place that knows the key, counts and limits requests ([`Budget`](crate::budget::Budget)), records and replays them
//! ([`Traffic`]), and sees which instructions reach the model ([`InstructionMarkers`]). Each run has an unguessable path.
//! Only requests to known APIs are forwarded.

mod api;
mod instructions;
mod recording;
mod run_scope;
mod server;

pub use instructions::InstructionMarkers;
pub use recording::{ReplayError, RequestMatching, Traffic};
pub use run_scope::{RunHandle, RunOptions, RunTotals, StopReason};
pub use server::{Gateway, GatewayError};
