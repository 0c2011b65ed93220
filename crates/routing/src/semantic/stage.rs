//! The stage itself: what is embedded when, and what becomes of failures.

use std::collections::HashSet;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::embedder::{EmbedError, Embedder, Purpose};
use super::kept;
use super::table::{Key, Table, key};
use crate::text::head;

/// What a similarity adds to the score of words for each standard deviation above the mean, where nobody says otherwise.
pub const WEIGHT: f32 = 0.5;

/// How much of a skill's or a message's text is embedded, in bytes. Models cut off what they do not take.
const TEXT_MAX: usize = 2_000;

/// How long a message waits while skills are embedded. What is not done then is done by the next.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long nothing is sent after a failure, so that not every message waits for what is not there.
const REST: Duration = Duration::from_secs(60);

/// How many different troubles are told.
const TOLD_MAX: usize = 16;

/// Routing by meaning: an embedder, how much it counts, and what went wrong with it. One for a process; routers share it.
///
/// ```
/// use std::sync::Arc;
/// use prowess_routing::semantic::{EmbedError, Embedder, Purpose, Semantic};
///
/// #[derive(Debug)]
/// struct Gone;
/// impl Embedder for Gone {
///     fn identity(&self) -> Result<String, EmbedError> {
///         Err(EmbedError::Failed("the model is gone".to_owned()))
///     }
///     fn embed(&self, _: &[&str], _: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
///         Err(EmbedError::Failed("the model is gone".to_owned()))
///     }
/// }
/// let semantic = Semantic::new(Arc::new(Gone)).weighing(2.0);
/// assert!(semantic.take_troubles().is_empty());
/// ```
pub struct Semantic {
    embedder: Arc<dyn Embedder>,
    weight: f32,
    tell: Option<Box<Tell>>,
    state: Mutex<State>,
}

/// Hears of a trouble.
type Tell = dyn Fn(&str) + Send + Sync;

#[derive(Default)]
struct State {
    /// Until when nothing is sent.
    rests_until: Option<Instant>,
    /// What was told already.
    told: HashSet<String>,
    /// What nobody has asked for yet.
    troubles: Vec<String>,
    /// What is known of texts, with the identity it is of, for the router of the next snapshot.
    latest: Option<(String, Arc<Table>)>,
}

impl fmt::Debug for Semantic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Semantic").field("embedder", &self.embedder).field("weight", &self.weight).finish()
    }
}

/// The vectors of a snapshot's skills.
#[derive(Debug)]
pub(in super::super) struct Placed {
    table: Arc<Table>,
    /// Where each skill's is.
    places: Vec<u32>,
}

/// How long may be embedded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Until {
    /// Somebody waits for an answer.
    Patient,
    /// As long as it takes.
    Done,
}

impl Semantic {
    /// A stage with the usual weight.
    pub fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder, weight: WEIGHT, tell: None, state: Mutex::default() }
    }

    /// With what a similarity adds to the score of words for each standard deviation above the mean.
    #[must_use]
    pub fn weighing(self, weight: f32) -> Self {
        Self { weight: if weight.is_finite() { weight.max(0.0) } else { WEIGHT }, ..self }
    }

    /// With somebody who hears of troubles at once, each once. Without, they are kept for [`Self::take_troubles`].
    #[must_use]
    pub fn telling(self, tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { tell: Some(Box::new(tell)), ..self }
    }

    /// Why meaning had no say, since this was last asked; each reason once in the life of the process.
    pub fn take_troubles(&self) -> Vec<String> {
        std::mem::take(&mut self.state().troubles)
    }

    /// How much it counts.
    pub fn weight(&self) -> f32 {
        self.weight
    }

    /// Which model it is.
    pub fn identity(&self) -> Result<String, EmbedError> {
        self.embedder.identity()
    }

    /// Whether a message may be sent now.
    pub(in super::super) fn is_ready(&self) -> bool {
        self.state().rests_until.is_none_or(|until| Instant::now() >= until)
    }

    /// How close a message is to each of the skills. `None` where that cannot be said, which was told then.
    pub(in super::super) fn similarities(&self, message: &str, placed: &Placed) -> Option<Vec<f32>> {
        let close = self.vectors(&[head(message, TEXT_MAX)], Purpose::Message).and_then(|vectors| {
            let vector = vectors.first().ok_or(EmbedError::Count { wanted: 1, given: 0 })?;
            let of_rows = placed.table.vectors.similarities(vector)?;
            let of_skill = |place: &u32| of_rows.get(*place as usize).copied().unwrap_or_default();
            Ok(placed.places.iter().map(of_skill).collect())
        });
        close.map_err(|error| self.failed(&error)).ok()
    }

    /// The vectors of the skills with these texts: what is kept, and what has to be embedded now. `None` where some are missing still.
    pub(in super::super) fn place(
        &self,
        folder: Option<&Path>,
        collection: u64,
        texts: &[String],
        until: Until,
    ) -> Option<Placed> {
        let identity = self.embedder.identity().map_err(|error| self.failed(&error)).ok()?;
        let texts: Vec<&str> = texts.iter().map(|text| head(text, TEXT_MAX)).collect();
        let keys: Vec<Key> = texts.iter().map(|text| key(text)).collect();
        let file = folder.map(|folder| kept::file(folder, collection, &identity));
        let mut table = Table::default();
        if let Some((_, latest)) = self.state().latest.as_ref().filter(|(of, _)| *of == identity) {
            table.add_from(latest, &keys);
        }
        let missing = |table: &Table| keys.iter().any(|key| table.place(key).is_none());
        if missing(&table)
            && let Some(kept) = file.as_deref().and_then(|file| kept::read(file, &identity))
        {
            table.add_from(&kept, &keys);
        }
        if missing(&table) {
            let before = table.len();
            let embedded = self.embed(&texts, &keys, &mut table, until);
            if table.len() > before
                && let Some(file) = &file
            {
                kept::write(file, &identity, &mut table, &keys);
            }
            if let Err(error) = embedded {
                self.failed(&error);
            }
        }
        let places: Vec<u32> = keys.iter().filter_map(|key| table.place(key)).collect();
        let table = Arc::new(table);
        self.state().latest = Some((identity, Arc::clone(&table)));
        if places.len() < keys.len() {
            if self.is_ready() {
                self.tell(format!(
                    "{} of {} skills have been embedded so far; until all are, words decide alone",
                    places.len(),
                    keys.len()
                ));
            }
            return None;
        }
        Some(Placed { table, places })
    }

    /// Embeds what is missing, in batches.
    fn embed(&self, texts: &[&str], keys: &[Key], table: &mut Table, until: Until) -> Result<(), EmbedError> {
        let start = Instant::now();
        let mut seen = HashSet::new();
        let missing: Vec<(&str, Key)> = texts
            .iter()
            .zip(keys)
            .filter(|(_, key)| table.place(key).is_none() && seen.insert(**key))
            .map(|(text, key)| (*text, *key))
            .collect();
        for batch in missing.chunks(self.embedder.batch().max(1)) {
            let texts: Vec<&str> = batch.iter().map(|(text, _)| *text).collect();
            let vectors = self.vectors(&texts, Purpose::Skills)?;
            for ((_, key), vector) in batch.iter().zip(&vectors) {
                table.add(*key, vector)?;
            }
            if until == Until::Patient && start.elapsed() >= PATIENCE {
                break;
            }
        }
        Ok(())
    }

    fn vectors(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vectors = self.embedder.embed(texts, purpose)?;
        if vectors.len() != texts.len() {
            return Err(EmbedError::Count { wanted: texts.len(), given: vectors.len() });
        }
        Ok(vectors)
    }

    fn failed(&self, error: &EmbedError) {
        self.state().rests_until = Instant::now().checked_add(REST);
        self.tell(format!("skills are chosen by words alone: {error}"));
    }

    fn tell(&self, trouble: String) {
        let mut state = self.state();
        if state.told.len() >= TOLD_MAX || !state.told.insert(trouble.clone()) {
            return;
        }
        match &self.tell {
            Some(tell) => {
                drop(state);
                tell(&trouble);
            }
            None => state.troubles.push(trouble),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
