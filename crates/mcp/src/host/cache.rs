//! What was listed and read, in the user's state: by label, then by URI.
//!
//! What must always hold: no name in here is one that a skill is found by; the bytes of a file are hashed each time they
//! are taken from here; and what a label's server sent is gone once the label is.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prowess::Surroundings;
use prowess::supply::OfferedFile;
use prowess_config::{McpSource, Reach};
use prowess_fs::{lock, replace};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::listing::Listing;

const SCHEMA: u32 = 1;

/// The largest listing on disk, and the most bytes of files of one server.
const LISTING_MAX: u64 = 128 * 1024 * 1024;
const FILES_MAX: u64 = 256 * 1024 * 1024;

/// How long nobody asks a server again that failed.
const FAILED: Duration = Duration::from_secs(60);

/// What is kept of one server.
#[derive(Debug)]
pub(super) struct Cache {
    /// `None` without a home.
    folder: Option<PathBuf>,
    /// The command or URL of the server: what another one sent does not count.
    identity: String,
}

/// A listing as it was written down.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Kept {
    schema: u32,
    identity: String,
    /// When it was listed, in milliseconds since 1970.
    at: u64,
    ttl_ms: u64,
    pub(super) cut: Option<String>,
    pub(super) entries: Vec<Value>,
    /// When the server failed since, and how.
    pub(super) failed: Option<(u64, String)>,
}

impl Kept {
    /// What is left of the time for which it is believed.
    pub(super) fn fresh(&self) -> Option<Duration> {
        left(self.at, Duration::from_millis(self.ttl_ms))
    }

    /// Why the server is not asked now: it failed a moment ago.
    pub(super) fn failure(&self) -> Option<&str> {
        let (at, why) = self.failed.as_ref()?;
        left(*at, FAILED).map(|_| why.as_str())
    }
}

fn left(at: u64, ttl: Duration) -> Option<Duration> {
    // A clock that was set back must not make it last for ever.
    let age = Duration::from_millis(now().checked_sub(at)?);
    ttl.checked_sub(age).filter(|left| !left.is_zero())
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl Cache {
    pub(super) fn new(source: &McpSource, world: &Surroundings) -> Self {
        let folder = root(world).map(|root| root.join(&source.label));
        let identity = match &source.reach {
            Reach::Command { program, args, env } => format!("command {program:?} {args:?} {env:?}"),
            Reach::Url { url, token_env } => format!("url {url:?} {token_env:?}"),
        };
        Self { folder, identity: prowess::digest(identity.as_bytes()) }
    }

    /// The listing, if it is this server's.
    pub(super) fn listing(&self) -> Option<Kept> {
        let bytes = prowess::read_bounded(&self.folder.as_ref()?.join("listing.json"), LISTING_MAX)?;
        let kept: Kept = serde_json::from_slice(&bytes).ok()?;
        (kept.schema == SCHEMA && kept.identity == self.identity).then_some(kept)
    }

    /// Keeps a listing. That it cannot be kept costs time and nothing else.
    pub(super) fn keep(&self, listing: &Listing) {
        let ttl_ms = u64::try_from(listing.ttl.as_millis()).unwrap_or(u64::MAX);
        self.write(&Kept {
            schema: SCHEMA,
            identity: self.identity.clone(),
            at: now(),
            ttl_ms,
            cut: listing.cut.clone(),
            entries: listing.entries.clone(),
            failed: None,
        });
    }

    /// Keeps another entry of one skill, or none any more.
    pub(super) fn correct(&self, uri: &str, entry: Option<&Value>) {
        let Some(mut kept) = self.listing() else { return };
        kept.entries.retain(|known| known.get("uri").and_then(Value::as_str) != Some(uri));
        kept.entries.extend(entry.cloned());
        self.write(&kept);
    }

    /// Notes that the server failed.
    pub(super) fn failed(&self, why: &str) {
        let identity = self.identity.clone();
        let empty =
            Kept { schema: SCHEMA, identity, at: 0, ttl_ms: 0, cut: None, entries: Vec::new(), failed: None };
        let kept = self.listing().unwrap_or(empty);
        self.write(&Kept { failed: Some((now(), why.to_owned())), ..kept });
    }

    fn write(&self, kept: &Kept) {
        let Some(folder) = &self.folder else { return };
        if let Ok(bytes) = serde_json::to_vec(kept) {
            store(folder, &folder.join("listing.json"), &bytes);
        }
    }

    /// The bytes of a file, if they are those that it is listed with. They are hashed anew.
    pub(super) fn file(&self, file: &OfferedFile) -> Option<Vec<u8>> {
        let bytes = prowess::read_bounded(&self.path(file)?, file.size)?;
        is(&bytes, file).then_some(bytes)
    }

    /// Keeps the bytes of a file, if they are those that it is listed with.
    pub(super) fn keep_file(&self, file: &OfferedFile, bytes: &[u8]) {
        let (Some(folder), Some(path)) = (&self.folder, self.path(file)) else { return };
        if !is(bytes, file) {
            return;
        }
        let files = folder.join("files");
        if size(&files) + bytes.len() as u64 > FILES_MAX {
            let _ = std::fs::remove_dir_all(&files);
        }
        store(folder, &path, bytes);
    }

    /// A name that says nothing: no file here is called as one of a skill is.
    fn path(&self, file: &OfferedFile) -> Option<PathBuf> {
        let name = prowess::digest(file.uri.as_bytes());
        Some(self.folder.as_ref()?.join("files").join(name.strip_prefix("sha256:")?))
    }
}

fn is(bytes: &[u8], file: &OfferedFile) -> bool {
    bytes.len() as u64 == file.size && prowess::digest(bytes) == file.digest
}

fn store(folder: &Path, path: &Path, bytes: &[u8]) {
    // One process writes at a time; what another would have written comes the next time.
    if let Ok(_lock) = lock(&folder.join("cache")) {
        let _ = replace(path, bytes);
    }
}

fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
}

fn root(world: &Surroundings) -> Option<PathBuf> {
    Some(world.state()?.join("mcp"))
}

/// Removes what is kept of servers that are no longer configured. Gives their labels.
pub fn prune(sources: &[McpSource], world: &Surroundings) -> Vec<String> {
    let Some(root) = root(world) else { return Vec::new() };
    let entries = std::fs::read_dir(root).into_iter().flatten().filter_map(Result::ok);
    let mut gone: Vec<_> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| McpSource::is_label(name) && !sources.iter().any(|source| source.label == *name))
        .collect();
    gone.sort();
    gone.retain(|label| forget(label, world));
    gone
}

/// Removes what is kept of one server. Says whether there was anything.
pub fn forget(label: &str, world: &Surroundings) -> bool {
    let folder = root(world).filter(|_| McpSource::is_label(label)).map(|root| root.join(label));
    folder.is_some_and(|folder| std::fs::remove_dir_all(folder).is_ok())
}
