//! What is known of one server, and asking it for more.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use prowess::format::{Code, Diagnostic};
use prowess::supply::approvals::Approvals;
use prowess::supply::{Offering, SupplyError};
use serde_json::Value;

use super::cache::Cache;
use super::client::{Connection, Handler};
use super::entry;
use super::listing::{Listing, list};
use super::transport::Place;

/// The least time between two listings by one process, whatever the server says of its own.
const AGAIN_MIN: Duration = Duration::from_secs(30);

/// The most skills that are asked for one by one because they were approved and are not listed.
const UNLISTED_MAX: usize = 64;

/// A server with everything that is known of it.
pub(super) struct Server {
    pub(super) place: Place,
    pub(super) cache: Cache,
    pub(super) handler: Handler,
    pub(super) connection: tokio::sync::Mutex<Option<Arc<Connection>>>,
    pub(super) state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) offering: Option<Arc<Offering>>,
    /// When it should be asked for again.
    pub(super) until: Option<Instant>,
    /// When it was last asked for.
    pub(super) asked: Option<Instant>,
    /// Whether that is being done.
    pub(super) busy: bool,
}

/// What is wrong with a listing.
pub(super) enum Problem {
    /// There is none, or an old one.
    Failed(String),
    /// It is not all there is.
    Cut(String),
}

impl Server {
    pub(super) fn new(place: Place) -> Self {
        let cache = Cache::new(&place.source, &place.world);
        let connection = tokio::sync::Mutex::new(None);
        Self { place, cache, handler: Handler::default(), connection, state: Mutex::default() }
    }

    pub(super) fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn label(&self) -> &str {
        &self.place.source.label
    }

    /// What is kept on disk and still believed, or all there is where the server failed a moment ago.
    pub(super) fn kept(&self) -> Option<(Arc<Offering>, Duration)> {
        let kept = self.cache.listing()?;
        if let Some(why) = kept.failure() {
            let problem = Some(Problem::Failed(why.to_owned()));
            return Some((Arc::new(self.offered(&kept.entries, problem)), AGAIN_MIN));
        }
        let left = kept.fresh()?;
        Some((Arc::new(self.offered(&kept.entries, kept.cut.clone().map(Problem::Cut))), left))
    }

    pub(super) fn offered(&self, entries: &[Value], problem: Option<Problem>) -> Offering {
        let label = self.label();
        let skills = entry::offered(label, entries).into_iter().map(Arc::new).collect();
        let said = |problem: Problem| {
            let message = match problem {
                Problem::Failed(why) => format!("the skills of {label} cannot be listed: {why}"),
                Problem::Cut(why) => format!("not all skills of {label} are listed: {why}"),
            };
            Diagnostic::warning(Code::SourceProblem, message).help("prowess doctor asks it again")
        };
        Offering { skills, diagnostics: problem.map(said).into_iter().collect() }
    }

    /// Takes what came of asking, keeps it, and makes it what is offered.
    pub(super) fn take(&self, listing: Result<Listing, SupplyError>) {
        let (offering, ttl) = match listing {
            Ok(listing) => {
                self.cache.keep(&listing);
                let cut = listing.cut.clone().map(Problem::Cut);
                (self.offered(&listing.entries, cut), listing.ttl.max(AGAIN_MIN))
            }
            Err(error) => {
                let why = error.to_string();
                self.cache.failed(&why);
                // What was listed before is verified at each read like anything else.
                let known = self.cache.listing().map(|kept| kept.entries).unwrap_or_default();
                (self.offered(&known, Some(Problem::Failed(why))), Duration::from_secs(60))
            }
        };
        self.put(offering, Some(Instant::now() + ttl));
    }

    pub(super) fn put(&self, offering: Offering, until: Option<Instant>) {
        let mut state = self.lock();
        state.busy = false;
        state.until = until.or(state.until);
        // The same again is no change.
        if state.offering.as_deref() != Some(&offering) {
            state.offering = Some(Arc::new(offering));
        }
    }

    /// Takes another entry of one skill, or none any more.
    pub(super) fn correct(&self, uri: &str, entry: Option<&Value>) {
        self.cache.correct(uri, entry);
        let mut offering = match self.lock().offering.as_deref() {
            Some(offering) => offering.clone(),
            None => Offering::default(),
        };
        let at = offering.skills.iter().position(|known| known.uri == uri);
        let name = at.map(|at| offering.skills.remove(at).name.clone());
        if let Some(entry) = entry {
            let mut new = entry::judge(self.label(), entry, offering.skills.len());
            // It keeps the name it was told apart by.
            new.name = name.unwrap_or(new.name);
            offering.skills.insert(at.unwrap_or(offering.skills.len()), Arc::new(new));
        }
        self.put(offering, None);
    }

    /// Lists what the server has, and asks for what the user approved besides.
    pub(super) async fn list(&self) -> Result<Listing, SupplyError> {
        // What changes from now on is not in it.
        self.handler.take_changed();
        let connection = self.connected().await?;
        let mut listing = list(&connection, self.place.timeout()).await?;
        for uri in self.unlisted(&listing) {
            match connection.get(&uri).await {
                Ok(entry) => listing.entries.push(entry),
                // It is no longer there, or cannot be had now: then it is not offered.
                Err(SupplyError::Unreachable(_) | SupplyError::Timeout(_)) => break,
                Err(_) => {}
            }
        }
        Ok(listing)
    }

    /// The skills that were approved by their URI and are not listed. A listing need not be complete.
    pub(super) fn unlisted(&self, listing: &Listing) -> Vec<String> {
        let listed = |uri: &str| {
            listing.entries.iter().any(|entry| entry.get("uri").and_then(Value::as_str) == Some(uri))
        };
        let approvals = Approvals::load(&self.place.world);
        let known =
            approvals.all().iter().filter(|known| known.server == self.label() && !listed(&known.uri));
        known.map(|known| known.uri.clone()).take(UNLISTED_MAX).collect()
    }

    pub(super) async fn get(&self, uri: &str) -> Result<Value, SupplyError> {
        let connection = self.connected().await?;
        match connection.get(uri).await {
            Err(SupplyError::Unreachable(_)) => self.connected().await?.get(uri).await,
            other => other,
        }
    }

    /// Reads a file of this server, and of no other. A server that has gone away is asked once more.
    pub(super) async fn read(&self, uri: &str) -> Result<Vec<u8>, SupplyError> {
        let connection = self.connected().await?;
        match connection.read(uri).await {
            Err(SupplyError::Unreachable(_)) => self.connected().await?.read(uri).await,
            other => other,
        }
    }

    /// The connection, which is made where there is none.
    pub(super) async fn connected(&self) -> Result<Arc<Connection>, SupplyError> {
        let mut held = self.connection.lock().await;
        if let Some(connection) = held.as_ref().filter(|connection| !connection.is_closed()) {
            return Ok(Arc::clone(connection));
        }
        drop(held.take());
        let connection = Arc::new(self.place.connect(&self.handler).await?);
        *held = Some(Arc::clone(&connection));
        Ok(connection)
    }
}
