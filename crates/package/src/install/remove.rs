//! Removing: a folder and what the lock says of it go together.

use std::path::Path;

use prowess::lock::Lock;

use super::plan::{Action, Item, Plan};
use crate::error::PackageError;
use crate::place::Place;

/// Decides to remove the skill in a folder, installed or not.
pub fn plan_remove(name: &str, folder: &Path, place: &Place) -> Result<Plan, PackageError> {
    let mut place = place.clone();
    if let Some(root) = folder.parent() {
        // What is moved away is moved within its own directory.
        place.root = root.to_owned();
    }
    let mut plan = Plan::begin(&place)?;
    let lock = Lock::read(&place.lock)?;
    let before = lock.skill(&place.key(folder)).cloned();
    if before.is_none() && std::fs::symlink_metadata(folder).is_err() {
        return Err(PackageError::NotFound(format!("{} is not there", folder.display())));
    }
    plan.items.push(Item {
        name: name.to_owned(),
        folder: folder.to_owned(),
        action: Action::Remove,
        before,
        after: None,
        prepared: None,
    });
    Ok(plan)
}
