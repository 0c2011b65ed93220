//! The cache of listings and files in the user's state directory, by label and URI.
//!
//! Invariants: no file in the cache has a name by which skills are discovered; the contents of a file are hashed
//! each time they are read; the cache of a label is removed together with the label.

use std::path::{Path, PathBuf};
use std::time::Duration;

use prowess::HostEnv;
use prowess::remote::RemoteFile;
use prowess_config::{McpSource, McpTransport};
use prowess_fs::{lock, unix_millis, write_private};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::listing::ServerListing;

const SCHEMA: u32 = 1;

/// The maximum size of a cached listing.
const LISTING_MAX: u64 = 128 * 1024 * 1024;
/// The maximum total size of the cached files of a server.
const FILES_MAX: u64 = 256 * 1024 * 1024;

/// How long to wait before contacting a failed server again.
const FAILURE_TTL: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct ServerCache {
    /// The directory; `None` without a home directory.
    dir: Option<PathBuf>,
    /// A digest of the command or URL of the server. The cache of another server is ignored.
    identity: String,
}

/// A cached listing. Its fields are the keys of the cache file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct CachedListing {
    schema: u32,
    identity: String,
    /// When it was fetched, in milliseconds since 1970.
    at: u64,
    ttl_ms: u64,
    pub(super) cut: Option<String>,
    pub(super) entries: Vec<Value>,
    /// When and why the server failed afterwards.
    pub(super) failed: Option<(u64, String)>,
}

impl CachedListing {
    /// Returns the remaining time for which the listing is valid.
    pub(super) fn remaining_ttl(&self) -> Option<Duration> {
        remaining(self.at, Duration::from_millis(self.ttl_ms))
    }

    /// Returns the error of the server, if it failed recently.
    pub(super) fn recent_failure(&self) -> Option<&str> {
        let (failed_at, reason) = self.failed.as_ref()?;
        remaining(*failed_at, FAILURE_TTL).map(|_| reason.as_str())
    }
}

fn remaining(start: u64, ttl: Duration) -> Option<Duration> {
    // A clock that was set back must not extend the time.
    let age = Duration::from_millis(unix_millis().checked_sub(start)?);
    ttl.checked_sub(age).filter(|remaining| !remaining.is_zero())
}

impl ServerCache {
    pub(super) fn new(source: &McpSource, host: &HostEnv) -> Self {
        let dir = cache_root(host).map(|root| root.join(&source.label));
        let identity = match &source.transport {
            McpTransport::Command { program, args, env } => format!("command {program:?} {args:?} {env:?}"),
            McpTransport::Url { url, token_env } => format!("url {url:?} {token_env:?}"),
        };
        Self { dir, identity: prowess::digest(identity.as_bytes()) }
    }

    /// Returns the cached listing, if it belongs to this server.
    pub(super) fn listing(&self) -> Option<CachedListing> {
        let bytes = prowess::read_bounded(&self.dir.as_ref()?.join("listing.json"), LISTING_MAX)?;
        let cached: CachedListing = serde_json::from_slice(&bytes).ok()?;
        (cached.schema == SCHEMA && cached.identity == self.identity).then_some(cached)
    }

    /// Stores a listing. Errors are ignored: they only cost time.
    pub(super) fn store_listing(&self, listing: &ServerListing) {
        let ttl_ms = u64::try_from(listing.ttl.as_millis()).unwrap_or(u64::MAX);
        self.write_listing(&CachedListing {
            schema: SCHEMA,
            identity: self.identity.clone(),
            at: unix_millis(),
            ttl_ms,
            cut: listing.truncated.clone(),
            entries: listing.entries.clone(),
            failed: None,
        });
    }

    /// Replaces the entry of a skill, or removes it if `entry` is `None`.
    pub(super) fn replace_entry(&self, uri: &str, entry: Option<&Value>) {
        let Some(mut cached) = self.listing() else { return };
        cached.entries.retain(|entry_value| entry_value.get("uri").and_then(Value::as_str) != Some(uri));
        cached.entries.extend(entry.cloned());
        self.write_listing(&cached);
    }

    /// Records that the server failed.
    pub(super) fn record_failure(&self, reason: &str) {
        let identity = self.identity.clone();
        let empty = CachedListing {
            schema: SCHEMA,
            identity,
            at: 0,
            ttl_ms: 0,
            cut: None,
            entries: Vec::new(),
            failed: None,
        };
        let cached = self.listing().unwrap_or(empty);
        self.write_listing(&CachedListing { failed: Some((unix_millis(), reason.to_owned())), ..cached });
    }

    fn write_listing(&self, cached: &CachedListing) {
        let Some(dir) = &self.dir else { return };
        if let Ok(bytes) = serde_json::to_vec(cached) {
            write_locked(dir, &dir.join("listing.json"), &bytes);
        }
    }

    /// Returns the contents of a file if they match its entry.
    pub(super) fn read_file(&self, file: &RemoteFile) -> Option<Vec<u8>> {
        let bytes = prowess::read_bounded(&self.file_path(file)?, file.size)?;
        matches_entry(&bytes, file).then_some(bytes)
    }

    /// Stores the contents of a file if they match its entry.
    pub(super) fn store_file(&self, file: &RemoteFile, bytes: &[u8]) {
        let (Some(dir), Some(path)) = (&self.dir, self.file_path(file)) else { return };
        if !matches_entry(bytes, file) {
            return;
        }
        let files = dir.join("files");
        if total_size(&files) + bytes.len() as u64 > FILES_MAX {
            let _ = std::fs::remove_dir_all(&files);
        }
        write_locked(dir, &path, bytes);
    }

    /// Returns the path of a file. It is a digest, so that no file has the name of a file of a skill.
    fn file_path(&self, file: &RemoteFile) -> Option<PathBuf> {
        let name = prowess::digest(file.uri.as_bytes());
        Some(self.dir.as_ref()?.join("files").join(name.strip_prefix("sha256:")?))
    }
}

fn matches_entry(bytes: &[u8], file: &RemoteFile) -> bool {
    bytes.len() as u64 == file.size && prowess::digest(bytes) == file.digest
}

fn write_locked(dir: &Path, path: &Path, bytes: &[u8]) {
    // Only one process writes at a time. Errors are ignored: the file is fetched again.
    if let Ok(_lock) = lock(&dir.join("cache")) {
        let _ = write_private(path, bytes);
    }
}

fn total_size(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
}

fn cache_root(host: &HostEnv) -> Option<PathBuf> {
    Some(host.state_dir()?.join("mcp"))
}

/// Removes the caches of servers that are no longer configured. Returns their labels.
pub fn prune_caches(sources: &[McpSource], host: &HostEnv) -> Vec<String> {
    let Some(root) = cache_root(host) else { return Vec::new() };
    let entries = std::fs::read_dir(root).into_iter().flatten().filter_map(Result::ok);
    let mut removed: Vec<_> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| McpSource::is_valid_label(name) && !sources.iter().any(|source| source.label == *name))
        .collect();
    removed.sort();
    removed.retain(|label| remove_cache(label, host));
    removed
}

/// Removes the cache of a server. Returns `true` if there was one.
pub fn remove_cache(label: &str, host: &HostEnv) -> bool {
    let dir = cache_root(host).filter(|_| McpSource::is_valid_label(label)).map(|root| root.join(label));
    dir.is_some_and(|dir| std::fs::remove_dir_all(dir).is_ok())
}
