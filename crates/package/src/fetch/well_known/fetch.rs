//! The door to the network.

use prowess::ErrorCode;
use url::Url;

/// Gets bytes from `https` addresses.
pub trait Fetch {
    /// All bytes at an address. More than `max` is a failure, not a shorter answer.
    fn get(&self, url: &Url, max: u64) -> Result<Vec<u8>, FetchFailure>;
}

/// Why nothing came. A server that says that there is nothing has the code [`ErrorCode::NotFound`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FetchFailure {
    /// For programs.
    pub code: ErrorCode,
    /// For people.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}
