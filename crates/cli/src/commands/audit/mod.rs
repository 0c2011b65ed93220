//! `prowess audit`: what the rules find in skills.

mod human;
mod json;
mod read;
mod sarif;
mod suppress;

use std::path::{Path, PathBuf};

use prowess_format::{Code, Diagnostic, Rules};
use prowess_fs::parallel;
use prowess_package::audit::{Severity, Verdict};

use super::{Outcome, YES, find, no};
use crate::args::{Audit, AuditFormat, Global};
use crate::context::Context;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, clean};
use crate::progress;

pub(super) use suppress::Lists;

/// One skill, audited.
pub(super) struct Audited {
    /// Its folder.
    folder: PathBuf,
    /// Its name, where it could be read.
    name: Option<String>,
    verdict: Verdict,
}

/// The figures of a whole run.
#[derive(Debug, Default, serde::Serialize)]
pub(super) struct Summary {
    audited: usize,
    clean: usize,
    low: usize,
    medium: usize,
    high: usize,
    critical: usize,
    suppressed: usize,
}

pub(super) fn run(context: &Context, global: &Global, call: &Audit, output: &mut Output) -> Outcome {
    let format = format(global, call)?;
    if call.rules {
        match format {
            AuditFormat::Human => human::all_rules(output)?,
            AuditFormat::Json => json::all_rules(output)?,
            AuditFormat::Sarif => sarif::write(output, &[], Path::new(""))?,
        }
        return Ok(YES);
    }
    let lists = Lists::load(context, output)?;
    let (mut audited, passed_over) =
        progress::during(global, "auditing", |progress| gather(context, call, progress))?;
    audited.sort_by(|a, b| a.folder.cmp(&b.folder));
    audited.dedup_by(|a, b| a.folder == b.folder);
    for skill in &mut audited {
        let name = skill.name.as_deref().unwrap_or_default();
        lists.apply(name, &mut skill.verdict);
    }
    let summary = Summary::of(&audited);
    let base = std::env::current_dir()?;
    match format {
        AuditFormat::Human => human::write(output, &audited, &summary, &base)?,
        AuditFormat::Json => json::write(output, &audited, &summary, &passed_over)?,
        AuditFormat::Sarif => sarif::write(output, &audited, &base)?,
    }
    if audited.is_empty() && format == AuditFormat::Human {
        output.remark("there are no skills here; prowess audit PATH looks elsewhere");
    }
    if format == AuditFormat::Human {
        super::check::name_passed_over(&passed_over, output);
    }
    // What another skill would need cannot be told from a part of them.
    if call.targets.is_empty() {
        lists.tell_unused(output);
    }
    Ok(if summary.high + summary.critical == 0 { YES } else { no() })
}

/// The form of the answer. What is asked to be JSON must not turn out to be something else.
fn format(global: &Global, call: &Audit) -> Result<AuditFormat, Failure> {
    match call.format {
        Some(AuditFormat::Human) if global.json => {
            Err(Failure::call("--json and this --format contradict each other").hint("leave out one of them"))
        }
        Some(format) => Ok(format),
        None if global.json => Ok(AuditFormat::Json),
        None => Ok(AuditFormat::Human),
    }
}

/// The skills, audited, and the folders that were not searched for them.
fn gather(
    context: &Context,
    call: &Audit,
    progress: &prowess::Progress,
) -> Result<(Vec<Audited>, Vec<PathBuf>), Failure> {
    let (mut all, mut passed_over) = (Vec::new(), Vec::new());
    let named = call.targets.iter().any(|target| !is_path(target));
    let registry = (named || call.targets.is_empty()).then(|| {
        // Those who are not trusted are audited, too: that is when it is wanted.
        prowess::Registry::open_in(context.policy().clone(), context.surroundings.clone(), progress)
    });
    let snapshot = registry.as_ref().map(prowess::Registry::snapshot);
    for target in &call.targets {
        match &snapshot {
            Some(snapshot) if !is_path(target) => {
                let skill = find(snapshot, target).map_err(|failure| {
                    failure.hint(format!("for a folder of that name: prowess audit ./{}", clean(target)))
                })?;
                all.push(read::skill(skill));
            }
            Some(_) | None => {
                let (audited, passed) = beneath(Path::new(target), progress)?;
                all.extend(audited);
                passed_over.extend(passed);
            }
        }
    }
    if let (true, Some(snapshot)) = (call.targets.is_empty(), &snapshot) {
        all.extend(parallel(snapshot.all(), 1, read::skill));
    }
    Ok((all, passed_over))
}

/// A name has no slash; a folder that is there and has none can be said with `./`.
fn is_path(target: &str) -> bool {
    target.contains('/') || target == "." || target == ".." || target.is_empty() || Path::new(target).exists()
}

/// The skills at a path, as `check` finds them.
fn beneath(path: &Path, progress: &prowess::Progress) -> Result<(Vec<Audited>, Vec<PathBuf>), Failure> {
    let tree =
        prowess::check::find_tree(path, &Rules::standard(), progress).map_err(super::check::failure)?;
    let checked = tree.checked;
    let missing = |said: &Diagnostic| said.code == Code::MissingFile;
    if let Some(checked) = checked.iter().find(|checked| checked.diagnostics.iter().any(missing)) {
        let message = format!("there is no skill in {}", clean(&checked.path.to_string_lossy()));
        return Err(Failure::new(ErrorCode::NotFound, message)
            .hint("name a skill's folder, its SKILL.md, or a tree of them"));
    }
    let audited = parallel(&checked, 1, |checked| {
        let is_file = checked.path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"));
        let folder = if is_file { checked.path.parent().unwrap_or(&checked.path) } else { &checked.path };
        read::folder(folder, checked.name.clone())
    });
    Ok((audited, tree.passed_over))
}

impl Summary {
    fn of(audited: &[Audited]) -> Self {
        let mut summary = Self { audited: audited.len(), ..Self::default() };
        for Audited { verdict, .. } in audited {
            summary.clean += usize::from(verdict.worst().is_none());
            summary.low += verdict.count(Severity::Low);
            summary.medium += verdict.count(Severity::Medium);
            summary.high += verdict.count(Severity::High);
            summary.critical += verdict.count(Severity::Critical);
            summary.suppressed += verdict.findings.len() - verdict.open().count();
        }
        summary
    }
}
