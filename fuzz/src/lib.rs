//! Properties that must hold for any bytes, one function per fuzz target.
//!
//! | module | subject |
//! |---|---|
//! | [`skill_md()`] | a `SKILL.md` and its prefixes |
//! | [`yaml()`] | YAML within a budget |
//! | [`repair()`] | quoting values that must be quoted |
//! | [`fix()`] | fixes of a `SKILL.md` |
//! | [`config()`] | configuration files of the user and of a project |
//! | [`archive()`] | untrusted zip and tar archives |
//! | [`source()`] | the argument of `install` |
//! | [`well_known()`] | the index of a website |
//! | [`jsonc()`] | edits of the configurations of MCP clients |
//! | [`plugin()`] | manifests of plugins and marketplaces |
//! | [`lsp()`] | frames and positions of the language server, and references of a text |
//! | [`mcp_uri()`] | URIs of files over MCP |
//! | [`markdown()`] | Markdown rendered as HTML |
//! | [`route_index()`] | damaged routing indexes |
//! | [`route_vectors()`] | damaged routing vectors |
//! | [`dependencies()`] | imports, inline metadata and requirements files of scripts |
//! | [`audit()`] | the files of a skill, under several names |
//!
//! Each function panics if a property is violated. The tests replay the seeds of `seeds/` on stable Rust.

mod archive;
mod audit;
mod config;
mod dependencies;
mod fix;
mod jsonc;
mod lsp;
mod markdown;
mod mcp_uri;
mod plugin;
mod repair;
mod route_index;
mod route_vectors;
mod skill_md;
mod source;
mod well_known;
mod yaml;

pub use archive::archive;
pub use audit::audit;
pub use config::config;
pub use dependencies::dependencies;
pub use fix::fix;
pub use jsonc::jsonc;
pub use lsp::lsp;
pub use markdown::markdown;
pub use mcp_uri::mcp_uri;
pub use plugin::plugin;
pub use repair::repair;
pub use route_index::route_index;
pub use route_vectors::route_vectors;
pub use skill_md::skill_md;
pub use source::source;
pub use well_known::well_known;
pub use yaml::yaml;

/// Defines a program that passes the bytes of libFuzzer to a function. Without libFuzzer, it does nothing.
#[macro_export]
macro_rules! target {
    ($check:ident) => {
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $crate::$check(bytes));

        #[cfg(not(fuzzing))]
        fn main() {}
    };
}

#[cfg(test)]
mod tests;
