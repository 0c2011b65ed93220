//! One file a command.

mod activate;
mod audit;
mod call;
mod chat;
mod chats;
mod check;
mod config;
mod doctor;
mod elsewhere;
mod eval;
mod info;
mod lint;
mod list;
mod manage;
mod matching;
mod mcp;
mod new;
mod packages;
mod prompt;
mod remedy;
mod resources;
mod run;
mod serve;
mod served;
mod serving;
mod shell;
mod show;
mod switch;
mod trust;
mod why;

use std::process::ExitCode;

use prowess::policy::Identity;
use prowess::{Located, Root, Skill, Snapshot, short_path};
use prowess_format::suggest;
use prowess_package::switch::To;

use crate::args::{Args, Command, ManageCommand, SkillCommand};
use crate::context::Context;
use crate::failure::{ErrorCode, Failure};
use crate::output::{Output, clean, clean_path};
pub(crate) use crate::output::{print_located, source_of};

/// What a command comes to: an exit code, or a failure that says why.
pub(crate) type Outcome = Result<ExitCode, Failure>;

/// The answer is yes.
const YES: ExitCode = ExitCode::SUCCESS;

/// The answer is no.
fn no() -> ExitCode {
    ExitCode::from(1)
}

/// Does what was typed.
pub(crate) fn run(args: Args, output: &mut Output) -> Outcome {
    let Args { global, command } = args;
    match command {
        Command::Completions { shell } => return shell::completions(shell, output),
        Command::Man { command } => return shell::man(&command, output),
        Command::Config => return config::run(&Context::load_leniently(&global)?, output),
        Command::Mcp(call) => return mcp::run(&global, &call, output),
        Command::Serve(call) => return serve::run(&global, &call, output),
        Command::Doctor => return doctor::run(&Context::load_leniently(&global)?, &global, output),
        Command::Skill { command: SkillCommand::Manage { action: None } } => return manage::actions(output),
        _ => {}
    }
    let context = Context::load(&global, output)?;
    match command {
        Command::List { all } => list::run(&context, &global, all, output),
        Command::Show | Command::Skill { command: SkillCommand::Show } => {
            show::run(&context, &global, output)
        }
        Command::Info { name } => info::run(&context, &global, &name, output),
        Command::Why { name } => why::run(&context, &global, &name, output),
        Command::Check(check) => check::run(&context, &global, &check, output),
        Command::Audit(call) => audit::run(&context, &global, &call, output),
        Command::Prompt(call) => prompt::run(&context, &global, &call, output),
        Command::Match { query, k } => matching::run(&context, &global, &query, k as usize, output),
        Command::Activate { name, args } => activate::run(&context, &global, &name, args.as_deref(), output),
        Command::Files { name } => resources::files(&context, &global, &name, output),
        Command::Read { name, path } => resources::read(&context, &global, &name, &path, output),
        Command::Run(call) => run::run(&context, &global, &call, output),
        Command::Tools { skill } => call::tools(&context, &global, &skill, output),
        Command::Call { tool, params, skill } => {
            call::call(&context, &global, &tool, &params, &skill, output)
        }
        Command::Chat(call) => chat::run(&context, &global, &call, output),
        Command::Chats(call) => chats::run(&context, call, output),
        Command::Lint(call) => lint::run(&context, &global, &call, output),
        Command::Eval(call) => eval::run(&context, &global, &call, output),
        Command::New { name, description, dir } => new::run(&context, &name, &description, dir, output),
        Command::Install(call) | Command::Skill { command: SkillCommand::Install(call) } => {
            packages::install(&context, &global, &call, output)
        }
        Command::Import(call) => packages::import(&context, &global, &call, output),
        Command::Update(call) => packages::update(&context, &global, &call, output),
        Command::Remove(call) => packages::remove(&context, &global, &call, output),
        Command::Verify(call) => packages::verify(&context, &call, output),
        Command::Pack(call) => packages::pack(&call, output),
        Command::Index(call) => packages::index(&call, output),
        Command::Enable(call) => switch::run(&context, &call, To::On, output),
        Command::Disable(call) => switch::run(&context, &call, To::Off, output),
        Command::Plugins { scope } => packages::plugins(&context, &global, &scope, output),
        Command::Skill { command: SkillCommand::Manage { action: Some(action) } } => match action {
            ManageCommand::Enable(call) => switch::run(&context, &call, To::On, output),
            ManageCommand::Disable(call) => switch::run(&context, &call, To::Off, output),
            ManageCommand::Update(call) => packages::update(&context, &global, &call, output),
            ManageCommand::Remove(call) => packages::remove(&context, &global, &call, output),
            ManageCommand::List { scope } => packages::plugins(&context, &global, &scope, output),
        },
        Command::Trust { mcp, .. } if mcp.name.is_some() => served::approve(&context, &global, &mcp, output),
        Command::Trust { path, pinned, .. } => trust::trust(&context, path, pinned, output),
        Command::Untrust { mcp: Some(name), .. } => served::withdraw(&context, &global, &name, output),
        Command::Untrust { path, mcp: None } => trust::untrust(&context, path, output),
        Command::Config
        | Command::Mcp(_)
        | Command::Serve(_)
        | Command::Doctor
        | Command::Completions { .. }
        | Command::Man { .. }
        | Command::Skill { command: SkillCommand::Manage { action: None } } => Ok(YES),
    }
}

/// Diagnostics of one code that are shown where there are many.
const SHOWN_OF_A_CODE: usize = 3;

/// Prints a few diagnostics of each code, and how many more there are; `all` is the command that shows them.
fn print_summary(output: &mut Output, diagnostics: &[Located], all: &str) {
    if output.verbose() {
        return print_located(output, diagnostics);
    }
    let mut counts: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    let mut shown = Vec::new();
    for located in diagnostics {
        let count = counts.entry(located.diagnostic.code.as_str()).or_default();
        *count += 1;
        if *count <= SHOWN_OF_A_CODE {
            shown.push(located.clone());
        }
    }
    print_located(output, &shown);
    for (code, count) in counts {
        if let Some(more) = count.checked_sub(SHOWN_OF_A_CODE).filter(|more| *more > 0) {
            output.remark(format!("and {more} more of {code}; to see them: {all}"));
        }
    }
}

/// That there is nothing to show, and what to do about it.
fn nothing_found(context: &Context, output: &mut Output) {
    output.remark(match context.policy().enabled {
        true => "no skills found; prowess doctor tells where was looked, prowess new makes one",
        false => "skills are switched off; PROWESS_SKILLS_ENABLED=true switches them on",
    });
}

/// A directory as people call it.
fn place(root: &Root, context: &Context) -> String {
    match root.is_embedded() {
        true => "bundled".to_owned(),
        false => clean_path(&short_path(root.path(), &context.surroundings)),
    }
}

/// The name, and the folder's where that is what a skill is called by.
fn called(skill: &Skill, context: &Context) -> String {
    let by_id = context.policy().scan.identity == Identity::Id && skill.id() != skill.name();
    let id = if by_id { format!(" ({})", skill.id()) } else { String::new() };
    clean(&format!("{}{id}", skill.name())).into_owned()
}

/// The status of a skill that is not offered, and the rest of the sentence, which does not repeat it.
fn standing(skill: &Skill) -> Option<(String, String)> {
    let status = skill.status().as_str();
    let reason = skill.reason()?;
    Some(match reason.strip_prefix(status) {
        Some(rest) => (status.to_owned(), clean(rest.trim_start()).into_owned()),
        None => (format!("{status}:"), clean(&reason).into_owned()),
    })
}

/// The tools over the skills of this call, for commands that run no script: Ctrl-C ends them at once.
fn toolbox(context: &Context, global: &crate::args::Global) -> prowess_tools::Toolbox {
    toolbox_until(context, global, prowess_sandbox::Cancel::default())
}

/// Like [`toolbox`], for commands that run scripts: `cancel` ends them.
fn toolbox_until(
    context: &Context,
    global: &crate::args::Global,
    cancel: prowess_sandbox::Cancel,
) -> prowess_tools::Toolbox {
    let registry = std::sync::Arc::new(context.registry(global));
    let semantic = semantic(context).map(std::sync::Arc::new);
    prowess_tools::Toolbox::new(registry).with_runner(runner(cancel)).with_semantic(semantic)
}

/// What says how close a message is in meaning, if the user wants that.
fn semantic(context: &Context) -> Option<prowess_routing::semantic::Semantic> {
    prowess_embed::semantic(&context.configuration.embeddings, |name| std::env::var_os(name))
}

/// What the tools noticed on the way.
fn notices(toolbox: &prowess_tools::Toolbox, output: &mut Output) {
    for notice in toolbox.take_notices() {
        output.remark(crate::output::clean(&notice));
    }
}

/// What scripts are run with.
fn runner(cancel: prowess_sandbox::Cancel) -> prowess_tools::Runner {
    prowess_tools::Runner { environment: std::env::vars_os().collect(), cancel, ..Default::default() }
}

/// The skill that counts under this name; one that is only found under it says why it does not count.
fn active<'s>(snapshot: &'s Snapshot, name: &str) -> Result<&'s Skill, Failure> {
    match snapshot.get(name) {
        Some(skill) => Ok(skill),
        None => find(snapshot, name),
    }
}

/// The skill of this name or folder, whatever became of it; the one that counts goes first.
pub(crate) fn find<'s>(snapshot: &'s Snapshot, name: &str) -> Result<&'s Skill, Failure> {
    let named = snapshot.get(name).or_else(|| snapshot.all().iter().find(|skill| skill.name() == name));
    named
        .or_else(|| snapshot.all().iter().find(|skill| skill.id() == name))
        .ok_or_else(|| not_found(snapshot, name))
}

/// That there is no such skill, with the nearest name.
pub(crate) fn not_found(snapshot: &Snapshot, name: &str) -> Failure {
    let failure = Failure::new(ErrorCode::NotFound, format!("there is no skill named {}", clean(name)));
    let names: Vec<_> = snapshot.all().iter().map(|skill| skill.name()).collect();
    match suggest::nearest(name, names.iter().map(AsRef::as_ref)) {
        Some(near) => {
            failure.hint(format!("did you mean {near}? prowess why {} tells where was looked", clean(name)))
        }
        None => failure.hint(format!("prowess why {} tells where was looked", clean(name))),
    }
}
