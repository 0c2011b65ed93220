//! Turns the listing of a remote source into discovered skills.

use std::path::Path;
use std::sync::Arc;

use prowess_format::{Code, Diagnostic, RuleLevel, Rules, parse};
use serde_json::Value;

use crate::file_diagnostic::FileDiagnostic;
use crate::remote::approvals::Approvals;
use crate::remote::{RemoteEntry, RemoteListing, RemoteSkill, RemoteSource};
use crate::skill::{ContentCache, DiscoveredSkill, FileName, Root};
use prowess_fs::Fingerprint;

/// The result of scanning one remote source.
#[derive(Debug)]
pub(crate) struct RemoteScan {
    source: Arc<dyn RemoteSource>,
    listing: Arc<RemoteListing>,
    pub(crate) root: Arc<Root>,
    pub(crate) skills: Vec<Arc<DiscoveredSkill>>,
    pub(crate) diagnostics: Vec<FileDiagnostic>,
}

impl RemoteScan {
    /// Returns `true` if the source's listing has not changed.
    pub(crate) fn is_unchanged(&self) -> bool {
        Arc::ptr_eq(&self.source.listing(), &self.listing)
    }
}

/// Scans a remote source.
pub(crate) fn scan_remote(
    source: &Arc<dyn RemoteSource>,
    rules: &Rules,
    approvals: &Approvals,
) -> RemoteScan {
    let listing = source.listing();
    let root = Arc::new(Root::remote(source.label()));
    let discover = |entry: &Arc<RemoteEntry>| {
        let approval = approvals.status(source.label(), entry);
        let (label, title) = (source.label().to_owned(), source.title());
        let remote = RemoteSkill { label, title, entry: Arc::clone(entry), approval };
        Arc::new(discovered(&root, remote, rules))
    };
    let mut skills: Vec<_> = listing.skills.iter().map(discover).collect();
    skills.sort_by(|a, b| a.relative_dir.cmp(&b.relative_dir));
    let diagnostics = listing
        .diagnostics
        .iter()
        .map(|diagnostic| FileDiagnostic::new(root.path(), diagnostic.clone()))
        .collect();
    RemoteScan { source: Arc::clone(source), listing, root, skills, diagnostics }
}

fn discovered(root: &Arc<Root>, remote: RemoteSkill, rules: &Rules) -> DiscoveredSkill {
    let entry = &remote.entry;
    // A name without the source's label could impersonate a skill of another source.
    let inner = entry.name.strip_prefix(remote.label()).and_then(|name| name.strip_prefix('/'));
    let (manifest, diagnostics) = match (&entry.problem, inner) {
        (Some(problem), _) => (None, vec![Diagnostic::error(Code::SourceEntry, problem.clone())]),
        (None, None) => {
            let problem = format!("its name does not begin with {}/", remote.label());
            (None, vec![Diagnostic::error(Code::SourceEntry, problem)])
        }
        (None, Some(_)) => manifest(entry, rules),
    };
    let size = entry.file("SKILL.md").map_or(0, |file| file.size);
    DiscoveredSkill {
        root: Arc::clone(root),
        relative_dir: Path::new(inner.unwrap_or(&entry.frontmatter_name)).into(),
        file: FileName::Standard,
        fingerprint: Fingerprint::synthetic(size),
        settled: true,
        manifest,
        diagnostics: diagnostics.into(),
        link: None,
        canonical_path: None,
        remote: Some(Arc::new(remote)),
        content: ContentCache::default(),
    }
}

/// Parses the listed frontmatter like any other: JSON is YAML.
fn manifest(entry: &RemoteEntry, rules: &Rules) -> (Option<prowess_format::Manifest>, Vec<Diagnostic>) {
    // The body has not been fetched. A placeholder avoids the diagnostic for an empty body.
    let source = format!("---\n{}\n---\n.\n", Value::Object(entry.frontmatter.clone()));
    // The name of a remote skill is part of what the user approves.
    let rules = &Rules { name_missing: RuleLevel::Reject, ..rules.clone() };
    let parsed = parse(source.as_bytes(), Some(&entry.frontmatter_name), rules);
    let diagnostics = parsed.diagnostics.into_iter().map(|diagnostic| Diagnostic {
        location: None,
        fix: None,
        ..diagnostic
    });
    (parsed.document.map(|document| document.manifest), diagnostics.collect())
}
