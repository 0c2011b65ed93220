//! The state of one server: its listing (the skills that it provides, with the digests of their files), and the calls that
//! update it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use prowess::format::{Code, Diagnostic};
use prowess::remote::approvals::Approvals;
use prowess::remote::{FetchError, RemoteListing};
use serde_json::Value;

use super::cache::ServerCache;
use super::client::{ChangeHandler, ServerConnection};
use super::entry;
use super::listing::{ServerListing, fetch_listing};
use super::transport::ServerEndpoint;

/// The minimum time between two listings by one process, even if the server specifies a shorter one.
const REFRESH_MIN: Duration = Duration::from_secs(30);

/// The maximum number of approved but unlisted skills that are fetched individually.
const UNLISTED_MAX: usize = 64;

/// A server and its state.
pub(super) struct RemoteServer {
    pub(super) endpoint: ServerEndpoint,
    pub(super) cache: ServerCache,
    pub(super) handler: ChangeHandler,
    pub(super) connection: tokio::sync::Mutex<Option<Arc<ServerConnection>>>,
    pub(super) state: Mutex<ServerState>,
}

#[derive(Default)]
pub(super) struct ServerState {
    pub(super) listing: Option<Arc<RemoteListing>>,
    /// When it should be refreshed.
    pub(super) valid_until: Option<Instant>,
    /// When the last refresh started.
    pub(super) refresh_started_at: Option<Instant>,
    /// Whether a refresh is in progress.
    pub(super) is_refreshing: bool,
}

pub(super) enum ListingProblem {
    /// It could not be fetched; there is none, or an old one.
    Failed(String),
    Truncated(String),
}

impl RemoteServer {
    pub(super) fn new(endpoint: ServerEndpoint) -> Self {
        let cache = ServerCache::new(&endpoint.source, &endpoint.host);
        let connection = tokio::sync::Mutex::new(None);
        Self { endpoint, cache, handler: ChangeHandler::default(), connection, state: Mutex::default() }
    }

    pub(super) fn lock(&self) -> std::sync::MutexGuard<'_, ServerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn label(&self) -> &str {
        &self.endpoint.source.label
    }

    /// Returns the cached listing while it is valid, or an outdated one if the server failed recently.
    pub(super) fn cached_listing(&self) -> Option<(Arc<RemoteListing>, Duration)> {
        let cached = self.cache.listing()?;
        if let Some(reason) = cached.recent_failure() {
            let problem = Some(ListingProblem::Failed(reason.to_owned()));
            return Some((Arc::new(self.build_listing(&cached.entries, problem)), REFRESH_MIN));
        }
        let ttl = cached.remaining_ttl()?;
        Some((
            Arc::new(self.build_listing(&cached.entries, cached.cut.clone().map(ListingProblem::Truncated))),
            ttl,
        ))
    }

    pub(super) fn build_listing(&self, entries: &[Value], problem: Option<ListingProblem>) -> RemoteListing {
        let label = self.label();
        let skills = entry::parse_entries(label, entries).into_iter().map(Arc::new).collect();
        let describe = |problem: ListingProblem| {
            let message = match problem {
                ListingProblem::Failed(reason) => format!("cannot list the skills of {label}: {reason}"),
                ListingProblem::Truncated(reason) => {
                    format!("the list of skills of {label} is incomplete: {reason}")
                }
            };
            Diagnostic::warning(Code::SourceProblem, message)
                .help("run `prowess doctor` to contact the server again")
        };
        RemoteListing { skills, diagnostics: problem.map(describe).into_iter().collect() }
    }

    /// Stores the result of a refresh in the cache and the state.
    pub(super) fn finish_refresh(&self, listing: Result<ServerListing, FetchError>) {
        let (new_listing, ttl) = match listing {
            Ok(listing) => {
                self.cache.store_listing(&listing);
                let cut = listing.truncated.clone().map(ListingProblem::Truncated);
                (self.build_listing(&listing.entries, cut), listing.ttl.max(REFRESH_MIN))
            }
            Err(error) => {
                let reason = error.to_string();
                self.cache.record_failure(&reason);
                // An old listing is still used: its files are verified at each read.
                let cached_entries = self.cache.listing().map(|cached| cached.entries).unwrap_or_default();
                (
                    self.build_listing(&cached_entries, Some(ListingProblem::Failed(reason))),
                    Duration::from_secs(60),
                )
            }
        };
        self.set_listing(new_listing, Some(Instant::now() + ttl));
    }

    pub(super) fn set_listing(&self, listing: RemoteListing, valid_until: Option<Instant>) {
        let mut state = self.lock();
        state.is_refreshing = false;
        state.valid_until = valid_until.or(state.valid_until);
        // An identical listing is not a change.
        if state.listing.as_deref() != Some(&listing) {
            state.listing = Some(Arc::new(listing));
        }
    }

    /// Replaces the entry of a skill, or removes it if `entry` is `None`.
    pub(super) fn replace_entry(&self, uri: &str, entry: Option<&Value>) {
        self.cache.replace_entry(uri, entry);
        let mut listing = match self.lock().listing.as_deref() {
            Some(listing) => listing.clone(),
            None => RemoteListing::default(),
        };
        let index = listing.skills.iter().position(|skill| skill.uri == uri);
        let name = index.map(|index| listing.skills.remove(index).name.clone());
        if let Some(entry) = entry {
            let mut new = entry::parse_entry(self.label(), entry, listing.skills.len());
            // It keeps its unique name.
            new.name = name.unwrap_or(new.name);
            listing.skills.insert(index.unwrap_or(listing.skills.len()), Arc::new(new));
        }
        self.set_listing(listing, None);
    }

    /// Lists the skills of the server, and fetches approved skills that are not listed.
    pub(super) async fn fetch_listing(&self) -> Result<ServerListing, FetchError> {
        // Later changes are not part of this listing.
        self.handler.take_changed();
        let connection = self.connection().await?;
        let mut listing = fetch_listing(&connection, self.endpoint.timeout()).await?;
        for uri in self.unlisted_approvals(&listing) {
            match connection.get_entry(&uri).await {
                Ok(entry) => listing.entries.push(entry),
                // Skills that no longer exist are skipped.
                Err(
                    FetchError::Unreachable(_) | FetchError::UnexpectedResponse(_) | FetchError::Timeout(_),
                ) => break,
                Err(_) => {}
            }
        }
        Ok(listing)
    }

    /// Returns the approved skills that are not listed, because a listing need not be complete.
    pub(super) fn unlisted_approvals(&self, listing: &ServerListing) -> Vec<String> {
        let is_listed = |uri: &str| {
            listing.entries.iter().any(|entry| entry.get("uri").and_then(Value::as_str) == Some(uri))
        };
        let approvals = Approvals::load(&self.endpoint.host);
        let approval = approvals
            .all()
            .iter()
            .filter(|approval| approval.server == self.label() && !is_listed(&approval.uri));
        approval.map(|approval| approval.uri.clone()).take(UNLISTED_MAX).collect()
    }

    pub(super) async fn get_entry(&self, uri: &str) -> Result<Value, FetchError> {
        let connection = self.connection().await?;
        match connection.get_entry(uri).await {
            Err(FetchError::Unreachable(_) | FetchError::UnexpectedResponse(_)) => {
                self.connection().await?.get_entry(uri).await
            }
            other => other,
        }
    }

    /// Reads a file of this server. Reconnects once if the server is unreachable.
    pub(super) async fn read_resource(&self, uri: &str) -> Result<Vec<u8>, FetchError> {
        let connection = self.connection().await?;
        match connection.read_resource(uri).await {
            Err(FetchError::Unreachable(_) | FetchError::UnexpectedResponse(_)) => {
                self.connection().await?.read_resource(uri).await
            }
            other => other,
        }
    }

    /// Returns the connection; connects if there is none.
    pub(super) async fn connection(&self) -> Result<Arc<ServerConnection>, FetchError> {
        let mut guard = self.connection.lock().await;
        if let Some(connection) = guard.as_ref().filter(|connection| !connection.is_closed()) {
            return Ok(Arc::clone(connection));
        }
        drop(guard.take());
        let connection = Arc::new(self.endpoint.connect(&self.handler).await?);
        *guard = Some(Arc::clone(&connection));
        Ok(connection)
    }
}
