//! What `prowess mcp` takes.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Subcommand;

use crate::scope::ScopeArgs;

// What `prowess mcp` takes.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
    #[command(flatten)]
    pub(crate) serve: ServeMcp,
}

// How to serve.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeMcp {
    /// Serve any number of clients over HTTP here, instead of one on standard input and output
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) http: Option<SocketAddr>,
    /// The token that clients over HTTP have to show, in a file [default: the variable PROWESS_TOKEN]
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    /// One more name by which clients may reach this machine over HTTP
    #[arg(long, value_name = "HOST", requires = "http")]
    pub(crate) allow_host: Vec<String>,
    /// Count this skill as active in every conversation, so that its tools are there at once
    #[arg(long, value_name = "NAME")]
    pub(crate) skill: Vec<String>,
    /// The most characters of the instructions that clients get at the start
    #[arg(long, value_name = "N", default_value_t = 8000, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub(crate) instructions_chars: u32,
}

// What comes after `prowess mcp`; nothing is the server itself.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum McpCommand {
    /// Connect clients: write an entry for Prowess into their configuration
    Install(Connect),
    /// Take the entry out again
    Uninstall(Disconnect),
    /// List the clients that are here, and whether they are connected
    Clients {
        /// What the entry is called
        #[arg(long, value_name = "NAME", default_value = DEFAULT)]
        name: String,
    },
}

/// What the entry is called unless somebody says otherwise.
const DEFAULT: &str = "prowess";

const CLIENTS: &str = "\
Clients: claude-code, claude-desktop, codex, cursor, gemini, goose, opencode, vscode, zed

Everything else in the file stays as it is: comments, order, indentation, line ends.";

// What `prowess mcp install` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = CLIENTS)]
#[command(mut_arg("user", |user| user.help("In the home, for all projects; this is the default")))]
pub(crate) struct Connect {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Connect to a server that runs, such as http://127.0.0.1:7878, in place of starting one
    #[arg(long, value_name = "URL")]
    pub(crate) http: Option<String>,
    /// The variable that holds the token of that server; the token itself is not written
    #[arg(long, value_name = "VARIABLE", requires = "http")]
    pub(crate) token_env: Option<String>,
    /// Replace an entry of that name that says something else
    #[arg(long, short, visible_alias = "force")]
    pub(crate) yes: bool,
    /// Only say what would be written
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print what to put into the configuration by hand, and nothing else
    #[arg(long, conflicts_with_all = ["dry_run", "yes"])]
    pub(crate) print: bool,
}

// What `prowess mcp uninstall` takes.
#[derive(Debug, clap::Args)]
#[command(after_help = CLIENTS)]
#[command(mut_arg("user", |user| user.help("In the home, for all projects; this is the default")))]
pub(crate) struct Disconnect {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Remove an entry of that name even if it does not start Prowess
    #[arg(long, short, visible_alias = "force")]
    pub(crate) yes: bool,
    /// Only say what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,
}

// Which clients, and which of their files.
#[derive(Debug, clap::Args)]
pub(crate) struct Which {
    /// The client; can be given again
    #[arg(long, value_name = "CLIENT", conflicts_with = "all")]
    pub(crate) client: Vec<String>,
    /// All clients that are found on this machine
    #[arg(long)]
    pub(crate) all: bool,
    /// What the entry is called
    #[arg(long, value_name = "NAME", default_value = DEFAULT)]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}
