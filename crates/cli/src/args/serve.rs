//! What `prowess serve` takes.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::StoreArgs;

// How to serve.
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// Where to serve; beyond this machine only with a token, or behind a proxy that knows people
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7878")]
    pub(crate) addr: SocketAddr,
    /// The token that people have to show, in a file [default: the variable PROWESS_TOKEN]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// The token of those who may change skills and settings, in a file [default: the variable PROWESS_ADMIN_TOKEN]
    #[arg(long, value_name = "FILE")]
    pub(crate) admin_token_file: Option<PathBuf>,
    /// One more name by which this machine may be reached
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,
    /// The header in which a proxy in front says who somebody is; only where nobody can get past that proxy
    #[arg(long, value_name = "HEADER")]
    pub(crate) trust_proxy_header: Option<String>,
    #[command(flatten)]
    pub(crate) place: StoreArgs,
    /// How many seconds answers may go on when the server is stopped
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(0..=3600))]
    pub(crate) grace: u64,
    /// What is noted of requests and turns, on standard error [default: text on a terminal, else json]
    #[arg(long, value_enum, value_name = "FORM")]
    pub(crate) log: Option<Log>,
    /// How many requests in a second one client may make in the long run; 0 for any number
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub(crate) rate: u32,
    /// How many requests one client may make at once
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) burst: u32,
    /// The most connections at once; others wait
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) max_connections: u32,
    /// The most answers that are written at once; others are refused
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) max_turns: u32,
    /// The most streams of events at once; others are refused
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) max_streams: u32,
}

/// What the log looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Log {
    /// A line of JSON for each event.
    Json,
    /// Lines for people.
    Text,
    /// None.
    Off,
}
