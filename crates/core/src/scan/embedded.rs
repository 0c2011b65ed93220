//! The bundled skills, which lie inside the binary.

use std::path::Path;
use std::sync::Arc;

use prowess_format::{Rules, parse};

use crate::bundled::BUNDLED;
use crate::skill::{FileName, Found, Root};
use prowess_fs::Fingerprint;

/// All bundled skills, as if they had been found on disk.
pub(crate) fn embedded(root: &Arc<Root>, rules: &Rules) -> Vec<Arc<Found>> {
    let found = BUNDLED.iter().map(|skill| {
        let source = skill.skill_md();
        let parsed = parse(source, Some(skill.id), rules);
        Arc::new(Found {
            root: Arc::clone(root),
            inner: Path::new(skill.id).into(),
            file: FileName::Standard,
            fingerprint: Fingerprint::none(source.len() as u64),
            settled: true,
            manifest: parsed.document.map(|document| document.manifest),
            diagnostics: parsed.diagnostics.into(),
            link: None,
            real: None,
            supplied: None,
        })
    });
    found.collect()
}
