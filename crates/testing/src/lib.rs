//! What the tests of several crates need. It is no part of the program.
//!
//! | module | subject |
//! |---|---|
//! | [`builders`] | archives made by hand, byte by byte |
//! | [`embeddings`] | a server that turns texts into vectors, or does what it is told instead |
//! | [`html`] | what HTML made of Markdown may hold |
//! | [`library`] | a project, a home, and skills in them, for tests of the library alone |
//! | [`model`] | a server that speaks as providers of models do, byte by byte |
//! | [`postgres`] | a real PostgreSQL for one test |
//! | [`scripts`] | a skill whose scripts run |
//! | [`servers`] | git over https and over ssh, and repositories to serve |
//! | [`world`] | a project, a home, and skills in them |

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod builders;
pub mod embeddings;
pub mod html;
pub mod library;
pub mod model;
pub mod postgres;
#[cfg(target_os = "linux")]
pub mod scripts;
pub mod servers;
pub mod world;

pub use world::World;
