//! The token in the address that is printed at the start.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use prowess_mcp::http::Token;
use tokio::sync::watch;
use uuid::Uuid;

/// How many used tokens are told apart from tokens that never were.
const USED_MAX: usize = 100;

/// A token that signs in one browser. It is replaced by a new one when it is used: an address that was seen in a browser's
/// history or over a shoulder lets nobody else in.
#[derive(Debug)]
pub struct StartToken {
    current: watch::Sender<String>,
    /// The digests of tokens that were used, the latest last.
    used: Mutex<VecDeque<String>>,
}

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exchange {
    /// The token, which is used now.
    Accepted,
    /// A token that was used before.
    Used,
    /// Something else.
    Unknown,
}

impl Default for StartToken {
    fn default() -> Self {
        Self { current: watch::Sender::new(random()), used: Mutex::default() }
    }
}

impl StartToken {
    /// The token that signs in the next browser.
    pub fn current(&self) -> String {
        self.current.borrow().clone()
    }

    /// Follows the token: it changes each time it is used.
    pub fn subscribe(&self) -> watch::Receiver<String> {
        self.current.subscribe()
    }

    /// Uses the token. Of two browsers that show it at once, one is let in.
    pub(super) fn exchange(&self, text: &str) -> Exchange {
        let digest = prowess::digest(text.as_bytes());
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let accepted = self.current.send_if_modified(|current| {
            let is_it = Token::new(current).is_ok_and(|token| token.is(text));
            if is_it {
                *current = random();
            }
            is_it
        });
        if accepted {
            used.push_back(digest);
            if used.len() > USED_MAX {
                used.pop_front();
            }
            return Exchange::Accepted;
        }
        if used.contains(&digest) { Exchange::Used } else { Exchange::Unknown }
    }
}

fn random() -> String {
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
        assert_eq!(token.exchange("guess"), Exchange::Unknown);
        assert!(!follow.has_changed().unwrap());
        assert_eq!(token.exchange(&first), Exchange::Accepted);
        assert_eq!(token.exchange(&first), Exchange::Used);
        let second = follow.borrow_and_update().clone();
        assert_ne!(first, second);
        assert_eq!(token.exchange(&second), Exchange::Accepted);
        for _ in 0..USED_MAX {
            assert_eq!(token.exchange(&token.current()), Exchange::Accepted);
        }
        assert_eq!(token.exchange(&first), Exchange::Unknown, "what is remembered is bounded");
    }
}
