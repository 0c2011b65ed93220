//! Applies the fixes that diagnostics suggest, or shows them as a diff.

use std::path::{Path, PathBuf};
use std::time::Duration;

use prowess::check::CheckedSkill;
use prowess_format::{Diagnostic, Rules, apply_fixes};
use prowess_fs::{Dir, Errno, Fingerprint, describe_errno, is_symlink_error, read_with_fingerprint};
use serde_json::{Value, json};
use similar::TextDiff;

use crate::output::{Output, clean, clean_path, pluralize};
use crate::report::uri::relative_path;

/// The maximum size of a file that is fixed, in bytes.
const FILE_MAX: u64 = 16 * 1024 * 1024;

/// The maximum time for comparing two versions of a file.
const COMPARE_MAX: Duration = Duration::from_secs(2);

/// The fixes of a file.
pub(super) struct FileFixes {
    path: PathBuf,
    /// The diagnostics that are fixed.
    fixed: Vec<Diagnostic>,
    outcome: FixOutcome,
    before: Vec<u8>,
    after: Vec<u8>,
}

enum FixOutcome {
    /// The file is not written yet.
    Planned {
        dir: Dir,
        fingerprint: Fingerprint,
    },
    Written,
    /// The reason why the file was not changed.
    Refused(String),
}

/// Reads the files that have fixes and computes their new content. `roots` are the checked paths: only files below them
/// are changed, and no symlink is followed on the way.
pub(super) fn plan_fixes(
    checked: &[CheckedSkill],
    roots: &[PathBuf],
    rules: &Rules,
    is_selected: impl Fn(&Path, &Diagnostic) -> bool,
) -> Vec<FileFixes> {
    let has_fix = |checked: &&CheckedSkill| {
        let is_fixed =
            |diagnostic: &Diagnostic| diagnostic.fix.is_some() && is_selected(&checked.path, diagnostic);
        checked.diagnostics.iter().any(is_fixed)
    };
    let plan = |checked: &CheckedSkill| {
        let path = checked.path.clone();
        let refused = |reason: String| FileFixes {
            path: path.clone(),
            fixed: Vec::new(),
            outcome: FixOutcome::Refused(reason),
            before: Vec::new(),
            after: Vec::new(),
        };
        let (dir, before, fingerprint) = match open(&path, roots) {
            Ok(opened) => opened,
            Err(reason) => return Some(refused(reason)),
        };
        let dir_name = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy());
        let result =
            apply_fixes(&before, dir_name.as_deref(), rules, |diagnostic| is_selected(&path, diagnostic));
        let (after, fixed) = (result.bytes, result.fixed);
        let outcome = FixOutcome::Planned { dir, fingerprint };
        (!fixed.is_empty()).then(|| FileFixes { path: path.clone(), fixed, outcome, before, after })
    };
    checked.iter().filter(has_fix).filter_map(plan).collect()
}

/// Opens the directory of a file below one of the roots and reads the file.
fn open(path: &Path, roots: &[PathBuf]) -> Result<(Dir, Vec<u8>, Fingerprint), String> {
    let (parent, name) = path.parent().zip(path.file_name()).ok_or("it has no directory")?;
    let root = roots
        .iter()
        .filter_map(|root| std::path::absolute(root).ok())
        // A file that was passed explicitly is in its directory.
        .map(|root| if root == path { parent.to_owned() } else { root })
        .filter(|root| parent.starts_with(root))
        .max_by_key(|root| root.as_os_str().len())
        .ok_or("it is not below a checked path")?;
    let inner = parent.strip_prefix(&root).unwrap_or(Path::new(""));
    let inner = if inner.as_os_str().is_empty() { Path::new(".") } else { inner };
    let failed = |error: Errno| match is_symlink_error(&error.into()) {
        true => "it is a symlink; fix its target instead".to_owned(),
        false => format!("it cannot be read: {}", describe_errno(error)),
    };
    let dir = Dir::open(&root).and_then(|root| root.open_dir(inner)).map_err(failed)?;
    let (file, stat) = dir.open_file(Path::new(name)).map_err(failed)?;
    let read = read_with_fingerprint(&file, &stat, FILE_MAX);
    let (bytes, fingerprint) = read.map_err(|error| format!("it cannot be read: {error:?}"))?;
    Ok((dir, bytes, fingerprint))
}

impl FileFixes {
    /// Writes the file, unless it has changed since it was read.
    pub(super) fn write(&mut self) {
        let FixOutcome::Planned { dir, fingerprint } = &self.outcome else { return };
        let name = Path::new(self.path.file_name().unwrap_or_default());
        let written = dir.replace_file(name, fingerprint, &self.after);
        self.outcome = match written {
            Ok(()) => FixOutcome::Written,
            Err(error) => FixOutcome::Refused(error.to_string()),
        };
    }

    fn is_refused(&self) -> bool {
        matches!(self.outcome, FixOutcome::Refused(_))
    }

    /// Returns the number of fixed problems; none if the file was not changed.
    fn count(&self) -> usize {
        if self.is_refused() { 0 } else { self.fixed.len() }
    }

    /// Returns the change as a unified diff.
    fn diff(&self, base: &Path) -> String {
        diff(&relative_path(&self.path, base), &self.before, &self.after)
    }

    fn to_json(&self, with_diff: bool, base: &Path) -> Value {
        let fixed = self.fixed.iter().map(|diagnostic| {
            let location = diagnostic.location;
            json!({
                "code": diagnostic.code.as_str(),
                "message": diagnostic.message,
                "line": location.map(|location| location.line),
                "column": location.map(|location| location.column),
            })
        });
        let mut value = json!({
            "path": self.path.to_string_lossy(),
            "written": matches!(self.outcome, FixOutcome::Written),
            "fixed": fixed.collect::<Vec<_>>(),
        });
        if let FixOutcome::Refused(reason) = &self.outcome {
            value["reason"] = json!(reason);
        }
        if with_diff {
            value["diff"] = json!(self.diff(base));
        }
        value
    }
}

/// Returns the change of a file as a unified diff.
pub(super) fn diff(name: &str, before: &[u8], after: &[u8]) -> String {
    let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    let diff = TextDiff::configure().timeout(COMPARE_MAX).diff_lines(&*before, &*after);
    diff.unified_diff().header(&format!("a/{name}"), &format!("b/{name}")).to_string()
}

/// Returns the number of fixed problems, and of files.
pub(super) fn totals(fixes: &[FileFixes]) -> (usize, usize) {
    let files = fixes.iter().filter(|file| file.count() > 0).count();
    (fixes.iter().map(FileFixes::count).sum(), files)
}

/// Returns the value of `fixes` in JSON.
pub(super) fn to_json(fixes: &[FileFixes], with_diff: bool, base: &Path) -> Vec<Value> {
    fixes.iter().map(|file| file.to_json(with_diff, base)).collect()
}

/// Prints all changes as a unified diff.
pub(super) fn print_diff(fixes: &[FileFixes], base: &Path, output: &mut Output) -> std::io::Result<()> {
    fixes.iter().filter(|file| !file.is_refused()).try_for_each(|file| output.text(&file.diff(base)))
}

/// Prints the files that have fixes but were not changed.
pub(super) fn print_refused(fixes: &[FileFixes], base: &Path, output: &mut Output) {
    for file in fixes {
        if let FixOutcome::Refused(reason) = &file.outcome {
            let path = clean_path(file.path.strip_prefix(base).unwrap_or(&file.path));
            output.note(format!("not fixed: {path}: {}", clean(reason)));
        }
    }
}

/// Says how much was fixed, and how much remains.
pub(super) fn describe(verb: &str, (problems, files): (usize, usize), remaining: usize) -> String {
    let fixed = match problems {
        0 => "nothing to fix".to_owned(),
        _ => format!("{verb} {} in {}", pluralize(problems, "problem"), pluralize(files, "file")),
    };
    match remaining {
        0 => fixed,
        1 => format!("{fixed}; 1 problem remains"),
        _ => format!("{fixed}; {remaining} problems remain"),
    }
}
