//! Prowess: both fields, with the best 64 reranked.

use std::path::Path;

use prowess_routing::LexicalIndex;

use crate::engine::{Engine, EngineError, SearchIndex, Skills};

pub(crate) struct Ours;

impl Engine for Ours {
    fn name(&self) -> &'static str {
        "Prowess"
    }

    fn build(&self, dir: &Path, skills: &Skills<'_>) -> Result<(), EngineError> {
        let numbers: Vec<usize> = (0..skills.size).collect();
        LexicalIndex::save(&dir.join("index"), &numbers, |number| (skills.texts)(*number))?;
        Ok(())
    }

    fn open(&self, dir: &Path) -> Result<Box<dyn SearchIndex>, EngineError> {
        Ok(Box::new(LexicalIndex::open(&dir.join("index"))?))
    }
}

impl SearchIndex for LexicalIndex {
    fn search(&self, message: &str, k: usize) -> Result<Vec<usize>, EngineError> {
        Ok(self.rank(message, k).into_iter().map(|ranked| ranked.skill).collect())
    }
}
