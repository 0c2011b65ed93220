//! Whom the user trusts. Kept in the user's state, keyed by path: a project cannot decide its own trust.
//!
//! What must always hold: a state that cannot be read trusts nobody.

mod pins;
mod store;

use std::path::{Path, PathBuf};

pub(crate) use pins::Pins;
use store::State;
pub use store::{TrustError, TrustRecord, changes_since, record_for, trust, untrust};

use crate::located::Located;
use crate::surroundings::Surroundings;

/// The user's decisions, as they were read.
#[derive(Debug, Default)]
pub(crate) struct Trust {
    state: State,
    problem: Option<Located>,
}

/// What the user decided about a folder.
pub(crate) enum Verdict<'a> {
    Untrusted,
    Trusted,
    /// Trusted as it was then.
    Pinned(Pins<'a>),
}

impl Trust {
    pub(crate) fn load(world: &Surroundings) -> Self {
        let (state, problem) = State::load(world);
        Self { state, problem }
    }

    pub(crate) fn problem(&self) -> Option<&Located> {
        self.problem.as_ref()
    }

    pub(crate) fn same_state(&self, other: &Self) -> bool {
        self.state == other.state && self.problem == other.problem
    }

    pub(crate) fn has_pins(&self) -> bool {
        self.state.folders.iter().any(|record| record.pinned)
    }

    /// The folders that are trusted: links may lead there.
    pub(crate) fn folders(&self) -> impl Iterator<Item = PathBuf> {
        self.state.folders.iter().filter(|record| record.trusted).map(|record| record.path.clone())
    }

    /// The decision about the nearest folder, from `folder` upwards.
    pub(crate) fn verdict(&self, folder: &Path) -> Verdict<'_> {
        let canonical = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        match self.state.nearest(&canonical) {
            Some(record) if record.trusted && record.pinned => Verdict::Pinned(Pins::new(record)),
            Some(record) if record.trusted => Verdict::Trusted,
            Some(_) | None => Verdict::Untrusted,
        }
    }
}
