//! Document 002's own record of plugins, `skills.plugins` in `~/.agent/config.yaml`, kept in step with the lock.

use std::path::PathBuf;

use prowess::lock::{Lock, Locked, Replacement};

use super::Place;
use crate::edit::file::{self, Links};
use crate::edit::harness::{self, Plugin};
use crate::error::PackageError;

/// What is to be written into that file, worked out before anything is swapped.
#[derive(Debug, Default)]
pub(crate) struct Followed {
    file: Option<(PathBuf, String, String)>,
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
    let mut text = old.clone();
    for change in changes {
        let name = change.folder.rsplit('/').next().unwrap_or(&change.folder);
        let known = harness::plugins(&text).map_err(|source| edit(path, source))?;
        let known = known.into_iter().map(|(plugin, _)| plugin).find(|plugin| plugin.called() == name);
        if known.is_some() {
            text = harness::remove_plugin(&text, name).map_err(|source| edit(path, source))?;
        }
        if let Some(after) = &change.after {
            let plugin = plugin(after, known.as_ref(), before.skill(&change.folder).is_some(), now);
            text = harness::add_plugin(&text, &plugin).map_err(|source| edit(path, source))?;
        }
    }
    Ok(Followed { file: (text != old).then(|| (path.clone(), old, text)) })
}

fn edit(path: &std::path::Path, source: crate::edit::EditError) -> PackageError {
    file::FileError::Edit { path: path.to_owned(), source }.into()
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
        self.write(|(_, old, new)| (old, new))
    }

    /// Writes what was there before. That it cannot be written is no news after the failure that led here.
    pub(crate) fn take_back(&self) {
        let _ = self.write(|(_, old, new)| (new, old));
    }

    fn write<'f>(
        &'f self,
        order: impl FnOnce(&'f (PathBuf, String, String)) -> (&'f String, &'f String),
    ) -> Result<(), PackageError> {
        let Some(file) = &self.file else { return Ok(()) };
        let (expected, wanted) = order(file);
        file::change(&file.0, Links::Followed, |text| {
            // Somebody may have edited it since it was looked at; then their text counts and ours is worked out anew.
            Ok(if text == expected { wanted.clone() } else { text.to_owned() })
        })?;
        Ok(())
    }
}
