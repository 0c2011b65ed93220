//! What `prowess run` takes.

// What `prowess run` takes.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Scripts are off until you allow them: PROWESS_ALLOW_SCRIPTS=1 for one call, run.allowed-skills or \
    run.scripts in your configuration, or yes at the question on a terminal.\n\n\
    Exit codes: 0 the script ended with 0, 1 it did not or was refused, 2 the call or the environment is wrong."
)]
pub(crate) struct Run {
    /// The skill's name
    #[arg(required_unless_present = "log")]
    pub(crate) name: Option<String>,
    /// The script's path inside the skill's folder
    #[arg(required_unless_present = "log")]
    pub(crate) script: Option<String>,
    /// Its arguments, each as it is
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<String>,
    /// How long it may run, in seconds [default: the configuration's, or 60]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub(crate) timeout: Option<u32>,
    /// JSON for its standard input; - takes it from standard input
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    pub(crate) stdin_json: Option<String>,
    /// Let it reach the network, in this call
    #[arg(long)]
    pub(crate) network: bool,
    /// Run it without any sandbox: it may then do whatever you may
    #[arg(long)]
    pub(crate) unsafe_no_sandbox: bool,
    /// Show what was run instead, the latest first
    #[arg(long, conflicts_with_all = ["name", "script", "args"])]
    pub(crate) log: bool,
    /// How many runs to show
    #[arg(short, default_value_t = 20, value_name = "N", requires = "log")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) n: u32,
}
