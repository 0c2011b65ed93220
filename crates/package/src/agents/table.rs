//! The table of agents. The directories and traces are those of the programs' own documentation and of installers that know
//! them; `docs/clients.md` lists which clients were run.

use super::{AgentTrace, KnownAgent, SHARED_DIR};
use crate::client_path::BaseDir::{Config, Home, Variable};
use crate::client_path::path_in;

/// The values of most agents.
const AGENT: KnownAgent = KnownAgent {
    id: "",
    title: "",
    project: SHARED_DIR,
    also_project: &[],
    home: &[],
    also_home: &[],
    traces: &[],
};

/// An agent with one directory of its own, in projects and in the home directory.
macro_rules! own {
    ($id:literal, $title:literal, $dir:literal) => {
        KnownAgent {
            id: $id,
            title: $title,
            project: concat!($dir, "/skills"),
            home: &[path_in(Home, concat!($dir, "/skills"))],
            traces: &[AgentTrace::User(path_in(Home, $dir))],
            ..AGENT
        }
    };
}

/// All agents, sorted by name.
pub static AGENTS: &[KnownAgent] = &[
    own!("adal", "AdaL", ".adal"),
    own!("aider-desk", "AiderDesk", ".aider-desk"),
    KnownAgent {
        id: "amp",
        title: "Amp",
        project: SHARED_DIR,
        home: &[path_in(Config, "agents/skills")],
        traces: &[AgentTrace::User(path_in(Config, "amp"))],
        ..AGENT
    },
    KnownAgent {
        id: "antigravity",
        title: "Antigravity",
        project: SHARED_DIR,
        home: &[path_in(Home, ".gemini/antigravity/skills")],
        traces: &[AgentTrace::User(path_in(Home, ".gemini/antigravity"))],
        ..AGENT
    },
    KnownAgent {
        id: "antigravity-cli",
        title: "Antigravity CLI",
        project: SHARED_DIR,
        home: &[path_in(Home, ".gemini/antigravity-cli/skills")],
        traces: &[AgentTrace::User(path_in(Home, ".gemini/antigravity-cli"))],
        ..AGENT
    },
    KnownAgent {
        id: "astrbot",
        title: "AstrBot",
        project: "data/skills",
        home: &[path_in(Home, ".astrbot/data/skills")],
        traces: &[AgentTrace::Project("data/skills"), AgentTrace::User(path_in(Home, ".astrbot"))],
        ..AGENT
    },
    own!("augment", "Augment", ".augment"),
    KnownAgent {
        id: "autohand-code",
        title: "Autohand Code CLI",
        project: ".autohand/skills",
        home: &[path_in(Variable("AUTOHAND_HOME", ".autohand"), "skills")],
        traces: &[AgentTrace::User(path_in(Variable("AUTOHAND_HOME", ".autohand"), ""))],
        ..AGENT
    },
    own!("bob", "IBM Bob", ".bob"),
    KnownAgent {
        id: "claude-code",
        title: "Claude Code",
        project: ".claude/skills",
        home: &[path_in(Variable("CLAUDE_CONFIG_DIR", ".claude"), "skills")],
        traces: &[AgentTrace::User(path_in(Variable("CLAUDE_CONFIG_DIR", ".claude"), ""))],
        ..AGENT
    },
    KnownAgent {
        id: "cline",
        title: "Cline",
        project: SHARED_DIR,
        home: &[path_in(Home, ".agents/skills")],
        traces: &[AgentTrace::User(path_in(Home, ".cline")), AgentTrace::Project(".clinerules")],
        ..AGENT
    },
    own!("codearts-agent", "CodeArts Agent", ".codeartsdoer"),
    own!("codebuddy", "CodeBuddy", ".codebuddy"),
    own!("codemaker", "Codemaker", ".codemaker"),
    own!("codestudio", "Code Studio", ".codestudio"),
    KnownAgent {
        id: "codex",
        title: "Codex",
        project: SHARED_DIR,
        home: &[path_in(Home, ".agents/skills")],
        also_home: &[path_in(Variable("CODEX_HOME", ".codex"), "skills")],
        traces: &[
            AgentTrace::User(path_in(Variable("CODEX_HOME", ".codex"), "")),
            AgentTrace::Project(".codex"),
        ],
        ..AGENT
    },
    own!("command-code", "Command Code", ".commandcode"),
    own!("continue", "Continue", ".continue"),
    KnownAgent {
        id: "cortex",
        title: "Cortex Code",
        project: ".cortex/skills",
        home: &[path_in(Home, ".snowflake/cortex/skills")],
        traces: &[AgentTrace::User(path_in(Home, ".snowflake/cortex"))],
        ..AGENT
    },
    KnownAgent {
        id: "crush",
        title: "Crush",
        project: ".crush/skills",
        home: &[path_in(Config, "crush/skills")],
        traces: &[AgentTrace::User(path_in(Config, "crush"))],
        ..AGENT
    },
    KnownAgent {
        id: "cursor",
        title: "Cursor",
        project: SHARED_DIR,
        also_project: &[".cursor/skills", ".claude/skills", ".codex/skills"],
        home: &[path_in(Home, ".cursor/skills")],
        traces: &[AgentTrace::User(path_in(Home, ".cursor")), AgentTrace::Project(".cursor")],
        ..AGENT
    },
    KnownAgent {
        id: "deepagents",
        title: "Deep Agents",
        project: SHARED_DIR,
        home: &[path_in(Home, ".deepagents/agent/skills")],
        traces: &[AgentTrace::User(path_in(Home, ".deepagents"))],
        ..AGENT
    },
    KnownAgent {
        id: "devin",
        title: "Devin for Terminal",
        project: ".devin/skills",
        home: &[path_in(Config, "devin/skills")],
        traces: &[AgentTrace::User(path_in(Config, "devin"))],
        ..AGENT
    },
    KnownAgent {
        id: "dexto",
        title: "Dexto",
        project: SHARED_DIR,
        home: &[path_in(Home, ".agents/skills")],
        traces: &[AgentTrace::User(path_in(Home, ".dexto"))],
        ..AGENT
    },
    KnownAgent {
        id: "droid",
        title: "Droid",
        project: SHARED_DIR,
        also_project: &[".factory/skills"],
        home: &[path_in(Home, ".factory/skills")],
        traces: &[AgentTrace::User(path_in(Home, ".factory")), AgentTrace::Project(".factory")],
        ..AGENT
    },
    KnownAgent {
        id: "eve",
        title: "Eve",
        project: "agent/skills",
        traces: &[AgentTrace::Package { dir: "agent", dependency: "eve" }],
        ..AGENT
    },
    KnownAgent {
        id: "firebender",
        title: "Firebender",
        project: SHARED_DIR,
        home: &[path_in(Home, ".firebender/skills")],
        traces: &[AgentTrace::User(path_in(Home, ".firebender"))],
        ..AGENT
    },
    own!("forgecode", "ForgeCode", ".forge"),
    KnownAgent {
        id: "fx",
        title: "fx",
        project: SHARED_DIR,
        home: &[path_in(Home, ".agents/skills")],
        traces: &[AgentTrace::User(path_in(Home, ".fx"))],
        ..AGENT
    },
    KnownAgent {
        id: "gemini-cli",
        title: "Gemini CLI",
        project: SHARED_DIR,
        also_project: &[".gemini/skills"],
        home: &[path_in(Variable("GEMINI_CLI_HOME", ""), ".gemini/skills")],
        also_home: &[path_in(Home, ".agents/skills")],
        traces: &[
            AgentTrace::User(path_in(Variable("GEMINI_CLI_HOME", ""), ".gemini")),
            AgentTrace::Project(".gemini"),
        ],
    },
    KnownAgent {
        id: "github-copilot",
        title: "GitHub Copilot",
        project: SHARED_DIR,
        also_project: &[".github/skills", ".claude/skills"],
        home: &[path_in(Variable("COPILOT_HOME", ".copilot"), "skills")],
        traces: &[
            AgentTrace::User(path_in(Variable("COPILOT_HOME", ".copilot"), "")),
            AgentTrace::Project(".github/copilot-instructions.md"),
            AgentTrace::Project(".github/skills"),
        ],
        ..AGENT
    },
    KnownAgent {
        id: "goose",
        title: "Goose",
        project: ".goose/skills",
        also_project: &[SHARED_DIR, ".claude/skills"],
        home: &[path_in(Config, "goose/skills")],
        traces: &[AgentTrace::User(path_in(Config, "goose"))],
        ..AGENT
    },
    KnownAgent {
        id: "grok",
        title: "Grok Build",
        project: ".grok/skills",
        home: &[path_in(Variable("GROK_HOME", ".grok"), "skills")],
        traces: &[AgentTrace::User(path_in(Variable("GROK_HOME", ".grok"), ""))],
        ..AGENT
    },
    KnownAgent {
        id: "hermes-agent",
        title: "Hermes Agent",
        project: ".hermes/skills",
        home: &[path_in(Variable("HERMES_HOME", ".hermes"), "skills")],
        traces: &[AgentTrace::User(path_in(Variable("HERMES_HOME", ".hermes"), ""))],
        ..AGENT
    },
    own!("iflow-cli", "iFlow CLI", ".iflow"),
    own!("inference-sh", "inference.sh", ".inferencesh"),
    own!("jazz", "Jazz", ".jazz"),
    own!("junie", "Junie", ".junie"),
    KnownAgent {
        id: "kilo",
        title: "Kilo Code",
        project: SHARED_DIR,
        home: &[path_in(Home, ".kilo/skills")],
        traces: &[
            AgentTrace::User(path_in(Home, ".kilo")),
            AgentTrace::User(path_in(Home, ".kilocode")),
            AgentTrace::Project(".kilocode"),
        ],
        ..AGENT
    },
    KnownAgent {
        id: "kimchi",
        title: "Kimchi",
        project: ".kimchi/skills",
        home: &[path_in(Config, "kimchi/harness/skills")],
        traces: &[AgentTrace::User(path_in(Config, "kimchi"))],
        ..AGENT
    },
    KnownAgent {
        id: "kimi-code-cli",
        title: "Kimi Code CLI",
        project: SHARED_DIR,
        home: &[path_in(Home, ".agents/skills")],
        traces: &[AgentTrace::User(path_in(Home, ".kimi-code")), AgentTrace::User(path_in(Home, ".kimi"))],
        ..AGENT
    },
    own!("kiro-cli", "Kiro CLI", ".kiro"),
    own!("kode", "Kode", ".kode"),
    own!("lingma", "Lingma", ".lingma"),
    KnownAgent {
        id: "loaf",
        title: "Loaf",
        project: SHARED_DIR,
        home: &[path_in(Home, ".agents/skills")],
        traces: &[AgentTrace::User(path_in(Home, ".loaf"))],
        ..AGENT
    },
    own!("mcpjam", "MCPJam", ".mcpjam"),
    own!("minimax-code", "MiniMax Code", ".minimax"),
    KnownAgent {
        id: "mistral-vibe",
        title: "Mistral Vibe",
        project: ".vibe/skills",
        home: &[path_in(Variable("VIBE_HOME", ".vibe"), "skills")],
        traces: &[AgentTrace::User(path_in(Variable("VIBE_HOME", ".vibe"), ""))],
        ..AGENT
    },
    own!("moxby", "Moxby", ".moxby"),
    own!("mux", "Mux", ".mux"),
    own!("neovate", "Neovate", ".neovate"),
    own!("ona", "Ona", ".ona"),
    KnownAgent {
        id: "openclaw",
        title: "OpenClaw",
        project: "skills",
        home: &[
            path_in(Home, ".openclaw/skills"),
            path_in(Home, ".clawdbot/skills"),
            path_in(Home, ".moltbot/skills"),
        ],
        traces: &[
            AgentTrace::User(path_in(Home, ".openclaw")),
            AgentTrace::User(path_in(Home, ".clawdbot")),
            AgentTrace::User(path_in(Home, ".moltbot")),
        ],
        ..AGENT
    },
    KnownAgent {
        id: "opencode",
        title: "OpenCode",
        project: SHARED_DIR,
        also_project: &[".opencode/skills", ".claude/skills"],
        home: &[path_in(Config, "opencode/skills")],
        also_home: &[path_in(Home, ".agents/skills"), path_in(Home, ".claude/skills")],
        traces: &[AgentTrace::User(path_in(Config, "opencode")), AgentTrace::Project(".opencode")],
    },
    own!("openhands", "OpenHands", ".openhands"),
    KnownAgent {
        id: "pi",
        title: "Pi",
        project: SHARED_DIR,
        home: &[path_in(Home, ".agents/skills")],
        traces: &[AgentTrace::User(path_in(Home, ".pi/agent"))],
        ..AGENT
    },
    own!("pochi", "Pochi", ".pochi"),
    KnownAgent {
        id: "posit-assistant",
        title: "Posit Assistant",
        project: ".posit/assistant/skills",
        home: &[path_in(Home, ".posit/assistant/skills")],
        traces: &[
            AgentTrace::User(path_in(Home, ".posit/assistant")),
            AgentTrace::User(path_in(Home, ".positai")),
        ],
        ..AGENT
    },
    KnownAgent {
        id: "promptscript",
        title: "PromptScript",
        project: SHARED_DIR,
        traces: &[AgentTrace::Project(".promptscript"), AgentTrace::Project("promptscript.yaml")],
        ..AGENT
    },
    own!("qoder", "Qoder", ".qoder"),
    KnownAgent {
        id: "qoder-cn",
        title: "Qoder CN",
        project: ".qoder/skills",
        home: &[path_in(Home, ".qoder-cn/skills")],
        traces: &[AgentTrace::User(path_in(Home, ".qoder-cn"))],
        ..AGENT
    },
    KnownAgent {
        id: "qwen-code",
        title: "Qwen Code",
        project: ".qwen/skills",
        also_project: &[SHARED_DIR],
        home: &[path_in(Home, ".qwen/skills")],
        traces: &[AgentTrace::User(path_in(Home, ".qwen"))],
        ..AGENT
    },
    own!("reasonix", "Reasonix", ".reasonix"),
    KnownAgent {
        id: "replit",
        title: "Replit",
        project: SHARED_DIR,
        home: &[path_in(Config, "agents/skills")],
        traces: &[AgentTrace::Project(".replit")],
        ..AGENT
    },
    own!("roo", "Roo Code", ".roo"),
    own!("rovodev", "Rovo Dev", ".rovodev"),
    KnownAgent {
        id: "sarvam-code",
        title: "Sarvam Code",
        project: SHARED_DIR,
        home: &[path_in(Home, ".agents/skills")],
        traces: &[AgentTrace::User(path_in(Variable("SARVAM_HOME", ".sarvam"), ""))],
        ..AGENT
    },
    KnownAgent {
        id: "tabnine-cli",
        title: "Tabnine CLI",
        project: ".tabnine/agent/skills",
        home: &[path_in(Home, ".tabnine/agent/skills")],
        traces: &[AgentTrace::User(path_in(Home, ".tabnine"))],
        ..AGENT
    },
    own!("terramind", "Terramind", ".terramind"),
    own!("tinycloud", "Tinycloud", ".tinycloud"),
    own!("trae", "Trae", ".trae"),
    KnownAgent {
        id: "trae-cn",
        title: "Trae CN",
        project: ".trae/skills",
        home: &[path_in(Home, ".trae-cn/skills")],
        traces: &[AgentTrace::User(path_in(Home, ".trae-cn"))],
        ..AGENT
    },
    KnownAgent {
        id: "universal",
        title: "Universal",
        project: SHARED_DIR,
        home: &[path_in(Config, "agents/skills")],
        ..AGENT
    },
    KnownAgent {
        id: "warp",
        title: "Warp",
        project: SHARED_DIR,
        home: &[path_in(Home, ".agents/skills")],
        traces: &[AgentTrace::User(path_in(Home, ".warp")), AgentTrace::Project(".warp")],
        ..AGENT
    },
    KnownAgent {
        id: "windsurf",
        title: "Windsurf",
        project: ".windsurf/skills",
        home: &[path_in(Home, ".codeium/windsurf/skills")],
        traces: &[AgentTrace::User(path_in(Home, ".codeium/windsurf"))],
        ..AGENT
    },
    own!("zcode", "ZCode", ".zcode"),
    KnownAgent {
        id: "zed",
        title: "Zed",
        project: SHARED_DIR,
        home: &[path_in(Home, ".agents/skills")],
        traces: &[AgentTrace::User(path_in(Config, "zed")), AgentTrace::Project(".zed")],
        ..AGENT
    },
    own!("zencoder", "Zencoder", ".zencoder"),
    own!("zenflow", "Zenflow", ".zencoder"),
];
