//! What must hold for any bytes, one function for each fuzz target.
//!
//! | module | subject |
//! |---|---|
//! | [`skill_md()`] | a whole `SKILL.md`, and the beginnings of it |
//! | [`yaml()`] | YAML within a budget |
//! | [`repair()`] | quoting what people forget to quote |
//! | [`config()`] | configuration files of the user and of a project |
//! | [`archive()`] | zip and tar archives of strangers |
//! | [`source()`] | what stands after `install` |
//! | [`well_known()`] | the index of a site |
//! | [`jsonc()`] | configurations of MCP clients, changed and changed back |
//! | [`mcp_uri()`] | addresses of files over MCP |
//! | [`markdown()`] | Markdown as HTML for a page |
//! | [`route_index()`] | the index of routing, damaged |
//! | [`route_vectors()`] | vectors of routing |
//! | [`audit()`] | the files of a skill, under several names |
//!
//! Each function panics where a promise is broken. The tests replay the seeds of `seeds/` on a stable compiler.

mod archive;
mod audit;
mod config;
mod jsonc;
mod markdown;
mod mcp_uri;
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
pub use jsonc::jsonc;
pub use markdown::markdown;
pub use mcp_uri::mcp_uri;
pub use repair::repair;
pub use route_index::route_index;
pub use route_vectors::route_vectors;
pub use skill_md::skill_md;
pub use source::source;
pub use well_known::well_known;
pub use yaml::yaml;

/// A program that gives the bytes of libFuzzer to a function. Without libFuzzer it does nothing.
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
