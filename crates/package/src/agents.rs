//! Where other agents keep skills, as one table.

use prowess_format::suggest;

/// An agent and its two directories of skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agent {
    /// What it is called on the command line.
    pub id: &'static str,
    /// The directory in a project, relative to it.
    pub project: &'static str,
    /// The directory in the home, relative to it; `None` where there is none.
    pub home: Option<&'static str>,
}

/// There is no agent of this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no agent named {name}")]
pub struct UnknownAgent {
    /// What was asked for.
    pub name: String,
    /// The nearest name.
    pub near: Option<&'static str>,
}

/// The agent of this name.
///
/// ```
/// use prowess_package::agents::agent;
///
/// assert_eq!(agent("claude-code").unwrap().project, ".claude/skills");
/// assert_eq!(agent("claude-cod").unwrap_err().near, Some("claude-code"));
/// ```
pub fn agent(name: &str) -> Result<&'static Agent, UnknownAgent> {
    AGENTS.iter().find(|agent| agent.id == name).ok_or_else(|| UnknownAgent {
        name: name.to_owned(),
        near: suggest::nearest(name, AGENTS.iter().map(|agent| agent.id)),
    })
}

/// The directory that many agents share, which Prowess installs to.
pub const SHARED: &str = ".agents/skills";

macro_rules! agents {
    ($($id:literal $project:literal $home:expr;)+) => {
        /// All agents, by name.
        pub static AGENTS: &[Agent] = &[$(Agent { id: $id, project: $project, home: $home }),+];
    };
}

agents! {
    "adal" ".adal/skills" Some(".adal/skills");
    "aider-desk" ".aider-desk/skills" Some(".aider-desk/skills");
    "amp" ".agents/skills" Some(".config/agents/skills");
    "antigravity" ".agents/skills" Some(".gemini/antigravity/skills");
    "antigravity-cli" ".agents/skills" Some(".gemini/antigravity-cli/skills");
    "astrbot" "data/skills" Some(".astrbot/data/skills");
    "augment" ".augment/skills" Some(".augment/skills");
    "autohand-code" ".autohand/skills" Some(".autohand/skills");
    "bob" ".bob/skills" Some(".bob/skills");
    "claude-code" ".claude/skills" Some(".claude/skills");
    "cline" ".agents/skills" Some(".agents/skills");
    "codearts-agent" ".codeartsdoer/skills" Some(".codeartsdoer/skills");
    "codebuddy" ".codebuddy/skills" Some(".codebuddy/skills");
    "codemaker" ".codemaker/skills" Some(".codemaker/skills");
    "codestudio" ".codestudio/skills" Some(".codestudio/skills");
    "codex" ".agents/skills" Some(".agents/skills");
    "command-code" ".commandcode/skills" Some(".commandcode/skills");
    "continue" ".continue/skills" Some(".continue/skills");
    "cortex" ".cortex/skills" Some(".snowflake/cortex/skills");
    "crush" ".crush/skills" Some(".config/crush/skills");
    "cursor" ".agents/skills" Some(".cursor/skills");
    "deepagents" ".agents/skills" Some(".deepagents/agent/skills");
    "devin" ".devin/skills" Some(".config/devin/skills");
    "dexto" ".agents/skills" Some(".agents/skills");
    "droid" ".agents/skills" Some(".factory/skills");
    "eve" "agent/skills" None;
    "firebender" ".agents/skills" Some(".firebender/skills");
    "forgecode" ".forge/skills" Some(".forge/skills");
    "fx" ".agents/skills" Some(".agents/skills");
    "gemini-cli" ".agents/skills" Some(".gemini/skills");
    "github-copilot" ".agents/skills" Some(".copilot/skills");
    "goose" ".goose/skills" Some(".config/goose/skills");
    "grok" ".grok/skills" Some(".grok/skills");
    "hermes-agent" ".hermes/skills" Some(".hermes/skills");
    "iflow-cli" ".iflow/skills" Some(".iflow/skills");
    "inference-sh" ".inferencesh/skills" Some(".inferencesh/skills");
    "jazz" ".jazz/skills" Some(".jazz/skills");
    "junie" ".junie/skills" Some(".junie/skills");
    "kilo" ".agents/skills" Some(".kilo/skills");
    "kimchi" ".kimchi/skills" Some(".config/kimchi/harness/skills");
    "kimi-code-cli" ".agents/skills" Some(".agents/skills");
    "kiro-cli" ".kiro/skills" Some(".kiro/skills");
    "kode" ".kode/skills" Some(".kode/skills");
    "lingma" ".lingma/skills" Some(".lingma/skills");
    "loaf" ".agents/skills" Some(".agents/skills");
    "mcpjam" ".mcpjam/skills" Some(".mcpjam/skills");
    "minimax-code" ".minimax/skills" Some(".minimax/skills");
    "mistral-vibe" ".vibe/skills" Some(".vibe/skills");
    "moxby" ".moxby/skills" Some(".moxby/skills");
    "mux" ".mux/skills" Some(".mux/skills");
    "neovate" ".neovate/skills" Some(".neovate/skills");
    "ona" ".ona/skills" Some(".ona/skills");
    "openclaw" "skills" Some(".openclaw/skills");
    "opencode" ".agents/skills" Some(".config/opencode/skills");
    "openhands" ".openhands/skills" Some(".openhands/skills");
    "pi" ".agents/skills" Some(".agents/skills");
    "pochi" ".pochi/skills" Some(".pochi/skills");
    "posit-assistant" ".posit/assistant/skills" Some(".posit/assistant/skills");
    "qoder" ".qoder/skills" Some(".qoder/skills");
    "qoder-cn" ".qoder/skills" Some(".qoder-cn/skills");
    "qwen-code" ".qwen/skills" Some(".qwen/skills");
    "reasonix" ".reasonix/skills" Some(".reasonix/skills");
    "replit" ".agents/skills" Some(".config/agents/skills");
    "roo" ".roo/skills" Some(".roo/skills");
    "rovodev" ".rovodev/skills" Some(".rovodev/skills");
    "sarvam-code" ".agents/skills" Some(".agents/skills");
    "tabnine-cli" ".tabnine/agent/skills" Some(".tabnine/agent/skills");
    "terramind" ".terramind/skills" Some(".terramind/skills");
    "tinycloud" ".tinycloud/skills" Some(".tinycloud/skills");
    "trae" ".trae/skills" Some(".trae/skills");
    "trae-cn" ".trae/skills" Some(".trae-cn/skills");
    "universal" ".agents/skills" Some(".config/agents/skills");
    "warp" ".agents/skills" Some(".agents/skills");
    "windsurf" ".windsurf/skills" Some(".codeium/windsurf/skills");
    "zcode" ".zcode/skills" Some(".zcode/skills");
    "zed" ".agents/skills" Some(".agents/skills");
    "zencoder" ".zencoder/skills" Some(".zencoder/skills");
    "zenflow" ".zencoder/skills" Some(".zencoder/skills");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list of the peers that was gathered: those that share a directory, those whose two directories are called
    /// the same, and the irregular ones.
    #[test]
    fn all_of_them_are_there() {
        let shared = AGENTS.iter().filter(|agent| agent.project == SHARED).count();
        let alike =
            AGENTS.iter().filter(|agent| agent.project != SHARED && agent.home == Some(agent.project));
        assert_eq!((AGENTS.len(), shared, alike.count()), (78, 23, 44));
        assert!(AGENTS.windows(2).all(|pair| pair[0].id < pair[1].id), "sorted, and none twice");
        let inner = |path: &str| {
            prowess_archive::InnerPath::parse(path.as_bytes()).is_ok() && path.ends_with("skills")
        };
        assert!(AGENTS.iter().all(|agent| inner(agent.project) && agent.home.is_none_or(inner)));
    }

    #[test]
    fn some_by_name() {
        let told = |name| agent(name).map(|agent| (agent.project, agent.home));
        assert_eq!(told("codex"), Ok((".agents/skills", Some(".agents/skills"))));
        assert_eq!(told("claude-code"), Ok((".claude/skills", Some(".claude/skills"))));
        assert_eq!(told("windsurf"), Ok((".windsurf/skills", Some(".codeium/windsurf/skills"))));
        assert_eq!(told("eve"), Ok(("agent/skills", None)));
        assert_eq!(told("tabnine-cli"), Ok((".tabnine/agent/skills", Some(".tabnine/agent/skills"))));
        assert_eq!(told("zenflow"), told("zencoder"));
        assert_eq!(agent("curser").unwrap_err().near, Some("cursor"));
        assert_eq!(agent("nobody-at-all").unwrap_err().near, None);
    }
}
