//! `prowess check`: validate skill folders, files and trees.

use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use prowess::Located;
use prowess::check::{CheckError, Checked, check_source, check_tree};
use prowess::policy::RootPlace;
use prowess::shell::quote_path;
use prowess_format::{Code, Rules};

use super::{Outcome, YES, no, source_of};
use crate::args::{Check, CheckFormat, Global};
use crate::context::Context;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, clean_path, counted};
use crate::progress;
use crate::report::{self, Colour, FileReport, Sources, Summary};

/// What standard input is called in reports.
const STDIN: &str = "<stdin>";

/// The most that is read from standard input.
const STDIN_MAX: u64 = 16 * 1024 * 1024;

pub(super) fn run(context: &Context, global: &Global, call: &Check, output: &mut Output) -> Outcome {
    let rules = if call.strict { Rules::strict() } else { context.policy().manifest.clone() };
    let format = format(global, call)?;
    let stdin = call.paths.iter().any(|path| is_stdin(path)).then(standard_input).transpose()?;
    let (checked, passed_over, nested) = progress::during(global, "checking", |progress| {
        let (mut all, mut passed_over, mut nested) = <(Vec<Checked>, Vec<PathBuf>, Vec<PathBuf>)>::default();
        for path in paths(context, &call.paths) {
            match stdin.as_deref().filter(|_| is_stdin(&path)) {
                Some(source) => all.push(check_source(Path::new(STDIN), source, &rules)),
                None => {
                    let tree = check_tree(&path, &rules, progress).map_err(failure)?;
                    all.extend(tree.checked);
                    passed_over.extend(tree.passed_over);
                    nested.extend(tree.nested);
                }
            }
        }
        Ok::<_, Failure>((all, passed_over, nested))
    })?;
    let checked = distinct(checked, !call.paths.is_empty());
    let (passed_over, nested) = not_checked(passed_over, nested, &checked);
    let beside: Vec<_> = checked.iter().map(toolsets).collect();
    let reports: Vec<_> =
        checked.iter().zip(&beside).map(|(checked, beside)| report(checked, beside)).collect();
    let summary = Summary::of(&reports);
    let sources = |path: &Path| match &stdin {
        Some(source) if path == Path::new(STDIN) => Some(source.clone()),
        Some(_) | None => source_of(path),
    };
    let all_passed_over = [passed_over.as_slice(), nested.as_slice()].concat();
    print(&reports, &summary, &all_passed_over, format, &sources, output)?;
    if format == CheckFormat::Human {
        name_passed_over(&passed_over, output);
        name_nested(&nested, output);
    }
    if reports.is_empty() && format == CheckFormat::Human {
        output.remark("there are no skills here; prowess check PATH looks elsewhere, prowess new makes one");
    }
    Ok(if summary.errors == 0 { YES } else { no() })
}

/// The form of the answer. What is asked to be JSON must not turn out to be something else.
fn format(global: &Global, call: &Check) -> Result<CheckFormat, Failure> {
    match call.format {
        Some(CheckFormat::Human | CheckFormat::Github) if global.json => {
            Err(Failure::call("--json and this --format contradict each other").hint("leave out one of them"))
        }
        Some(format) => Ok(format),
        None if global.json => Ok(CheckFormat::Json),
        None => Ok(CheckFormat::Human),
    }
}

/// Without paths: the project, and the directories of the preset that lie in it.
fn paths(context: &Context, given: &[PathBuf]) -> Vec<PathBuf> {
    if !given.is_empty() {
        return given.to_vec();
    }
    let project = &context.surroundings.project;
    let roots = context.policy().scan.roots.iter().filter_map(|spec| match &spec.place {
        RootPlace::Project(path) => Some(project.join(path)),
        RootPlace::Absolute(path) if spec.given => Some(path.clone()),
        RootPlace::Absolute(_) | RootPlace::Home(_) | RootPlace::Embedded => None,
    });
    let given_roots = context.policy().scan.roots.iter().any(|spec| spec.given);
    let tree = (!given_roots).then(|| project.clone());
    tree.into_iter().chain(roots.filter(|root| root.is_dir())).collect()
}

pub(super) fn failure(error: CheckError) -> Failure {
    let failure = match error {
        CheckError::Missing(_) => Failure::missing_path(error.to_string()),
        CheckError::Unreadable { .. } => Failure::new(ErrorCode::PermissionDenied, error.to_string()),
        CheckError::NotASkill(_) => Failure::call(error.to_string()),
    };
    failure.hint("name a skill's folder, its SKILL.md, or a tree of them")
}

/// Names the folders that were not searched for skills.
pub(super) fn name_passed_over(passed_over: &[PathBuf], output: &mut Output) {
    if passed_over.is_empty() {
        return;
    }
    let what = counted(passed_over.len(), "folder");
    output
        .remark(format!("not searched: {what} of dependencies or behind a link: {}", first_few(passed_over)));
}

/// Names the skills inside other skills, which belong to those.
fn name_nested(nested: &[PathBuf], output: &mut Output) {
    let Some(first) = nested.first() else { return };
    let what = counted(nested.len(), "skill");
    output.remark(format!("not checked: {what} inside another skill: {}", first_few(nested)));
    output.remark(format!("hint: prowess check {}", quote_path(relative(first, &current_directory()))));
}

/// The first few paths, and how many more there are.
fn first_few(paths: &[PathBuf]) -> String {
    const SHOWN: usize = 5;
    let base = current_directory();
    let mut names: Vec<_> = paths.iter().take(SHOWN).map(|path| clean_path(relative(path, &base))).collect();
    if paths.len() > SHOWN {
        names.push(format!("and {} more", paths.len() - SHOWN));
    }
    names.join(", ")
}

fn current_directory() -> PathBuf {
    std::env::current_dir().unwrap_or_default()
}

fn relative<'p>(path: &'p Path, base: &Path) -> &'p Path {
    path.strip_prefix(base).unwrap_or(path)
}

/// Leaves out what was reached and checked by another path.
fn not_checked(
    mut passed_over: Vec<PathBuf>,
    mut nested: Vec<PathBuf>,
    checked: &[Checked],
) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let folders: HashSet<&Path> = match nested.is_empty() {
        true => HashSet::new(),
        false => checked.iter().filter_map(|checked| checked.path.parent()).collect(),
    };
    nested.retain(|path| !folders.contains(path.as_path()));
    for paths in [&mut passed_over, &mut nested] {
        paths.sort();
        paths.dedup();
    }
    (passed_over, nested)
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

fn standard_input() -> Result<Vec<u8>, Failure> {
    let mut source = Vec::new();
    std::io::stdin().take(STDIN_MAX + 1).read_to_end(&mut source)?;
    if source.len() as u64 > STDIN_MAX {
        let limit = STDIN_MAX / (1024 * 1024);
        let message = format!("there is more than {limit} MiB on standard input");
        return Err(Failure::new(ErrorCode::TooLarge, message).hint("give it one SKILL.md"));
    }
    Ok(source)
}

/// A skill that was reached by two paths is reported once. That a folder holds none is an error only where it was named.
fn distinct(mut checked: Vec<Checked>, named: bool) -> Vec<Checked> {
    let is_missing =
        |checked: &Checked| checked.diagnostics.iter().any(|said| said.code == Code::MissingFile);
    checked.retain(|checked| named || !is_missing(checked));
    checked.sort_by(|a, b| a.path.cmp(&b.path));
    checked.dedup_by(|a, b| a.path == b.path);
    checked
}

/// What is wrong with the toolsets of a skill that loads, as far as that can be told without running anything. They do
/// not stop the skill from loading, so these are warnings.
#[cfg(feature = "toolsets")]
fn toolsets(checked: &Checked) -> Vec<Located> {
    use prowess_format::{Diagnostic, Place, Span};

    // Nothing is opened for the many skills that have none.
    let has_toolsets = checked.is_valid() && !checked.toolsets.is_empty() && checked.path != Path::new(STDIN);
    let Some(folder) = checked.path.parent().filter(|_| has_toolsets) else { return Vec::new() };
    let wrong = prowess_toolset::lint(folder, &checked.toolsets);
    let located = |error: prowess_toolset::ToolsetError| {
        let said = Diagnostic::warning(Code::ToolsetLoad, error.message())
            .help("mend the toolset; docs/toolsets.md tells what it can use");
        let Some(place) = error.place() else { return Located::new(checked.path.clone(), said) };
        let path = folder.join(&place.file);
        let start = source_of(&path).map_or(0, |source| offset(&source, place.line, place.column));
        let at = Place { line: place.line, column: place.column, span: Span { start, end: start } };
        Located::new(path, said.at(at))
    };
    wrong.into_iter().map(located).collect()
}

#[cfg(not(feature = "toolsets"))]
fn toolsets(_: &Checked) -> Vec<Located> {
    Vec::new()
}

/// The byte of a line and a column.
#[cfg(feature = "toolsets")]
fn offset(source: &[u8], line: u32, column: u32) -> u32 {
    let text = String::from_utf8_lossy(source);
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1) as usize).map(str::len).sum();
    let rest = text.get(before..).unwrap_or_default().chars();
    let inside: usize = rest.take(column.saturating_sub(1) as usize).map(char::len_utf8).sum();
    u32::try_from(before + inside).unwrap_or_default()
}

fn report<'a>(checked: &'a Checked, beside: &'a [Located]) -> FileReport<'a> {
    FileReport {
        path: &checked.path,
        name: checked.name.as_deref(),
        valid: checked.is_valid(),
        diagnostics: &checked.diagnostics,
        beside,
    }
}

fn print(
    reports: &[FileReport<'_>],
    summary: &Summary,
    passed_over: &[PathBuf],
    format: CheckFormat,
    sources: &Sources<'_>,
    output: &mut Output,
) -> Result<(), Failure> {
    let base = std::env::current_dir()?;
    match format {
        CheckFormat::Json => report::json::write(output.out(), reports, summary, passed_over)?,
        CheckFormat::Sarif => report::sarif::write(output.out(), reports, sources, &base)?,
        CheckFormat::Github => {
            for file in reports {
                report::github::write(output.out(), file, &base)?;
            }
        }
        CheckFormat::Human => {
            let colour = if output.styled() { Colour::Styled } else { Colour::Plain };
            for file in reports {
                report::human::write(output.out(), file, sources, &base, colour)?;
            }
            report::human::write_summary(output.out(), summary)?;
        }
    }
    Ok(())
}
