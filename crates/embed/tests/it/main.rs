//! Integration tests, by topic, in one binary.

#![allow(clippy::unwrap_used)]

mod endpoint;
