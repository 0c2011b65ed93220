//! What the commands that manage skills take.

use clap::Subcommand;

use crate::scope::ScopeArgs;

// What `prowess skill manage` takes.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ManageCommand {
    /// Switch a skill on
    Enable(Switch),
    /// Switch a skill off
    Disable(Switch),
    /// Bring installed skills up to date
    Update(super::packages::Update),
    /// Remove skills
    Remove(super::packages::Remove),
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
