//! The semantic stage of the router.

use std::sync::{Arc, Mutex, OnceLock, TryLockError};

use super::Router;
use crate::semantic::{EmbedUntil, FusedSkill, LEXICAL_CANDIDATES, SemanticStage, SkillVectors, fuse};
use crate::skill_texts::{collection_id, summary};

/// The semantic stage, and the vectors of the skills once all are available.
#[derive(Debug)]
pub(super) struct SemanticState {
    semantic: Arc<SemanticStage>,
    vectors: OnceLock<SkillVectors>,
    embed_lock: Mutex<()>,
}

impl Router {
    /// Adds a stage that compares meanings in addition to words. If it fails, only words are compared.
    #[must_use]
    pub fn with_semantic(self, semantic: Option<Arc<SemanticStage>>) -> Self {
        let state =
            |semantic| SemanticState { semantic, vectors: OnceLock::new(), embed_lock: Mutex::default() };
        Self { semantic: semantic.map(state), ..self }
    }

    /// Embeds all skills now, without a time limit. A message waits only a few seconds, and until all skills
    /// are embedded, only words are compared. Returns `true` if the semantic stage is ready.
    pub fn prepare(&self) -> bool {
        self.semantic.as_ref().is_some_and(|state| self.skill_vectors(state, EmbedUntil::Complete).is_some())
    }

    /// Returns the skills that share words with a message or, with a semantic stage, are similar in meaning.
    pub(super) fn rank(&self, query: &str, k: usize) -> Vec<FusedSkill> {
        let similarities = self.semantic.as_ref().and_then(|state| {
            let vectors = self.skill_vectors(state, EmbedUntil::Deadline)?;
            Some((state.semantic.similarities(query, vectors)?, state.semantic.weight()))
        });
        match similarities {
            None => self.rank_lexical(query, k).into_iter().map(FusedSkill::from_lexical).collect(),
            Some((similarities, weight)) => {
                let mut fused =
                    fuse(self.rank_lexical(query, k.max(LEXICAL_CANDIDATES)), &similarities, weight);
                fused.truncate(k);
                fused
            }
        }
    }

    /// Returns the vectors of all skills, if they are available or can be computed now. While one message waits
    /// for them, others do not.
    fn skill_vectors<'r>(&'r self, state: &'r SemanticState, until: EmbedUntil) -> Option<&'r SkillVectors> {
        if !state.semantic.is_ready() {
            return None;
        }
        if let Some(vectors) = state.vectors.get() {
            return Some(vectors);
        }
        let _guard = match state.embed_lock.try_lock() {
            Err(TryLockError::WouldBlock) => return None,
            guard => guard,
        };
        let texts: Vec<String> = self.skills().map(|(_, skill)| summary(skill)).collect();
        if texts.is_empty() {
            return None;
        }
        let collection = collection_id(&self.snapshot);
        let vectors = state.semantic.skill_vectors(self.cache_dir.as_deref(), collection, &texts, until)?;
        Some(state.vectors.get_or_init(|| vectors))
    }
}
