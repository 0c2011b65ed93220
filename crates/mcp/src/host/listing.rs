//! Fetches all pages of a listing, with limits. A listing that exceeds them is truncated.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use prowess::remote::FetchError;
use serde_json::Value;

use super::client::ServerConnection;

/// The maximum number of pages, skills and bytes of a listing.
const PAGES_MAX: usize = 1_000;
const SKILLS_MAX: usize = 10_000;
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// The timeout of all pages together, as a multiple of the timeout of one response.
const TIMEOUT_FACTOR: u32 = 10;

/// The maximum time for which a listing is valid.
const TTL_MAX: Duration = Duration::from_secs(60 * 60);

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct ServerListing {
    pub(super) entries: Vec<Value>,
    /// How long it is valid.
    pub(super) ttl: Duration,
    /// The reason why it is truncated.
    pub(super) truncated: Option<String>,
}

/// Fetches all pages of a listing.
pub(super) async fn fetch_listing(
    connection: &ServerConnection,
    timeout: Duration,
) -> Result<ServerListing, FetchError> {
    let deadline = Instant::now() + timeout * TIMEOUT_FACTOR;
    let mut listing = ServerListing { ttl: TTL_MAX, ..ServerListing::default() };
    let (mut cursors, mut bytes) = (HashSet::new(), 0);
    let mut cursor: Option<String> = None;
    loop {
        let page = match connection.list_page(cursor.as_deref()).await {
            Ok(page) => page,
            // Keep the pages that were fetched.
            Err(error) if !listing.entries.is_empty() => {
                listing.truncated = Some(format!("it ends early: {error}"));
                return Ok(listing);
            }
            Err(error) => return Err(error),
        };
        let Some(skills) = page.get("skills").and_then(Value::as_array) else {
            return Err(FetchError::Malformed("the listing has no skills array".to_owned()));
        };
        let ttl = page.get("ttlMs").and_then(Value::as_u64).unwrap_or(0);
        listing.ttl = listing.ttl.min(Duration::from_millis(ttl));
        for skill in skills {
            bytes += approximate_size(skill);
            if listing.entries.len() >= SKILLS_MAX || bytes > BYTES_MAX {
                let count = listing.entries.len();
                listing.truncated = Some(format!(
                    "it exceeds the limit of {SKILLS_MAX} skills or 64 MiB; {count} skills are used"
                ));
                return Ok(listing);
            }
            listing.entries.push(skill.clone());
        }
        let next = page.get("nextCursor").and_then(Value::as_str).filter(|next| !next.is_empty());
        let Some(next) = next else { return Ok(listing) };
        let reason = if !cursors.insert(next.to_owned()) {
            "a page is repeated"
        } else if cursors.len() >= PAGES_MAX {
            "it has more than 1000 pages"
        } else if Instant::now() > deadline {
            "fetching all pages takes too long"
        } else {
            cursor = Some(next.to_owned());
            continue;
        };
        listing.truncated = Some(reason.to_owned());
        return Ok(listing);
    }
}

/// Returns the approximate size of a value in bytes.
fn approximate_size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 8,
        Value::Array(items) => 8 + items.iter().map(approximate_size).sum::<usize>(),
        Value::Object(entries) => {
            8 + entries.iter().map(|(key, value)| key.len() + 8 + approximate_size(value)).sum::<usize>()
        }
    }
}
