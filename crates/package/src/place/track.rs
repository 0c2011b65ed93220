//! Document 002's own record of plugins, `skills.plugins` in `~/.agent/config.yaml`, kept in step with the lock.

use std::path::PathBuf;

use prowess::lock::{Lock, Locked, Replacement};

use super::Place;
use crate::error::PackageError;
use prowess_config::edit::EditError;
use prowess_config::edit::file::{self, Links};
use prowess_config::edit::harness::{self, Plugin};

/// What is to be written into that file, worked out before anything is swapped.
#[derive(Debug, Default)]
pub(crate) struct Followed {
    file: Option<(PathBuf, String, String)>,
    before: Lock,
    changes: Vec<Replacement>,
    now: String,
}

/// Works out how the record changes. Nothing is written yet: a file that cannot be changed stops the rest, too.
pub(crate) fn plan(
    place: &Place,
    before: &Lock,
    changes: &[Replacement],
    now: &str,
) -> Result<Followed, PackageError> {
    let Some(path) = &place.plugins else { return Ok(Followed::default()) };
    let old = file::read(path)?.unwrap_or_default();
    let edit = |source| file::FileError::Edit { path: path.clone(), source };
    let new = edited(&old, before, changes, now).map_err(edit)?;
    let (before, changes, now) = (before.clone(), changes.to_vec(), now.to_owned());
    Ok(Followed { file: (new != old).then(|| (path.clone(), old, new)), before, changes, now })
}

/// The text with the changes in it.
fn edited(text: &str, before: &Lock, changes: &[Replacement], now: &str) -> Result<String, EditError> {
    let mut text = text.to_owned();
    for change in changes {
        let name = change.folder.rsplit('/').next().unwrap_or(&change.folder);
        let known = harness::plugins(&text)?;
        let known = known.into_iter().map(|(plugin, _)| plugin).find(|plugin| plugin.called() == name);
        if known.is_some() {
            text = harness::remove_plugin(&text, name)?;
        }
        if let Some(after) = &change.after {
            let plugin = plugin(after, known.as_ref(), before.skill(&change.folder).is_some(), now);
            text = harness::add_plugin(&text, &plugin)?;
        }
    }
    Ok(text)
}

fn plugin(after: &Locked, known: Option<&Plugin>, is_update: bool, now: &str) -> Plugin {
    // Whoever switched a plugin off did not mean only this version of it.
    let enabled = known.is_none_or(|known| known.enabled) || !is_update;
    Plugin {
        url: after.source.clone(),
        reference: after.reference.clone(),
        name: Some(after.name.clone()),
        enabled,
        installed_at: Some(now.to_owned()),
    }
}

impl Followed {
    /// Writes it.
    pub(crate) fn perform(&self) -> Result<(), PackageError> {
        let Some((path, old, new)) = &self.file else { return Ok(()) };
        file::change(path, Links::Followed, |text| match text == old {
            true => Ok(new.clone()),
            // Somebody edited it since it was looked at: their text counts, and ours is worked out anew.
            false => edited(text, &self.before, &self.changes, &self.now),
        })?;
        Ok(())
    }

    /// Writes what was there before. That it cannot be written is no news after the failure that led here.
    pub(crate) fn take_back(&self) {
        let Some((path, old, new)) = &self.file else { return };
        let _ = file::change(path, Links::Followed, |text| {
            // Where somebody edited it since, their text counts.
            Ok(if text == new { old.clone() } else { text.to_owned() })
        });
    }
}
