//! Test support that several crates share. It is not part of the program.
//!
//! | module | subject |
//! |---|---|
//! | [`builders`] | zip and tar archives, built byte by byte |
//! | [`embeddings`] | an embeddings server with scripted replies |
//! | [`html`] | which HTML rendered Markdown may contain |
//! | [`model`] | a model server with scripted replies |
//! | [`package_index`] | a package index on loopback |
//! | [`postgres`] | a PostgreSQL server for one test |
//! | [`processes`] | processes on this machine |
//! | [`registry_env`] | a project and a home directory, for tests of the library `prowess` alone |
//! | [`script_env`] | a skill whose scripts are run |
//! | [`servers`] | git over HTTPS and SSH, and repositories to serve |
//! | [`store`] | a chat store, in a file or in PostgreSQL (feature `store`) |
//! | [`test_env`] | a project and a home directory, with a toolbox and chat settings |
//! | [`test_main`] | the `main` of a test program that is also the sandbox helper |
//! | [`wait`] | waiting for a condition |

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

pub mod builders;
pub mod embeddings;
pub mod html;
pub mod model;
pub mod package_index;
pub mod postgres;
pub mod processes;
pub mod registry_env;
#[cfg(target_os = "linux")]
pub mod script_env;
pub mod servers;
#[cfg(feature = "store")]
pub mod store;
pub mod test_env;
pub mod test_main;
pub mod wait;

pub use test_env::TestEnv;
