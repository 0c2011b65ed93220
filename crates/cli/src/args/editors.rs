//! The arguments of the commands for editors.

use prowess_format::dialects::Client;

use super::checks::client_parser;

// The arguments of `prowess lsp`.
#[derive(Debug, clap::Args)]
#[command(after_help = "An editor starts this command; see docs/editors.md for its configuration.")]
pub(crate) struct LspArgs {
    /// Enforce the Agent Skills specification
    #[arg(long)]
    pub(crate) strict: bool,
    /// Also report what this agent ignores, cuts or refuses; may be repeated
    #[arg(long = "agent", value_name = "NAME", value_parser = client_parser(), hide_possible_values = true)]
    pub(crate) agents: Vec<Client>,
    /// Accepted because some editors add it; standard input and output are always used
    #[arg(long, hide = true)]
    pub(crate) stdio: bool,
}

// The arguments of `prowess schema`.
#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    /// Describe only the fields of the Agent Skills specification
    #[arg(long)]
    pub(crate) strict: bool,
}
