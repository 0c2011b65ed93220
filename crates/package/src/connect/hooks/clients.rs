//! The clients with a prompt hook that can add text for the model. `docs/hooks.md` lists the source of each fact.

use prowess_format::suggest;

use super::super::clients::LaunchedFrom;
use super::error::HookError;
use crate::client_path::BaseDir::{Config, Home, Variable};
use crate::client_path::{ClientPath, path_in};
use crate::install_target::InstallScope;

/// A program that runs a command for each message of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookClient {
    /// The name on the command line.
    pub id: &'static str,
    /// Other names that are accepted.
    pub(super) aliases: &'static [&'static str],
    /// The product name.
    pub title: &'static str,
    pub(super) registration: Registration,
    /// Files and directories that show that the client is installed.
    pub(super) traces: &'static [ClientPath],
    /// The names of its programs on `PATH`.
    pub(super) programs: &'static [&'static str],
    /// From where it is launched.
    pub launched_from: LaunchedFrom,
    /// The tool with which its model loads the skills that the client knows.
    pub skill_tool: Option<SkillTool>,
    /// What the user must know or do after installing, for the user's and for a project's hook.
    notes: [Option<&'static str>; 2],
}

/// The tool of a client that loads skills, and the directories in which the client finds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SkillTool {
    /// The name of the tool.
    pub name: &'static str,
    /// The parameter for the skill.
    pub parameter: &'static str,
    /// The directories in a project.
    pub project: &'static [&'static str],
    /// The directories in the home directory.
    pub home: &'static [&'static str],
    /// Whether a skill is called by the name of its directory instead of the name in its frontmatter.
    pub by_directory: bool,
    /// Whether only direct subdirectories are searched.
    pub is_flat: bool,
}

/// How a hook is registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Registration {
    /// As an item of a list in a JSON file.
    Item {
        /// The user's and the project's files. The first one is created if none is in use.
        user: &'static [ListFile<ClientPath>],
        project: &'static [ListFile<&'static str>],
        format: ItemFormat,
    },
    /// As a file of its own.
    File { user: ClientPath, project: &'static str, format: FileFormat },
}

/// A file with a list of hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListFile<P: 'static> {
    pub(super) path: P,
    /// The names that lead to the list.
    pub(super) list: &'static [&'static str],
}

/// The fields of a hook in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemFormat {
    /// A group with a list `hooks`; the timeout is in seconds.
    Group,
    /// The same with a name, and the timeout in milliseconds. A command that fails blocks the message.
    NamedGroup,
    /// `command` and `timeout` in seconds, in a file with a `version`.
    Versioned,
}

/// The format of a generated file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileFormat {
    /// A JSON file of GitHub Copilot CLI.
    Copilot,
    /// A plugin of opencode.
    Opencode,
}

impl HookClient {
    /// Returns what the user must know or do after installing the hook.
    pub fn note(&self, scope: InstallScope) -> Option<&'static str> {
        let [user, project] = self.notes;
        match scope {
            InstallScope::User => user,
            InstallScope::Project => project,
        }
    }
}

const fn list_in<P>(path: P, list: &'static [&'static str]) -> ListFile<P> {
    ListFile { path, list }
}

const PROMPT_EVENT: &[&str] = &["hooks", "UserPromptSubmit"];

const AGENTS: &[&str] = &[".agents/skills"];

/// All clients with such a hook, sorted by name.
pub static HOOK_CLIENTS: &[HookClient] = &[
    HookClient {
        id: "claude-code",
        aliases: &["claude"],
        title: "Claude Code",
        registration: Registration::Item {
            user: &[list_in(
                path_in(Variable("CLAUDE_CONFIG_DIR", ".claude"), "settings.json"),
                PROMPT_EVENT,
            )],
            project: &[list_in(".claude/settings.json", PROMPT_EVENT)],
            format: ItemFormat::Group,
        },
        traces: &[path_in(Variable("CLAUDE_CONFIG_DIR", ".claude"), "")],
        programs: &["claude"],
        launched_from: LaunchedFrom::Terminal,
        skill_tool: Some(SkillTool {
            name: "Skill",
            parameter: "skill",
            project: &[".claude/skills"],
            home: &[".claude/skills"],
            by_directory: true,
            is_flat: true,
        }),
        notes: [None, Some("Claude Code runs the hooks of a project after you trust its folder")],
    },
    HookClient {
        id: "codex",
        aliases: &[],
        title: "Codex",
        registration: Registration::Item {
            user: &[list_in(path_in(Variable("CODEX_HOME", ".codex"), "hooks.json"), PROMPT_EVENT)],
            project: &[list_in(".codex/hooks.json", PROMPT_EVENT)],
            format: ItemFormat::Group,
        },
        traces: &[path_in(Variable("CODEX_HOME", ".codex"), "")],
        programs: &["codex"],
        launched_from: LaunchedFrom::Terminal,
        // Its model reads the files of skills.
        skill_tool: None,
        notes: [Some(CODEX_TRUST), Some(CODEX_TRUST)],
    },
    HookClient {
        id: "copilot",
        aliases: &["copilot-cli", "github-copilot"],
        title: "GitHub Copilot CLI",
        registration: Registration::File {
            user: path_in(Variable("COPILOT_HOME", ".copilot"), "hooks/prowess.json"),
            project: ".github/hooks/prowess.json",
            format: FileFormat::Copilot,
        },
        traces: &[path_in(Variable("COPILOT_HOME", ".copilot"), "")],
        programs: &["copilot"],
        launched_from: LaunchedFrom::Terminal,
        skill_tool: Some(SkillTool {
            name: "skill",
            parameter: "skill",
            project: &[".agents/skills", ".claude/skills", ".github/skills"],
            home: &[".copilot/skills"],
            by_directory: false,
            is_flat: false,
        }),
        notes: [None, Some("Copilot CLI runs the hooks of a repository after you trust its folder")],
    },
    HookClient {
        id: "cursor",
        aliases: &[],
        title: "Cursor",
        registration: Registration::Item {
            user: &[list_in(path_in(Home, ".cursor/hooks.json"), &["hooks", "beforeSubmitPrompt"])],
            project: &[list_in(".cursor/hooks.json", &["hooks", "beforeSubmitPrompt"])],
            format: ItemFormat::Versioned,
        },
        traces: &[path_in(Home, ".cursor")],
        programs: &["cursor", "cursor-agent"],
        launched_from: LaunchedFrom::Desktop,
        // Its model reads the files of skills.
        skill_tool: None,
        notes: [Some(CURSOR_VERSION), Some(CURSOR_VERSION)],
    },
    HookClient {
        id: "droid",
        aliases: &["factory"],
        title: "Factory droid",
        registration: Registration::Item {
            // The second file is used only if the first one does not exist.
            user: &[
                list_in(path_in(Home, ".factory/hooks.json"), &["UserPromptSubmit"]),
                list_in(path_in(Home, ".factory/settings.json"), PROMPT_EVENT),
            ],
            project: &[
                list_in(".factory/hooks.json", &["UserPromptSubmit"]),
                list_in(".factory/settings.json", PROMPT_EVENT),
            ],
            format: ItemFormat::Group,
        },
        traces: &[path_in(Home, ".factory")],
        programs: &["droid"],
        launched_from: LaunchedFrom::Terminal,
        skill_tool: Some(SkillTool {
            name: "Skill",
            parameter: "skill",
            project: AGENTS,
            home: &[".factory/skills"],
            by_directory: false,
            is_flat: false,
        }),
        notes: [Some(DROID_EXEC), Some(DROID_EXEC)],
    },
    HookClient {
        id: "gemini-cli",
        aliases: &["gemini"],
        title: "Gemini CLI",
        registration: Registration::Item {
            user: &[list_in(
                path_in(Variable("GEMINI_CLI_HOME", ""), ".gemini/settings.json"),
                &["hooks", "BeforeAgent"],
            )],
            project: &[list_in(".gemini/settings.json", &["hooks", "BeforeAgent"])],
            format: ItemFormat::NamedGroup,
        },
        traces: &[path_in(Variable("GEMINI_CLI_HOME", ""), ".gemini")],
        programs: &["gemini"],
        launched_from: LaunchedFrom::Terminal,
        skill_tool: Some(SkillTool {
            name: "activate_skill",
            parameter: "name",
            project: &[".agents/skills", ".gemini/skills"],
            home: &[".agents/skills", ".gemini/skills"],
            by_directory: false,
            is_flat: true,
        }),
        notes: [Some(GEMINI_TRUST), Some(GEMINI_TRUST)],
    },
    HookClient {
        id: "opencode",
        aliases: &[],
        title: "opencode",
        registration: Registration::File {
            user: path_in(Config, "opencode/plugin/prowess.js"),
            project: ".opencode/plugin/prowess.js",
            format: FileFormat::Opencode,
        },
        traces: &[path_in(Config, "opencode")],
        programs: &["opencode"],
        launched_from: LaunchedFrom::Terminal,
        skill_tool: Some(SkillTool {
            name: "skill",
            parameter: "name",
            project: &[".agents/skills", ".claude/skills", ".opencode/skills"],
            home: &[".agents/skills", ".claude/skills", ".config/opencode/skills"],
            by_directory: false,
            is_flat: false,
        }),
        notes: [None, None],
    },
    HookClient {
        id: "qwen-code",
        aliases: &["qwen"],
        title: "Qwen Code",
        registration: Registration::Item {
            user: &[list_in(path_in(Home, ".qwen/settings.json"), PROMPT_EVENT)],
            project: &[list_in(".qwen/settings.json", PROMPT_EVENT)],
            format: ItemFormat::NamedGroup,
        },
        traces: &[path_in(Home, ".qwen")],
        programs: &["qwen"],
        launched_from: LaunchedFrom::Terminal,
        skill_tool: Some(SkillTool {
            name: "skill",
            parameter: "skill",
            project: &[".agents/skills", ".qwen/skills"],
            home: &[".qwen/skills"],
            by_directory: false,
            is_flat: true,
        }),
        notes: [None, Some("Qwen Code runs the hooks of a project after you trust its folder")],
    },
];

const CODEX_TRUST: &str =
    "Codex runs a new hook only after you trust it: accept it when Codex starts, or run /hooks in Codex";

const GEMINI_TRUST: &str =
    "Gemini CLI runs hooks only in folders that you trust: run /permissions in Gemini CLI";

const CURSOR_VERSION: &str =
    "Cursor does not document that its hook can add text; older versions ignore the hint";

const DROID_EXEC: &str = "droid runs this hook in interactive sessions, not in `droid exec`";

/// A client without such a hook: its name on the command line, its product name and the reason.
const CLIENTS_WITHOUT_HOOK: &[(&str, &str, &str)] = &[
    ("amp", "Amp", "it has no prompt hook"),
    ("claude-desktop", "Claude Desktop", "it has no prompt hook"),
    ("cline", "Cline", "its hooks are scripts, of which there can be only one"),
    ("crush", "Crush", "it has no prompt hook"),
    ("goose", "goose", "its prompt hook cannot add text for the model"),
    ("grok", "Grok Build", "its prompt hook cannot add text for the model"),
    ("kiro", "Kiro", "its prompt hook belongs to a custom agent"),
    ("roo", "Roo Code", "it has no prompt hook"),
    ("vscode", "VS Code", "its prompt hook cannot add text for the model"),
    ("windsurf", "Windsurf", "its prompt hook cannot add text for the model"),
    ("zed", "Zed", "it has no prompt hook"),
];

/// Returns the client with this name.
///
/// ```
/// use prowess_package::connect::hooks::find_hook_client;
///
/// assert_eq!(find_hook_client("gemini").unwrap().id, "gemini-cli");
/// assert_eq!(find_hook_client("coedx").unwrap_err().hint().unwrap(), "did you mean codex?");
/// assert_eq!(
///     find_hook_client("zed").unwrap_err().to_string(),
///     "Zed cannot show hints to its model: it has no prompt hook"
/// );
/// ```
pub fn find_hook_client(name: &str) -> Result<&'static HookClient, HookError> {
    let is_named = |client: &&HookClient| client.id == name || client.aliases.contains(&name);
    if let Some(client) = HOOK_CLIENTS.iter().find(is_named) {
        return Ok(client);
    }
    match CLIENTS_WITHOUT_HOOK.iter().find(|(id, ..)| *id == name) {
        Some((id, title, reason)) => Err(HookError::NoPromptHook { id, title, reason }),
        None => {
            let known = HOOK_CLIENTS.iter().map(|client| client.id);
            let known = known.chain(CLIENTS_WITHOUT_HOOK.iter().map(|(id, ..)| *id));
            let suggestion = suggest::nearest(name, known);
            Err(HookError::UnknownClient { name: name.to_owned(), suggestion })
        }
    }
}
