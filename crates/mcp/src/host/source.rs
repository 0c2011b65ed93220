//! One server as a supply of the registry.

use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use prowess::Surroundings;
use prowess::supply::{Offered, OfferedFile, Offering, Supply, SupplyError};
use prowess_config::McpSource;

use super::engine::Engine;
use super::entry;
use super::server::{Server, State};
use super::transport::Place;

/// The least time between two listings where the server says that something has changed. It may say so without end.
const NOTICE_MIN: Duration = Duration::from_secs(1);

/// A server of skills.
pub struct Source {
    server: Arc<Server>,
    engine: Arc<Engine>,
}

/// What a server is found to be when it is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The version of the protocol.
    pub protocol: String,
    /// How many skills it lists, and how many of these are not valid.
    pub skills: usize,
    /// Those that cannot be used.
    pub invalid: usize,
    /// Why the listing is not all there is.
    pub cut: Option<String>,
}

impl Source {
    pub(super) fn new(
        source: McpSource,
        world: Surroundings,
        environment: Arc<[(OsString, OsString)]>,
        engine: Arc<Engine>,
    ) -> Self {
        let server = Server::new(Place { source, world, environment });
        Self { server: Arc::new(server), engine }
    }

    /// How it is configured.
    pub fn configuration(&self) -> &McpSource {
        &self.server.place.source
    }

    /// Asks the server anew, whatever is kept, and says what it is.
    pub fn ask(&self) -> Result<Report, SupplyError> {
        let server = Arc::clone(&self.server);
        let asked = self.engine.wait(self.longest(), async move {
            let listing = server.list().await?;
            let protocol = server.connected().await.map(|connection| connection.protocol())?;
            server.take(Ok(listing.clone()));
            Ok((listing, protocol))
        });
        let (listing, protocol) = asked.unwrap_or_else(|| Err(self.late()))?;
        let offered = entry::offered(self.label(), &listing.entries);
        let invalid = offered.iter().filter(|offered| offered.problem.is_some()).count();
        Ok(Report { protocol, skills: offered.len(), invalid, cut: listing.cut })
    }

    /// The entry of a skill that may not be listed, by its URI. From then on it is offered.
    pub fn refer(&self, uri: &str) -> Result<Arc<Offered>, SupplyError> {
        self.offering();
        let (server, wanted) = (Arc::clone(&self.server), uri.to_owned());
        let entry = self.engine.wait(self.longest(), async move { server.get(&wanted).await });
        let entry = entry.unwrap_or_else(|| Err(self.late()))?;
        self.server.correct(uri, Some(&entry));
        let offering = self.offering();
        let found = offering.skills.iter().find(|known| known.uri == uri);
        found.cloned().ok_or_else(|| SupplyError::Malformed("it is no entry of that skill".to_owned()))
    }

    /// Begins to ask the server if that will be needed, without waiting for it.
    pub(super) fn warm(&self) {
        let mut state = self.server.lock();
        if state.offering.is_some() || state.busy {
            return;
        }
        match self.server.kept() {
            Some((offering, left)) => {
                state.offering = Some(offering);
                state.until = Some(Instant::now() + left);
            }
            None => self.begin(&mut state),
        }
    }

    /// Starts to list in the background.
    fn begin(&self, state: &mut State) {
        let server = Arc::clone(&self.server);
        state.busy = true;
        state.asked = Some(Instant::now());
        let started = self.engine.start(async move {
            let listing = server.list().await;
            server.take(listing);
        });
        if !started {
            state.busy = false;
        }
    }

    /// How long the longest of all calls may take.
    fn longest(&self) -> Duration {
        // Two ways to connect, all pages, and what is asked for one by one.
        self.server.place.timeout() * 16 + Duration::from_secs(2)
    }

    fn late(&self) -> SupplyError {
        SupplyError::Timeout(u64::try_from(self.longest().as_millis()).unwrap_or(u64::MAX))
    }
}

impl Supply for Source {
    fn label(&self) -> &str {
        &self.server.place.source.label
    }

    fn offering(&self) -> Arc<Offering> {
        self.warm();
        let until = Instant::now() + self.longest();
        loop {
            let mut state = self.server.lock();
            if let Some(offering) = state.offering.clone() {
                let old = state.until.is_none_or(|until| until < Instant::now());
                let long_ago = state.asked.is_none_or(|asked| asked.elapsed() > NOTICE_MIN);
                let told = long_ago && self.server.handler.has_changed();
                if (old || told) && !state.busy {
                    self.begin(&mut state);
                }
                return offering;
            }
            if !state.busy || Instant::now() > until {
                drop(state);
                self.server.take(Err(self.late()));
                continue;
            }
            drop(state);
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn read(&self, _: &Offered, file: &OfferedFile) -> Result<Vec<u8>, SupplyError> {
        if let Some(bytes) = self.server.cache.file(file) {
            return Ok(bytes);
        }
        let (server, file) = (Arc::clone(&self.server), file.clone());
        let read = self.engine.wait(self.longest(), async move {
            let bytes = server.read(&file.uri).await?;
            server.cache.keep_file(&file, &bytes);
            Ok(bytes)
        });
        read.unwrap_or_else(|| Err(self.late()))
    }

    fn doubt(&self, skill: &Offered) {
        let (server, uri) = (Arc::clone(&self.server), skill.uri.clone());
        let entry = self.engine.wait(self.longest(), async move { server.get(&uri).await });
        match entry {
            Some(Ok(entry)) => self.server.correct(&skill.uri, Some(&entry)),
            Some(Err(SupplyError::Refused(_))) => self.server.correct(&skill.uri, None),
            // Whether it has changed is not known; what does not fit is not used anyway.
            Some(Err(_)) | None => {}
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        let server = Arc::clone(&self.server);
        if self.server.connection.try_lock().is_ok_and(|held| held.is_none()) {
            return;
        }
        // The server is told to end and given a moment; its process ends with the connection, whatever it does.
        self.engine.wait(Duration::from_millis(100), async move {
            let connection = server.connection.lock().await.take();
            if let Some(connection) = connection.and_then(Arc::into_inner) {
                connection.close().await;
            }
        });
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("configuration", self.configuration()).finish_non_exhaustive()
    }
}
