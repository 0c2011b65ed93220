//! Integration tests, by topic, in one binary.

#![allow(clippy::unwrap_used)]

mod requests;
mod routing;
mod routing_cache;
mod routing_semantic;
