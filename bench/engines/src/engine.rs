//! The interface of engines.

use std::fs;
use std::path::Path;

use prowess_routing::SkillTexts;

pub(crate) type EngineError = Box<dyn std::error::Error>;

/// The skills to index: their number and texts.
pub(crate) struct Skills<'s> {
    pub(crate) size: usize,
    pub(crate) texts: &'s (dyn Fn(usize) -> SkillTexts + Sync),
}

/// An engine with its index in a directory.
pub(crate) trait Engine {
    /// Returns the name in the tables.
    fn name(&self) -> &'static str;

    /// Indexes all skills in an empty directory.
    fn build(&self, dir: &Path, skills: &Skills<'_>) -> Result<(), EngineError>;

    fn open(&self, dir: &Path) -> Result<Box<dyn SearchIndex>, EngineError>;
}

/// An index that is searched on the calling thread.
pub(crate) trait SearchIndex {
    /// Returns the numbers of the best `k` skills that contain any word of the message, best first.
    fn search(&self, message: &str, k: usize) -> Result<Vec<usize>, EngineError>;
}

/// Returns all engines, Prowess first.
pub(crate) fn all() -> Vec<Box<dyn Engine>> {
    let ours: [Box<dyn Engine>; 2] = [Box::new(crate::ours::Ours), Box::new(crate::fts5::Fts5)];
    #[cfg(feature = "tantivy")]
    let others = crate::tantivy::Tantivy::ALL.map(|engine| Box::new(engine) as Box<dyn Engine>);
    #[cfg(not(feature = "tantivy"))]
    let others: [Box<dyn Engine>; 0] = [];
    ours.into_iter().chain(others).collect()
}

/// Returns the size of the files of a directory in bytes.
pub(crate) fn bytes_in(dir: &Path) -> Result<u64, EngineError> {
    let mut bytes = 0;
    for entry in fs::read_dir(dir)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes)
}

/// Creates an empty directory, replacing an existing one.
pub(crate) fn create_empty_dir(dir: &Path) -> Result<(), EngineError> {
    if dir.exists() {
        fs::remove_dir_all(dir)?;
    }
    Ok(fs::create_dir_all(dir)?)
}
