//! Names the skills that a check or an audit did not read.

use std::path::{Path, PathBuf};

use prowess::check::{CheckedTree, PassedOverSkill, find_passed_over};
use prowess::shell::quote_path;
use serde_json::{Value, json};

use crate::args::ReportFormat;
use crate::output::{Output, clean_path, first_few, pluralize};
use crate::report::problem::passed_over_text;

/// The directories that were not searched, and the skills that were not read.
#[derive(Default)]
pub(super) struct PassedOver {
    dirs: Vec<PathBuf>,
    nested: Vec<PathBuf>,
    /// Every `SKILL.md` in them; empty if it was not searched for.
    pub(super) skills: Vec<PassedOverSkill>,
}

impl PassedOver {
    /// Lists what a search left out. Directories of dependencies can be large, so human-readable output names the skills in
    /// them only with `--verbose`.
    pub(super) fn new(tree: &CheckedTree, format: ReportFormat, output: &Output) -> Self {
        let is_searched = match format {
            ReportFormat::Human => output.verbose(),
            ReportFormat::Json | ReportFormat::Sarif | ReportFormat::Github | ReportFormat::Junit => true,
        };
        let skills = if is_searched { find_passed_over(tree) } else { Vec::new() };
        Self { dirs: tree.skipped_dirs.clone(), nested: tree.nested.clone(), skills }
    }

    /// Returns the directories for JSON.
    pub(super) fn dirs_json(&self) -> Vec<Value> {
        self.dirs.iter().chain(&self.nested).map(|path| json!(path.to_string_lossy())).collect()
    }

    /// Returns the skills for JSON.
    pub(super) fn skills_json(&self) -> Vec<Value> {
        let skill = |skill: &PassedOverSkill| json!({"path": skill.path.to_string_lossy(), "reason": skill.reason.as_str()});
        self.skills.iter().map(skill).collect()
    }

    /// Prints the directories that were not searched, and the skills inside other skills. `command` is `check` or `audit`.
    pub(super) fn print(&self, command: &str, output: &mut Output) {
        let base = current_directory();
        if output.verbose() {
            for skill in &self.skills {
                let path = clean_path(relative(&skill.path, &base));
                output.note(format!("{path}: {}", passed_over_text(skill)));
            }
            let is_empty = |dir: &&PathBuf| !self.skills.iter().any(|skill| skill.path.starts_with(dir));
            let empty: Vec<_> = self.dirs.iter().filter(is_empty).cloned().collect();
            if !empty.is_empty() {
                let paths = all_paths(&empty, &base);
                output.note(format!("skipped without another SKILL.md: {paths}"));
            }
            return;
        }
        if !self.dirs.is_empty() {
            let count = directories(self.dirs.len());
            let paths = first_paths(&self.dirs, &base);
            output.note(format!("skipped {count} (dependencies or symlinks): {paths}"));
            output.note("hint: add -v to list every SKILL.md in them");
        }
        if let Some(first) = self.nested.first() {
            let count = pluralize(self.nested.len(), "skill");
            let paths = first_paths(&self.nested, &base);
            output.note(format!("not checked: {count} inside another skill: {paths}"));
            output.note(format!("hint: prowess {command} {}", quote_path(relative(first, &base))));
        }
    }
}

/// Returns the first few paths and the number of the others.
fn first_paths(paths: &[PathBuf], base: &Path) -> String {
    first_few(paths.iter().map(|path| clean_path(relative(path, base))), 5, ", and")
}

fn all_paths(paths: &[PathBuf], base: &Path) -> String {
    first_few(paths.iter().map(|path| clean_path(relative(path, base))), paths.len(), ", and")
}

/// Returns a count of directories with the noun.
fn directories(count: usize) -> String {
    format!("{count} {}", if count == 1 { "directory" } else { "directories" })
}

fn current_directory() -> PathBuf {
    std::env::current_dir().unwrap_or_default()
}

fn relative<'p>(path: &'p Path, base: &Path) -> &'p Path {
    path.strip_prefix(base).unwrap_or(path)
}
