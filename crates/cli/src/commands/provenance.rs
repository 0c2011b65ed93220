//! Where an installed skill came from, for people: for `info` and `why`.

use prowess::lock::Granted;
use prowess_tools::shapes::Provenance;

use super::packages::origin;
use crate::context::Context;
use crate::output::{clean, clean_path};

/// What the lock says was granted, where that is not what is.
pub(super) fn recorded(installed: &Provenance, granted: &Granted) -> Option<String> {
    (installed.locked.granted != *granted).then(|| clean(&installed.locked.granted.told()).into_owned())
}

/// For people, one row a fact.
pub(super) fn rows(installed: &Provenance, context: &Context) -> Vec<(String, String)> {
    let locked = &installed.locked;
    let lock = clean_path(&prowess::short_path(&installed.lock, &context.surroundings));
    let name = locked.renamed_from.as_ref().map(|name| ("called there", name.clone()));
    let when = locked.installed_at.as_ref().map(|time| ("installed at", time.clone()));
    let state = installed.changed().unwrap_or_else(|| "as installed".to_owned());
    let rows = [("installed from", origin(&installed.locked))]
        .into_iter()
        .chain(name)
        .chain(when)
        .chain([("state", state)])
        .chain([("audit", format!("{} (rules of {})", locked.audit.verdict, locked.audit.rules))])
        .chain([("lock", lock)]);
    rows.map(|(key, value)| (key.to_owned(), value)).collect()
}
