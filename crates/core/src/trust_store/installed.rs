//! Trust in what the user installed: each skill exactly as it is, and all skills of one command at once.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::store::{State, TrustRecord, as_it_was, decide, is_repository, now};
use crate::surroundings::Surroundings;
use crate::user_state::TrustError;

/// Trusts skills that the user installed, each with one of these tree hashes, of which there are two only while it is being
/// replaced; one without any is forgotten. Nothing is written down where a folder is trusted anyway, or nothing changes.
pub fn trust_installed(skills: &[(PathBuf, Vec<String>)], world: &Surroundings) -> Result<(), TrustError> {
    let mut resolve = Resolve::default();
    let pin = |(folder, trees): &(PathBuf, Vec<String>)| (resolve.folder(folder), trees.join(" "));
    let wanted: HashMap<PathBuf, String> = skills.iter().map(pin).collect();
    if changed(&State::load(world).0, &wanted).is_empty() {
        return Ok(());
    }
    State::change(world, |state| {
        let changed: HashSet<PathBuf> = changed(state, &wanted).into_iter().cloned().collect();
        state.folders.retain(|record| !changed.contains(&record.path));
        let pinned = changed.into_iter().filter_map(|path| {
            let trees = wanted.get(&path).filter(|trees| !trees.is_empty())?;
            let skills = BTreeMap::from([(path.clone(), trees.clone())]);
            Some(TrustRecord { path, trusted: true, pinned: true, at: now(), skills })
        });
        state.folders.extend(pinned);
    })
}

/// The tree hashes with which each of these skills is trusted.
pub fn trusted_installed(folders: &[PathBuf], world: &Surroundings) -> Vec<Vec<String>> {
    let state = State::load(world).0;
    let known: HashMap<&Path, &TrustRecord> = by_path(&state);
    let mut resolve = Resolve::default();
    let trees = |folder: &PathBuf| {
        let path = resolve.folder(folder);
        let nearest = decide(&path, |above| known.get(above).copied(), is_repository).record();
        let nearest = nearest.filter(|record| record.trusted && record.pinned);
        let pinned = nearest.and_then(|record| record.skills.get(&path));
        pinned.map(|trees| trees.split(' ').map(str::to_owned).collect()).unwrap_or_default()
    };
    folders.iter().map(trees).collect()
}

/// The folders about which something else has to be written down than what is there.
fn changed<'w>(state: &State, wanted: &'w HashMap<PathBuf, String>) -> Vec<&'w PathBuf> {
    let known = by_path(state);
    let differs = |(path, trees): &(&PathBuf, &String)| {
        let own = known.get(path.as_path());
        if trees.is_empty() {
            return own.is_some();
        }
        let nearest = decide(path, |above| known.get(above).copied(), is_repository).record();
        let trusted_anyway = nearest.is_some_and(|record| record.trusted && !record.pinned);
        let same = |record: &&&TrustRecord| {
            record.trusted && record.skills.len() == 1 && record.skills.get(*path) == Some(*trees)
        };
        !trusted_anyway && own.filter(same).is_none()
    };
    wanted.iter().filter(differs).map(|(path, _)| path).collect()
}

fn by_path(state: &State) -> HashMap<&Path, &TrustRecord> {
    state.folders.iter().map(|record| (record.path.as_path(), record)).collect()
}

/// Paths without links. Most skills lie beside one another: the folder that they lie in is looked up once.
#[derive(Default)]
struct Resolve {
    parents: HashMap<PathBuf, Option<PathBuf>>,
}

impl Resolve {
    fn folder(&mut self, folder: &Path) -> PathBuf {
        let is_link = fs::symlink_metadata(folder).is_ok_and(|there| there.is_symlink());
        let parts = folder.parent().zip(folder.file_name()).filter(|_| !is_link);
        let beside = parts.and_then(|(parent, name)| {
            let known = self.parents.get(parent).cloned();
            let parent = known.unwrap_or_else(|| {
                let canonical = fs::canonicalize(parent).ok();
                self.parents.insert(parent.to_owned(), canonical.clone());
                canonical
            });
            Some(parent?.join(name))
        });
        beside.unwrap_or_else(|| fs::canonicalize(folder).unwrap_or_else(|_| as_it_was(folder)))
    }
}
