//! The arguments of `prowess serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::StoreArgs;

// The arguments of `prowess serve`.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// Address to listen on. Non-loopback addresses require a token or an authenticating proxy
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7878")]
    pub(crate) addr: SocketAddr,
    /// File with the token that clients must send [default: PROWESS_TOKEN]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// File with the token that allows changing skills and settings [default: PROWESS_ADMIN_TOKEN]
    #[arg(long, value_name = "FILE")]
    pub(crate) admin_token_file: Option<PathBuf>,
    /// Additional host name to accept in requests
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,
    /// Header with the user name set by an authenticating proxy. Use it only if clients cannot bypass the proxy
    #[arg(long, value_name = "HEADER")]
    pub(crate) trust_proxy_header: Option<String>,
    #[command(flatten)]
    pub(crate) store_args: StoreArgs,
    /// Seconds to wait for running replies on shutdown
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(0..=3600))]
    pub(crate) grace: u64,
    /// Log format, on standard error [default: text on a terminal, otherwise json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) log: Option<LogFormat>,
    /// Requests per second allowed for each client; 0 disables the limit
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub(crate) rate: u32,
    /// Requests allowed in a burst for each client
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) burst: u32,
    /// Maximum number of concurrent connections; further ones wait
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) max_connections: u32,
    /// Maximum number of concurrent replies; further ones are rejected
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) max_turns: u32,
    /// Maximum number of concurrent event streams; further ones are rejected
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) max_streams: u32,
}

/// The log format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogFormat {
    /// One JSON object per line.
    Json,
    /// Human-readable text.
    Text,
    /// No log.
    Off,
}
