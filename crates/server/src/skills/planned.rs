//! The files and audit findings of a skill before it is installed.

use std::path::Path;

use prowess_package::audit::Finding;
use prowess_package::{InstallPlan, PlanAction, PlanItem};
use serde::Serialize;
use utoipa::ToSchema;

/// The maximum size of a text in a preview, and of all texts, in bytes.
const TEXT_MAX: u64 = 256 * 1024;
pub(super) const TEXTS_MAX: usize = 4 * 1024 * 1024;

/// A file of a skill that is installed or updated.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PlannedFile)]
pub(crate) struct PlannedFileJson {
    path: String,
    bytes: u64,
    executable: bool,
    /// `added`, `changed`, `unchanged` or `removed`.
    change: &'static str,
    /// The new text; null for files that are not text, or too large to preview.
    text: Option<String>,
    /// The text of the installed version, if it differs.
    before: Option<String>,
}

/// An audit finding.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Finding)]
pub(crate) struct FindingJson {
    /// The id of the rule.
    rule: &'static str,
    /// The severity.
    severity: &'static str,
    /// A description for people.
    message: String,
    /// The file.
    path: String,
    line: u32,
    /// Why the user accepts the finding; null if it is not suppressed.
    suppressed: Option<String>,
}

/// Converts an audit finding.
pub(super) fn finding_json(finding: &Finding) -> FindingJson {
    FindingJson {
        rule: finding.rule,
        severity: finding.severity.as_str(),
        message: finding.message.clone(),
        path: finding.path.clone(),
        line: finding.line,
        suppressed: finding.suppressed.clone(),
    }
}

/// Lists the files, with their texts. An existing skill is compared with its files on disk.
pub(super) fn describe_files(
    item: &PlanItem,
    plan: &InstallPlan,
    bytes_left: &mut usize,
) -> Vec<PlannedFileJson> {
    let (Some(prepared), Some(staged)) = (&item.prepared, plan.staged_dir(item)) else { return Vec::new() };
    let replaces = item.action == PlanAction::Replace;
    let mut files: Vec<_> = prepared
        .tree
        .files()
        .iter()
        .map(|file| {
            let text = read_text(&staged.join(&file.path), bytes_left);
            let old = replaces.then(|| prowess::read_bounded(&item.dir.join(&file.path), TEXT_MAX)).flatten();
            let is_same = old.as_ref().is_some_and(|old| prowess::digest(old) == file.digest());
            let before = old.filter(|_| !is_same).and_then(|old| limited_text(old, bytes_left));
            let exists = replaces && item.dir.join(&file.path).exists();
            let change = match (exists, is_same) {
                (true, true) => "unchanged",
                (true, false) => "changed",
                (false, _) => "added",
            };
            let (path, bytes, executable) = (file.path.clone(), file.bytes, file.executable);
            PlannedFileJson { path, bytes, executable, change, text, before }
        })
        .collect();
    for path in item.changes().map(|changes| changes.removed).unwrap_or_default() {
        let before = read_text(&item.dir.join(&path), bytes_left);
        files.push(PlannedFileJson {
            path,
            bytes: 0,
            executable: false,
            change: "removed",
            text: None,
            before,
        });
    }
    files
}

fn read_text(path: &Path, bytes_left: &mut usize) -> Option<String> {
    limited_text(prowess::read_bounded(path, TEXT_MAX)?, bytes_left)
}

/// Returns a text if it fits into the preview.
fn limited_text(bytes: Vec<u8>, bytes_left: &mut usize) -> Option<String> {
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))?;
    *bytes_left = bytes_left.checked_sub(text.len())?;
    Some(text)
}
