//! Edits configuration files in place: one change, and nothing else.
//!
//! | module | subject |
//! |---|---|
//! | [`list`] | adding and removing an item of a list, in TOML and YAML |
//! | [`setting`] | setting and removing one value, in TOML |
//! | `toml` | edits of TOML, with `toml_edit` |
//! | [`entry`] | setting, finding and removing an entry of a section, in JSON with comments, TOML and YAML |
//! | [`item`] | adding, changing and removing an item of a list, in JSON with comments |
//! | `jsonc` | edits of JSON with comments, with `jsonc-parser` |
//! | [`harness`] | the plugins in `~/.agent/config.yaml` (preset `harness`) |
//! | [`mod@file`] | reading and replacing the file under a lock |
//! | `json_format` | values as JSON |
//! | `brackets`, `yaml_block` | finding the position of a change in the text |
//! | `semantics` | the values of a text, and the verification of a change |
//!
//! Invariants: everything except the change stays (comments, order, quotes, line endings, a byte-order mark).
//! The result is parsed again, and rejected if anything but the intended change differs.

mod brackets;
pub mod entry;
pub mod file;
pub mod harness;
pub mod item;
mod json_format;
mod jsonc;
pub mod list;
mod semantics;
pub mod setting;
mod text;
mod toml;
mod yaml;
mod yaml_block;

#[cfg(test)]
mod tests;

/// The reason why a text was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// It cannot be parsed.
    #[error("line {line}: {message}")]
    Malformed {
        /// The line, counted from 1.
        line: u32,
        /// The problem.
        message: String,
    },
    /// It can be parsed, but the change would affect more than intended.
    #[error("line {line}: {reason}")]
    Unsafe {
        /// The line, counted from 1.
        line: u32,
        /// The reason, and what to do instead.
        reason: String,
    },
    /// There is no plugin of this name.
    #[error("no plugin named {name}")]
    NoPlugin {
        /// The name.
        name: String,
    },
    /// A plugin of this name already exists.
    #[error("line {line}: plugin {name} already exists")]
    PluginExists {
        /// The name.
        name: String,
        /// The line, counted from 1.
        line: u32,
    },
}
