//! `prowess audit`: audits skills.

mod collect;
mod human;
mod json;
mod problems;
mod sarif;
mod suppressions;

use std::path::{Path, PathBuf};

use prowess::check::CheckedTree;
use prowess_format::{Code, Diagnostic, Rules};
use prowess_fs::parallel_map;
use prowess_package::audit::{FindingSeverity, Verdict};

use super::baseline::{Baseline, FoundProblem};
use super::passed_over::PassedOver;
use super::{CommandResult, SUCCESS, check_failed, did_you_mean, find_skill, report_format};
use crate::args::{AuditArgs, GlobalArgs, ReportFormat};
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, clean, pluralize};
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
    /// The number of findings in the baseline.
    #[serde(skip_serializing_if = "is_zero")]
    known: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

pub(super) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &AuditArgs,
    output: &mut Output,
) -> CommandResult {
    let format = report_format(args.format, global)?;
    if args.rules {
        match format {
            ReportFormat::Human => human::print_rules(output)?,
            ReportFormat::Json => json::write_rules(output)?,
            ReportFormat::Sarif => sarif::write(output, &[], &[], Path::new(""))?,
            ReportFormat::Github | ReportFormat::Junit => {
                let message = format!("--rules conflicts with --format {}", format.as_str());
                return Err(Failure::usage(message).hint("use --format human, json or sarif"));
            }
        }
        return Ok(SUCCESS);
    }
    let mut baseline = Baseline::load(&args.baseline, "audit")?;
    // Only files of the user and of trusted projects, and options, hide findings: a project must not silence the audit of
    // its own skills.
    let lists = SuppressionLists::load(context, output)?;
    let ignored = suppressions::from_options(&args.ignore)?;
    let (mut audited, tree) =
        progress::with_scan_progress(global, "auditing", |progress| audit_targets(context, args, progress))?;
    audited.sort_by(|a, b| a.dir.cmp(&b.dir));
    audited.dedup_by(|a, b| a.dir == b.dir);
    for skill in &mut audited {
        let name = skill.name.as_deref().unwrap_or_default();
        lists.apply(name, &mut skill.verdict);
        ignored.apply(name, &mut skill.verdict);
        if let Some(baseline) = &mut baseline {
            skill.remove_known(baseline);
        }
    }
    let read: Vec<_> = audited.iter().map(|skill| skill.dir.clone()).collect();
    if let Some(baseline) = baseline.take_if(|baseline| baseline.is_written()) {
        baseline.write(&read, output)?;
        return Ok(SUCCESS);
    }
    let passed_over = PassedOver::new(&tree, format, output);
    let stale = baseline.as_ref().map(|baseline| baseline.stale(&read)).unwrap_or_default();
    let mut summary = AuditSummary::from_skills(&audited);
    summary.known = baseline.as_ref().map_or(0, |baseline| baseline.known);
    let base = std::env::current_dir()?;
    match format {
        ReportFormat::Human => human::write(output, &audited, &summary, &base)?,
        ReportFormat::Json => {
            let baseline = baseline.as_ref().map(|baseline| baseline.to_json(&stale));
            json::write(output, &audited, &summary, &passed_over, baseline)?;
        }
        ReportFormat::Sarif => sarif::write(output, &audited, &passed_over.skills, &base)?,
        ReportFormat::Github => problems::write_github(output, &audited, &passed_over.skills, &base)?,
        ReportFormat::Junit => {
            problems::write_junit(output, &audited, &passed_over.skills, args.threshold(), &base)?;
        }
    }
    if format == ReportFormat::Human {
        if audited.is_empty() {
            output.note("no skills found; run `prowess audit PATH` to audit another directory");
        }
        if summary.known > 0 {
            output.note(format!("not shown: {} of the baseline", pluralize(summary.known, "problem")));
        }
        if let Some(baseline) = &baseline {
            baseline.print_stale(&stale, output);
        }
        passed_over.print("audit", output);
    }
    // An audit of selected skills cannot tell which suppressions are unused.
    if args.targets.is_empty() {
        lists.print_unused(output);
    }
    let is_failed = audited.iter().any(|skill| skill.verdict.worst() >= Some(args.threshold()));
    Ok(if is_failed { check_failed() } else { SUCCESS })
}

impl AuditedSkill {
    /// Removes the findings that are in the baseline.
    fn remove_known(&mut self, baseline: &mut Baseline) {
        let dir = &self.dir;
        self.verdict.findings.retain(|finding| {
            let found = FoundProblem {
                path: &dir.join(&finding.path),
                code: finding.rule,
                message: &finding.message,
                content: &finding.excerpt,
            };
            finding.suppressed.is_some() || !baseline.record(found)
        });
    }
}

/// Returns the audited skills, and the tree with the directories that were not searched.
fn audit_targets(
    context: &CommandContext,
    args: &AuditArgs,
    progress: &prowess::ScanProgress,
) -> Result<(Vec<AuditedSkill>, CheckedTree), Failure> {
    let (mut audited, mut all) = (Vec::new(), CheckedTree::default());
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
                let (in_path, tree) = audit_path(Path::new(target), progress)?;
                audited.extend(in_path);
                all.checked.extend(tree.checked);
                all.skipped_dirs.extend(tree.skipped_dirs);
            }
        }
    }
    if let (true, Some(snapshot)) = (args.targets.is_empty(), &snapshot) {
        audited.extend(parallel_map(snapshot.all(), 1, collect::audit_skill));
    }
    all.skipped_dirs.sort();
    all.skipped_dirs.dedup();
    Ok((audited, all))
}

/// Returns `true` if a target is a path and not a skill name. A path contains a slash or exists.
fn is_path(target: &str) -> bool {
    target.contains('/') || target == "." || target == ".." || target.is_empty() || Path::new(target).exists()
}

/// Audits the skills at a path, which are the same that `check` finds.
fn audit_path(
    path: &Path,
    progress: &prowess::ScanProgress,
) -> Result<(Vec<AuditedSkill>, CheckedTree), Failure> {
    let tree =
        prowess::check::find_skills(path, &Rules::standard(), progress).map_err(super::check::failure)?;
    let checked = &tree.checked;
    let missing = |diagnostic: &Diagnostic| diagnostic.code == Code::MissingFile;
    if let Some(checked) = checked.iter().find(|checked| checked.diagnostics.iter().any(missing)) {
        let message = format!("no skill found in {}", clean(&checked.path.to_string_lossy()));
        return Err(Failure::new(ErrorCode::NotFound, message)
            .hint("pass a skill directory, a SKILL.md, or a directory to search"));
    }
    let audited = parallel_map(checked, 1, |checked| {
        let is_file = checked.path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"));
        let dir = if is_file { checked.path.parent().unwrap_or(&checked.path) } else { &checked.path };
        collect::audit_dir(dir, checked.name.clone())
    });
    Ok((audited, tree))
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
