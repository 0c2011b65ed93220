//! The token in the address that is printed at startup.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use prowess_mcp::http::AccessToken;
use tokio::sync::watch;
use uuid::Uuid;

/// How many used tokens are remembered.
const USED_MAX: usize = 100;

/// A token that signs in one browser. Each use replaces it with a new one, so that an address found in a browser history or seen
/// on a screen cannot be used again.
#[derive(Debug)]
pub struct StartToken {
    current: watch::Sender<String>,
    /// The digests of used tokens, the latest last.
    used: Mutex<VecDeque<String>>,
}

/// The result of exchanging a token for a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenExchange {
    /// The token was valid and is now used.
    Accepted,
    /// The token was used before.
    Used,
    /// Not a token of this server.
    Unknown,
}

impl Default for StartToken {
    fn default() -> Self {
        Self { current: watch::Sender::new(random_token()), used: Mutex::default() }
    }
}

impl StartToken {
    /// Returns the token that signs in the next browser.
    pub fn current(&self) -> String {
        self.current.borrow().clone()
    }

    /// Returns a receiver of the token, which changes with each use.
    pub fn subscribe(&self) -> watch::Receiver<String> {
        self.current.subscribe()
    }

    /// Uses the token. Of two browsers that send it concurrently, only one is accepted.
    pub(super) fn exchange(&self, text: &str) -> TokenExchange {
        let digest = prowess::digest(text.as_bytes());
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let accepted = self.current.send_if_modified(|current| {
            let is_current = AccessToken::parse(current).is_ok_and(|token| token.matches(text));
            if is_current {
                *current = random_token();
            }
            is_current
        });
        if accepted {
            used.push_back(digest);
            if used.len() > USED_MAX {
                used.pop_front();
            }
            return TokenExchange::Accepted;
        }
        if used.contains(&digest) { TokenExchange::Used } else { TokenExchange::Unknown }
    }
}

fn random_token() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_token_is_used_once() {
        let token = StartToken::default();
        let mut follow = token.subscribe();
        let first = token.current();
        assert_eq!(token.exchange("guess"), TokenExchange::Unknown);
        assert!(!follow.has_changed().unwrap());
        assert_eq!(token.exchange(&first), TokenExchange::Accepted);
        assert_eq!(token.exchange(&first), TokenExchange::Used);
        let second = follow.borrow_and_update().clone();
        assert_ne!(first, second);
        assert_eq!(token.exchange(&second), TokenExchange::Accepted);
        for _ in 0..USED_MAX {
            assert_eq!(token.exchange(&token.current()), TokenExchange::Accepted);
        }
        assert_eq!(
            token.exchange(&first),
            TokenExchange::Unknown,
            "the number of remembered tokens is bounded"
        );
    }
}
