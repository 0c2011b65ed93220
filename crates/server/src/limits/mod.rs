//! How much is taken on at once, and from whom.
//!
//! | module | subject |
//! |---|---|
//! | `rate` | how many requests one client may make |
//! | `share` | how many connections one address may have |
//! | `arrival` | how slowly a request may come |
//! | `room` | what is under way at once: turns and streams of events |
//!
//! What must always hold: whoever is refused hears when to come back, and nothing that clients send makes a table grow for ever.

mod arrival;
mod rate;
mod room;
mod share;

use std::time::Duration;

pub(crate) use arrival::{Late, arriving};
pub(crate) use rate::{Key, Rates};
pub(crate) use room::{Place, Room};
pub(crate) use share::PerAddress;

/// How much a server takes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The most connections at once; others wait until one is closed. One address may have a quarter of them.
    pub connections: usize,
    /// The most answers that are written at once.
    pub turns: usize,
    /// The most streams of events at once.
    pub streams: usize,
    /// How many requests in a second one client may make in the long run; 0 for any number.
    pub rate: u32,
    /// How many of them it may make at once.
    pub burst: u32,
    /// How long the head of a request may take to arrive, and how long a connection may be silent between two.
    pub head: Duration,
    /// How long a body may take to arrive, besides a second for every 16 KiB.
    pub body: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 4096,
            turns: 512,
            streams: 1024,
            rate: 100,
            burst: 400,
            head: Duration::from_secs(20),
            body: Duration::from_secs(20),
        }
    }
}
