//! The results of a check, without what is ignored or known, and how they are printed.

use std::path::{Path, PathBuf};

use prowess_config::IgnoredCode;
use prowess_format::{Diagnostic, Severity};
use serde_json::Value;

use super::STDIN;
use super::collect::{CheckInputs, CheckedFile};
use super::fix::{self, FileFixes};
use crate::args::{CheckArgs, ReportFormat};
use crate::commands::baseline::{Baseline, FoundProblem};
use crate::commands::passed_over::PassedOver;
use crate::commands::read_source;
use crate::context::CommandContext;
use crate::failure::Failure;
use crate::output::{Output, pluralize};
use crate::report::problem::SkillProblems;
use crate::report::{self, CheckSummary, ColorMode, FileReport};

/// The diagnostics that are not reported, from options and from the configuration.
pub(super) struct IgnoreFilter {
    ignored: Vec<IgnoredCode>,
    project: PathBuf,
}

impl IgnoreFilter {
    pub(super) fn new(context: &CommandContext, args: &CheckArgs) -> Self {
        let configured = &context.configuration.check.ignore;
        let ignored = configured.iter().chain(&args.ignore).cloned().collect();
        Self { ignored, project: context.host_env.project.clone() }
    }

    pub(super) fn is_ignored(&self, path: &Path, diagnostic: &Diagnostic) -> bool {
        self.ignored.iter().filter(|ignored| ignored.code == diagnostic.code).any(|ignored| {
            let Some(glob) = &ignored.glob else { return true };
            let path = path.strip_prefix(&self.project).unwrap_or(path);
            prowess::glob_matches(glob, &path.to_string_lossy())
        })
    }
}

/// What is reported.
#[derive(Default)]
pub(super) struct CheckedReport {
    pub(super) skills: Vec<CheckedFile>,
    pub(super) manifests: Vec<CheckedFile>,
    pub(super) passed_over: PassedOver,
    pub(super) fixes: Vec<FileFixes>,
    pub(super) baseline: Option<Baseline>,
    /// The number of diagnostics that are ignored.
    pub(super) ignored: usize,
}

impl CheckedReport {
    fn retain(&mut self, mut is_kept: impl FnMut(&Path, &Diagnostic) -> bool) {
        for file in self.manifests.iter_mut().chain(&mut self.skills) {
            file.retain(&mut is_kept);
        }
    }

    /// Removes the diagnostics that are ignored.
    pub(super) fn apply_filter(&mut self, filter: &IgnoreFilter) {
        if filter.ignored.is_empty() {
            return;
        }
        let mut ignored = 0;
        self.retain(|path, diagnostic| {
            let is_ignored = filter.is_ignored(path, diagnostic);
            ignored += usize::from(is_ignored);
            !is_ignored
        });
        self.ignored = ignored;
    }

    /// Removes the diagnostics that are in the baseline.
    pub(super) fn apply_baseline(&mut self) {
        let Some(mut baseline) = self.baseline.take() else { return };
        self.retain(|path, diagnostic| {
            let (code, message) = (diagnostic.code.as_str(), diagnostic.message.as_str());
            !baseline.record(FoundProblem { path, code, message, content: "" })
        });
        self.baseline = Some(baseline);
    }

    /// Returns `true` if there is a diagnostic of this severity or worse.
    pub(super) fn has_problem(&self, threshold: Severity) -> bool {
        let mut files = self.skills.iter().chain(&self.manifests);
        files.any(|file| file.report().all_diagnostics().any(|diagnostic| diagnostic.severity >= threshold))
    }

    /// Returns the directories of all files that were read.
    pub(super) fn read_dirs(&self) -> Vec<PathBuf> {
        let files = self.skills.iter().chain(&self.manifests);
        files.filter_map(|file| file.path.parent()).map(Path::to_owned).collect()
    }

    /// Prints everything in a format.
    pub(super) fn print(
        &self,
        inputs: &CheckInputs<'_>,
        format: ReportFormat,
        base: &Path,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let skills: Vec<_> = self.skills.iter().map(CheckedFile::report).collect();
        let manifests: Vec<_> = self.manifests.iter().map(CheckedFile::report).collect();
        let (fixed, _) = fix::totals(&self.fixes);
        let summary = CheckSummary {
            fixed: if inputs.args.diff { 0 } else { fixed },
            ignored: self.ignored,
            known: self.baseline.as_ref().map_or(0, |baseline| baseline.known),
            ..CheckSummary::from_reports(&skills).with_plugin_files(&manifests)
        };
        let files = || manifests.iter().chain(&skills);
        let sources = |path: &Path| match &inputs.stdin {
            Some(source) if path == Path::new(STDIN) => Some(source.clone()),
            Some(_) | None => read_source(path),
        };
        let passed_over = &self.passed_over.skills;
        match format {
            ReportFormat::Json => {
                let fixes = fix::to_json(&self.fixes, inputs.args.diff, base);
                self.print_json(&skills, &manifests, &summary, fixes, output)?;
            }
            ReportFormat::Sarif => {
                let reports = [manifests.as_slice(), skills.as_slice()].concat();
                report::sarif::write(output.out(), &reports, passed_over, &sources, base)?;
            }
            ReportFormat::Github => {
                let problems = files().flat_map(FileReport::problems);
                report::github::write(output.out(), problems, passed_over, base)?;
            }
            ReportFormat::Junit => {
                let fails_from = inputs.args.threshold().into();
                let cases: Vec<_> = files()
                    .map(|file| SkillProblems { path: file.path, problems: file.problems(), fails_from })
                    .collect();
                report::junit::write(output.out(), "check", &cases, passed_over, base)?;
            }
            ReportFormat::Human if inputs.args.diff => self.print_diff(&summary, base, output)?,
            ReportFormat::Human => {
                let colour = if output.styled() { ColorMode::Styled } else { ColorMode::Plain };
                for file in files() {
                    report::human::write(output.out(), file, &sources, base, colour)?;
                }
                report::human::write_summary(output.out(), &summary)?;
                self.print_notes(inputs, &summary, base, output)?;
            }
        }
        Ok(())
    }

    fn print_json(
        &self,
        skills: &[FileReport<'_>],
        plugin_files: &[FileReport<'_>],
        summary: &CheckSummary,
        fixes: Vec<Value>,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let read = self.read_dirs();
        let json = report::json::CheckJson {
            passed_over: self.passed_over.dirs_json(),
            passed_over_skills: self.passed_over.skills_json(),
            fixes,
            baseline: self.baseline.as_ref().map(|baseline| baseline.to_json(&baseline.stale(&read))),
            ..report::json::CheckJson::new(skills, plugin_files, summary)
        };
        Ok(report::json::write_value(output.out(), &json)?)
    }

    fn print_diff(&self, summary: &CheckSummary, base: &Path, output: &mut Output) -> Result<(), Failure> {
        fix::print_diff(&self.fixes, base, output)?;
        fix::print_refused(&self.fixes, base, output);
        let totals = fix::totals(&self.fixes);
        let remaining = (summary.errors + summary.warnings).saturating_sub(totals.0);
        output.note(fix::describe("would fix", totals, remaining));
        Ok(())
    }

    /// Prints what is not about a single file.
    fn print_notes(
        &self,
        inputs: &CheckInputs<'_>,
        summary: &CheckSummary,
        base: &Path,
        output: &mut Output,
    ) -> Result<(), Failure> {
        if inputs.args.fix {
            let remaining = summary.errors + summary.warnings;
            output.line(fix::describe("fixed", fix::totals(&self.fixes), remaining))?;
            fix::print_refused(&self.fixes, base, output);
        }
        if self.ignored > 0 {
            output.note(format!("not shown: {} that are ignored", pluralize(self.ignored, "problem")));
        }
        if let Some(baseline) = &self.baseline {
            if baseline.known > 0 {
                output.note(format!("not shown: {} of the baseline", pluralize(baseline.known, "problem")));
            }
            baseline.print_stale(&baseline.stale(&self.read_dirs()), output);
        }
        self.passed_over.print("check", output);
        if self.skills.is_empty() && self.manifests.is_empty() {
            output.note("no skills found; run `prowess check PATH` to check another directory, or `prowess new` to create a skill");
        }
        if summary.errors == 0 && self.has_problem(inputs.args.threshold()) {
            let option = if inputs.args.deny.is_some() { "--deny warnings" } else { "--fail-on" };
            output.note(format!("failed because of {option}"));
        }
        Ok(())
    }
}
