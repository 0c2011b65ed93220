//! What the clients that read skills do with them: one table of frontmatter keys ([`KEYS`]) and one of rules for
//! names, descriptions and files ([`Client::rules`]).
//!
//! The facts were checked in runs of the clients, in their source code, or in their documentation;
//! `docs/clients.md` is generated from both tables.

mod client;
mod fit;
mod keys;
mod openai_yaml;

pub use client::{
    Client, ClientRules, DescriptionLimit, Evidence, FieldType, FolderRule, NameCharacters, NameFallback,
    ParseClientError,
};
pub use fit::{SkillFile, check_fit};
pub use keys::{DialectKey, KEYS, find_key};
pub use openai_yaml::{OPENAI_YAML, OPENAI_YAML_MAX, OpenAiYaml};

/// Returns the titles of clients as one phrase: `Claude Code, Codex and droid`.
pub fn client_list(clients: &[Client]) -> String {
    match clients {
        [] => String::new(),
        [one] => one.title().to_owned(),
        [first @ .., last] => {
            let first: Vec<_> = first.iter().map(|client| client.title()).collect();
            format!("{} and {}", first.join(", "), last.title())
        }
    }
}
