//! The arguments of `prowess mcp`.

use std::net::SocketAddr;
use std::path::PathBuf;

/// `prowess mcp`
#[derive(Debug, clap::Args)]
pub(crate) struct Mcp {
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
