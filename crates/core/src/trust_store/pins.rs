//! Trust in installed skills. It is pinned: a skill is trusted only while its files have the recorded tree hash.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::store::{TrustFile, TrustRecord, canonicalize_existing_part, find_decision, is_repository};
use crate::host_env::HostEnv;
use crate::tree_hashes::TreeHashes;
use crate::usage::now;
use crate::user_state::TrustError;

/// Pins trust in installed skills to these tree hashes. A skill has two hashes only while it is being replaced; a
/// skill without hashes loses its pin. Writes nothing if nothing changes, or for a skill below a directory that is
/// trusted without pins.
pub fn pin_installed(skills: &[(PathBuf, Vec<String>)], host: &HostEnv) -> Result<(), TrustError> {
    let mut paths = CanonicalPaths::default();
    let pin =
        |(dir, trees): &(PathBuf, Vec<String>)| (paths.canonicalize(dir), TreeHashes::new(trees.clone()));
    let new_pins: HashMap<PathBuf, TreeHashes> = skills.iter().map(pin).collect();
    if changed(&TrustFile::load(host).0, &new_pins).is_empty() {
        return Ok(());
    }
    TrustFile::update(host, |state| {
        let changed: HashSet<PathBuf> = changed(state, &new_pins).into_iter().cloned().collect();
        state.folders.retain(|record| !changed.contains(&record.path));
        let pinned = changed.into_iter().filter_map(|path| {
            let trees = new_pins.get(&path).filter(|trees| !trees.is_empty())?;
            let skills = BTreeMap::from([(path.clone(), trees.clone())]);
            Some(TrustRecord { path, trusted: true, pinned: true, at: now(), skills })
        });
        state.folders.extend(pinned);
    })
}

/// Returns the tree hashes to which each of these skills is pinned.
pub fn installed_pins(dirs: &[PathBuf], host: &HostEnv) -> Vec<Vec<String>> {
    let state = TrustFile::load(host).0;
    let records: HashMap<&Path, &TrustRecord> = by_path(&state);
    let mut paths = CanonicalPaths::default();
    let trees = |dir: &PathBuf| {
        let path = paths.canonicalize(dir);
        let nearest = find_decision(&path, |ancestor| records.get(ancestor).copied(), is_repository).record();
        let nearest = nearest.filter(|record| record.trusted && record.pinned);
        let pinned = nearest.and_then(|record| record.skills.get(&path));
        pinned.map(|trees| trees.as_slice().to_vec()).unwrap_or_default()
    };
    dirs.iter().map(trees).collect()
}

/// Returns the directories whose records have to change.
fn changed<'w>(state: &TrustFile, new_pins: &'w HashMap<PathBuf, TreeHashes>) -> Vec<&'w PathBuf> {
    let records = by_path(state);
    let differs = |(path, trees): &(&PathBuf, &TreeHashes)| {
        let own_record = records.get(path.as_path());
        if trees.is_empty() {
            return own_record.is_some();
        }
        let nearest = find_decision(path, |ancestor| records.get(ancestor).copied(), is_repository).record();
        let trusted_anyway = nearest.is_some_and(|record| record.trusted && !record.pinned);
        let is_unchanged = |record: &&&TrustRecord| {
            record.trusted && record.skills.len() == 1 && record.skills.get(*path) == Some(*trees)
        };
        !trusted_anyway && own_record.filter(is_unchanged).is_none()
    };
    new_pins.iter().filter(differs).map(|(path, _)| path).collect()
}

fn by_path(state: &TrustFile) -> HashMap<&Path, &TrustRecord> {
    state.folders.iter().map(|record| (record.path.as_path(), record)).collect()
}

/// Canonical paths. Most skills share a parent directory, which is resolved only once.
#[derive(Default)]
struct CanonicalPaths {
    parents: HashMap<PathBuf, Option<PathBuf>>,
}

impl CanonicalPaths {
    fn canonicalize(&mut self, dir: &Path) -> PathBuf {
        let is_link = fs::symlink_metadata(dir).is_ok_and(|metadata| metadata.is_symlink());
        let parts = dir.parent().zip(dir.file_name()).filter(|_| !is_link);
        let path = parts.and_then(|(parent, name)| {
            let cached = self.parents.get(parent).cloned();
            let parent = cached.unwrap_or_else(|| {
                let canonical = fs::canonicalize(parent).ok();
                self.parents.insert(parent.to_owned(), canonical.clone());
                canonical
            });
            Some(parent?.join(name))
        });
        path.unwrap_or_else(|| fs::canonicalize(dir).unwrap_or_else(|_| canonicalize_existing_part(dir)))
    }
}
