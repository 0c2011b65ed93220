//! The arguments of `prowess new`.

use std::path::PathBuf;

use clap::ValueEnum;

// The arguments of `prowess new`.
#[derive(Debug, clap::Args)]
#[command(after_help = "On a terminal, prowess asks for what is not given.")]
pub(crate) struct NewArgs {
    /// Skill name, also used as the directory name
    pub(crate) name: Option<String>,
    /// What the skill does and when to use it
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// What the skill consists of [default: instructions]
    #[arg(long, short, value_enum, value_name = "TEMPLATE")]
    pub(crate) template: Option<SkillTemplate>,
    /// Parent directory [default: the first project directory of the preset]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) dir: Option<PathBuf>,
}

/// What a new skill consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum SkillTemplate {
    /// Instructions only
    #[default]
    Instructions,
    /// Instructions and a script that the model runs
    Script,
    /// Instructions and tools that the model calls
    Toolset,
    /// Instructions and files that the model reads on demand
    References,
}

impl SkillTemplate {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::Script => "script",
            Self::Toolset => "toolset",
            Self::References => "references",
        }
    }

    /// Returns what it consists of.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Instructions => "instructions only",
            Self::Script => "instructions and a script that the model runs",
            Self::Toolset => "instructions and tools that the model calls",
            Self::References => "instructions and files that the model reads on demand",
        }
    }
}
