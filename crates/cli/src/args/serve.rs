//! What `prowess serve` takes.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::StoreArgs;

/// How to serve.
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
}
