//! `prowess check`: validates skills, and fixes them.

mod collect;
mod fix;
mod plugins;
mod results;

use std::io::{Read, Write};
use std::path::Path;

use prowess_format::{Diagnostic, Rules, apply_fixes};

use super::baseline::Baseline;
use super::passed_over::PassedOver;
use super::{CommandResult, SUCCESS, check_failed, report_format};
use crate::args::{CheckArgs, GlobalArgs, ReportFormat};
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::Output;
use crate::report::{self, ColorMode};
use collect::CheckInputs;
use fix::FileFixes;
use results::{CheckedReport, IgnoreFilter};

pub(super) use collect::{check_toolsets, failure};

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
    let format = report_format(args.format, global)?;
    reject_contradictions(args, format)?;
    let baseline = Baseline::load(&args.baseline, "check")?;
    let filter = IgnoreFilter::new(context, args);
    let rules = if args.strict { Rules::strict() } else { context.policy().manifest.clone() };
    let stdin = args.paths.iter().any(|path| collect::is_stdin(path)).then(read_stdin).transpose()?;
    let paths = collect::paths(context, &args.paths);
    let inputs = CheckInputs { args, global, rules, paths, stdin };
    match &inputs.stdin {
        Some(source) if args.fix || args.diff => fix_stdin(&inputs, source, &filter, output),
        Some(_) | None => check_paths(&inputs, &filter, baseline, format, output),
    }
}

/// Checks the paths, and fixes their files if the arguments say so.
fn check_paths(
    inputs: &CheckInputs<'_>,
    filter: &IgnoreFilter,
    baseline: Option<Baseline>,
    format: ReportFormat,
    output: &mut Output,
) -> CommandResult {
    let args = inputs.args;
    let base = std::env::current_dir()?;
    let mut checked = inputs.collect()?;
    let mut fixes = Vec::new();
    if args.fix || args.diff {
        let is_selected = |path: &Path, diagnostic: &Diagnostic| !filter.is_ignored(path, diagnostic);
        fixes = fix::plan_fixes(&checked.tree.checked, &inputs.paths, &inputs.rules, is_selected);
    }
    if args.fix && !args.diff && !fixes.is_empty() {
        fixes.iter_mut().for_each(FileFixes::write);
        checked = inputs.collect()?;
    }
    let passed_over = PassedOver::new(&checked.tree, format, output);
    let (skills, manifests) = checked.into_files();
    let mut checked =
        CheckedReport { skills, manifests, passed_over, fixes, baseline, ..CheckedReport::default() };
    checked.apply_filter(filter);
    checked.apply_baseline();
    if let Some(baseline) = checked.baseline.take_if(|baseline| baseline.is_written()) {
        baseline.write(&checked.read_dirs(), output)?;
        return Ok(SUCCESS);
    }
    checked.print(inputs, format, &base, output)?;
    let is_failed = checked.has_problem(args.threshold()) || (args.diff && fix::totals(&checked.fixes).0 > 0);
    Ok(if is_failed { check_failed() } else { SUCCESS })
}

/// Fails if options contradict each other.
fn reject_contradictions(args: &CheckArgs, format: ReportFormat) -> Result<(), Failure> {
    let is_machine_readable = !matches!(format, ReportFormat::Human | ReportFormat::Json);
    let reads_stdin = args.paths.iter().any(|path| collect::is_stdin(path));
    let option = if args.diff { "--diff" } else { "--fix" };
    let changes = args.fix || args.diff;
    if changes && args.baseline.write_baseline {
        let message = format!("{option} conflicts with --write-baseline");
        return Err(Failure::usage(message).hint("fix the files first, then write the baseline"));
    }
    if args.diff && is_machine_readable {
        let message = format!("--diff conflicts with --format {}", format.as_str());
        return Err(Failure::usage(message).hint("use --format human or --format json"));
    }
    if changes && reads_stdin && args.paths.len() > 1 {
        let message = format!("{option} cannot be used with - and other paths");
        return Err(Failure::usage(message).hint("run the command once for each"));
    }
    if changes && reads_stdin && format != ReportFormat::Human {
        let message =
            format!("{option} prints the result for -, so --format {} is not possible", format.as_str());
        return Err(Failure::usage(message).hint("omit --format and --json"));
    }
    Ok(())
}

/// Prints the fixed content of standard input, or its changes. Remaining problems are printed on standard error.
fn fix_stdin(
    inputs: &CheckInputs<'_>,
    source: &[u8],
    filter: &IgnoreFilter,
    output: &mut Output,
) -> CommandResult {
    let path = Path::new(STDIN);
    let is_selected = |diagnostic: &Diagnostic| !filter.is_ignored(path, diagnostic);
    let fixed = apply_fixes(source, None, &inputs.rules, is_selected);
    if inputs.args.diff {
        output.text(&fix::diff(STDIN, source, &fixed.bytes))?;
    } else {
        output.out().write_all(&fixed.bytes)?;
    }
    let mut checked = prowess::check::check_source(path, &fixed.bytes, &inputs.rules, &inputs.args.agents);
    checked.diagnostics.retain(is_selected);
    let sources = |_: &Path| Some(fixed.bytes.clone());
    let (err, styled) = output.err();
    let colour = if styled { ColorMode::Styled } else { ColorMode::Plain };
    report::write_human(err, path, &checked.diagnostics, &sources, colour)?;
    let verb = if inputs.args.diff { "would fix" } else { "fixed" };
    let totals = (fixed.fixed.len(), usize::from(!fixed.fixed.is_empty()));
    output.note(fix::describe(verb, totals, checked.diagnostics.len()));
    let fails = |diagnostic: &Diagnostic| diagnostic.severity >= inputs.args.threshold();
    let is_failed = checked.diagnostics.iter().any(fails) || (inputs.args.diff && !fixed.fixed.is_empty());
    Ok(if is_failed { check_failed() } else { SUCCESS })
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
