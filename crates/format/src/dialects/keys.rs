//! The frontmatter keys of all clients.

use super::Client::GithubCopilot as Copilot;
use super::Client::{
    self, ClaudeCode, Cline, Codex, Crush, Cursor, Droid, Hermes, OpenClaw, QwenCode, Roo, Vscode,
};

/// A frontmatter key that the specification, a client or skills in public registries use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DialectKey {
    /// The key.
    pub key: &'static str,
    /// What it does.
    pub purpose: &'static str,
    /// Whether the specification defines it.
    pub in_specification: bool,
    /// Whether Prowess acts on it.
    pub used_by_prowess: bool,
    /// The clients that act on it. Other clients ignore it.
    pub clients: &'static [Client],
}

/// Returns the entry of a key; `None` if no client, registry or specification uses it.
///
/// ```
/// use prowess_format::dialects::{Client, find_key};
///
/// assert!(find_key("when_to_use").unwrap().clients.contains(&Client::ClaudeCode));
/// assert!(find_key("colour").is_none());
/// ```
pub fn find_key(key: &str) -> Option<&'static DialectKey> {
    KEYS.binary_search_by(|entry| entry.key.cmp(key)).ok().and_then(|index| KEYS.get(index))
}

macro_rules! keys {
    (@spec spec) => { true };
    (@spec prowess) => { false };
    (@spec other) => { false };
    (@prowess spec) => { true };
    (@prowess prowess) => { true };
    (@prowess other) => { false };
    ($($kind:ident $key:literal $purpose:literal $clients:expr;)+) => {
        /// All keys, sorted.
        pub static KEYS: &[DialectKey] = &[$(DialectKey {
            key: $key,
            purpose: $purpose,
            in_specification: keys!(@spec $kind),
            used_by_prowess: keys!(@prowess $kind),
            clients: &$clients,
        }),+];
    };
}

// `spec`: defined by the specification. `prowess`: not in the specification, but used by Prowess. `other`: kept.
keys! {
    other "agent" "the agent that runs a skill with `context: fork`" [ClaudeCode];
    other "agents" "agents of a plugin, or the agents that a skill was written for" [ClaudeCode];
    spec "allowed-tools" "tools that need no confirmation while the skill is active" [ClaudeCode, Copilot, Vscode, Droid];
    other "allowedTools" "the same as `allowed-tools`, as a list" [ClaudeCode, QwenCode];
    prowess "argument-hint" "the arguments, for completion" [ClaudeCode, QwenCode, Copilot, Vscode];
    prowess "arguments" "names of the arguments, for `$name` in the body" [ClaudeCode];
    other "author" "the author" [Hermes];
    other "background" "whether a skill with `context: fork` runs in the background" [ClaudeCode];
    prowess "brief_description" "a description in one sentence" [];
    other "category" "a category" [];
    other "channels" "part of a plugin manifest" [ClaudeCode];
    other "command" "a command of the skill" [];
    other "command-arg-mode" "how arguments reach `command-tool`" [OpenClaw];
    other "command-dispatch" "calls a tool directly instead of asking the model" [OpenClaw];
    other "command-tool" "the tool for `command-dispatch`" [OpenClaw];
    other "commands" "part of a plugin manifest" [ClaudeCode];
    spec "compatibility" "required environment, as text" [];
    other "compatible_tools" "the agents that a skill was written for" [];
    prowess "context" "`fork` runs the skill in an agent of its own" [ClaudeCode, Vscode];
    other "created_by" "the author" [];
    other "defaultEnabled" "part of a plugin manifest" [ClaudeCode];
    prowess "default_enabled" "whether a bundled skill is enabled at first" [];
    other "dependencies" "part of a plugin manifest, or packages" [ClaudeCode];
    spec "description" "what the skill does and when to use it" Client::ALL;
    prowess "disable-model-invocation" "hides the skill from the model; users can still load it" [ClaudeCode, QwenCode, Copilot, Vscode, Droid, Crush, Cursor, OpenClaw];
    other "disabled" "whether the skill is disabled" [Cline];
    other "disallowed-tools" "tools that are not available while the skill is active" [ClaudeCode];
    other "disallowedTools" "the same as `disallowed-tools`" [ClaudeCode];
    other "displayName" "a title" [ClaudeCode];
    other "effort" "how much the model thinks while the skill is active" [ClaudeCode];
    other "enabled" "whether the skill is enabled" [Droid];
    other "engines" "part of a plugin manifest" [ClaudeCode];
    other "evals" "part of a plugin manifest" [ClaudeCode];
    other "experimental" "part of a plugin manifest" [ClaudeCode];
    other "fallback" "yields to a plugin's skill with the same name" [ClaudeCode];
    other "homepage" "a web address" [OpenClaw];
    other "hooks" "hooks that are active while the skill is" [ClaudeCode, QwenCode];
    other "improved_by" "the author of a change" [];
    other "keywords" "words for searching" [];
    spec "license" "the license" [];
    other "lspServers" "part of a plugin manifest" [ClaudeCode];
    other "mcpServers" "part of a plugin manifest" [ClaudeCode];
    spec "metadata" "other properties" [Codex, OpenClaw, Hermes];
    other "mode" "the mode in which the skill is offered" [Roo];
    other "modeSlugs" "the modes in which the skill is offered" [Roo];
    prowess "model" "the model while the skill is active" [ClaudeCode, QwenCode];
    other "monitors" "part of a plugin manifest" [ClaudeCode];
    spec "name" "the name" Client::ALL;
    other "not_for" "what the skill is not for" [];
    other "outputStyles" "part of a plugin manifest" [ClaudeCode];
    prowess "paths" "globs of files; the skill is offered only while it is about one of them" [ClaudeCode, QwenCode, Cursor];
    other "platforms" "the operating systems on which the skill is offered" [Hermes];
    other "prerequisites" "required environment variables" [Hermes];
    other "priority" "the order of skills in the catalog" [QwenCode];
    other "repository" "the source repository" [];
    other "required_credential_files" "files with credentials" [Hermes];
    other "required_environment_variables" "required environment variables" [Hermes];
    other "requires" "other skills, MCP servers or tools" [];
    prowess "scripts" "scripts of the skill" [];
    other "settings" "part of a plugin manifest" [ClaudeCode];
    other "shell" "the shell for commands in the body" [ClaudeCode];
    other "skills" "part of a plugin manifest" [ClaudeCode];
    other "tags" "words for searching" [];
    other "themes" "part of a plugin manifest" [ClaudeCode];
    other "tier" "a category" [];
    other "tools" "tools of the skill" [Droid];
    prowess "toolsets" "tools of the skill" [];
    prowess "triggers" "words and patterns that activate the skill" [];
    prowess "user-invocable" "`false` hides the skill from users; the model can still load it" [ClaudeCode, QwenCode, Copilot, Vscode, Droid, Crush, OpenClaw];
    other "userConfig" "part of a plugin manifest" [ClaudeCode];
    prowess "version" "the version" [];
    prowess "when_to_use" "when to use the skill; shown after the description" [ClaudeCode, QwenCode];
    other "workflows" "part of a plugin manifest" [ClaudeCode];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_unique_and_sorted() {
        assert!(KEYS.is_sorted_by(|a, b| a.key < b.key), "sort the table");
    }
}
