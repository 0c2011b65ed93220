//! Updates the list of plugins of preset `harness`: the skills that `skills.plugins` in `~/.agent/config.yaml` names.

use std::path::PathBuf;

use prowess::lock::{LockEntry, LockFile, Replacement};

use super::InstallTarget;
use crate::error::PackageError;
use prowess_config::edit::EditError;
use prowess_config::edit::file::{self, SymlinkPolicy};
use prowess_config::edit::harness::{self, HarnessPlugin};

/// A planned update of the file, computed before anything is swapped.
#[derive(Debug, Default)]
pub(crate) struct PluginRecordUpdate {
    file: Option<(PathBuf, String, String)>,
    before: LockFile,
    changes: Vec<Replacement>,
    now: String,
}

/// Plans the update. Nothing is written yet, so a file that cannot be edited prevents the installation.
pub(crate) fn plan_plugin_records(
    target: &InstallTarget,
    before: &LockFile,
    changes: &[Replacement],
    now: &str,
) -> Result<PluginRecordUpdate, PackageError> {
    let Some(path) = &target.plugin_config else { return Ok(PluginRecordUpdate::default()) };
    let old = file::read_text(path)?.unwrap_or_default();
    let edit = |source| file::EditFileError::Edit { path: path.clone(), source };
    let new = apply_changes(&old, before, changes, now).map_err(edit)?;
    let (before, changes, now) = (before.clone(), changes.to_vec(), now.to_owned());
    Ok(PluginRecordUpdate { file: (new != old).then(|| (path.clone(), old, new)), before, changes, now })
}

/// Returns the text with the changes applied.
fn apply_changes(
    text: &str,
    before: &LockFile,
    changes: &[Replacement],
    now: &str,
) -> Result<String, EditError> {
    let mut text = text.to_owned();
    for change in changes {
        let name = change.folder.rsplit('/').next().unwrap_or(&change.folder);
        let existing = harness::plugins(&text)?;
        let existing =
            existing.into_iter().map(|(plugin, _)| plugin).find(|plugin| plugin.effective_name() == name);
        if existing.is_some() {
            text = harness::remove_plugin(&text, name)?;
        }
        if let Some(after) = &change.after {
            let plugin = new_record(after, existing.as_ref(), before.entry(&change.folder).is_some(), now);
            text = harness::add_plugin(&text, &plugin)?;
        }
    }
    Ok(text)
}

fn new_record(
    after: &LockEntry,
    existing: Option<&HarnessPlugin>,
    is_update: bool,
    now: &str,
) -> HarnessPlugin {
    // An update does not enable a disabled plugin.
    let enabled = existing.is_none_or(|existing| existing.enabled) || !is_update;
    HarnessPlugin {
        url: after.source.clone(),
        reference: after.reference.clone(),
        name: Some(after.name.clone()),
        enabled,
        installed_at: Some(now.to_owned()),
    }
}

impl PluginRecordUpdate {
    /// Writes the update.
    pub(crate) fn perform(&self) -> Result<(), PackageError> {
        let Some((path, old, new)) = &self.file else { return Ok(()) };
        file::edit_file(path, SymlinkPolicy::Followed, |text| match text == old {
            true => Ok(new.clone()),
            // The file was edited in the meantime: the changes are applied to its current text.
            false => apply_changes(text, &self.before, &self.changes, &self.now),
        })?;
        Ok(())
    }

    /// Restores the previous text. Errors are ignored: the original error is reported.
    pub(crate) fn undo(&self) {
        let Some((path, old, new)) = &self.file else { return };
        let _ = file::edit_file(path, SymlinkPolicy::Followed, |text| {
            // If the file was edited in the meantime, the edit stays.
            Ok(if text == new { old.clone() } else { text.to_owned() })
        });
    }
}
