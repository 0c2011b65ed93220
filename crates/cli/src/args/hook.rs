//! The arguments of `prowess hook`.

use clap::Subcommand;

use crate::scope::ScopeArgs;

// The arguments of `prowess hook`.
#[derive(Debug, clap::Args)]
pub(crate) struct HookArgs {
    #[command(subcommand)]
    pub(crate) command: HookCommand,
}

// The subcommands of `prowess hook`.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum HookCommand {
    /// Print a hint about skills that fit a message; clients run this command
    #[command(after_help = PROMPT)]
    Prompt(HookPromptArgs),
    /// Add the hook to the configuration of clients; without a client, list those found on this machine
    Install(HookChangeArgs),
    /// Remove the hook from the configuration of clients
    Uninstall(HookChangeArgs),
}

/// The default time limit of the hook, in milliseconds.
pub(crate) const HOOK_TIMEOUT_MS: u64 = 1_000;

const PROMPT: &str = "\
Reads the event of the client as JSON from standard input. Prints the hint in the format of the
client, or nothing. Always exits with 0; errors are written to ~/.prowess/state/hook.log.";

const CLIENTS: &str = "\
Clients: claude-code, codex, copilot, cursor, droid, gemini-cli, opencode, qwen-code

The rest of the file is preserved, including comments and formatting.";

// The arguments of `prowess hook prompt`.
#[derive(Debug, clap::Args)]
pub(crate) struct HookPromptArgs {
    /// Client that runs the command
    #[arg(long, value_name = "CLIENT")]
    pub(crate) client: String,
    /// File that the message is about, for skills that are only offered for some files; can be repeated
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::FilePath)]
    pub(crate) file: Vec<String>,
    /// Maximum time in milliseconds
    #[arg(long, value_name = "N", default_value_t = HOOK_TIMEOUT_MS, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    pub(crate) timeout_ms: u64,
}

// The arguments of `prowess hook install` and `prowess hook uninstall`.
#[derive(Debug, clap::Args)]
#[command(after_help = CLIENTS)]
#[command(mut_arg("user", |user| user.help("Use the configuration of the current user (default)")))]
pub(crate) struct HookChangeArgs {
    /// Client; can be repeated
    #[arg(long, value_name = "CLIENT", conflicts_with = "all")]
    pub(crate) client: Vec<String>,
    /// Select all clients found on this machine
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Show the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
}
