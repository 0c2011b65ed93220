//! The arguments of `prowess mcp`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Subcommand;

use crate::scope::ScopeArgs;

// The arguments of `prowess mcp`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
    #[command(flatten)]
    pub(crate) serve: ServeMcpArgs,
}

// The options of the MCP server.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeMcpArgs {
    /// Serve multiple clients over HTTP at this address instead of one on standard input and output
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) http: Option<SocketAddr>,
    /// File with the token that HTTP clients must send [default: PROWESS_TOKEN]
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    /// Additional host name to accept in HTTP requests
    #[arg(long, value_name = "HOST", requires = "http")]
    pub(crate) allow_host: Vec<String>,
    /// Treat the skill as active in every conversation, so that its tools are available at once
    #[arg(long, value_name = "NAME")]
    pub(crate) skill: Vec<String>,
    /// Run scripts in this directory; clients can read its files, except hidden ones
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) workspace: Option<PathBuf>,
    /// Maximum number of characters in the server instructions [default: as many as the client shows, at most 8000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub(crate) instructions_chars: Option<u32>,
}

// The subcommands of `prowess mcp`; without one, the server runs.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum McpCommand {
    /// Connect clients by adding Prowess to their configuration
    Install(ConnectArgs),
    /// Remove Prowess from the configuration of clients
    Uninstall(DisconnectArgs),
    /// List MCP clients and whether they are connected
    Clients {
        /// Name of the configuration entry
        #[arg(long, value_name = "NAME", default_value = DEFAULT_ENTRY_NAME)]
        name: String,
    },
}

/// The default name of the configuration entry.
const DEFAULT_ENTRY_NAME: &str = "prowess";

const CLIENTS: &str = "\
Clients: claude-code, claude-desktop, codex, cursor, gemini, goose, opencode, vscode, zed

The rest of the file is preserved, including comments and formatting.";

// The arguments of `prowess mcp install`.
#[derive(Debug, clap::Args)]
#[command(after_help = CLIENTS)]
#[command(mut_arg("user", |user| user.help("Use the configuration of the current user (default)")))]
pub(crate) struct ConnectArgs {
    #[command(flatten)]
    pub(crate) clients: ClientArgs,
    /// Connect to a running server, such as http://127.0.0.1:7878, instead of starting one
    #[arg(long, value_name = "URL")]
    pub(crate) http: Option<String>,
    /// Environment variable that holds the server's token; the token itself is not written
    #[arg(long, value_name = "VARIABLE", requires = "http")]
    pub(crate) token_env: Option<String>,
    /// Run scripts in this directory; clients can read its files, except hidden ones
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath, conflicts_with = "http")]
    pub(crate) workspace: Option<PathBuf>,
    /// Replace a different entry of the same name
    #[arg(long, short, visible_alias = "force")]
    pub(crate) yes: bool,
    /// Show the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the configuration entry instead of writing it
    #[arg(long, conflicts_with_all = ["dry_run", "yes"])]
    pub(crate) print: bool,
}

// The arguments of `prowess mcp uninstall`.
#[derive(Debug, clap::Args)]
#[command(after_help = CLIENTS)]
#[command(mut_arg("user", |user| user.help("Use the configuration of the current user (default)")))]
pub(crate) struct DisconnectArgs {
    #[command(flatten)]
    pub(crate) clients: ClientArgs,
    /// Remove the entry even if it does not start Prowess
    #[arg(long, short, visible_alias = "force")]
    pub(crate) yes: bool,
    /// Show the changes without making them
    #[arg(long)]
    pub(crate) dry_run: bool,
}

// The options that select clients and their configuration files.
#[derive(Debug, clap::Args)]
pub(crate) struct ClientArgs {
    /// Client; can be repeated
    #[arg(long, value_name = "CLIENT", conflicts_with = "all")]
    pub(crate) client: Vec<String>,
    /// Select all clients found on this machine
    #[arg(long)]
    pub(crate) all: bool,
    /// Name of the configuration entry
    #[arg(long, value_name = "NAME", default_value = DEFAULT_ENTRY_NAME)]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}
