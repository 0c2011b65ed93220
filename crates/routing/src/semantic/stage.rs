//! The semantic stage: embedding on demand, and handling failures.

use std::collections::HashSet;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::embedder::{EmbedError, Embedder, Purpose};
use super::table::{TextDigest, VectorTable, text_digest};
use super::vector_cache;
use crate::text::truncate;

/// The default bonus for each standard deviation of a similarity above the mean.
pub const DEFAULT_WEIGHT: f32 = 0.5;

/// The maximum length of an embedded text, in bytes. Models truncate longer ones anyway.
const TEXT_MAX: usize = 2_000;

/// How long a message waits while skills are embedded. The next message continues.
const MESSAGE_WAIT_MAX: Duration = Duration::from_secs(10);

/// How long nothing is sent after a failure, so that not every message waits for an unavailable model.
const FAILURE_PAUSE: Duration = Duration::from_secs(60);

/// The maximum number of different warnings.
const WARNINGS_MAX: usize = 16;

/// The semantic stage: an embedder, its weight, and its warnings. Routers of one process share it.
///
/// ```
/// use std::sync::Arc;
/// use prowess_routing::semantic::{EmbedError, Embedder, Purpose, SemanticStage};
///
/// #[derive(Debug)]
/// struct Unavailable;
/// impl Embedder for Unavailable {
///     fn identity(&self) -> Result<String, EmbedError> {
///         Err(EmbedError::Failed("the model is unavailable".to_owned()))
///     }
///     fn embed(&self, _: &[&str], _: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
///         Err(EmbedError::Failed("the model is unavailable".to_owned()))
///     }
/// }
/// let semantic = SemanticStage::new(Arc::new(Unavailable)).with_weight(2.0);
/// assert!(semantic.take_warnings().is_empty());
/// ```
pub struct SemanticStage {
    embedder: Arc<dyn Embedder>,
    weight: f32,
    on_warning: Option<Box<WarningHandler>>,
    state: Mutex<StageState>,
}

/// Receives warnings.
type WarningHandler = dyn Fn(&str) + Send + Sync;

#[derive(Default)]
struct StageState {
    /// Until when nothing is sent.
    paused_until: Option<Instant>,
    /// All warnings so far.
    reported: HashSet<String>,
    /// Warnings that were not fetched yet.
    pending: Vec<String>,
    /// The latest vectors and their identity, for the router of the next snapshot.
    latest: Option<(String, Arc<VectorTable>)>,
}

impl fmt::Debug for SemanticStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SemanticStage")
            .field("embedder", &self.embedder)
            .field("weight", &self.weight)
            .finish()
    }
}

/// The vectors of a snapshot's skills.
#[derive(Debug)]
pub(in super::super) struct SkillVectors {
    table: Arc<VectorTable>,
    /// The row of each skill in the table.
    rows: Vec<u32>,
}

/// How long skills may be embedded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum EmbedUntil {
    /// For a limited time, because a message waits.
    Deadline,
    /// Until all are embedded.
    Complete,
}

impl SemanticStage {
    /// Creates a stage with the default weight.
    pub fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder, weight: DEFAULT_WEIGHT, on_warning: None, state: Mutex::default() }
    }

    /// Sets the bonus for each standard deviation of a similarity above the mean.
    #[must_use]
    pub fn with_weight(self, weight: f32) -> Self {
        Self { weight: if weight.is_finite() { weight.max(0.0) } else { DEFAULT_WEIGHT }, ..self }
    }

    /// Sets a handler that receives each warning once. Without it, warnings are kept for [`Self::take_warnings`].
    #[must_use]
    pub fn with_warning_handler(self, on_warning: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { on_warning: Some(Box::new(on_warning)), ..self }
    }

    /// Returns the warnings since the last call; each is reported once per process.
    pub fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.state().pending)
    }

    /// Returns the weight.
    pub fn weight(&self) -> f32 {
        self.weight
    }

    /// Returns the identity of the model.
    pub fn identity(&self) -> Result<String, EmbedError> {
        self.embedder.identity()
    }

    /// Returns `true` unless the stage is paused after a failure.
    pub(in super::super) fn is_ready(&self) -> bool {
        self.state().paused_until.is_none_or(|until| Instant::now() >= until)
    }

    /// Returns the similarity of a message with each skill, or `None` after a failure, which is reported.
    pub(in super::super) fn similarities(&self, message: &str, skills: &SkillVectors) -> Option<Vec<f32>> {
        let similarities =
            self.embed_checked(&[truncate(message, TEXT_MAX)], Purpose::Message).and_then(|vectors| {
                let vector = vectors.first().ok_or(EmbedError::Count { expected: 1, actual: 0 })?;
                let row_similarities = skills.table.vectors.similarities(vector)?;
                let skill_similarity =
                    |row: &u32| row_similarities.get(*row as usize).copied().unwrap_or_default();
                Ok(skills.rows.iter().map(skill_similarity).collect())
            });
        similarities.map_err(|error| self.pause(&error)).ok()
    }

    /// Returns the vectors of the skills with these texts, from the cache or embedded now, or `None` if some
    /// are still missing.
    pub(in super::super) fn skill_vectors(
        &self,
        cache_dir: Option<&Path>,
        collection: u64,
        texts: &[String],
        until: EmbedUntil,
    ) -> Option<SkillVectors> {
        let identity = self.embedder.identity().map_err(|error| self.pause(&error)).ok()?;
        let texts: Vec<&str> = texts.iter().map(|text| truncate(text, TEXT_MAX)).collect();
        let keys: Vec<TextDigest> = texts.iter().map(|text| text_digest(text)).collect();
        let file = cache_dir.map(|dir| vector_cache::cache_path(dir, collection, &identity));
        let mut table = VectorTable::default();
        if let Some((_, latest)) =
            self.state().latest.as_ref().filter(|(table_identity, _)| *table_identity == identity)
        {
            table.add_from(latest, &keys);
        }
        let is_incomplete = |table: &VectorTable| keys.iter().any(|key| table.row(key).is_none());
        if is_incomplete(&table)
            && let Some(cached) = file.as_deref().and_then(|file| vector_cache::read_cache(file, &identity))
        {
            table.add_from(&cached, &keys);
        }
        if is_incomplete(&table) {
            let count = table.len();
            let embedded = self.embed(&texts, &keys, &mut table, until);
            if table.len() > count
                && let Some(file) = &file
            {
                vector_cache::write_cache(file, &identity, &mut table, &keys);
            }
            if let Err(error) = embedded {
                self.pause(&error);
            }
        }
        let rows: Vec<u32> = keys.iter().filter_map(|key| table.row(key)).collect();
        let table = Arc::new(table);
        self.state().latest = Some((identity, Arc::clone(&table)));
        if rows.len() < keys.len() {
            if self.is_ready() {
                self.warn(format!(
                    "{} of {} skills are embedded; until all are, only words are compared",
                    rows.len(),
                    keys.len()
                ));
            }
            return None;
        }
        Some(SkillVectors { table, rows })
    }

    /// Embeds missing texts in batches.
    fn embed(
        &self,
        texts: &[&str],
        keys: &[TextDigest],
        table: &mut VectorTable,
        until: EmbedUntil,
    ) -> Result<(), EmbedError> {
        let start = Instant::now();
        let mut unique = HashSet::new();
        let missing: Vec<(&str, TextDigest)> = texts
            .iter()
            .zip(keys)
            .filter(|(_, key)| table.row(key).is_none() && unique.insert(**key))
            .map(|(text, key)| (*text, *key))
            .collect();
        for batch in missing.chunks(self.embedder.batch_size().max(1)) {
            let texts: Vec<&str> = batch.iter().map(|(text, _)| *text).collect();
            let vectors = self.embed_checked(&texts, Purpose::Skills)?;
            for ((_, key), vector) in batch.iter().zip(&vectors) {
                table.add(*key, vector)?;
            }
            if until == EmbedUntil::Deadline && start.elapsed() >= MESSAGE_WAIT_MAX {
                break;
            }
        }
        Ok(())
    }

    fn embed_checked(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vectors = self.embedder.embed(texts, purpose)?;
        if vectors.len() != texts.len() {
            return Err(EmbedError::Count { expected: texts.len(), actual: vectors.len() });
        }
        Ok(vectors)
    }

    fn pause(&self, error: &EmbedError) {
        self.state().paused_until = Instant::now().checked_add(FAILURE_PAUSE);
        self.warn(format!("semantic routing is unavailable, using words only: {error}"));
    }

    fn warn(&self, warning: String) {
        let mut state = self.state();
        if state.reported.len() >= WARNINGS_MAX || !state.reported.insert(warning.clone()) {
            return;
        }
        match &self.on_warning {
            Some(on_warning) => {
                drop(state);
                on_warning(&warning);
            }
            None => state.pending.push(warning),
        }
    }

    fn state(&self) -> MutexGuard<'_, StageState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
