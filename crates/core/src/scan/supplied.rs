//! What a supply offers, as if it had been found on disk.

use std::path::Path;
use std::sync::Arc;

use prowess_format::{Code, Diagnostic, Rules, parse};
use serde_json::Value;

use crate::located::Located;
use crate::skill::{FileName, Found, Root};
use crate::supply::approvals::Approvals;
use crate::supply::{Offered, Offering, Supplied, Supply};
use prowess_fs::Fingerprint;

/// What one supply offered at a scan.
#[derive(Debug)]
pub(crate) struct SupplyScan {
    supply: Arc<dyn Supply>,
    offering: Arc<Offering>,
    pub(crate) root: Arc<Root>,
    pub(crate) found: Vec<Arc<Found>>,
    pub(crate) diagnostics: Vec<Located>,
}

impl SupplyScan {
    /// Whether the supply says that nothing has changed.
    pub(crate) fn is_unchanged(&self) -> bool {
        Arc::ptr_eq(&self.supply.offering(), &self.offering)
    }
}

/// Takes what a supply offers.
pub(crate) fn supplied(supply: &Arc<dyn Supply>, rules: &Rules, approvals: &Approvals) -> SupplyScan {
    let offering = supply.offering();
    let root = Arc::new(Root::supplied(supply.label()));
    let find = |offered: &Arc<Offered>| {
        let standing = approvals.standing(supply.label(), offered);
        let (label, title) = (supply.label().to_owned(), supply.title());
        let supplied = Supplied { label, title, offered: Arc::clone(offered), standing };
        Arc::new(found(&root, supplied, rules))
    };
    let mut found: Vec<_> = offering.skills.iter().map(find).collect();
    found.sort_by(|a, b| a.inner.cmp(&b.inner));
    let diagnostics =
        offering.diagnostics.iter().map(|said| Located::new(root.path(), said.clone())).collect();
    SupplyScan { supply: Arc::clone(supply), offering, root, found, diagnostics }
}

fn found(root: &Arc<Root>, supplied: Supplied, rules: &Rules) -> Found {
    let offered = &supplied.offered;
    // A supply that gives a name outside its own space would be another's impersonator.
    let inner = offered.name.strip_prefix(supplied.label()).and_then(|rest| rest.strip_prefix('/'));
    let (manifest, diagnostics) = match (&offered.problem, inner) {
        (Some(problem), _) => (None, vec![Diagnostic::error(Code::SourceEntry, problem.clone())]),
        (None, None) => {
            let problem = format!("it is not called {}/…", supplied.label());
            (None, vec![Diagnostic::error(Code::SourceEntry, problem)])
        }
        (None, Some(_)) => manifest(offered, rules),
    };
    let size = offered.file("SKILL.md").map_or(0, |file| file.size);
    Found {
        root: Arc::clone(root),
        inner: Path::new(inner.unwrap_or(&offered.own_name)).into(),
        file: FileName::Standard,
        fingerprint: Fingerprint::none(size),
        settled: true,
        manifest,
        diagnostics: diagnostics.into(),
        link: None,
        real: None,
        supplied: Some(Arc::new(supplied)),
    }
}

/// The frontmatter that was listed, judged like any other: JSON is YAML.
fn manifest(offered: &Offered, rules: &Rules) -> (Option<prowess_format::Manifest>, Vec<Diagnostic>) {
    // The body has not been fetched; that it is empty must not be said of it.
    let source = format!("---\n{}\n---\n.\n", Value::Object(offered.frontmatter.clone()));
    let parsed = parse(source.as_bytes(), Some(&offered.own_name), rules);
    let said = parsed.diagnostics.into_iter().map(|said| Diagnostic { at: None, fix: None, ..said });
    (parsed.document.map(|document| document.manifest), said.collect())
}
