//! `prowess check`: validates skills.

use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use prowess::FileDiagnostic;
use prowess::check::{CheckError, CheckedSkill, check_source, check_tree};
use prowess::policy::RootLocation;
use prowess::shell::quote_path;
use prowess_format::{Code, Rules};

use super::check_plugins::{ManifestCheck, check_manifests};
use super::{CommandResult, SUCCESS, check_failed, read_source};
use crate::args::{CheckArgs, CheckFormat, GlobalArgs};
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, clean_path, first_few, pluralize};
use crate::progress;
use crate::report::{self, CheckSummary, ColorMode, FileReport, SourceReader};

/// The path of standard input in reports.
const STDIN: &str = "<stdin>";

/// The maximum number of bytes read from standard input.
const STDIN_MAX: u64 = 16 * 1024 * 1024;

pub(super) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &CheckArgs,
    output: &mut Output,
) -> CommandResult {
    let rules = if args.strict { Rules::strict() } else { context.policy().manifest.clone() };
    let format = format(global, args)?;
    let stdin = args.paths.iter().any(|path| is_stdin(path)).then(read_stdin).transpose()?;
    let mut manifests: Vec<ManifestCheck> = Vec::new();
    let (checked, skipped, nested) = progress::with_scan_progress(global, "checking", |progress| {
        let (mut checked, mut skipped, mut nested) =
            <(Vec<CheckedSkill>, Vec<PathBuf>, Vec<PathBuf>)>::default();
        for path in paths(context, &args.paths) {
            match stdin.as_deref().filter(|_| is_stdin(&path)) {
                Some(source) => checked.push(check_source(Path::new(STDIN), source, &rules, &args.agents)),
                None => {
                    let mut tree = check_tree(&path, &rules, &args.agents, progress).map_err(failure)?;
                    let found = check_manifests(&path);
                    // A plugin need not have skills.
                    tree.checked.retain(|checked| found.is_empty() || !is_missing(checked));
                    manifests.extend(found);
                    checked.extend(tree.checked);
                    skipped.extend(tree.skipped_dirs);
                    nested.extend(tree.nested);
                }
            }
        }
        Ok::<_, Failure>((checked, skipped, nested))
    })?;
    let checked = deduplicate(checked, !args.paths.is_empty());
    let (skipped, nested) = remove_checked(skipped, nested, &checked);
    let other_files: Vec<_> = checked
        .iter()
        .map(|checked| [checked.client_diagnostics.clone(), check_toolsets(checked)].concat())
        .collect();
    let reports: Vec<_> =
        checked.iter().zip(&other_files).map(|(checked, other_files)| report(checked, other_files)).collect();
    manifests.sort_by(|a, b| a.path.cmp(&b.path));
    manifests.dedup_by(|a, b| a.path == b.path);
    let manifest_reports: Vec<_> = manifests.iter().map(ManifestCheck::report).collect();
    let summary = CheckSummary::from_reports(&reports).with_plugin_files(&manifest_reports);
    let sources = |path: &Path| match &stdin {
        Some(source) if path == Path::new(STDIN) => Some(source.clone()),
        Some(_) | None => read_source(path),
    };
    let all_skipped = [skipped.as_slice(), nested.as_slice()].concat();
    print((&manifest_reports, &reports), &summary, &all_skipped, format, &sources, output)?;
    if format == CheckFormat::Human {
        print_skipped(&skipped, output);
        print_nested(&nested, output);
    }
    if reports.is_empty() && manifests.is_empty() && format == CheckFormat::Human {
        output.note("no skills found; run `prowess check PATH` to check another directory, or `prowess new` to create a skill");
    }
    Ok(if summary.errors == 0 { SUCCESS } else { check_failed() })
}

/// Returns the output format. Fails if `--json` and `--format` contradict each other.
fn format(global: &GlobalArgs, args: &CheckArgs) -> Result<CheckFormat, Failure> {
    match args.format {
        Some(CheckFormat::Human | CheckFormat::Github) if global.json => {
            Err(Failure::usage("--json conflicts with this --format").hint("omit one of them"))
        }
        Some(format) => Ok(format),
        None if global.json => Ok(CheckFormat::Json),
        None => Ok(CheckFormat::Human),
    }
}

/// Returns the given paths, or else the project and its skill directories.
fn paths(context: &CommandContext, arguments: &[PathBuf]) -> Vec<PathBuf> {
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

pub(super) fn failure(error: CheckError) -> Failure {
    let failure = match error {
        CheckError::Missing(_) => Failure::missing_path(error.to_string()),
        CheckError::Unreadable { .. } => Failure::new(ErrorCode::PermissionDenied, error.to_string()),
        CheckError::NotASkill(_) => Failure::usage(error.to_string()),
    };
    failure.hint("pass a skill directory, a SKILL.md, or a directory to search")
}

/// Prints the directories that were not searched.
pub(super) fn print_skipped(skipped: &[PathBuf], output: &mut Output) {
    if skipped.is_empty() {
        return;
    }
    let count = directories(skipped.len());
    output.note(format!("skipped {count} (dependencies or symlinks): {}", first_paths(skipped)));
}

/// Prints the skills inside other skills, which are not checked.
fn print_nested(nested: &[PathBuf], output: &mut Output) {
    let Some(first) = nested.first() else { return };
    let count = pluralize(nested.len(), "skill");
    output.note(format!("not checked: {count} inside another skill: {}", first_paths(nested)));
    output.note(format!("hint: prowess check {}", quote_path(relative(first, &current_directory()))));
}

/// Returns the first few paths and the number of the others.
fn first_paths(paths: &[PathBuf]) -> String {
    let base = current_directory();
    first_few(paths.iter().map(|path| clean_path(relative(path, &base))), 5, ", and")
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

/// Removes duplicates, and skills that were checked by another path.
fn remove_checked(
    mut skipped: Vec<PathBuf>,
    mut nested: Vec<PathBuf>,
    checked: &[CheckedSkill],
) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let dirs: HashSet<&Path> = match nested.is_empty() {
        true => HashSet::new(),
        false => checked.iter().filter_map(|checked| checked.path.parent()).collect(),
    };
    nested.retain(|path| !dirs.contains(path.as_path()));
    for paths in [&mut skipped, &mut nested] {
        paths.sort();
        paths.dedup();
    }
    (skipped, nested)
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

fn read_stdin() -> Result<Vec<u8>, Failure> {
    let mut source = Vec::new();
    std::io::stdin().take(STDIN_MAX + 1).read_to_end(&mut source)?;
    if source.len() as u64 > STDIN_MAX {
        let limit = STDIN_MAX / (1024 * 1024);
        let message = format!("standard input is larger than {limit} MiB");
        return Err(Failure::new(ErrorCode::TooLarge, message).hint("pass a single SKILL.md"));
    }
    Ok(source)
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

/// Checks the toolsets of a valid skill without running them. Problems are warnings, because the skill still loads.
#[cfg(feature = "toolsets")]
pub(super) fn check_toolsets(checked: &CheckedSkill) -> Vec<FileDiagnostic> {
    use prowess_format::Diagnostic;

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
        let position = location.locate(&read_source(&path).unwrap_or_default());
        FileDiagnostic::new(path, diagnostic.at(position))
    };
    errors.into_iter().map(located).collect()
}

#[cfg(not(feature = "toolsets"))]
pub(super) fn check_toolsets(_: &CheckedSkill) -> Vec<FileDiagnostic> {
    Vec::new()
}

fn report<'a>(checked: &'a CheckedSkill, other_files: &'a [FileDiagnostic]) -> FileReport<'a> {
    FileReport {
        path: &checked.path,
        name: checked.name.as_deref(),
        valid: checked.is_valid(),
        diagnostics: &checked.diagnostics,
        other_files,
    }
}

/// Prints the reports on manifests and skills.
fn print(
    (manifests, reports): (&[FileReport<'_>], &[FileReport<'_>]),
    summary: &CheckSummary,
    skipped: &[PathBuf],
    format: CheckFormat,
    sources: &SourceReader<'_>,
    output: &mut Output,
) -> Result<(), Failure> {
    let base = std::env::current_dir()?;
    match format {
        CheckFormat::Json => report::json::write(output.out(), reports, manifests, summary, skipped)?,
        CheckFormat::Sarif => {
            report::sarif::write(output.out(), &[manifests, reports].concat(), sources, &base)?;
        }
        CheckFormat::Github => {
            for file in manifests.iter().chain(reports) {
                report::github::write(output.out(), file, &base)?;
            }
        }
        CheckFormat::Human => {
            let colour = if output.styled() { ColorMode::Styled } else { ColorMode::Plain };
            for file in manifests.iter().chain(reports) {
                report::human::write(output.out(), file, sources, &base, colour)?;
            }
            report::human::write_summary(output.out(), summary)?;
        }
    }
    Ok(())
}
