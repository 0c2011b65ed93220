//! `prowess audit`: audits skills.

mod collect;
mod human;
mod json;
mod sarif;
mod suppressions;

use std::path::{Path, PathBuf};

use prowess_format::{Code, Diagnostic, Rules};
use prowess_fs::parallel_map;
use prowess_package::audit::{FindingSeverity, Verdict};

use super::{CommandResult, SUCCESS, check_failed, did_you_mean, find_skill};
use crate::args::{AuditArgs, AuditFormat, GlobalArgs};
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, clean};
use crate::progress;

pub(super) use suppressions::SuppressionLists;

pub(super) struct AuditedSkill {
    /// Its directory.
    dir: PathBuf,
    /// Its name, if it could be read.
    name: Option<String>,
    verdict: Verdict,
}

/// The totals of an audit.
#[derive(Debug, Default, serde::Serialize)]
pub(super) struct AuditSummary {
    audited: usize,
    clean: usize,
    low: usize,
    medium: usize,
    high: usize,
    critical: usize,
    suppressed: usize,
}

pub(super) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &AuditArgs,
    output: &mut Output,
) -> CommandResult {
    let format = format(global, args)?;
    if args.rules {
        match format {
            AuditFormat::Human => human::print_rules(output)?,
            AuditFormat::Json => json::write_rules(output)?,
            AuditFormat::Sarif => sarif::write(output, &[], Path::new(""))?,
        }
        return Ok(SUCCESS);
    }
    let lists = SuppressionLists::load(context, output)?;
    let (mut audited, skipped) =
        progress::with_scan_progress(global, "auditing", |progress| audit_targets(context, args, progress))?;
    audited.sort_by(|a, b| a.dir.cmp(&b.dir));
    audited.dedup_by(|a, b| a.dir == b.dir);
    for skill in &mut audited {
        let name = skill.name.as_deref().unwrap_or_default();
        lists.apply(name, &mut skill.verdict);
    }
    let summary = AuditSummary::from_skills(&audited);
    let base = std::env::current_dir()?;
    match format {
        AuditFormat::Human => human::write(output, &audited, &summary, &base)?,
        AuditFormat::Json => json::write(output, &audited, &summary, &skipped)?,
        AuditFormat::Sarif => sarif::write(output, &audited, &base)?,
    }
    if audited.is_empty() && format == AuditFormat::Human {
        output.note("no skills found; run `prowess audit PATH` to audit another directory");
    }
    if format == AuditFormat::Human {
        super::check::print_skipped(&skipped, output);
    }
    // An audit of selected skills cannot tell which suppressions are unused.
    if args.targets.is_empty() {
        lists.print_unused(output);
    }
    Ok(if summary.high + summary.critical == 0 { SUCCESS } else { check_failed() })
}

/// Returns the output format. Fails if `--json` and `--format` contradict each other.
fn format(global: &GlobalArgs, args: &AuditArgs) -> Result<AuditFormat, Failure> {
    match args.format {
        Some(AuditFormat::Human) if global.json => {
            Err(Failure::usage("--json conflicts with this --format").hint("omit one of them"))
        }
        Some(format) => Ok(format),
        None if global.json => Ok(AuditFormat::Json),
        None => Ok(AuditFormat::Human),
    }
}

/// Returns the audited skills and the directories that were not searched.
fn audit_targets(
    context: &CommandContext,
    args: &AuditArgs,
    progress: &prowess::ScanProgress,
) -> Result<(Vec<AuditedSkill>, Vec<PathBuf>), Failure> {
    let (mut audited, mut skipped) = (Vec::new(), Vec::new());
    let has_names = args.targets.iter().any(|target| !is_path(target));
    let registry = (has_names || args.targets.is_empty()).then(|| {
        // Includes untrusted skills, which are the most important ones to audit.
        prowess::Registry::open_in(context.policy().clone(), context.host_env.clone(), progress)
    });
    let snapshot = registry.as_ref().map(prowess::Registry::snapshot);
    for target in &args.targets {
        match &snapshot {
            Some(snapshot) if !is_path(target) => {
                let skill = find_skill(snapshot, target).map_err(|failure| {
                    let names: Vec<_> = snapshot.all().iter().map(|skill| skill.name()).collect();
                    let otherwise =
                        format!("to audit a directory of that name: prowess audit ./{}", clean(target));
                    failure.hint(did_you_mean(target, names.iter().map(AsRef::as_ref), &otherwise))
                })?;
                audited.push(collect::audit_skill(skill));
            }
            Some(_) | None => {
                let (in_path, more_skipped) = audit_path(Path::new(target), progress)?;
                audited.extend(in_path);
                skipped.extend(more_skipped);
            }
        }
    }
    if let (true, Some(snapshot)) = (args.targets.is_empty(), &snapshot) {
        audited.extend(parallel_map(snapshot.all(), 1, collect::audit_skill));
    }
    Ok((audited, skipped))
}

/// Returns `true` if a target is a path and not a skill name. A path contains a slash or exists.
fn is_path(target: &str) -> bool {
    target.contains('/') || target == "." || target == ".." || target.is_empty() || Path::new(target).exists()
}

/// Audits the skills at a path, which are the same that `check` finds.
fn audit_path(
    path: &Path,
    progress: &prowess::ScanProgress,
) -> Result<(Vec<AuditedSkill>, Vec<PathBuf>), Failure> {
    let tree =
        prowess::check::find_skills(path, &Rules::standard(), progress).map_err(super::check::failure)?;
    let checked = tree.checked;
    let missing = |diagnostic: &Diagnostic| diagnostic.code == Code::MissingFile;
    if let Some(checked) = checked.iter().find(|checked| checked.diagnostics.iter().any(missing)) {
        let message = format!("no skill found in {}", clean(&checked.path.to_string_lossy()));
        return Err(Failure::new(ErrorCode::NotFound, message)
            .hint("pass a skill directory, a SKILL.md, or a directory to search"));
    }
    let audited = parallel_map(&checked, 1, |checked| {
        let is_file = checked.path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"));
        let dir = if is_file { checked.path.parent().unwrap_or(&checked.path) } else { &checked.path };
        collect::audit_dir(dir, checked.name.clone())
    });
    Ok((audited, tree.skipped_dirs))
}

impl AuditSummary {
    fn from_skills(audited: &[AuditedSkill]) -> Self {
        let mut summary = Self { audited: audited.len(), ..Self::default() };
        for AuditedSkill { verdict, .. } in audited {
            summary.clean += usize::from(verdict.worst().is_none());
            summary.low += verdict.count(FindingSeverity::Low);
            summary.medium += verdict.count(FindingSeverity::Medium);
            summary.high += verdict.count(FindingSeverity::High);
            summary.critical += verdict.count(FindingSeverity::Critical);
            summary.suppressed += verdict.findings.len() - verdict.unsuppressed().count();
        }
        summary
    }
}
