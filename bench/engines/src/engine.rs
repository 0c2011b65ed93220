//! What is asked of an engine.

use std::fs;
use std::path::Path;

use prowess_routing::Texts;

/// What went wrong, for the person who reads it.
pub(crate) type Failed = Box<dyn std::error::Error>;

/// The skills that are indexed: how many, and the texts of each.
pub(crate) struct Skills<'s> {
    pub(crate) size: usize,
    pub(crate) texts: &'s (dyn Fn(usize) -> Texts + Sync),
}

/// An engine that keeps its index in a folder.
pub(crate) trait Engine {
    /// What it is called in the tables.
    fn name(&self) -> &'static str;

    /// Indexes all skills into an empty folder, ready to be asked.
    fn build(&self, folder: &Path, skills: &Skills<'_>) -> Result<(), Failed>;

    /// Opens what was built.
    fn open(&self, folder: &Path) -> Result<Box<dyn Opened>, Failed>;
}

/// An index that can be asked, on the thread that asks.
pub(crate) trait Opened {
    /// The numbers of the best `k` skills that have any of the message's words, the best first.
    fn ask(&self, message: &str, k: usize) -> Result<Vec<usize>, Failed>;
}

/// All engines, ours first.
pub(crate) fn all() -> Vec<Box<dyn Engine>> {
    let ours: [Box<dyn Engine>; 2] = [Box::new(crate::ours::Ours), Box::new(crate::fts5::Fts5)];
    #[cfg(feature = "tantivy")]
    let others = crate::tantivy::Tantivy::ALL.map(|engine| Box::new(engine) as Box<dyn Engine>);
    #[cfg(not(feature = "tantivy"))]
    let others: [Box<dyn Engine>; 0] = [];
    ours.into_iter().chain(others).collect()
}

/// How many bytes the files of a folder have.
pub(crate) fn bytes_in(folder: &Path) -> Result<u64, Failed> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes)
}

/// An empty folder in place of whatever was there.
pub(crate) fn emptied(folder: &Path) -> Result<(), Failed> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Ok(fs::create_dir_all(folder)?)
}
