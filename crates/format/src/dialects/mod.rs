//! What the clients that read skills do with them: one table of frontmatter keys ([`KEYS`]), one of rules for names,
//! descriptions and files ([`Client::rules`]), and one of directories ([`Client::skill_dirs`]).
//!
//! The facts were checked in runs of the clients, in their source code, or in their documentation. The tables of
//! `docs/clients.md` are generated from them.

mod client;
mod fit;
mod instructions;
mod keys;
mod openai_yaml;
mod skill_dirs;

pub use client::{
    Client, ClientRules, DescriptionLimit, Evidence, FieldType, FolderRule, NameCharacters, NameFallback,
    ParseClientError,
};
pub use fit::{SkillFile, check_fit};
pub use instructions::{InstructionsShown, instructions_shown};
pub use keys::{DialectKey, KEYS, find_key};
pub use openai_yaml::{OPENAI_YAML, OPENAI_YAML_MAX, OpenAiYaml};
pub use skill_dirs::SkillDirs;

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
