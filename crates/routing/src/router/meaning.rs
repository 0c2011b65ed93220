//! The router with a stage that says how close a message is in meaning.

use std::sync::{Arc, Mutex, OnceLock, TryLockError};

use super::Router;
use crate::semantic::{CONSIDERED, Fused, Placed, Semantic, Until, fuse};
use crate::texts::{collection_id, summary};

/// The stage, and the vectors of the skills once all are there.
#[derive(Debug)]
pub(super) struct Meaning {
    semantic: Arc<Semantic>,
    placed: OnceLock<Placed>,
    placing: Mutex<()>,
}

impl Router {
    /// With a stage that says how close a message is in meaning, beside words. Where it fails, words decide alone.
    #[must_use]
    pub fn with_semantic(self, semantic: Option<Arc<Semantic>>) -> Self {
        let meaning = |semantic| Meaning { semantic, placed: OnceLock::new(), placing: Mutex::default() };
        Self { meaning: semantic.map(meaning), ..self }
    }

    /// Embeds all skills now, however long it takes, where there is a stage for it: messages wait for a few seconds only,
    /// and until all are embedded, words decide alone. Whether meaning has a say from now on.
    pub fn prepare(&self) -> bool {
        self.meaning.as_ref().is_some_and(|meaning| self.placed(meaning, Until::Done).is_some())
    }

    /// The skills that share words with a message, and where there is a stage for it, those that are close in meaning.
    pub(super) fn found(&self, query: &str, k: usize) -> Vec<Fused> {
        let close = self.meaning.as_ref().and_then(|meaning| {
            let placed = self.placed(meaning, Until::Patient)?;
            Some((meaning.semantic.similarities(query, placed)?, meaning.semantic.weight()))
        });
        match close {
            None => self.ranked(query, k).into_iter().map(Fused::of).collect(),
            Some((close, weight)) => {
                let mut fused = fuse(self.ranked(query, k.max(CONSIDERED)), &close, weight);
                fused.truncate(k);
                fused
            }
        }
    }

    /// The vectors of all skills, if they are there or can be had now. While one message waits for them, others do not.
    fn placed<'r>(&'r self, meaning: &'r Meaning, until: Until) -> Option<&'r Placed> {
        if !meaning.semantic.is_ready() {
            return None;
        }
        if let Some(placed) = meaning.placed.get() {
            return Some(placed);
        }
        let _placing = match meaning.placing.try_lock() {
            Err(TryLockError::WouldBlock) => return None,
            placing => placing,
        };
        let texts: Vec<String> = self.skills().map(|(_, skill)| summary(skill)).collect();
        if texts.is_empty() {
            return None;
        }
        let collection = collection_id(&self.snapshot);
        let placed = meaning.semantic.place(self.folder.as_deref(), collection, &texts, until)?;
        Some(meaning.placed.get_or_init(|| placed))
    }
}
