//! One server as a remote source of the registry, which treats its skills like local ones.

use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use prowess::HostEnv;
use prowess::remote::{FetchError, RemoteEntry, RemoteFile, RemoteListing, RemoteSource};
use prowess_config::McpSource;

use super::blocking::BlockingRuntime;
use super::entry;
use super::server::{RemoteServer, ServerState};
use super::transport::ServerEndpoint;

/// The minimum time between two listings after notifications, because a server may send any number of them.
const NOTIFIED_REFRESH_MIN: Duration = Duration::from_secs(1);

/// An MCP server that provides skills.
pub struct McpRemoteSource {
    server: Arc<RemoteServer>,
    runtime: Arc<BlockingRuntime>,
}

/// The result of checking a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerReport {
    /// The version of the protocol.
    pub protocol: String,
    /// The number of listed skills.
    pub skills: usize,
    /// The number of invalid skills.
    pub invalid: usize,
    /// The reason why the listing is truncated.
    pub truncated: Option<String>,
}

impl McpRemoteSource {
    pub(super) fn new(
        source: McpSource,
        host: HostEnv,
        environment: Arc<[(OsString, OsString)]>,
        engine: Arc<BlockingRuntime>,
    ) -> Self {
        let server = RemoteServer::new(ServerEndpoint { source, host, environment });
        Self { server: Arc::new(server), runtime: engine }
    }

    /// Returns the configuration.
    pub fn configuration(&self) -> &McpSource {
        &self.server.endpoint.source
    }

    /// Refreshes the listing, even if it is cached, and returns a report.
    pub fn refresh(&self) -> Result<ServerReport, FetchError> {
        let server = Arc::clone(&self.server);
        let result = self.runtime.block_on(self.max_duration(), async move {
            let listing = server.fetch_listing().await?;
            let protocol = server.connection().await.map(|connection| connection.protocol_version())?;
            server.finish_refresh(Ok(listing.clone()));
            Ok((listing, protocol))
        });
        let (listing, protocol) = result.unwrap_or_else(|| Err(self.timeout_error()))?;
        let entries = entry::parse_entries(self.label(), &listing.entries);
        let invalid = entries.iter().filter(|entry| entry.problem.is_some()).count();
        Ok(ServerReport { protocol, skills: entries.len(), invalid, truncated: listing.truncated })
    }

    /// Fetches the entry of a skill by its URI, even if it is not listed, and adds it to the listing.
    pub fn add_by_uri(&self, uri: &str) -> Result<Arc<RemoteEntry>, FetchError> {
        self.listing();
        let (server, requested) = (Arc::clone(&self.server), uri.to_owned());
        let entry =
            self.runtime.block_on(self.max_duration(), async move { server.get_entry(&requested).await });
        let entry = entry.unwrap_or_else(|| Err(self.timeout_error()))?;
        self.server.replace_entry(uri, Some(&entry));
        let listing = self.listing();
        let found = listing.skills.iter().find(|skill| skill.uri == uri);
        found
            .cloned()
            .ok_or_else(|| FetchError::Malformed("the result is not the entry of that skill".to_owned()))
    }

    /// Loads the cached listing, or starts listing in the background if there is none.
    pub(super) fn prefetch(&self) {
        let mut state = self.server.lock();
        if state.listing.is_some() || state.is_refreshing {
            return;
        }
        match self.server.cached_listing() {
            Some((listing, ttl)) => {
                state.listing = Some(listing);
                state.valid_until = Some(Instant::now() + ttl);
            }
            None => self.start_refresh(&mut state),
        }
    }

    /// Starts a refresh in the background.
    fn start_refresh(&self, state: &mut ServerState) {
        let server = Arc::clone(&self.server);
        state.is_refreshing = true;
        state.refresh_started_at = Some(Instant::now());
        let started = self.runtime.spawn(async move {
            let listing = server.fetch_listing().await;
            server.finish_refresh(listing);
        });
        if !started {
            state.is_refreshing = false;
        }
    }

    /// Returns the maximum duration of any call.
    fn max_duration(&self) -> Duration {
        // Two handshakes, all pages, and entries that are fetched individually.
        self.server.endpoint.timeout() * 16 + Duration::from_secs(2)
    }

    fn timeout_error(&self) -> FetchError {
        FetchError::Timeout(u64::try_from(self.max_duration().as_millis()).unwrap_or(u64::MAX))
    }
}

impl RemoteSource for McpRemoteSource {
    fn label(&self) -> &str {
        &self.server.endpoint.source.label
    }

    fn listing(&self) -> Arc<RemoteListing> {
        self.prefetch();
        let deadline = Instant::now() + self.max_duration();
        loop {
            let mut state = self.server.lock();
            if let Some(listing) = state.listing.clone() {
                let is_outdated = state.valid_until.is_none_or(|deadline| deadline < Instant::now());
                let may_refresh = state
                    .refresh_started_at
                    .is_none_or(|refreshed| refreshed.elapsed() > NOTIFIED_REFRESH_MIN);
                let is_notified = may_refresh && self.server.handler.has_changed();
                if (is_outdated || is_notified) && !state.is_refreshing {
                    self.start_refresh(&mut state);
                }
                return listing;
            }
            let error = match state.is_refreshing {
                true if Instant::now() <= deadline => None,
                true => Some(self.timeout_error()),
                false => Some(FetchError::Unreachable("the connection is closing".to_owned())),
            };
            if let Some(error) = error {
                drop(state);
                self.server.finish_refresh(Err(error));
                continue;
            }
            drop(state);
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn read_file(&self, _: &RemoteEntry, file: &RemoteFile) -> Result<Vec<u8>, FetchError> {
        if let Some(bytes) = self.server.cache.read_file(file) {
            return Ok(bytes);
        }
        let (server, file) = (Arc::clone(&self.server), file.clone());
        let result = self.runtime.block_on(self.max_duration(), async move {
            let bytes = server.read_resource(&file.uri).await?;
            server.cache.store_file(&file, &bytes);
            Ok(bytes)
        });
        result.unwrap_or_else(|| Err(self.timeout_error()))
    }

    fn refresh_entry(&self, skill: &RemoteEntry) {
        let (server, uri) = (Arc::clone(&self.server), skill.uri.clone());
        let entry = self.runtime.block_on(self.max_duration(), async move { server.get_entry(&uri).await });
        match entry {
            Some(Ok(entry)) => self.server.replace_entry(&skill.uri, Some(&entry)),
            Some(Err(FetchError::Refused(_))) => self.server.replace_entry(&skill.uri, None),
            // Unknown whether it changed. Contents that do not match are not used anyway.
            Some(Err(_)) | None => {}
        }
    }
}

impl Drop for McpRemoteSource {
    fn drop(&mut self) {
        let server = Arc::clone(&self.server);
        if self.server.connection.try_lock().is_ok_and(|connection| connection.is_none()) {
            return;
        }
        // Close the connection and give the server a moment; its process is ended with the connection.
        self.runtime.block_on(Duration::from_millis(100), async move {
            let connection = server.connection.lock().await.take();
            if let Some(connection) = connection.and_then(Arc::into_inner) {
                connection.close().await;
            }
        });
    }
}

impl fmt::Debug for McpRemoteSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpRemoteSource").field("configuration", self.configuration()).finish_non_exhaustive()
    }
}
