//! All pages of a listing, within bounds. What goes beyond them is cut, and said.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use prowess::supply::SupplyError;
use serde_json::Value;

use super::client::Connection;

/// The most pages, skills and bytes of one listing.
const PAGES_MAX: usize = 1_000;
const SKILLS_MAX: usize = 10_000;
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// How many times the deadline of one answer all pages together may take.
const PATIENCE: u32 = 10;

/// The longest that a listing is believed, whatever the server says.
const TTL_MAX: Duration = Duration::from_secs(60 * 60);

/// What a server lists.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Listing {
    pub(super) entries: Vec<Value>,
    /// For how long it may be believed.
    pub(super) ttl: Duration,
    /// Why it is not all there is.
    pub(super) cut: Option<String>,
}

/// Pages through a listing.
pub(super) async fn list(connection: &Connection, timeout: Duration) -> Result<Listing, SupplyError> {
    let until = Instant::now() + timeout * PATIENCE;
    let mut listing = Listing { ttl: TTL_MAX, ..Listing::default() };
    let (mut cursors, mut bytes) = (HashSet::new(), 0);
    let mut cursor: Option<String> = None;
    loop {
        let page = match connection.list(cursor.as_deref()).await {
            Ok(page) => page,
            // What was listed so far is there.
            Err(error) if !listing.entries.is_empty() => {
                listing.cut = Some(format!("it breaks off: {error}"));
                return Ok(listing);
            }
            Err(error) => return Err(error),
        };
        let Some(skills) = page.get("skills").and_then(Value::as_array) else {
            return Err(SupplyError::Malformed("the listing has no skills in it".to_owned()));
        };
        let ttl = page.get("ttlMs").and_then(Value::as_u64).unwrap_or(0);
        listing.ttl = listing.ttl.min(Duration::from_millis(ttl));
        for skill in skills {
            bytes += length(skill);
            if listing.entries.len() >= SKILLS_MAX || bytes > BYTES_MAX {
                let count = listing.entries.len();
                listing.cut =
                    Some(format!("{count} skills are taken; more, or more than 64 MiB of them, are not"));
                return Ok(listing);
            }
            listing.entries.push(skill.clone());
        }
        let next = page.get("nextCursor").and_then(Value::as_str).filter(|next| !next.is_empty());
        let Some(next) = next else { return Ok(listing) };
        let why = if !cursors.insert(next.to_owned()) {
            "its pages lead back to one that was read"
        } else if cursors.len() >= PAGES_MAX {
            "it has more than 1000 pages"
        } else if Instant::now() > until {
            "all its pages take too long"
        } else {
            cursor = Some(next.to_owned());
            continue;
        };
        listing.cut = Some(why.to_owned());
        return Ok(listing);
    }
}

/// How much a value takes, nearly.
fn length(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 8,
        Value::Array(items) => 8 + items.iter().map(length).sum::<usize>(),
        Value::Object(entries) => {
            8 + entries.iter().map(|(key, value)| key.len() + 8 + length(value)).sum::<usize>()
        }
    }
}
