//! Integration tests, by topic, in one binary.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "clippy does not see test helpers as tests")]

mod clients_documented;
mod dependencies_documented;
mod diagnostics_documented;
mod glossary_documented;
mod schema;
