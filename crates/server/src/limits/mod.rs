//! Rate and concurrency limits.
//!
//! | module | subject |
//! |---|---|
//! | `rate` | the request rate of one client |
//! | `per_address` | the number of connections of one address |
//! | `body_timeout` | the time that a request body may take |
//! | `concurrency` | the number of concurrent turns and event streams |
//! | `transfers` | the number and the size of files that are sent and received at once |
//!
//! Invariants: a rejected client learns when to retry, and no client input makes a table grow without bound.

mod body_timeout;
mod concurrency;
mod per_address;
mod rate;
mod transfers;

use std::time::Duration;

pub(crate) use body_timeout::{BodyTimeout, body_deadline, with_timeout};
pub(crate) use concurrency::{ConcurrencyLimit, ConcurrencyPermit};
pub(crate) use per_address::ConnectionsPerAddress;
pub(crate) use rate::{ClientKey, RateLimiter};
pub(crate) use transfers::{TransferLimit, TransferPermit};

/// The limits of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of connections; further ones wait until one is closed. One address may have a quarter of them.
    pub connections: usize,
    /// The maximum number of concurrent turns.
    pub turns: usize,
    /// The maximum number of concurrent event streams.
    pub streams: usize,
    /// The sustained number of requests per second for each client; 0 means no limit.
    pub rate: u32,
    /// The number of requests that a client may make at once.
    pub burst: u32,
    /// How long a request head may take to arrive, and how long a connection may be idle between requests.
    pub head_timeout: Duration,
    /// How long a request body may take to arrive, plus one second for every 16 KiB.
    pub body_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 4096,
            turns: 512,
            streams: 1024,
            rate: 100,
            burst: 400,
            head_timeout: Duration::from_secs(20),
            body_timeout: Duration::from_secs(20),
        }
    }
}
