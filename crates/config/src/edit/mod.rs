//! Changing one thing in a configuration file of the user's, and nothing else.
//!
//! | module | subject |
//! |---|---|
//! | [`list`] | adding a text to a list, and removing it, in TOML and YAML |
//! | [`setting`] | one setting put, added and taken, in TOML |
//! | `toml` | edits of TOML, made with `toml_edit` |
//! | [`entry`] | one entry of a section put, found and taken, in JSON with comments, TOML and YAML |
//! | `jsonc` | edits of JSON with comments, made with `jsonc-parser` |
//! | [`harness`] | the plugins of document 002's `config.yaml` |
//! | [`mod@file`] | reading and replacing the file while nobody else does |
//! | `brackets`, `block` | where in the text a change goes |
//! | `meaning` | what a text means, and whether a change did only what it should |
//!
//! What must always hold: everything but the change stays (comments, order, quotes, line ends, a byte-order mark); and
//! what was changed is read again: if anything but the intended change is different, the change is refused.

mod block;
mod brackets;
pub mod entry;
pub mod file;
pub mod harness;
mod jsonc;
pub mod list;
mod meaning;
pub mod setting;
mod text;
mod toml;
mod yaml;

#[cfg(test)]
mod tests;

/// Why a text was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// It cannot be read, so that nobody knows what a change would do.
    #[error("line {line}: {message}")]
    Malformed {
        /// The line, counted from 1.
        line: u32,
        /// What is wrong.
        message: String,
    },
    /// It can be read, but the change would touch more than it should.
    #[error("line {line}: {why}")]
    Refused {
        /// The line, counted from 1.
        line: u32,
        /// Why, and what to do instead.
        why: String,
    },
    /// There is no plugin of this name.
    #[error("there is no plugin named {name}")]
    NoPlugin {
        /// The name.
        name: String,
    },
    /// There is a plugin of this name.
    #[error("line {line}: there is a plugin named {name} already")]
    PluginThere {
        /// The name.
        name: String,
        /// The line, counted from 1.
        line: u32,
    },
}
