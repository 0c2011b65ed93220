//! What the commands take that get, switch, keep and check skills.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

use crate::scope::ScopeArgs;

// What `prowess install` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = SOURCES)]
pub(crate) struct Install {
    /// Where to get it; see below
    #[arg(required_unless_present = "locked")]
    pub(crate) source: Option<String>,
    /// The branch, tag or commit of a repository
    #[arg(long = "ref", value_name = "REF")]
    pub(crate) reference: Option<String>,
    /// What to call it [default: what it calls itself]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Which of several skills, by name or folder; can be given again
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    pub(crate) skill: Vec<String>,
    /// All skills of the source
    #[arg(long)]
    pub(crate) all: bool,
    /// Skip invalid and refused skills and install the others; the exit code is still 1
    #[arg(long)]
    pub(crate) skip_invalid: bool,
    /// Exactly what the lock says, and nothing else; with --skill only these
    #[arg(long, conflicts_with_all = ["reference", "name", "all", "skip_invalid"])]
    pub(crate) locked: bool,
    /// Also where these agents look for skills, such as claude-code; can be given again
    #[arg(long, value_name = "AGENT", conflicts_with = "locked")]
    pub(crate) agent: Vec<String>,
    /// Copies for the agents, not links
    #[arg(long, requires = "agent")]
    pub(crate) copy: bool,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) answers: Answers,
    /// Only say what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
}

const SOURCES: &str = "\
Sources:
  ./folder, ~/folder, /folder           a folder with a SKILL.md, or with skills in it
  skill.zip, .tar.gz, .tgz, .skill      an archive, on disk or https
  owner/repo, owner/repo/path/inside    a repository on GitHub, with #REF if need be
  https://host/owner/repo               a repository, also with /tree/REF/path
  ssh://host/path, user@host:path       a repository over ssh
  file:///path                          a local repository, if PROWESS_ALLOW_FILE_URLS=1
  https://host                          a site with /.well-known/agent-skills/index.json

Skills go into the project if this is one (it has .git, .agents, .prowess or skills.lock), else to the user;
--project and --user decide. The lock says what was installed: skills.lock in a project, else the user's state.";

// What `prowess import` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Skills go where prowess install puts them; see its help.")]
pub(crate) struct Import {
    /// A skills-lock.json, a folder, or an archive
    #[arg(required_unless_present = "from")]
    pub(crate) source: Option<String>,
    /// Take over the skills of another agent, such as claude-code
    #[arg(long, value_name = "AGENT", conflicts_with = "source")]
    pub(crate) from: Option<String>,
    /// Which of several skills; can be given again
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    pub(crate) skill: Vec<String>,
    /// All of them
    #[arg(long)]
    pub(crate) all: bool,
    /// Skip invalid and refused skills and import the others; the exit code is still 1
    #[arg(long)]
    pub(crate) skip_invalid: bool,
    /// What to call it, where it is one [default: what it calls itself]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) answers: Answers,
    /// Only say what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
}

// Answers to questions that would be asked on a terminal.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Answers {
    /// Answer every question with yes; a name that is taken also needs --on-conflict
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// What to do where a name is taken
    #[arg(long, value_enum, value_name = "CHOICE")]
    pub(crate) on_conflict: Option<ConflictChoice>,
    /// Install what the audit refuses
    #[arg(long)]
    pub(crate) accept_risk: bool,
}

/// What to do where a name is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConflictChoice {
    /// Put the new one in its place.
    Overwrite,
    /// Leave what is there.
    Skip,
    /// Install it under a name with a number.
    Rename,
}

/// Where installed skills are looked for.
const BOTH: &str = "Without --project or --user, skills of both are meant; the project's go first.";

// What `prowess update` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = BOTH)]
pub(crate) struct Update {
    /// The skills [default: all that were installed]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    #[command(flatten)]
    pub(crate) answers: Answers,
    /// Only say what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
}

// What `prowess remove` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = BOTH)]
pub(crate) struct Remove {
    /// The skills
    #[arg(required = true)]
    pub(crate) names: Vec<String>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Do not ask, even about skills that were made here, or modified since they were installed
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Only say what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
}

// What `prowess verify` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = BOTH)]
pub(crate) struct Verify {
    /// The skills [default: all that were installed]
    pub(crate) names: Vec<String>,
    /// Accept these skills exactly as they are now
    #[arg(long, requires = "names")]
    pub(crate) accept: bool,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

// What `prowess pack` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Pack {
    /// The skill's folder
    pub(crate) folder: PathBuf,
    /// The archive [default: NAME.skill in the current directory]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

// What `prowess index` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Index {
    /// The folder of skills
    pub(crate) folder: PathBuf,
    /// The folder that a web server serves [default: public]
    #[arg(long, short, value_name = "DIR", default_value = "public")]
    pub(crate) output: PathBuf,
}

// What `prowess skill manage` takes.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ManageCommand {
    /// Switch a skill on
    Enable(Switch),
    /// Switch a skill off
    Disable(Switch),
    /// Bring installed skills up to date
    Update(Update),
    /// Remove skills
    Remove(Remove),
    /// List what was installed
    List {
        #[command(flatten)]
        scope: ScopeArgs,
    },
}

// What `prowess enable` and `prowess disable` take.
#[derive(Debug, clap::Args)]
#[command(mut_arg("user", |user| user.help("In the home, for all projects; this is the default")))]
pub(crate) struct Switch {
    /// The skill's name or folder
    #[arg(required_unless_present = "source", conflicts_with = "source")]
    pub(crate) name: Option<String>,
    /// All skills of this directory instead, such as ~/.claude/skills or bundled
    #[arg(long, value_name = "PATH")]
    pub(crate) source: Option<String>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}
