//! What the user accepted although it is not what was installed. Kept in the user's state: a project cannot accept its
//! own changes.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::surroundings::Surroundings;
use prowess_fs::{lock, read_bounded, replace};

const FILE_MAX: u64 = 16 * 1024 * 1024;

pub(crate) fn path(world: &Surroundings) -> Option<PathBuf> {
    Some(world.state()?.join("accepted.json"))
}

/// The tree hash that the user accepted for a folder. A state that cannot be read has accepted nothing.
pub fn accepted(world: &Surroundings, folder: &Path) -> Option<String> {
    read(&path(world)?).remove(folder)
}

/// All that the user accepted, by folder.
pub(crate) fn all(world: &Surroundings) -> BTreeMap<PathBuf, String> {
    path(world).map(|path| read(&path)).unwrap_or_default()
}

/// Accepts exactly what a folder holds now.
pub fn accept(world: &Surroundings, folder: &Path, tree: &str) -> io::Result<()> {
    change(world, |known| {
        known.insert(folder.to_owned(), tree.to_owned());
    })
}

/// Forgets what was accepted for these folders.
pub fn forget<'f>(
    world: &Surroundings,
    folders: impl IntoIterator<Item = &'f Path> + Clone,
) -> io::Result<()> {
    let known = path(world).map(|path| read(&path)).unwrap_or_default();
    if !folders.clone().into_iter().any(|folder| known.contains_key(folder)) {
        return Ok(());
    }
    change(world, |known| {
        folders.into_iter().for_each(|folder| {
            known.remove(folder);
        });
    })
}

fn read(path: &Path) -> BTreeMap<PathBuf, String> {
    read_bounded(path, FILE_MAX).and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn change(world: &Surroundings, change: impl FnOnce(&mut BTreeMap<PathBuf, String>)) -> io::Result<()> {
    let path = path(world).ok_or_else(|| io::Error::other("there is no home directory to keep it in"))?;
    let _lock = lock(&path)?;
    let mut known = read(&path);
    change(&mut known);
    replace(&path, &serde_json::to_vec_pretty(&known)?)
}
