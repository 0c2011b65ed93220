//! Turns the bundled skills into discovered skills.

use std::path::Path;
use std::sync::Arc;

use prowess_format::{Rules, parse};

use crate::bundled::BUNDLED;
use crate::skill::{ContentCache, DiscoveredSkill, FileName, Root};
use prowess_fs::Fingerprint;

pub(crate) fn discover_bundled(root: &Arc<Root>, rules: &Rules) -> Vec<Arc<DiscoveredSkill>> {
    let skills = BUNDLED.iter().map(|skill| {
        let source = skill.skill_md();
        let parsed = parse(source, Some(skill.id), rules);
        let manifest = parsed.document.map(|document| match skill.is_example() {
            // The file itself does not say so: a copy in a directory of skills is offered like any other skill.
            true => document.manifest.with_model_invocation_disabled(),
            false => document.manifest,
        });
        Arc::new(DiscoveredSkill {
            root: Arc::clone(root),
            relative_dir: Path::new(skill.id).into(),
            file: FileName::Standard,
            fingerprint: Fingerprint::synthetic(source.len() as u64),
            settled: true,
            manifest,
            diagnostics: parsed.diagnostics.into(),
            link: None,
            canonical_path: None,
            remote: None,
            content: ContentCache::default(),
        })
    });
    skills.collect()
}
