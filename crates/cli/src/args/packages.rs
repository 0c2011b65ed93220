//! The arguments of the commands that install and manage skills.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

use crate::scope::ScopeArgs;

// The arguments of `prowess install`.
#[derive(Debug, clap::Args)]
#[command(after_help = SOURCES)]
#[command(mut_arg("user", |user| user.help("Install for the current user")))]
#[command(mut_arg("project_scope", |project| project.help("Install in the project")))]
pub(crate) struct InstallArgs {
    /// Source of the skills; see below
    #[arg(required_unless_present = "locked")]
    pub(crate) source: Option<String>,
    /// Branch, tag or commit of a repository
    #[arg(long = "ref", value_name = "REF")]
    pub(crate) reference: Option<String>,
    /// Install under this name [default: the skill's own name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Skill to install, by name or path; can be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    pub(crate) skill: Vec<String>,
    /// Plugin to install with all its skills; can be repeated
    #[arg(long, value_name = "NAME", conflicts_with_all = ["skill", "all"])]
    pub(crate) plugin: Vec<String>,
    /// Also add the MCP servers of the plugin to this MCP client, after confirmation; can be repeated
    #[arg(long, value_name = "CLIENT")]
    pub(crate) mcp_client: Vec<String>,
    /// Install all skills of the source
    #[arg(long)]
    pub(crate) all: bool,
    /// Skip invalid and rejected skills; the exit code is still 1
    #[arg(long)]
    pub(crate) skip_invalid: bool,
    /// Install exactly the skills of the lock file, or those given with --skill
    #[arg(long, conflicts_with_all = ["reference", "name", "plugin", "mcp_client", "all", "skip_invalid"])]
    pub(crate) locked: bool,
    /// Link for this agent, such as claude-code; can be repeated [default: the agents in use]
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Vec<String>,
    /// Do not link for other agents
    #[arg(long, conflicts_with_all = ["agent", "copy"])]
    pub(crate) no_link: bool,
    /// Copy instead of symlinking
    #[arg(long)]
    pub(crate) copy: bool,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) answers: AnswerArgs,
    /// Show the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
}

const SOURCES: &str = "\
Sources:
  ./dir, ~/dir, /dir                    directory with a SKILL.md, with several skills, or with plugins
  skill.zip, .tar.gz, .tgz, .skill      archive, local or https
  owner/repo, owner/repo/path           GitHub repository, optionally with #REF
  https://host/owner/repo               git repository, optionally with /tree/REF/path
  ssh://host/path, user@host:path       git repository over SSH
  file:///path                          local git repository, if PROWESS_ALLOW_FILE_URLS=1
  https://host                          website with /.well-known/agent-skills/index.json

Skills are installed in the project if the directory has .git, .agents, .prowess, .claude, .codex or \
skills.lock, otherwise for the current user; --project and --user override this. The lock file is \
skills.lock in a project, otherwise it is in the user's state directory.

Agents in use are found by their directories in the project and the home directory. Those that do not \
read the directory of the skills get a symlink to each skill.";

// The arguments of `prowess import`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Skills are installed in the same directory as by `prowess install`.")]
#[command(mut_arg("user", |user| user.help("Install for the current user")))]
#[command(mut_arg("project_scope", |project| project.help("Install in the project")))]
pub(crate) struct ImportArgs {
    /// A skills-lock.json, a directory or an archive
    #[arg(required_unless_present = "from")]
    pub(crate) source: Option<String>,
    /// Import the skills of another agent, such as claude-code
    #[arg(long, value_name = "AGENT", conflicts_with = "source")]
    pub(crate) from: Option<String>,
    /// Skill to import; can be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    pub(crate) skill: Vec<String>,
    /// Import all skills
    #[arg(long)]
    pub(crate) all: bool,
    /// Skip invalid and rejected skills; the exit code is still 1
    #[arg(long)]
    pub(crate) skip_invalid: bool,
    /// Do not link for other agents
    #[arg(long)]
    pub(crate) no_link: bool,
    /// Import a single skill under this name [default: the skill's own name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) answers: AnswerArgs,
    /// Show the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
}

// Answers to prompts.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct AnswerArgs {
    /// Answer yes to all prompts; existing skills also require --on-conflict
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// What to do if the skill already exists
    #[arg(long, value_enum, value_name = "CHOICE")]
    pub(crate) on_conflict: Option<ConflictChoice>,
    /// Install skills that the audit rejects
    #[arg(long)]
    pub(crate) accept_risk: bool,
}

/// What to do if the skill already exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConflictChoice {
    /// Replace the existing skill.
    Overwrite,
    /// Keep the existing skill.
    Skip,
    /// Install under a numbered name.
    Rename,
}

/// Help on the default scope.
const BOTH_SCOPES: &str =
    "Without --project or --user, the command applies to both scopes, the project first.";

// The arguments of `prowess find`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The indexes are configured in sources.indexes. The exit code is 1 if nothing is found."
)]
pub(crate) struct FindArgs {
    /// Words in the name or description; all must occur [default: list all skills]
    pub(crate) query: Vec<String>,
    /// Search the index of this site instead of the configured ones; can be repeated
    #[arg(long, value_name = "URL")]
    pub(crate) index: Vec<String>,
}

// The arguments of `prowess update`.
#[derive(Debug, clap::Args)]
#[command(after_help = BOTH_SCOPES)]
pub(crate) struct UpdateArgs {
    /// Skills or plugins [default: all installed skills]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) answers: AnswerArgs,
    /// Show the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
}

// The arguments of `prowess outdated`.
#[derive(Debug, clap::Args)]
#[command(after_help = "The exit code is 1 if there are newer versions.")]
pub(crate) struct OutdatedArgs {
    /// Skills [default: all installed skills]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

// The arguments of `prowess remove`.
#[derive(Debug, clap::Args)]
#[command(after_help = BOTH_SCOPES)]
pub(crate) struct RemoveArgs {
    /// Skills or plugins
    #[arg(required = true)]
    pub(crate) names: Vec<String>,
    /// The names are plugins, even if skills have the same names
    #[arg(long)]
    pub(crate) plugin: bool,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Do not prompt, even for skills that were created here or modified
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Show the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
}

// The arguments of `prowess sync`.
#[derive(Debug, clap::Args)]
#[command(after_help = BOTH_SCOPES)]
pub(crate) struct SyncArgs {
    /// Link for this agent, such as claude-code; can be repeated [default: the agents in use]
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Vec<String>,
    /// List the project's skills in AGENTS.md, for agents that do not know skills; the list is kept up to date
    #[arg(long, conflicts_with = "user")]
    pub(crate) agents_md: bool,
    /// Remove the list from AGENTS.md
    #[arg(long, conflicts_with_all = ["agents_md", "user"])]
    pub(crate) no_agents_md: bool,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Show the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
}

// The arguments of `prowess verify`.
#[derive(Debug, clap::Args)]
#[command(after_help = BOTH_SCOPES)]
pub(crate) struct VerifyArgs {
    /// Skills [default: all installed skills]
    pub(crate) names: Vec<String>,
    /// Accept the current contents of these skills
    #[arg(long, requires = "names")]
    pub(crate) accept: bool,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

// The arguments of `prowess diff`.
#[derive(Debug, clap::Args)]
#[command(after_help = "The installed version is fetched from its source.")]
pub(crate) struct DiffArgs {
    /// Installed skill
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

// The arguments of `prowess pack`.
#[derive(Debug, clap::Args)]
pub(crate) struct PackArgs {
    /// Directory of a skill or plugin
    pub(crate) dir: PathBuf,
    /// Output file [default: NAME.skill in the current directory; NAME.zip for a plugin]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

// The arguments of `prowess index`.
#[derive(Debug, clap::Args)]
pub(crate) struct IndexArgs {
    /// Directory of skills
    pub(crate) dir: PathBuf,
    /// Output directory, to be served by a web server
    #[arg(long, short, value_name = "DIR", default_value = "public")]
    pub(crate) output: PathBuf,
}

// The subcommands of `prowess skill manage`.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ManageCommand {
    /// Enable a skill
    Enable(SwitchArgs),
    /// Disable a skill
    Disable(SwitchArgs),
    /// Update installed skills
    Update(UpdateArgs),
    /// Remove skills
    Remove(RemoveArgs),
    /// List installed skills
    List {
        #[command(flatten)]
        scope: ScopeArgs,
    },
}

// The arguments of `prowess enable` and `prowess disable`.
#[derive(Debug, clap::Args)]
#[command(mut_arg("user", |user| user.help("Change the configuration of the current user (default)")))]
pub(crate) struct SwitchArgs {
    /// Skill names or directory names
    #[arg(id = "name", value_name = "NAME", required_unless_present = "source", conflicts_with = "source")]
    pub(crate) names: Vec<String>,
    /// Apply to all skills of this directory, such as ~/.claude/skills or bundled
    #[arg(long, value_name = "PATH")]
    pub(crate) source: Option<String>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}
