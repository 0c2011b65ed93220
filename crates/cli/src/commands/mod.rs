//! The commands, one file each.

mod activate;
mod audit;
mod baseline;
mod call;
mod chat;
mod chats;
mod check;
mod config;
mod consent;
mod doctor;
mod env;
mod eval;
pub(crate) mod hook;
mod info;
mod lint;
mod list;
mod lsp;
mod manage;
mod matching;
mod mcp;
mod mcp_trust;
mod new;
mod next_step;
mod other_locations;
mod overview;
mod packages;
mod passed_over;
mod prompt;
mod resources;
mod run;
mod schema;
mod serve;
mod server_common;
mod shell;
mod show;
mod switch;
mod test;
mod trust;
mod why;

use std::process::ExitCode;

use prowess::policy::SkillIdentity;
use prowess::{FileDiagnostic, Root, Skill, Snapshot, short_path};
use prowess_format::suggest;
use prowess_package::switch::DesiredState;

use crate::args::{Args, Command, GlobalArgs, ManageCommand, ReportFormat, SkillCommand};
use crate::context::CommandContext;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, clean, clean_path};
pub(crate) use crate::output::{print_diagnostics, read_source};
pub(crate) use overview::run as overview;

/// The result of a command: an exit code or a failure.
pub(crate) type CommandResult = Result<ExitCode, Failure>;

const SUCCESS: ExitCode = ExitCode::SUCCESS;

/// Returns the format of a check or an audit. Fails if `--json` and `--format` contradict each other.
fn report_format(format: Option<ReportFormat>, global: &GlobalArgs) -> Result<ReportFormat, Failure> {
    match format {
        Some(format @ (ReportFormat::Human | ReportFormat::Github | ReportFormat::Junit)) if global.json => {
            let message = format!("--json conflicts with --format {}", format.as_str());
            Err(Failure::usage(message).hint("omit one of them"))
        }
        Some(format) => Ok(format),
        None if global.json => Ok(ReportFormat::Json),
        None => Ok(ReportFormat::Human),
    }
}

/// Returns the exit code for a failed check or a missing item.
fn check_failed() -> ExitCode {
    ExitCode::from(1)
}

/// Runs the command.
pub(crate) fn run(args: Args, output: &mut Output) -> CommandResult {
    let Args { global, command } = args;
    match command {
        Command::Completions { shell, dynamic } => return shell::completions(shell, dynamic, output),
        Command::Man { command } => return shell::man(&command, output),
        Command::Schema(call) => return schema::run(&call, output),
        Command::Config(call) => {
            return config::run(&CommandContext::load_unchecked(&global)?, &call, output);
        }
        Command::Mcp(call) => return mcp::run(&global, &call, output),
        Command::Hook(call) => return hook::run(&global, &call, output),
        Command::Serve(call) => return serve::run(&global, &call, output),
        Command::Doctor => return doctor::run(&CommandContext::load_unchecked(&global)?, &global, output),
        Command::Skill { command: SkillCommand::Manage { action: None } } => {
            return manage::print_actions(output);
        }
        _ => {}
    }
    let context = CommandContext::load(&global, output)?;
    match command {
        Command::List { all } => list::run(&context, &global, all, output),
        Command::Show | Command::Skill { command: SkillCommand::Show } => {
            show::run(&context, &global, output)
        }
        Command::Info { name } => info::run(&context, &global, &name, output),
        Command::Why { name } => why::run(&context, &global, &name, output),
        Command::Check(check) => check::run(&context, &global, &check, output),
        Command::Lsp(call) => lsp::run(&context, &call),
        Command::Audit(call) => audit::run(&context, &global, &call, output),
        Command::Prompt(call) => prompt::run(&context, &global, &call, output),
        Command::Match { query, k, file } => {
            matching::run(&context, &global, &query, k as usize, &file, output)
        }
        Command::Activate { name, args } => activate::run(&context, &global, &name, args.as_deref(), output),
        Command::Files { name } => resources::files(&context, &global, &name, output),
        Command::Read { name, path } => resources::read(&context, &global, &name, &path, output),
        Command::Run(call) => run::run(&context, &global, &call, output),
        Command::Env(call) => env::run(&context, &global, &call, output),
        Command::Tools { skill } => call::tools(&context, &global, &skill, output),
        Command::Call { tool, params, skill } => {
            call::call(&context, &global, &tool, &params, &skill, output)
        }
        Command::Chat(call) => chat::run(&context, &global, &call, output),
        Command::Chats(call) => chats::run(&context, call, output),
        Command::Lint(call) => lint::run(&context, &global, &call, output),
        Command::Eval(call) => eval::run(&context, &global, &call, output),
        Command::Test(call) => test::run(&context, &global, &call, output),
        Command::New(args) => new::run(&context, &global, args, output),
        Command::Install(call) | Command::Skill { command: SkillCommand::Install(call) } => {
            packages::install(&context, &global, &call, output)
        }
        Command::Import(call) => packages::import(&context, &global, &call, output),
        Command::Update(call) => packages::update(&context, &global, &call, output),
        Command::Outdated(call) => packages::outdated(&context, &global, &call, output),
        Command::Remove(call) => packages::remove(&context, &global, &call, output),
        Command::Verify(call) => packages::verify(&context, &call, output),
        Command::Diff(call) => packages::diff(&context, &global, &call, output),
        Command::Find(call) => packages::find(&context, &global, &call, output),
        Command::Sync(call) => packages::sync(&context, &global, &call, output),
        Command::Pack(call) => packages::pack(&call, output),
        Command::Index(call) => packages::index(&call, output),
        Command::Enable(call) => switch::run(&context, &global, &call, DesiredState::Enabled, output),
        Command::Disable(call) => switch::run(&context, &global, &call, DesiredState::Disabled, output),
        Command::Plugins { scope } => packages::plugins(&context, &global, &scope, output),
        Command::Skill { command: SkillCommand::Manage { action: Some(action) } } => match action {
            ManageCommand::Enable(call) => {
                switch::run(&context, &global, &call, DesiredState::Enabled, output)
            }
            ManageCommand::Disable(call) => {
                switch::run(&context, &global, &call, DesiredState::Disabled, output)
            }
            ManageCommand::Update(call) => packages::update(&context, &global, &call, output),
            ManageCommand::Remove(call) => packages::remove(&context, &global, &call, output),
            ManageCommand::List { scope } => packages::plugins(&context, &global, &scope, output),
        },
        Command::Trust { mcp, .. } if mcp.name.is_some() => {
            mcp_trust::approve(&context, &global, &mcp, output)
        }
        Command::Trust { path, pinned, .. } => trust::trust(&context, path, pinned, output),
        Command::Untrust { mcp: Some(name), .. } => mcp_trust::revoke(&context, &global, &name, output),
        Command::Untrust { path, mcp: None } => trust::untrust(&context, path, output),
        Command::Config(_)
        | Command::Mcp(_)
        | Command::Hook(_)
        | Command::Serve(_)
        | Command::Doctor
        | Command::Schema(_)
        | Command::Completions { .. }
        | Command::Man { .. }
        | Command::Skill { command: SkillCommand::Manage { action: None } } => Ok(SUCCESS),
    }
}

/// The number of diagnostics of the same code that are shown in a summary.
const SHOWN_PER_CODE: usize = 3;

/// Prints a few diagnostics of each code and the number of the others. `full_command` is the command that shows them all.
fn print_summary(output: &mut Output, diagnostics: &[FileDiagnostic], full_command: &str) {
    if output.verbose() {
        return print_diagnostics(output, diagnostics);
    }
    let mut counts: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    let mut shown = Vec::new();
    for located in diagnostics {
        let count = counts.entry(located.diagnostic.code.as_str()).or_default();
        *count += 1;
        if *count <= SHOWN_PER_CODE {
            shown.push(located.clone());
        }
    }
    print_diagnostics(output, &shown);
    for (code, count) in counts {
        if let Some(hidden) = count.checked_sub(SHOWN_PER_CODE).filter(|hidden| *hidden > 0) {
            output.note(format!("{hidden} more {code} not shown; to see all: {full_command}"));
        }
    }
}

/// Prints that there are no skills, and what to do about it.
fn print_no_skills(context: &CommandContext, output: &mut Output) {
    output.note(match context.policy().enabled {
        true => "no skills found; run `prowess doctor` to see which directories were searched, or `prowess new` to create a skill",
        false => "skills are disabled; set PROWESS_SKILLS_ENABLED=true to enable them",
    });
}

/// Returns a root's directory for display.
fn display_root(root: &Root, context: &CommandContext) -> String {
    match root.is_embedded() {
        true => "bundled".to_owned(),
        false => clean_path(&short_path(root.path(), &context.host_env)),
    }
}

/// Returns a skill's name for display, with its id if the policy identifies skills by id.
fn display_name(skill: &Skill, context: &CommandContext) -> String {
    let by_id = context.policy().scan.identity == SkillIdentity::Id && skill.id() != skill.name();
    let id = if by_id { format!(" ({})", skill.id()) } else { String::new() };
    clean(&format!("{}{id}", skill.name())).into_owned()
}

/// Returns the status of an unavailable skill, and the reason without the leading status.
fn status_and_reason(skill: &Skill) -> Option<(String, String)> {
    let status = skill.status().as_str();
    let reason = skill.reason()?;
    Some(match reason.strip_prefix(status) {
        Some(reason) => (status.to_owned(), clean(reason.trim_start()).into_owned()),
        None => (format!("{status}:"), clean(&reason).into_owned()),
    })
}

/// Returns the tools for commands that run no scripts; Ctrl-C ends the process at once.
fn toolbox(context: &CommandContext, global: &crate::args::GlobalArgs) -> prowess_tools::Toolbox {
    cancellable_toolbox(context, global, prowess_sandbox::Cancel::default())
}

/// Like [`toolbox`], for commands that run scripts, which `cancel` stops.
fn cancellable_toolbox(
    context: &CommandContext,
    global: &crate::args::GlobalArgs,
    cancel: prowess_sandbox::Cancel,
) -> prowess_tools::Toolbox {
    let registry = std::sync::Arc::new(context.registry(global));
    let semantic = semantic_stage(context).map(std::sync::Arc::new);
    prowess_tools::Toolbox::new(registry).with_runner(script_runner(context, cancel)).with_semantic(semantic)
}

/// Returns the semantic stage of routing if embeddings are configured.
fn semantic_stage(context: &CommandContext) -> Option<prowess_routing::semantic::SemanticStage> {
    prowess_embed::semantic(&context.configuration.embeddings, |name| std::env::var_os(name))
}

fn print_notices(toolbox: &prowess_tools::Toolbox, output: &mut Output) {
    for notice in toolbox.take_notices() {
        output.note(crate::output::clean(&notice));
    }
}

/// Returns the options for running scripts.
fn script_runner(context: &CommandContext, cancel: prowess_sandbox::Cancel) -> prowess_tools::ScriptRunner {
    prowess_tools::ScriptRunner {
        environment: std::env::vars_os().collect(),
        cancel,
        decisions: decisions(context),
        ..Default::default()
    }
}

/// Returns the user's lasting answers about scripts, which are saved in the user's configuration.
fn decisions(context: &CommandContext) -> prowess_tools::ConsentDecisions {
    use prowess_package::settings::{ScriptDecision, remember_script_decision};
    use prowess_sandbox::ConsentAnswer;
    let inputs = context.inputs.clone();
    prowess_tools::ConsentDecisions::saved_by(std::sync::Arc::new(move |answer, entry: &str| {
        let decision = match answer {
            ConsentAnswer::Never => ScriptDecision::Deny,
            ConsentAnswer::Always => ScriptDecision::Allow,
            ConsentAnswer::Once | ConsentAnswer::NotNow => return Ok(()),
        };
        remember_script_decision(&inputs, decision, entry).map(drop).map_err(|error| error.to_string())
    }))
}

/// Returns the skill that this name resolves to, or else any skill with this name, whose status has the reason.
fn find_active<'s>(snapshot: &'s Snapshot, name: &str) -> Result<&'s Skill, Failure> {
    match snapshot.get(name) {
        Some(skill) => Ok(skill),
        None => find_skill(snapshot, name),
    }
}

/// Returns the skill with this name or id, regardless of its status. The one that the name resolves to has priority.
pub(crate) fn find_skill<'s>(snapshot: &'s Snapshot, name: &str) -> Result<&'s Skill, Failure> {
    let by_name = snapshot.get(name).or_else(|| snapshot.all().iter().find(|skill| skill.name() == name));
    by_name
        .or_else(|| snapshot.all().iter().find(|skill| skill.id() == name))
        .ok_or_else(|| not_found(snapshot, name))
}

/// Returns the failure for an unknown skill, with the most similar name.
pub(crate) fn not_found(snapshot: &Snapshot, name: &str) -> Failure {
    let failure = Failure::new(ErrorCode::NotFound, format!("skill {} not found", clean(name)));
    let names: Vec<_> = snapshot.all().iter().map(|skill| skill.name()).collect();
    let otherwise = format!("run `prowess why {}` to see which directories were searched", clean(name));
    failure.hint(did_you_mean(name, names.iter().map(AsRef::as_ref), &otherwise))
}

/// Returns the hint for an unknown name: the most similar one, and what helps otherwise.
pub(crate) fn did_you_mean<'n>(
    name: &str,
    known: impl IntoIterator<Item = &'n str>,
    otherwise: &str,
) -> String {
    match suggest::nearest(name, known) {
        Some(similar) => format!("did you mean {}? {otherwise}", clean(similar)),
        None => otherwise.to_owned(),
    }
}
