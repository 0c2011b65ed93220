//! The arguments of `prowess run`.

use std::path::PathBuf;

// The arguments of `prowess run`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Scripts do not run until you allow them: set PROWESS_ALLOW_SCRIPTS=1 for one call, set run.allowed-skills \
    or run.scripts in your configuration, or confirm the prompt on a terminal.\n\n\
    Exit codes: 0 success, 1 the script failed or was not allowed to run, 2 usage or environment error"
)]
pub(crate) struct RunArgs {
    /// Skill name
    #[arg(required_unless_present = "log")]
    pub(crate) name: Option<String>,
    /// Script path inside the skill directory
    #[arg(required_unless_present = "log")]
    pub(crate) script: Option<String>,
    /// Arguments for the script
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<String>,
    /// Timeout in seconds [default: set by the configuration, or 60]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub(crate) timeout: Option<u32>,
    /// Directory in which the script works; its changes are applied after it ends [default: a temporary one]
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) workspace: Option<PathBuf>,
    /// File or directory that the script may read (repeatable)
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    pub(crate) read: Vec<PathBuf>,
    /// Directory that receives the files that the script creates in a temporary workspace
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, conflicts_with = "workspace")]
    pub(crate) output: Option<PathBuf>,
    /// JSON to pass on standard input; `-` reads it from standard input
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    pub(crate) stdin_json: Option<String>,
    /// Allow network access
    #[arg(long)]
    pub(crate) network: bool,
    /// Run without a sandbox, with all of your permissions
    #[arg(long)]
    pub(crate) unsafe_no_sandbox: bool,
    /// Show the log of previous runs, newest first
    #[arg(long, conflicts_with_all = ["name", "script", "args"])]
    pub(crate) log: bool,
    /// Number of log entries to show
    #[arg(short, default_value_t = 20, value_name = "N", requires = "log")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) n: u32,
}
