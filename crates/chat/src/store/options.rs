//! Bounds of a store.

use std::time::Duration;

/// How long things may take, and how many connections are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How long another program may hold the file of SQLite before a call fails.
    pub busy: Duration,
    /// How long a process may be silent before its turns in PostgreSQL are ended. With SQLite it is known at once whether a
    /// process lives. A third of it is how often turns of processes that are gone are looked for.
    pub lease: Duration,
    /// How many connections to PostgreSQL are made, besides the one that listens.
    pub connections: usize,
    /// How long one call to PostgreSQL may take in all.
    pub call: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            busy: Duration::from_secs(5),
            lease: Duration::from_secs(15),
            connections: 8,
            call: Duration::from_secs(60),
        }
    }
}
