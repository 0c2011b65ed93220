//! How much of the instructions of an MCP server the clients show to their models.

use super::Client;

/// The first version of Claude Code that was seen to show 4,096 characters. Some earlier version showed 2,048.
const CLAUDE_CODE_LONGER: [u64; 3] = [2, 1, 326];

/// What older versions of Claude Code show.
const CLAUDE_CODE_OLDER: usize = 2_048;

/// How much of the instructions of an MCP server a client shows to its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionsShown {
    /// All of them.
    All,
    /// The beginning, up to this number of UTF-16 code units.
    Cut(usize),
    /// Nothing: its model sees only the tools.
    None,
    /// Not known.
    Unknown,
}

impl Client {
    /// Returns the name that the client has in MCP, in `clientInfo`; `None` if it is not known.
    pub fn mcp_name(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some("claude-code"),
            Self::Codex => Some("codex-mcp-client"),
            Self::GeminiCli => Some("gemini-cli-mcp-client"),
            Self::Opencode => Some("opencode"),
            // The name of the server follows.
            Self::QwenCode => Some("qwen-cli-mcp-client"),
            Self::GithubCopilot => Some("copilot-cli"),
            Self::Droid => Some("factory-cli"),
            Self::Cline => Some("Cline"),
            Self::Vscode
            | Self::Crush
            | Self::Roo
            | Self::Goose
            | Self::Cursor
            | Self::OpenClaw
            | Self::Hermes
            | Self::Windsurf => None,
        }
    }

    /// Returns the client with this name in MCP.
    ///
    /// ```
    /// use prowess_format::dialects::Client;
    ///
    /// assert_eq!(Client::from_mcp_name("codex-mcp-client"), Some(Client::Codex));
    /// assert_eq!(Client::from_mcp_name("qwen-cli-mcp-client-prowess"), Some(Client::QwenCode));
    /// assert_eq!(Client::from_mcp_name("codex"), None);
    /// ```
    pub fn from_mcp_name(name: &str) -> Option<Self> {
        let is_named = |client: &Self| {
            client.mcp_name().is_some_and(|known| match client {
                Self::QwenCode => {
                    name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
                }
                _ => name == known,
            })
        };
        Self::ALL.into_iter().find(is_named)
    }
}

/// Returns how much a client shows, by the name and the version in its `clientInfo`.
///
/// ```
/// use prowess_format::dialects::{InstructionsShown, instructions_shown};
///
/// assert_eq!(instructions_shown("claude-code", "2.1.326"), InstructionsShown::Cut(4_096));
/// assert_eq!(instructions_shown("claude-code", "2.0.14"), InstructionsShown::Cut(2_048));
/// assert_eq!(instructions_shown("my-client", "1"), InstructionsShown::Unknown);
/// ```
pub fn instructions_shown(name: &str, version: &str) -> InstructionsShown {
    match Client::from_mcp_name(name) {
        None => InstructionsShown::Unknown,
        Some(Client::ClaudeCode) if !is_at_least(version, &CLAUDE_CODE_LONGER) => {
            InstructionsShown::Cut(CLAUDE_CODE_OLDER)
        }
        Some(client) => client.rules().instructions,
    }
}

/// Returns `true` if a version such as `2.1.326` is not older than another. A version that is not three numbers is older.
fn is_at_least(version: &str, minimum: &[u64; 3]) -> bool {
    let numbers: Option<Vec<u64>> = version.split('.').map(|part| part.parse().ok()).collect();
    numbers.is_some_and(|numbers| numbers.len() == minimum.len() && numbers.as_slice() >= minimum.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_versions_count_as_old() {
        let shown = |version| instructions_shown("claude-code", version);
        for version in ["2.1.326", "2.1.400", "2.2.0", "10.0.0"] {
            assert_eq!(shown(version), InstructionsShown::Cut(4_096), "{version}");
        }
        for version in
            ["2.1.325", "2.0.999", "1.99.999", "", "dev", "2.1", "2.1.326-beta", "99999999999999999999.0.0"]
        {
            assert_eq!(shown(version), InstructionsShown::Cut(2_048), "{version}");
        }
    }

    #[test]
    fn names_are_compared_exactly() {
        for name in ["Claude-Code", "claude-code-2", "qwen-cli-mcp-clients", "codex", ""] {
            assert_eq!(Client::from_mcp_name(name), None, "{name}");
        }
        assert_eq!(Client::from_mcp_name("qwen-cli-mcp-client"), Some(Client::QwenCode));
        assert_eq!(instructions_shown("copilot-cli", "1.0.102"), InstructionsShown::None);
        assert_eq!(instructions_shown("gemini-cli-mcp-client", "0.61.0"), InstructionsShown::All);
    }
}
