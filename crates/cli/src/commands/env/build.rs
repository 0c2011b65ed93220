//! Builds the environments of a skill: for `prowess env build`, before a script runs, and for `prowess install --locked`.

use std::io::{BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use prowess::Skill;
use prowess::lock::{PinnedEnvironment, ResolvedSet};
use prowess::resources::read_skill_files;
use prowess_package::Task;
use prowess_sandbox::environments::{
    EnvironmentBuilder, EnvironmentError, EnvironmentPlan, EnvironmentRecord, PinState, RequirementSource,
};
use prowess_sandbox::{Cancel, Protection, SandboxHelper};
use serde_json::{Value, json};

use super::super::consent::can_ask;
use super::super::{CommandResult, SUCCESS, check_failed, find_active};
use super::{count_packages, failure, record_json, short_id, size};
use crate::args::GlobalArgs;
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, TextStyle, clean};
use crate::{progress, signals};

/// Which packages may be installed without a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum BuildConsent {
    /// All.
    Given,
    /// Those that the skill declares or its lock file pins. The user is asked about inferred ones.
    AskInferred,
    /// None: the user is asked before each build.
    AskAlways,
    /// Only those that the lock file pins. Others are left out without a question.
    OnlyPinned,
}

/// A request to build environments.
pub(in crate::commands) struct BuildRequest<'a> {
    /// The skill.
    pub(in crate::commands) skill: &'a Skill,
    /// The script that is about to run, if only its environment is needed.
    pub(in crate::commands) script: Option<&'a str>,
    /// Which packages may be installed.
    pub(in crate::commands) consent: BuildConsent,
    /// Whether pinned packages are resolved again.
    pub(in crate::commands) upgrade: bool,
}

/// The environments of a skill after a build.
#[derive(Default)]
pub(in crate::commands) struct BuildOutcome {
    /// The environments that are ready now.
    pub(in crate::commands) built: Vec<(EnvironmentPlan, EnvironmentRecord)>,
    /// Modules that no known package provides.
    unknown: Vec<String>,
    /// Whether the user declined to install packages.
    pub(in crate::commands) declined: bool,
    /// The number of environments that were left out, because nothing is pinned for this interpreter.
    pub(in crate::commands) left_out: usize,
}

/// `prowess env build`.
pub(super) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    (name, consent, upgrade): (&str, BuildConsent, bool),
    output: &mut Output,
) -> CommandResult {
    let registry = context.registry_for(global, &[name]);
    let snapshot = registry.snapshot();
    let skill = find_active(&snapshot, name)?;
    let request = BuildRequest { skill, script: None, consent, upgrade };
    let outcome = build(context, global, &request, output)?;
    if outcome.declined {
        output.note("nothing was installed");
        return Ok(check_failed());
    }
    if outcome.built.is_empty() && !outcome.unknown.is_empty() {
        return Err(failure(EnvironmentError::UnknownModules { modules: outcome.unknown }));
    }
    print_outcome(&skill.name(), &outcome, output)?;
    Ok(SUCCESS)
}

/// Builds the environments of a skill, and pins them in its lock file if it is installed. Questions and lists of packages
/// are printed on standard error; standard output may belong to a script.
pub(in crate::commands) fn build(
    context: &CommandContext,
    global: &GlobalArgs,
    request: &BuildRequest<'_>,
    output: &mut Output,
) -> Result<BuildOutcome, Failure> {
    let skill = request.skill;
    let files = read_skill_files(skill).map_err(|error| Failure::new(error.code(), error.to_string()))?;
    let key = skill.name().into_owned();
    let stop = Arc::new(AtomicBool::new(false));
    let mut handles_signals = false;
    let task = Task::default();
    let mut builder = new_builder(context, Cancel::from(Arc::clone(&stop)))?;
    builder.pins = skill.lock_entry().map(|locked| locked.environments).unwrap_or_default();
    builder.upgrade = request.upgrade;
    builder.on_step = Some(Box::new(|step| task.begin_step(step, 0)));
    let plans = builder.plan(&files).map_err(failure)?;
    let unknown = plans.iter().flat_map(|plan| plan.requirements.unknown.clone()).collect();
    let mut outcome = BuildOutcome { unknown, ..BuildOutcome::default() };
    outcome.unknown.sort();
    outcome.unknown.dedup();
    let mut pins: Vec<PinnedEnvironment> = Vec::new();
    for plan in select_plans(plans, request.script) {
        let is_pinned = !request.upgrade && matches!(builder.pin_state(&plan), PinState::Pinned(_));
        if request.consent == BuildConsent::OnlyPinned
            && !is_pinned
            && plan.requirements.source != RequirementSource::PackageJson
        {
            outcome.left_out += 1;
            continue;
        }
        if let PinState::OtherInterpreter(tags) = builder.pin_state(&plan) {
            output.note(format!(
                "the lock file pins packages for {}, but not for {}; the newest ones are used",
                tags.join(", "),
                plan.interpreter_tag()
            ));
        }
        let set = progress::with_task_progress(global, &task, || builder.resolve(&plan)).map_err(failure)?;
        progress::hide_task_progress(&task);
        if !builder.is_built(&set) {
            let needs_question = match request.consent {
                BuildConsent::Given | BuildConsent::OnlyPinned => false,
                BuildConsent::AskInferred => plan.needs_consent() && !is_pinned,
                BuildConsent::AskAlways => true,
            };
            let packages = describe_plan(&plan, &set, is_pinned);
            if needs_question {
                outcome.declined = !confirm(&key, &packages, request.consent, output)?;
            } else if !output.json() {
                output.note(packages);
            }
            if outcome.declined {
                return Ok(outcome);
            }
        }
        // Installed after the prompt, where Ctrl-C ends the process.
        if !std::mem::replace(&mut handles_signals, true) {
            signals::set_on_termination(&stop);
        }
        let record = progress::with_task_progress(global, &task, || builder.build(&plan, &set, &key))
            .map_err(failure)?;
        progress::hide_task_progress(&task);
        pins.push(plan.pin(&set));
        outcome.built.push((plan, record));
    }
    if let Err(error) = prowess::lock::record_environments(skill, &pins, &context.host_env) {
        output.note(format!("cannot pin the packages of {} in the lock file: {error}", clean(&key)));
    }
    Ok(outcome)
}

/// Returns a builder with the settings and the variables of the user.
pub(in crate::commands) fn new_builder(
    context: &CommandContext,
    cancel: Cancel,
) -> Result<EnvironmentBuilder<'_>, Failure> {
    let mut builder = EnvironmentBuilder::new(context.policy(), &context.host_env)
        .map_err(failure)?
        .with_sandbox(SandboxHelper::current_exe(), Protection::Required, cancel);
    builder.variables = std::env::vars_os().collect();
    Ok(builder)
}

/// Returns the environments to build: those with packages, and only that of the script if there is one.
fn select_plans(plans: Vec<EnvironmentPlan>, script: Option<&str>) -> Vec<EnvironmentPlan> {
    let of_script = |plan: &EnvironmentPlan| plan.scripts.iter().any(|path| Some(path.as_str()) == script);
    // A script that belongs to no group, such as a test, uses the packages of the other scripts.
    let is_single = plans.iter().any(of_script);
    let is_selected =
        |plan: &EnvironmentPlan| !plan.requirements.packages.is_empty() && (!is_single || of_script(plan));
    plans.into_iter().filter(is_selected).collect()
}

fn print_outcome(skill: &str, outcome: &BuildOutcome, output: &mut Output) -> std::io::Result<()> {
    let BuildOutcome { built, unknown, .. } = outcome;
    if output.json() {
        let environments: Vec<Value> = built
            .iter()
            .map(|(plan, record)| {
                let mut value = record_json(record);
                value["source"] = json!(plan.requirements.source);
                value["scripts"] = json!(plan.scripts);
                value
            })
            .collect();
        return output.write_json(
            &json!({"schema": 1, "skill": skill, "environments": environments, "unknown": unknown}),
        );
    }
    print_built(built, output)?;
    if built.is_empty() {
        output.note(format!("the scripts of {} need no packages", clean(skill)));
    }
    if !unknown.is_empty() {
        let names: Vec<String> = unknown.iter().map(|name| clean(name).into_owned()).collect();
        output.note(format!(
            "no known package provides {}; list the packages in requirements.txt of the skill, or in a `# /// script` block",
            names.join(", ")
        ));
    }
    Ok(())
}

/// Prints the environments that are ready.
fn print_built(built: &[(EnvironmentPlan, EnvironmentRecord)], output: &mut Output) -> std::io::Result<()> {
    for (plan, record) in built {
        let mark = output.styled_text(TextStyle::Good, "✓");
        output.line(format!(
            "{mark} environment {} for {}: {}, {}",
            short_id(&record.id),
            describe_scripts(&plan.scripts),
            count_packages(record.set.packages.len()),
            size(record.bytes)
        ))?;
    }
    Ok(())
}

/// Returns the name of one script, or the number of several.
pub(in crate::commands) fn describe_scripts(scripts: &[String]) -> String {
    match scripts {
        [script] => clean(script).into_owned(),
        scripts => format!("{} scripts", scripts.len()),
    }
}

/// Returns what will be fetched, one package per line.
fn describe_plan(plan: &EnvironmentPlan, set: &ResolvedSet, is_pinned: bool) -> String {
    let origin = match plan.requirements.source {
        _ if is_pinned => "pinned by the lock file".to_owned(),
        RequirementSource::Imports => {
            format!("inferred from the imports of {}", describe_scripts(&plan.scripts))
        }
        _ => format!("required by {}", clean(&plan.requirements.file)),
    };
    let mut lines = vec![format!("{}, {origin}:", count_packages(set.packages.len()))];
    let direct: Vec<String> =
        plan.requirements.packages.iter().map(|package| package.normalized_name()).collect();
    for package in &set.packages {
        let note = if direct.contains(&package.name.to_ascii_lowercase()) { "" } else { "  (dependency)" };
        lines.push(format!("  {} {}{note}", clean(&package.name), clean(&package.version)));
    }
    lines.join("\n")
}

/// Asks whether packages may be fetched.
fn confirm(skill: &str, packages: &str, consent: BuildConsent, output: &mut Output) -> Result<bool, Failure> {
    if !can_ask() || output.json() {
        return Err(Failure::new(
            ErrorCode::AccessDenied,
            "inferred packages are not installed without confirmation",
        )
        .hint(format!(
            "run `prowess env build {} --yes`, or list the packages in requirements.txt",
            clean(skill)
        )));
    }
    output.finish()?;
    // Also with `--quiet`: a question without the packages could not be answered.
    let mut err = std::io::stderr();
    writeln!(err, "{packages}")?;
    match consent {
        BuildConsent::AskAlways => write!(err, "Build it now? [y/N] ")?,
        _ => write!(err, "Install them for {}? [y/N] ", clean(skill))?,
    }
    err.flush()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}
