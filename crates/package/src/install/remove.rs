//! Removing: a folder and what the lock says of it go together.

use std::path::Path;

use prowess::lock::Lock;

use super::plan::{Action, Item, Plan};
use crate::error::PackageError;
use crate::place::Place;

/// Decides to remove the skills in these folders, installed or not: all of them, or none. The folders have different
/// names and are on one file system.
pub fn plan_remove(skills: &[(&str, &Path)], place: &Place) -> Result<Plan, PackageError> {
    let mut place = place.clone();
    if let Some(root) = skills.first().and_then(|(_, folder)| folder.parent()) {
        // Folders are moved away within their file system.
        place.root = root.to_owned();
    }
    let mut plan = Plan::begin(&place)?;
    let lock = Lock::read(&place.lock)?;
    for (name, folder) in skills {
        let before = lock.skill(&place.key(folder)).cloned();
        if before.is_none() && std::fs::symlink_metadata(folder).is_err() {
            return Err(PackageError::NotFound(format!("{} is not there", folder.display())));
        }
        plan.items.push(Item {
            name: (*name).to_owned(),
            folder: (*folder).to_owned(),
            action: Action::Remove,
            before,
            after: None,
            prepared: None,
        });
    }
    Ok(plan)
}
