//! The user's decisions about folders, and which skills they let in. Nothing here looks for skills.
//!
//! What must always hold: a state that cannot be read trusts nobody.

mod gate;
mod installed;
mod store;

use std::path::PathBuf;

pub(crate) use gate::{Gate, Repositories};
pub use installed::{trust_installed, trusted_installed};
pub(crate) use store::{State, canonical, now};
pub use store::{TrustRecord, record_for, untrust};

use crate::located::Located;
use crate::skill::Found;
use crate::surroundings::Surroundings;

/// Whether a skill that was let in is still what its trust was pinned to; true where it is not pinned.
pub(crate) fn still_pinned(found: &Found, tree: &str, world: &Surroundings) -> bool {
    let folder = found.canonical_folder();
    match State::load(world).0.nearest(&folder) {
        Some(record) if record.trusted && record.pinned => record.pins(&folder, Some(tree)).unwrap_or(false),
        _ => true,
    }
}

/// The user's decisions, as they were read.
#[derive(Debug, Default)]
pub(crate) struct Trust {
    state: State,
    problem: Option<Located>,
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

    /// The folders that are trusted: links may lead there.
    pub(crate) fn folders(&self) -> impl Iterator<Item = PathBuf> {
        self.state.folders.iter().filter(|record| record.trusted).map(|record| record.path.clone())
    }
}
