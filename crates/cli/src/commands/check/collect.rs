//! Finds and checks the skills and plugins at the given paths.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use prowess::FileDiagnostic;
use prowess::check::{CheckError, CheckedSkill, CheckedTree, check_source, check_tree};
use prowess::policy::RootLocation;
use prowess_format::{Code, Diagnostic, Rules};

use super::STDIN;
use super::plugins::{ManifestCheck, check_manifests};
use crate::args::{CheckArgs, GlobalArgs};
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::progress;
use crate::report::FileReport;

/// What is checked, and how.
pub(super) struct CheckInputs<'a> {
    pub(super) args: &'a CheckArgs,
    pub(super) global: &'a GlobalArgs,
    pub(super) rules: Rules,
    /// The given paths, or the default ones.
    pub(super) paths: Vec<PathBuf>,
    /// The content of standard input, if it is checked.
    pub(super) stdin: Option<Vec<u8>>,
}

/// The skills and plugins that were checked, and the directories that were not.
pub(super) struct CheckedPaths {
    pub(super) tree: CheckedTree,
    pub(super) manifests: Vec<ManifestCheck>,
}

/// A checked skill or a file of a plugin, with the diagnostics that are reported.
pub(super) struct CheckedFile {
    pub(super) path: PathBuf,
    name: Option<String>,
    valid: bool,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) other_files: Vec<FileDiagnostic>,
}

impl CheckInputs<'_> {
    /// Checks all paths. A skill that is reached by two paths is checked once.
    pub(super) fn collect(&self) -> Result<CheckedPaths, Failure> {
        let mut manifests = Vec::new();
        let mut all = progress::with_scan_progress(self.global, "checking", |progress| {
            let mut all = CheckedTree::default();
            for path in &self.paths {
                if let Some(source) = self.stdin.as_deref().filter(|_| is_stdin(path)) {
                    let path = Path::new(STDIN);
                    all.checked.push(check_source(path, source, &self.rules, &self.args.agents));
                    continue;
                }
                let mut tree = check_tree(path, &self.rules, &self.args.agents, progress).map_err(failure)?;
                let found = check_manifests(path);
                // A plugin need not have skills.
                tree.checked.retain(|checked| found.is_empty() || !is_missing(checked));
                manifests.extend(found);
                all.checked.extend(tree.checked);
                all.skipped_dirs.extend(tree.skipped_dirs);
                all.nested.extend(tree.nested);
            }
            Ok::<_, Failure>(all)
        })?;
        all.checked = deduplicate(all.checked, !self.args.paths.is_empty());
        remove_checked(&mut all);
        manifests.sort_by(|a, b| a.path.cmp(&b.path));
        manifests.dedup_by(|a, b| a.path == b.path);
        Ok(CheckedPaths { tree: all, manifests })
    }
}

impl CheckedPaths {
    /// Returns the diagnostics of skills and of files of plugins.
    pub(super) fn into_files(self) -> (Vec<CheckedFile>, Vec<CheckedFile>) {
        let skills = self.tree.checked.into_iter().map(|checked| {
            let toolsets = check_toolsets(&checked);
            CheckedFile {
                valid: checked.is_valid(),
                path: checked.path,
                name: checked.name,
                diagnostics: checked.diagnostics,
                other_files: [checked.client_diagnostics, toolsets].concat(),
            }
        });
        let manifests = self.manifests.into_iter().map(|manifest| CheckedFile {
            valid: !manifest.diagnostics.iter().any(Diagnostic::is_error),
            path: manifest.path,
            name: None,
            diagnostics: manifest.diagnostics,
            other_files: Vec::new(),
        });
        (skills.collect(), manifests.collect())
    }
}

impl CheckedFile {
    pub(super) fn report(&self) -> FileReport<'_> {
        FileReport {
            path: &self.path,
            name: self.name.as_deref(),
            valid: self.valid,
            diagnostics: &self.diagnostics,
            other_files: &self.other_files,
        }
    }

    /// Keeps the diagnostics for which `is_kept` returns `true`.
    pub(super) fn retain(&mut self, mut is_kept: impl FnMut(&Path, &Diagnostic) -> bool) {
        let path = &self.path;
        self.diagnostics.retain(|diagnostic| is_kept(path, diagnostic));
        self.other_files.retain(|file| is_kept(&file.path, &file.diagnostic));
    }
}

/// Returns the given paths, or else the project and its skill directories.
pub(super) fn paths(context: &CommandContext, arguments: &[PathBuf]) -> Vec<PathBuf> {
    if !arguments.is_empty() {
        return arguments.to_vec();
    }
    let project = &context.host_env.project;
    let roots = context.policy().scan.roots.iter().filter_map(|spec| match &spec.location {
        RootLocation::Project(path) => Some(project.join(path)),
        RootLocation::Absolute(path) if spec.is_explicit => Some(path.clone()),
        RootLocation::Absolute(_) | RootLocation::Home(_) | RootLocation::Embedded => None,
    });
    let given_roots = context.policy().scan.roots.iter().any(|spec| spec.is_explicit);
    let tree = (!given_roots).then(|| project.clone());
    tree.into_iter().chain(roots.filter(|root| root.is_dir())).collect()
}

pub(in crate::commands) fn failure(error: CheckError) -> Failure {
    let failure = match error {
        CheckError::Missing(_) => Failure::missing_path(error.to_string()),
        CheckError::Unreadable { .. } => Failure::new(ErrorCode::PermissionDenied, error.to_string()),
        CheckError::NotASkill(_) => Failure::usage(error.to_string()),
    };
    failure.hint("pass a skill directory, a SKILL.md, or a directory to search")
}

pub(super) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Returns `true` for the result for a directory without skills.
fn is_missing(checked: &CheckedSkill) -> bool {
    checked.diagnostics.iter().any(|diagnostic| diagnostic.code == Code::MissingFile)
}

/// Removes skills that were reached by two paths. An empty directory is an error only if it was passed explicitly.
fn deduplicate(mut checked: Vec<CheckedSkill>, explicit: bool) -> Vec<CheckedSkill> {
    checked.retain(|checked| explicit || !is_missing(checked));
    checked.sort_by(|a, b| a.path.cmp(&b.path));
    checked.dedup_by(|a, b| a.path == b.path);
    checked
}

/// Removes duplicates, and skills that were checked by another path.
fn remove_checked(tree: &mut CheckedTree) {
    let dirs: HashSet<&Path> = match tree.nested.is_empty() {
        true => HashSet::new(),
        false => tree.checked.iter().filter_map(|checked| checked.path.parent()).collect(),
    };
    tree.nested.retain(|path| !dirs.contains(path.as_path()));
    for paths in [&mut tree.skipped_dirs, &mut tree.nested] {
        paths.sort();
        paths.dedup();
    }
}

/// Checks the toolsets of a valid skill without running them. Problems are warnings, because the skill still loads.
#[cfg(feature = "toolsets")]
pub(in crate::commands) fn check_toolsets(checked: &CheckedSkill) -> Vec<FileDiagnostic> {
    let has_toolsets = checked.is_valid() && !checked.toolsets.is_empty() && checked.path != Path::new(STDIN);
    let Some(dir) = checked.path.parent().filter(|_| has_toolsets) else { return Vec::new() };
    let errors = prowess_toolset::lint(dir, &checked.toolsets);
    let located = |error: prowess_toolset::ToolsetError| {
        let diagnostic = Diagnostic::warning(Code::ToolsetLoad, error.message())
            .help("fix the toolset; see docs/toolsets.md for the available APIs");
        let Some(location) = error.location() else {
            return FileDiagnostic::new(checked.path.clone(), diagnostic);
        };
        let path = dir.join(&location.file);
        let position = location.locate(&crate::commands::read_source(&path).unwrap_or_default());
        FileDiagnostic::new(path, diagnostic.at(position))
    };
    errors.into_iter().map(located).collect()
}

#[cfg(not(feature = "toolsets"))]
pub(in crate::commands) fn check_toolsets(_: &CheckedSkill) -> Vec<FileDiagnostic> {
    Vec::new()
}
