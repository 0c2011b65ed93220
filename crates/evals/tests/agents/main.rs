//! Agents that are programs, in the real sandbox.
//!
//! The sandbox starts this program again as its helper. The custom `main` handles that, and lists and runs tests like the
//! usual one.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

mod acp;
mod command;
mod real;
mod support;

fn main() {
    let mut tests: Vec<(&str, fn())> = command::TESTS.to_vec();
    tests.extend(acp::TESTS);
    tests.extend(real::tests());
    prowess_testing::test_main::run_tests(&tests);
}
