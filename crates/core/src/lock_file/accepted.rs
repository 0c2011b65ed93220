//! The accepted files: the tree hashes of modified skills that the user accepted with `prowess verify --accept`.
//! They are stored in the user's state, so that a project cannot accept its own changes.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::host_env::HostEnv;
use prowess_fs::{lock, read_bounded, write_private};

const FILE_MAX: u64 = 16 * 1024 * 1024;

pub(crate) fn accepted_path(host: &HostEnv) -> Option<PathBuf> {
    Some(host.state_dir()?.join("accepted.json"))
}

/// Returns the tree hash that the user accepted for a directory. An unreadable state accepts nothing.
pub fn accepted_tree(host: &HostEnv, dir: &Path) -> Option<String> {
    read_accepted(&accepted_path(host)?).remove(dir)
}

/// Returns all accepted tree hashes by directory.
pub(crate) fn accepted_trees(host: &HostEnv) -> BTreeMap<PathBuf, String> {
    accepted_path(host).map(|path| read_accepted(&path)).unwrap_or_default()
}

/// Accepts the current tree hash of a directory.
pub fn accept_tree(host: &HostEnv, dir: &Path, tree: &str) -> io::Result<()> {
    update(host, |accepted| {
        accepted.insert(dir.to_owned(), tree.to_owned());
    })
}

/// Removes the acceptances for these directories.
pub fn forget_accepted<'f>(
    host: &HostEnv,
    dirs: impl IntoIterator<Item = &'f Path> + Clone,
) -> io::Result<()> {
    let accepted = accepted_path(host).map(|path| read_accepted(&path)).unwrap_or_default();
    if !dirs.clone().into_iter().any(|dir| accepted.contains_key(dir)) {
        return Ok(());
    }
    update(host, |accepted| {
        dirs.into_iter().for_each(|dir| {
            accepted.remove(dir);
        });
    })
}

fn read_accepted(path: &Path) -> BTreeMap<PathBuf, String> {
    read_bounded(path, FILE_MAX).and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn update(host: &HostEnv, change: impl FnOnce(&mut BTreeMap<PathBuf, String>)) -> io::Result<()> {
    let path = accepted_path(host)
        .ok_or_else(|| io::Error::other("no home directory to store accepted changes in"))?;
    let _lock = lock(&path)?;
    let mut accepted = read_accepted(&path);
    change(&mut accepted);
    write_private(&path, &serde_json::to_vec_pretty(&accepted)?)
}
