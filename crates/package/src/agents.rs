//! The directories in which other agents keep skills.

use prowess_format::suggest;

/// An agent that Prowess knows, and its skill directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownAgent {
    /// The name on the command line.
    pub id: &'static str,
    /// The directory in a project, relative to the project.
    pub project: &'static str,
    /// The directory in the home directory, relative to it; `None` if there is none.
    pub home: Option<&'static str>,
}

/// The error for an agent that Prowess does not know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown agent {name}")]
pub struct UnknownAgentError {
    /// The requested name.
    pub name: String,
    /// The most similar known name.
    pub suggestion: Option<&'static str>,
}

/// Returns the agent with this name.
///
/// ```
/// use prowess_package::agents::find_agent;
///
/// assert_eq!(find_agent("claude-code").unwrap().project, ".claude/skills");
/// assert_eq!(find_agent("claude-cod").unwrap_err().suggestion, Some("claude-code"));
/// ```
pub fn find_agent(name: &str) -> Result<&'static KnownAgent, UnknownAgentError> {
    AGENTS.iter().find(|agent| agent.id == name).ok_or_else(|| UnknownAgentError {
        name: name.to_owned(),
        suggestion: suggest::nearest(name, AGENTS.iter().map(|agent| agent.id)),
    })
}

/// The directory that many agents share and into which Prowess installs.
pub const SHARED_DIR: &str = ".agents/skills";

macro_rules! agents {
    ($($id:literal $project:literal $home:expr;)+) => {
        /// All agents, sorted by name.
        pub static AGENTS: &[KnownAgent] = &[$(KnownAgent { id: $id, project: $project, home: $home }),+];
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

    /// Counts the agents that share a directory, those that use the same directory twice, and all.
    #[test]
    fn the_table_is_complete_and_sorted() {
        let shared = AGENTS.iter().filter(|agent| agent.project == SHARED_DIR).count();
        let same =
            AGENTS.iter().filter(|agent| agent.project != SHARED_DIR && agent.home == Some(agent.project));
        assert_eq!((AGENTS.len(), shared, same.count()), (78, 23, 44));
        assert!(AGENTS.windows(2).all(|pair| pair[0].id < pair[1].id), "sorted, without duplicates");
        let inner = |path: &str| {
            prowess_archive::InnerPath::parse(path.as_bytes()).is_ok() && path.ends_with("skills")
        };
        assert!(AGENTS.iter().all(|agent| inner(agent.project) && agent.home.is_none_or(inner)));
    }

    #[test]
    fn agents_are_found_by_name() {
        let dirs = |name| find_agent(name).map(|agent| (agent.project, agent.home));
        assert_eq!(dirs("codex"), Ok((".agents/skills", Some(".agents/skills"))));
        assert_eq!(dirs("claude-code"), Ok((".claude/skills", Some(".claude/skills"))));
        assert_eq!(dirs("windsurf"), Ok((".windsurf/skills", Some(".codeium/windsurf/skills"))));
        assert_eq!(dirs("eve"), Ok(("agent/skills", None)));
        assert_eq!(dirs("tabnine-cli"), Ok((".tabnine/agent/skills", Some(".tabnine/agent/skills"))));
        assert_eq!(dirs("zenflow"), dirs("zencoder"));
        assert_eq!(find_agent("curser").unwrap_err().suggestion, Some("cursor"));
        assert_eq!(find_agent("unrelated-name").unwrap_err().suggestion, None);
    }
}
