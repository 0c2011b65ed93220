//! The command-line arguments.

mod chat;
mod checks;
mod config;
mod editors;
mod env;
mod hook;
mod mcp;
mod new;
pub(crate) mod packages;
mod run;
mod serve;
mod test;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use chat::{ChatArgs, ChatsArgs, ChatsCommand, StoreArgs};
pub(crate) use checks::{AuditArgs, BaselineArgs, CheckArgs, ReportFormat};
pub(crate) use config::{ConfigArgs, ConfigCommand, ConfigEditArgs, ConfigSetArgs, ConfigUnsetArgs};
pub(crate) use editors::{LspArgs, SchemaArgs};
pub(crate) use env::{EnvArgs, EnvCommand};
pub(crate) use hook::{HOOK_TIMEOUT_MS, HookArgs, HookChangeArgs, HookCommand, HookPromptArgs};
pub(crate) use mcp::{ClientArgs, ConnectArgs, DisconnectArgs, McpArgs, McpCommand, ServeMcpArgs};
pub(crate) use new::{NewArgs, SkillTemplate};
pub(crate) use packages::{ManageCommand, SwitchArgs};
pub(crate) use run::RunArgs;
pub(crate) use serve::{LogFormat, ServeArgs};
pub(crate) use test::{TestAgent, TestArgs, TestFormat, TestPart};

use crate::scope::{PROJECT_DIR, ScopeArgs};

/// The skills runtime for AI agents: discover skills, explain problems, and give models what they need
#[derive(Debug, Parser)]
#[command(name = "prowess", version, propagate_version = false, max_term_width = 100)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{ENVIRONMENT}\n\n{EXIT_CODES}"))]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 success, 1 check failed or not found, 2 usage or environment error";

const ENVIRONMENT: &str = "\
Environment:
  PROWESS_PRESET, PROWESS_PROJECT, PROWESS_HOME, PROWESS_CONFIG
          Defaults for the options of the same names
  PROWESS_STORE
          Where chats are stored
  PROWESS_SKILLS_ENABLED=true|false
          Enable or disable all skills
  PROWESS_ALLOW_SCRIPTS=1
          Allow skills to run scripts
  NO_COLOR
          Disable colour, unless --color always is set";

/// The help heading of the global options.
const GLOBAL_HEADING: &str = "Global options";

/// The options of every command.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = GLOBAL_HEADING)]
pub(crate) struct GlobalArgs {
    /// Configuration preset: standard, app, skill-tool, harness, triggers or chat
    /// [default: standard] [env: PROWESS_PRESET]
    #[arg(long, global = true, value_name = "NAME", value_parser = parse_preset)]
    pub(crate) preset: Option<prowess::Preset>,
    /// Search only these directories, in order; all are trusted
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,
    /// Project directory [default: the current directory] [env: PROWESS_PROJECT]
    #[arg(long, alias = PROJECT_DIR, global = true, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Use DIR as the home directory [env: PROWESS_HOME]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Additional configuration file, read last (.toml, .yaml or .yml) [env: PROWESS_CONFIG]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON, including errors
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print only errors on standard error
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Print more details on standard error
    #[arg(long, short, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// When to use colour
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
}

impl GlobalArgs {
    /// Fills options that were not given from environment variables. clap's own support for variables would list them
    /// in every usage line.
    pub(crate) fn with_variables(mut self) -> Self {
        let variable =
            |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        self.project = self.project.or_else(|| variable("PROWESS_PROJECT"));
        self.home = self.home.or_else(|| variable("PROWESS_HOME"));
        self.config = self.config.or_else(|| variable("PROWESS_CONFIG"));
        self
    }
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands. `defer` builds only the command that is called, since building all of them dominates the startup time.
/// A doc comment on the arguments of a deferred command would replace the help text of its variant, so these structs have
/// plain comments.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// List the available skills
    #[command(visible_alias = "ls")]
    List {
        /// Include disabled, unavailable, untrusted, shadowed and invalid skills, with the reason
        #[arg(long)]
        all: bool,
    },
    /// Show all skills, grouped by source
    Show,
    /// Show details about a skill
    Info {
        /// Skill name or directory name
        name: String,
    },
    /// Explain why a skill is or is not available
    Why {
        /// Skill name or directory name
        name: String,
    },
    /// Validate skills
    #[command(visible_alias = "validate")]
    Check(CheckArgs),
    /// Audit skills for droppers, secret theft, leaked secrets and hidden text
    Audit(AuditArgs),
    /// Print the skill catalog exactly as a model sees it
    Prompt(PromptArgs),
    /// Show which skills match a query, and why
    Match {
        /// Query, such as a user's message
        query: String,
        /// Maximum number of matches
        #[arg(short, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
        k: u32,
        /// File that the message is about, for skills that are only offered for some files; can be repeated
        #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::FilePath)]
        file: Vec<String>,
    },
    /// Print exactly what a model receives when it loads a skill
    Activate {
        /// Skill name
        name: String,
        /// Arguments for the skill, as a single string
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        args: Option<String>,
    },
    /// List the files of a skill
    Files {
        /// Skill name
        name: String,
    },
    /// Print a file of a skill
    Read {
        /// Skill name
        name: String,
        /// File path inside the skill directory
        path: String,
    },
    /// Run a script of a skill in a sandbox
    Run(RunArgs),
    /// Manage environments: the packages that scripts of skills need
    Env(EnvArgs),
    /// List the tools that a model can call
    Tools {
        /// Treat the skill as active
        #[arg(long, value_name = "NAME")]
        skill: Vec<String>,
    },
    /// Call a tool as a model would and print the result
    Call {
        /// Tool name, such as skills.activate
        tool: String,
        /// Parameters, as a JSON object
        #[arg(value_name = "JSON")]
        params: String,
        /// Treat the skill as active
        #[arg(long, value_name = "NAME")]
        skill: Vec<String>,
    },
    /// Run the MCP server, or connect MCP clients to it
    Mcp(McpArgs),
    /// Suggest skills inside other agents, through a hook on the user's messages
    Hook(HookArgs),
    /// Serve skills and chats over HTTP: web page, API and MCP
    Serve(ServeArgs),
    /// Chat with the agent, interactively or with a single message
    Chat(ChatArgs),
    /// Manage stored chats
    Chats(ChatsArgs),
    /// Evaluate routing with labelled queries
    Eval(EvalArgs),
    /// Find skills that are hard to tell apart
    Lint(LintArgs),
    /// Run the evaluations of skills, with and without each skill
    Test(TestArgs),
    /// Run the language server for editors
    Lsp(LspArgs),
    /// Print the JSON Schema of the frontmatter
    Schema(SchemaArgs),
    /// Create a skill
    #[command(visible_alias = "init")]
    New(NewArgs),
    /// Find skills in the configured indexes
    #[command(visible_alias = "search")]
    Find(packages::FindArgs),
    /// Install skills from a repository, directory, archive or website
    #[command(visible_alias = "add")]
    Install(packages::InstallArgs),
    /// Import skills from another agent, a skills-lock.json, a directory or an archive
    Import(packages::ImportArgs),
    /// Update installed skills
    #[command(visible_alias = "upgrade")]
    Update(packages::UpdateArgs),
    /// Show which installed skills have newer versions
    Outdated(packages::OutdatedArgs),
    /// Remove skills
    #[command(visible_aliases = ["rm", "uninstall"])]
    Remove(packages::RemoveArgs),
    /// Compare installed skills with the lock file
    Verify(packages::VerifyArgs),
    /// Show local edits of an installed skill
    Diff(packages::DiffArgs),
    /// Link installed skills for the agents in use, and remove links to removed skills
    Sync(packages::SyncArgs),
    /// Create a reproducible archive of a skill
    Pack(packages::PackArgs),
    /// Create a skill index that any web server can serve
    Index(packages::IndexArgs),
    /// Enable skills
    Enable(SwitchArgs),
    /// Disable skills
    Disable(SwitchArgs),
    /// List installed skills
    Plugins {
        #[command(flatten)]
        scope: ScopeArgs,
    },
    /// Trust a project, a directory, or a skill of an MCP server
    Trust {
        /// Directory [default: the git root of the project]
        path: Option<PathBuf>,
        /// Trust only the current contents; changed skills must be trusted again
        #[arg(long)]
        pinned: bool,
        #[command(flatten)]
        mcp: McpTrustArgs,
    },
    /// Revoke trust
    Untrust {
        /// Directory [default: the git root of the project]
        path: Option<PathBuf>,
        /// Skill of an MCP server, as LABEL/NAME, or LABEL for all skills of the server
        #[arg(long, value_name = "SKILL", conflicts_with = "path")]
        mcp: Option<String>,
    },
    /// Show the effective settings and their origins, or change settings
    Config(ConfigArgs),
    /// Check the environment for problems
    Doctor,
    /// Aliases for the top-level commands
    Skill {
        #[command(subcommand)]
        command: SkillCommand,
    },
    /// Generate shell completions
    Completions {
        /// Shell
        shell: Shell,
        /// Also complete names of skills, files, agents and settings, by calling prowess
        #[arg(long)]
        dynamic: bool,
    },
    /// Print the manual page of prowess or of a command
    Man {
        /// Command, such as `list` or `skill show`
        #[arg(value_name = "COMMAND")]
        command: Vec<String>,
    },
}

// The subcommands of `prowess skill`.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum SkillCommand {
    /// Show all skills, grouped by source
    Show,
    /// Install skills from a repository, directory, archive or website
    Install(packages::InstallArgs),
    /// Manage skills; without an action, list the actions
    Manage {
        #[command(subcommand)]
        action: Option<ManageCommand>,
    },
}

// The arguments of `prowess trust --mcp`.
#[derive(Debug, clap::Args)]
pub(crate) struct McpTrustArgs {
    /// Approve the current version of a skill of an MCP server, as LABEL/NAME, or LABEL/URI if it is not listed
    #[arg(long = "mcp", value_name = "SKILL", conflicts_with_all = ["path", "pinned"])]
    pub(crate) name: Option<String>,
    /// Grant its allowed-tools
    #[arg(long, requires = "name")]
    pub(crate) allow_tools: bool,
    /// Allow scripts and tools of other skills to run while this skill is loaded
    #[arg(long, requires = "name")]
    pub(crate) allow_run: bool,
    /// Show the skill and its instructions without approving it
    #[arg(long, requires = "name")]
    pub(crate) dry_run: bool,
}

// The arguments of `prowess prompt`.
#[derive(Debug, clap::Args)]
pub(crate) struct PromptArgs {
    /// User's message; matching skills are cut last
    #[arg(long, value_name = "TEXT")]
    pub(crate) query: Option<String>,
    /// File that the message is about, for skills that are only offered for some files; can be repeated
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::FilePath)]
    pub(crate) file: Vec<String>,
    /// Output format [default: set by the preset]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<PromptFormat>,
    /// Include the location of each skill
    #[arg(long)]
    pub(crate) location: bool,
    /// Maximum number of tokens, overriding the configuration
    #[arg(long, value_name = "N")]
    pub(crate) budget_tokens: Option<u32>,
    /// Maximum number of characters, overriding the configuration
    #[arg(long, value_name = "N")]
    pub(crate) budget_chars: Option<u32>,
}

/// The output format of `prowess prompt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PromptFormat {
    /// `<available_skills>`.
    Xml,
    /// `{"available_skills": […]}`.
    Json,
    /// A bulleted list of ids and names.
    Markdown,
    /// Nothing, a count, names or whole skills, depending on the query.
    Tiers,
}

fn parse_preset(name: &str) -> Result<prowess::Preset, String> {
    name.parse().map_err(|error: prowess::policy::presets::ParsePresetError| error.to_string())
}

// The arguments of `prowess eval`.
#[derive(Debug, clap::Args)]
pub(crate) struct EvalArgs {
    /// JSON Lines file with `query` and `skills` (or `not_skills`), or a JSON list with `query` and `should_trigger`
    pub(crate) file: PathBuf,
    /// Number of results that count for recall
    #[arg(short, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) k: u32,
    /// Skill that a list with `should_trigger` is about
    #[arg(long, value_name = "NAME")]
    pub(crate) skill: Option<String>,
    /// Compare with another configuration file
    #[arg(long, value_name = "CONFIG")]
    pub(crate) compare: Option<PathBuf>,
}

// The arguments of `prowess lint`.
#[derive(Debug, clap::Args)]
pub(crate) struct LintArgs {
    /// Check routing: find confusable skills, skills that never rank first, and words that would help
    #[arg(long, required = true)]
    pub(crate) routing: bool,
}
