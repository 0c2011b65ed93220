//! What can be typed.

mod chat;
mod mcp;
pub(crate) mod packages;
mod run;
mod serve;

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use chat::{Chat, Chats, ChatsCommand, StoreArgs};
pub(crate) use mcp::{Connect, Disconnect, Mcp, McpCommand, ServeMcp, Which};
pub(crate) use packages::{ManageCommand, Switch};
pub(crate) use run::Run;
pub(crate) use serve::{Log, Serve};

use crate::scope::{DIRECTORY, ScopeArgs};

/// The skills runtime for AI agents: find skills, explain every problem, show a model exactly what it needs.
#[derive(Debug, Parser)]
#[command(name = "prowess", version, propagate_version = false, max_term_width = 100)]
#[command(after_help = EXIT_CODES, after_long_help = format!("{ENVIRONMENT}\n\n{EXIT_CODES}"))]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 fine, 1 the answer is no, 2 the call or the environment is wrong.";

const ENVIRONMENT: &str = "\
Environment:
  PROWESS_PRESET, PROWESS_PROJECT, PROWESS_HOME, PROWESS_CONFIG
          As the options of these names; an option counts more
  PROWESS_STORE
          Where chats are kept
  PROWESS_SKILLS_ENABLED=true|false
          Skills on or off as a whole
  PROWESS_ALLOW_SCRIPTS=1
          Scripts of skills may run, in this call
  NO_COLOR
          No colour, unless --color always";

/// What stands above the options that every command takes.
const GLOBAL_HEADING: &str = "Global options";

/// What every command takes.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = GLOBAL_HEADING)]
pub(crate) struct Global {
    /// The set of policies: standard, app, skill-tool, harness, triggers or chat
    /// [default: standard] [env: PROWESS_PRESET]
    #[arg(long, global = true, value_name = "NAME", value_parser = preset)]
    pub(crate) preset: Option<prowess::Preset>,
    /// Scan exactly these directories, in this order, first wins, all trusted
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,
    /// The project [default: the current directory] [env: PROWESS_PROJECT]
    #[arg(long, alias = DIRECTORY, global = true, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// What stands for the home in every ~ path, configuration and state included [env: PROWESS_HOME]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// One more configuration file, read last (.toml, .yaml or .yml) [env: PROWESS_CONFIG]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print a machine-readable answer, for failures too
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print nothing on standard error but errors
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Say more on standard error
    #[arg(long, short, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Whether to use colour
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
}

impl Global {
    /// With the variables for what no option says. They are read here because clap would count them as typed, and say
    /// so in every usage.
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

/// The commands. Only the one that is called is built: building all of them takes longer than starting does. What is built
/// late comes last, so that a documentation comment on the arguments of a command would replace what its help says.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// List the skills a model would be offered
    List {
        /// Also the disabled, unavailable, untrusted, shadowed and invalid ones, with the reason
        #[arg(long)]
        all: bool,
    },
    /// Show all skills, grouped by where they come from
    Show,
    /// Tell everything about one skill
    Info {
        /// The skill's name or folder
        name: String,
    },
    /// Explain why a skill is, or is not, there
    Why {
        /// The skill's name or folder
        name: String,
    },
    /// Validate skill folders, SKILL.md files, or trees of them
    Check(Check),
    /// Look for droppers, stolen and leaked secrets, and hidden text in skills
    Audit(Audit),
    /// Print exactly what a model is shown of the skills
    Prompt(Prompt),
    /// Tell which skills answer a query, and why
    Match {
        /// The query
        query: String,
        /// How many at most
        #[arg(short, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
        k: u32,
    },
    /// Print exactly what a model gets when it loads a skill
    Activate {
        /// The skill's name
        name: String,
        /// Arguments for the skill, as one text
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        args: Option<String>,
    },
    /// List the files of a skill
    Files {
        /// The skill's name
        name: String,
    },
    /// Print a file of a skill
    Read {
        /// The skill's name
        name: String,
        /// The file's path inside the skill's folder
        path: String,
    },
    /// Run a script of a skill in the sandbox
    Run(Run),
    /// Print the tools that a model can call, with their definitions
    Tools {
        /// Count this skill as active
        #[arg(long, value_name = "NAME")]
        skill: Vec<String>,
    },
    /// Call a tool as a model would, and print the answer
    Call {
        /// The tool's name, such as skills.activate
        tool: String,
        /// The parameters, as a JSON object
        #[arg(value_name = "JSON")]
        params: String,
        /// Count this skill as active
        #[arg(long, value_name = "NAME")]
        skill: Vec<String>,
    },
    /// Serve skills to MCP clients, or connect clients
    Mcp(Mcp),
    /// Serve skills and chats over HTTP: a page for people, an interface for programs, and MCP
    Serve(Serve),
    /// Talk to the agent: a conversation on a terminal, or one message
    Chat(Chat),
    /// List, show, delete, export and import chats
    Chats(Chats),
    /// Score routing on labelled queries
    Eval(Eval),
    /// Find skills that messages can hardly tell apart
    Lint(Lint),
    /// Make a skill
    New {
        /// Its name, which is also its folder's
        name: String,
        /// What it does and when to use it
        #[arg(long, value_name = "TEXT")]
        description: String,
        /// The directory to make it in [default: the first project directory of the preset]
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
    /// Install skills from a repository, a folder, an archive or a site
    #[command(visible_alias = "add")]
    Install(packages::Install),
    /// Take over skills from another agent, a skills-lock.json, a folder or an archive
    Import(packages::Import),
    /// Bring installed skills up to date
    Update(packages::Update),
    /// Remove skills
    Remove(packages::Remove),
    /// Compare installed skills with the lock
    Verify(packages::Verify),
    /// Make a reproducible archive of a skill
    Pack(packages::Pack),
    /// Make an index of skills that any web server can serve
    Index(packages::Index),
    /// Switch a skill on
    Enable(Switch),
    /// Switch a skill off
    Disable(Switch),
    /// List what was installed
    Plugins {
        #[command(flatten)]
        scope: ScopeArgs,
    },
    /// Trust the skills of a project, a folder that links lead to, or a skill of a server
    Trust {
        /// The folder [default: the project, up to its git root]
        path: Option<PathBuf>,
        /// Bind trust to what is there now: a changed skill asks again
        #[arg(long)]
        pinned: bool,
        #[command(flatten)]
        mcp: OfServer,
    },
    /// Take trust back
    Untrust {
        /// The folder [default: the project, up to its git root]
        path: Option<PathBuf>,
        /// A skill of a server, as LABEL/NAME; LABEL alone for all of its skills
        #[arg(long, value_name = "SKILL", conflicts_with = "path")]
        mcp: Option<String>,
    },
    /// Print the effective settings and where each came from
    Config,
    /// Look at the environment and say what is wrong with it
    Doctor,
    /// The same commands for those who type skill first: prowess skill show
    Skill {
        #[command(subcommand)]
        command: SkillCommand,
    },
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, of one command if named
    Man {
        /// The command, such as: list, or: skill show
        #[arg(value_name = "COMMAND")]
        command: Vec<String>,
    },
}

// What `prowess skill` takes.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum SkillCommand {
    /// Show all skills, grouped by where they come from
    Show,
    /// Install skills from a repository, a folder, an archive or a site
    Install(packages::Install),
    /// Manage skills; without an action, show what there is
    Manage {
        #[command(subcommand)]
        action: Option<ManageCommand>,
    },
}

// What `prowess trust` takes for skills of servers.
#[derive(Debug, clap::Args)]
pub(crate) struct OfServer {
    /// Approve a skill of a server as it is now, by LABEL/NAME, or by LABEL/URI where it is not listed
    #[arg(long = "mcp", value_name = "SKILL", conflicts_with_all = ["path", "pinned"])]
    pub(crate) name: Option<String>,
    /// Let its allowed-tools count
    #[arg(long, requires = "name")]
    pub(crate) allow_tools: bool,
    /// Let the model run scripts and tools of other skills while this one is loaded
    #[arg(long, requires = "name")]
    pub(crate) allow_run: bool,
    /// Show what would be approved, its instructions too, and approve nothing
    #[arg(long, requires = "name")]
    pub(crate) dry_run: bool,
}

// What `prowess prompt` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Prompt {
    /// The user's message: skills that fit it are the last to be cut
    #[arg(long, value_name = "TEXT")]
    pub(crate) query: Option<String>,
    /// The form [default: the preset's]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<PromptFormat>,
    /// Say where each skill's file is
    #[arg(long)]
    pub(crate) location: bool,
    /// The most tokens, in place of the configuration's bounds
    #[arg(long, value_name = "N")]
    pub(crate) budget_tokens: Option<u32>,
    /// The most characters, in place of the configuration's bounds
    #[arg(long, value_name = "N")]
    pub(crate) budget_chars: Option<u32>,
}

/// The form of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PromptFormat {
    /// `<available_skills>`.
    Xml,
    /// `{"available_skills": […]}`.
    Json,
    /// Bullets with id and name.
    Markdown,
    /// Nothing, a count, names, or whole skills, as the query asks for.
    Tiers,
}

// What `prowess check` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    /// Skill folders, SKILL.md files, or trees of them; - reads one SKILL.md from standard input
    /// [default: the project]
    pub(crate) paths: Vec<PathBuf>,
    /// Hold everything to the Agent Skills specification
    #[arg(long)]
    pub(crate) strict: bool,
    /// The form of the answer
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<CheckFormat>,
}

/// The form of a check's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// For people.
    Human,
    /// For programs.
    Json,
    /// SARIF 2.1.0.
    Sarif,
    /// GitHub workflow annotations.
    Github,
}

// What `prowess audit` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "It catches what its rules describe. That it finds nothing does not mean that a skill is good.\n\n\
    Exit codes: 0 nothing above medium, 1 something is high or critical, 2 the call is wrong."
)]
pub(crate) struct Audit {
    /// Skill folders, SKILL.md files, trees of them, or names of skills [default: all skills that are found]
    #[arg(value_name = "PATH|NAME")]
    pub(crate) targets: Vec<String>,
    /// The form of the answer
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<AuditFormat>,
    /// List the rules instead
    #[arg(long, conflicts_with = "targets")]
    pub(crate) rules: bool,
}

/// The form of an audit's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuditFormat {
    /// For people.
    Human,
    /// For programs.
    Json,
    /// SARIF 2.1.0.
    Sarif,
}

fn preset(name: &str) -> Result<prowess::Preset, String> {
    name.parse().map_err(|error: prowess::policy::presets::UnknownPreset| error.to_string())
}

// `prowess eval`
#[derive(Debug, clap::Args)]
pub(crate) struct Eval {
    /// A file of JSON lines, each with query and skills; negatives have not_skills. Or a JSON list, each with query and
    /// should_trigger
    pub(crate) file: PathBuf,
    /// How many results count for recall
    #[arg(short, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) k: u32,
    /// The skill that a list with should_trigger is about
    #[arg(long, value_name = "NAME")]
    pub(crate) skill: Option<String>,
    /// Also score another configuration, and say what it gains
    #[arg(long, value_name = "CONFIG")]
    pub(crate) compare: Option<PathBuf>,
}

// `prowess lint`
#[derive(Debug, clap::Args)]
pub(crate) struct Lint {
    /// Look at how skills are found: which are confusable, which never come first, which words would help
    #[arg(long, required = true)]
    pub(crate) routing: bool,
}
