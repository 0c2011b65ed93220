//! `prowess test`: runs the evaluations of skills.
//!
//! | module | subject |
//! |---|---|
//! | `skills` | which skills are tested, and the version to compare with |
//! | `git_version` | an earlier version of a skill, from the repository |
//! | `setup` | the agent, the limits and the gateway |
//! | `render` | reports for people |

mod git_version;
mod render;
mod setup;
mod skills;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use prowess::policy::MentionPolicy;
use prowess::{Skill, SkillStatus, Snapshot, digest};
use prowess_evals::gateway::ReplayError;
use prowess_evals::plan::{Estimate, PlannedRun, plan};
use prowess_evals::report::{ReportInfo, SkillReport, render_junit, render_markdown, write_report};
use prowess_evals::{RoutingResult, SessionEvent, SessionStop, SkillUnderTest, TestSession};
use prowess_routing::Router;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{CommandResult, SUCCESS, check_failed};
use crate::args::{GlobalArgs, TestArgs, TestFormat, TestPart};
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, clean, clean_path};
use crate::{progress, signals};
use setup::TestSetup;
use skills::TestedSkill;

pub(super) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &TestArgs,
    output: &mut Output,
) -> CommandResult {
    let format = format(global, args)?;
    let tested = skills::select(context, global, args)?;
    if tested.is_empty() {
        output.note(
            "no skills with evaluations found; write evals/evals.json in a skill, or pass a skill directory",
        );
        return Ok(check_failed());
    }
    for skill in &tested {
        for note in &skill.under_test.suite.notes {
            output.note(format!("{}: {}", clean(&skill.under_test.name), clean(note)));
        }
        if skill.under_test.suite.is_empty() {
            let message = format!("{} has no evaluations", skill.under_test.name);
            return Err(
                Failure::usage(message).hint("write evals/evals.json; see docs/authoring.md for its form")
            );
        }
    }
    let routing: Vec<RoutingResult> = match args.only {
        Some(TestPart::Cases) => Vec::new(),
        Some(TestPart::Triggers | TestPart::Routing) | None => {
            tested.iter().map(|skill| route(context, skill)).collect()
        }
    };
    let (mut reports, mut is_written) = (Vec::new(), true);
    if args.only != Some(TestPart::Routing) {
        let setup = TestSetup::new(context, args)?;
        if args.dry_run {
            return dry_run(&setup, &tested, output);
        }
        (reports, is_written) = run_sessions(context, global, args, setup, tested.as_slice(), output)?;
    }
    print(&tested, &reports, &routing, format, args, output)?;
    if !is_written {
        return Ok(ExitCode::from(2));
    }
    let routed = args.only != Some(TestPart::Routing)
        || routing.iter().all(|result| result.lost.is_empty() && result.stolen.is_empty());
    Ok(if routed && reports.iter().all(SkillReport::passed) { SUCCESS } else { check_failed() })
}

fn format(global: &GlobalArgs, args: &TestArgs) -> Result<TestFormat, Failure> {
    match args.format {
        Some(TestFormat::Json) => Ok(TestFormat::Json),
        Some(_) if global.json => {
            Err(Failure::usage("--json conflicts with this --format").hint("omit one of them"))
        }
        Some(format) => Ok(format),
        None if global.json => Ok(TestFormat::Json),
        None => Ok(TestFormat::Human),
    }
}

/// Routes the messages of a skill among the skills of the project.
fn route(context: &CommandContext, skill: &TestedSkill) -> RoutingResult {
    if skill.under_test.suite.triggers.is_empty() {
        return RoutingResult::default();
    }
    let mut policy = context.policy().clone();
    let explicit = prowess::RootSpec::explicit(skill.root.clone());
    if !policy.scan.roots.contains(&explicit) {
        policy.scan.roots.insert(0, explicit);
    }
    let registry =
        prowess::Registry::open_in(policy, context.host_env.clone(), &prowess::ScanProgress::default());
    let toolbox = prowess_tools::Toolbox::new(Arc::new(registry));
    let snapshot = toolbox.snapshot();
    let router = toolbox.router(&snapshot);
    match snapshot.get(&skill.under_test.name) {
        Some(found) => {
            RoutingResult::new(&router, found, &skill.under_test.suite.triggers, context.policy().mention)
        }
        None => RoutingResult::default(),
    }
}

/// Shows what would be run.
fn dry_run(setup: &TestSetup, tested: &[TestedSkill], output: &mut Output) -> CommandResult {
    let mut total = Estimate::default();
    let mut rows = Vec::new();
    for skill in tested {
        let runs = plan(&skill.under_test, &*setup.agent, &setup.options);
        let is_cached =
            |run: &PlannedRun| setup.results.as_ref().is_some_and(|results| results.contains(&run.key));
        let estimate = Estimate::new(&skill.under_test, &runs, &setup.options, is_cached);
        total.runs += estimate.runs;
        total.cached += estimate.cached;
        total.expected_requests += estimate.expected_requests;
        total.max_requests += estimate.max_requests;
        total.expected_tokens += estimate.expected_tokens;
        rows.push((skill.under_test.name.clone(), estimate));
    }
    let expected_cost = setup.estimated_cost(total.expected_tokens);
    if output.json() {
        let skills: Vec<_> =
            rows.iter().map(|(name, estimate)| json!({"name": name, "estimate": estimate})).collect();
        output.write_json(&json!({
            "schema": 1, "skills": skills, "total": total, "expected_cost": expected_cost,
            "limits": setup.limits_json(),
        }))?;
        return Ok(SUCCESS);
    }
    render::dry_run(&rows, &total, expected_cost, setup, output)?;
    Ok(SUCCESS)
}

/// What helps if a file cannot be written.
const WRITABLE_HINT: &str = "free some disk space, or choose another directory";

/// Runs the plans of all skills. Returns their reports, and whether these are where the user wants them.
fn run_sessions(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &TestArgs,
    setup: TestSetup,
    tested: &[TestedSkill],
    output: &mut Output,
) -> Result<(Vec<SkillReport>, bool), Failure> {
    let runtime = super::chat::runtime()?;
    let mut reports = Vec::new();
    let plans: Vec<Vec<PlannedRun>> =
        tested.iter().map(|skill| plan(&skill.under_test, &*setup.agent, &setup.options)).collect();
    if plans.iter().all(Vec::is_empty) {
        return Err(
            Failure::usage("no case or message is selected").hint("omit --case and --only to run all")
        );
    }
    let all_keys: Vec<&str> = plans.iter().flatten().map(|run| run.key.as_str()).collect();
    let plan_digest = digest(all_keys.join("\n").as_bytes()).trim_start_matches("sha256:").to_owned();
    let spending =
        setup.paths.as_ref().filter(|_| setup.results.is_some()).map(|paths| paths.spending(&plan_digest));
    if let Some(parent) = spending.as_ref().and_then(|file| file.parent()) {
        prowess_fs::create_dir_all(parent).map_err(|error| {
            let message = format!("cannot create {}: {error}", clean_path(parent));
            Failure::from(error).message(message).hint("make the directory of Prowess's state writable")
        })?;
    }
    let shared = runtime.block_on(setup.start(spending.clone()))?;
    if shared.budget.spending().requests > 0 {
        let spent = shared.budget.spending();
        output.note(format!(
            "continuing an interrupted test: {} requests and {} tokens count as spent",
            spent.requests, spent.tokens
        ));
    }
    let cancel = runtime.block_on(async { signals::cancelled_on_termination() });
    let (mut stopped, mut is_written): (Option<SessionStop>, bool) = (None, true);
    for (skill, plan) in tested.iter().zip(plans) {
        if plan.is_empty() {
            continue;
        }
        if stopped.is_some() {
            break;
        }
        let outcome =
            run_session(context, global, args, (&setup, &shared), skill, plan, (&runtime, &cancel), output)?;
        stopped = outcome.stopped;
        is_written &= outcome.is_written;
        reports.push(outcome.report);
    }
    shared.budget.record_time();
    // A finished test has nothing to continue.
    if stopped.is_none()
        && let Some(file) = &spending
    {
        let _ = std::fs::remove_file(file);
    }
    render::spending(&setup, &shared.budget, output);
    runtime.shutdown_timeout(Duration::from_secs(5));
    match stopped {
        Some(SessionStop::Replay(error @ ReplayError::Write { .. })) => {
            Err(Failure::new(ErrorCode::ExecutionError, error.to_string()).hint(WRITABLE_HINT))
        }
        Some(SessionStop::Replay(error)) => Err(Failure::usage(error.to_string())
            .hint("a recording must be made with the same skill, cases and options")),
        _ => Ok((reports, is_written)),
    }
}

/// The result of testing one skill.
struct SessionOutcome {
    report: SkillReport,
    stopped: Option<SessionStop>,
    /// Whether the report is where the user wants it.
    is_written: bool,
}

/// Runs the plan of one skill.
#[allow(clippy::too_many_arguments, reason = "all of them are needed once")]
fn run_session(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &TestArgs,
    (setup, shared): (&TestSetup, &setup::SharedSession),
    skill: &TestedSkill,
    plan: Vec<PlannedRun>,
    (runtime, cancel): (&tokio::runtime::Runtime, &CancellationToken),
    output: &mut Output,
) -> Result<SessionOutcome, Failure> {
    let session = Arc::new(TestSession {
        skill: skill.under_test.clone(),
        agent: Arc::clone(&setup.agent),
        judge: setup.judge.clone(),
        gateway: Arc::clone(&shared.gateway),
        budget: Arc::clone(&shared.budget),
        results: setup.results.clone().filter(|_| !args.fresh),
        registry: Arc::clone(&skill.registry),
        helper: prowess_sandbox::SandboxHelper::current_exe(),
        options: setup.options.clone(),
        matching: setup.matching,
    });
    let total = plan.len();
    let done = Arc::new(AtomicUsize::new(0));
    let verbose = output.verbose();
    let events = {
        let done = Arc::clone(&done);
        Arc::new(move |event: SessionEvent| {
            if matches!(event, SessionEvent::Finished { .. }) {
                done.fetch_add(1, Ordering::Relaxed);
            }
            if verbose {
                render::event(&event);
            }
        })
    };
    let name = clean(&skill.under_test.name).into_owned();
    let line = || format!("testing {name} … {} of {total} runs", done.load(Ordering::Relaxed));
    let results =
        progress::with_progress_line(global, line, || runtime.block_on(session.run(plan, cancel, events)));
    for warning in &results.warnings {
        output.note(clean(warning));
    }
    let stopped = results.stopped.as_ref().map(|stop| match stop {
        SessionStop::Cap(error) => error.to_string(),
        SessionStop::Replay(error) => error.to_string(),
        SessionStop::Cancelled => "cancelled".to_owned(),
    });
    let info = ReportInfo { stopped, ..setup.info(args) };
    let report = SkillReport::new(&skill.under_test, &results.records, info, Vec::new());
    let dir = match (&args.out, &setup.paths) {
        (Some(out), _) => Some(std::path::absolute(out)?.join(&skill.under_test.name)),
        (None, Some(paths)) => Some(paths.reports(&skill.under_test.name)),
        (None, None) => None,
    };
    let mut is_written = true;
    // Without a usable recording, there is nothing to report.
    let has_results = !matches!(results.stopped, Some(SessionStop::Replay(_)));
    if let Some(dir) = dir.filter(|_| has_results) {
        match write_report(&dir, &skill.under_test, &report, &results.records) {
            Ok(written) => {
                output.note(format!(
                    "report: {}",
                    clean_path(&prowess::short_path(&written, &context.host_env))
                ));
            }
            // The results are printed in any case: they were paid for.
            Err(error) if args.out.is_none() => {
                output.note(format!("warning: {}", clean(&error.to_string())))
            }
            Err(error) => {
                output.error(&error.to_string(), Some(WRITABLE_HINT));
                is_written = false;
            }
        }
    }
    Ok(SessionOutcome { report, stopped: results.stopped, is_written })
}

fn print(
    tested: &[TestedSkill],
    reports: &[SkillReport],
    routing: &[RoutingResult],
    format: TestFormat,
    args: &TestArgs,
    output: &mut Output,
) -> Result<(), Failure> {
    let names: Vec<&SkillUnderTest> = tested.iter().map(|skill| &skill.under_test).collect();
    match format {
        TestFormat::Json => {
            let routing: Vec<_> = names
                .iter()
                .zip(routing)
                .map(|(skill, result)| json!({"skill": skill.name, "result": result}))
                .collect();
            output.write_json(&json!({"schema": 1, "skills": reports, "routing": routing}))?;
        }
        TestFormat::Markdown => {
            for report in reports {
                output.text(&render_markdown(report))?;
            }
        }
        TestFormat::Junit => output.text(&render_junit(reports))?,
        TestFormat::Human => {
            for report in reports {
                render::report(report, output)?;
            }
            for (skill, result) in names.iter().zip(routing) {
                render::routing(&skill.name, result, args.only == Some(TestPart::Routing), output)?;
            }
        }
    }
    Ok(())
}

/// Returns how routing handles the messages in the evaluations of skills, for those that lose some.
pub(super) fn lost_requests(
    snapshot: &Snapshot,
    router: &Router,
    mention: MentionPolicy,
) -> Vec<(String, RoutingResult)> {
    let is_enabled = |skill: &&Skill| *skill.status() == SkillStatus::Enabled;
    let with_evaluations =
        snapshot.all().iter().filter(is_enabled).filter(|skill| skills::has_evaluations(skill));
    let route = |skill: &Skill| {
        let under_test = SkillUnderTest::load(skill).ok()?;
        let result = RoutingResult::new(router, skill, &under_test.suite.triggers, mention);
        let is_lost = !result.lost.is_empty() || !result.stolen.is_empty();
        is_lost.then_some((under_test.name, result))
    };
    with_evaluations.filter_map(route).collect()
}

/// Prints how routing handles the messages of a skill.
pub(super) fn print_routing(name: &str, result: &RoutingResult, output: &mut Output) -> std::io::Result<()> {
    render::routing(name, result, false, output)
}
