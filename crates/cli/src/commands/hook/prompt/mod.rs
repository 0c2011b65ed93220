//! `prowess hook prompt`: prints a hint about the skills that fit a message.
//!
//! Invariants: the exit code is 0 and standard error is empty, whatever happens, because clients reject the message of the
//! user otherwise; the output is complete or empty; the message is neither written anywhere nor sent to anyone.

mod event;
mod hint;
mod log;

use std::ffi::OsString;
use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Parser;
use prowess::catalog::{Visibility, visibility};
use prowess::{Registry, ScanProgress, Skill};
use prowess_package::connect::hooks::find_hook_client;
use prowess_routing::Router;

use self::event::HookEvent;
pub(in crate::commands) use self::log::LOG_FILE_MAX;
use self::log::{HookProblem, write_problem};
use crate::args::{Args, Command, GlobalArgs, HookCommand, HookPromptArgs};
use crate::context::CommandContext;

/// The largest event that is read, in bytes.
const EVENT_MAX: u64 = 1024 * 1024;

/// Returns `true` if the arguments call the hook, even if they are invalid otherwise. Help is printed as usual.
pub(crate) fn is_prompt_call(args: impl IntoIterator<Item = OsString>) -> bool {
    let args: Vec<OsString> = args.into_iter().skip(1).collect();
    let is_option = |arg: &OsString| arg.as_encoded_bytes().starts_with(b"-");
    // Only options and their values can precede the command.
    let command = (0..args.len()).find(|index| {
        !is_option(&args[*index]) && index.checked_sub(1).is_none_or(|before| !is_option(&args[before]))
    });
    let after_value = || (1..args.len()).find(|index| args[*index] == "hook" && is_option(&args[index - 1]));
    let is_hook =
        |index: &usize| args[*index] == "hook" && args.get(index + 1).is_some_and(|arg| arg == "prompt");
    let is_call =
        command.is_some_and(|index| is_hook(&index)) || after_value().is_some_and(|index| is_hook(&index));
    is_call && !args.iter().any(|arg| arg == "-h" || arg == "--help")
}

/// Runs the hook.
pub(crate) fn run() -> ExitCode {
    let state = Arc::new(OutputState::default());
    let on_panic = Arc::clone(&state);
    // A panic ends the process before its message is printed.
    std::panic::set_hook(Box::new(move |panic| {
        let location = panic.location().map(|location| (location.file().to_owned(), location.line()));
        if on_panic.begin() {
            write_problem(&GlobalArgs::without_options().with_variables(), "", HookProblem::Panic(location));
        }
        std::process::exit(0)
    }));
    let typed: Vec<OsString> = std::env::args_os().collect();
    let parsed = Args::try_parse_from(&typed);
    let Ok(Args { global, command: Command::Hook(hook) }) = parsed else {
        return fail(&GlobalArgs::without_options().with_variables(), "", HookProblem::Usage);
    };
    let HookCommand::Prompt(args) = hook.command else { return ExitCode::SUCCESS };
    let (variables, project) = (global.clone().with_variables(), global.project.clone());
    watch(&state, &variables, &args);
    match find_hint(variables.clone(), project, &args) {
        Ok(None) => ExitCode::SUCCESS,
        // The time is over, and the other thread ends the process.
        Ok(Some(_)) if !state.begin() => loop_forever(),
        Ok(Some(answer)) => match write_answer(&answer) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => fail(&variables, &args.client, HookProblem::Output),
        },
        Err(problem) => fail(&variables, &args.client, problem),
    }
}

fn fail(global: &GlobalArgs, client: &str, problem: HookProblem) -> ExitCode {
    write_problem(global, client, problem);
    ExitCode::SUCCESS
}

fn write_answer(answer: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(answer.as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}

fn loop_forever() -> ! {
    loop {
        std::thread::park();
    }
}

/// Whether the hook has started to print its answer, or has given up.
#[derive(Debug, Default)]
struct OutputState(AtomicBool);

impl OutputState {
    /// Returns `true` for the first caller, which ends the hook.
    fn begin(&self) -> bool {
        !self.0.swap(true, Ordering::SeqCst)
    }
}

/// Ends the process after its time limit, unless it is already printing its answer.
fn watch(state: &Arc<OutputState>, global: &GlobalArgs, args: &HookPromptArgs) {
    let (state, global, client) = (Arc::clone(state), global.clone(), args.client.clone());
    let limit = Duration::from_millis(args.timeout_ms);
    let watch = move || {
        std::thread::sleep(limit);
        if state.begin() {
            write_problem(&global, &client, HookProblem::Timeout(limit));
            std::process::exit(0);
        }
    };
    // Without the thread, the limit of the client applies.
    drop(std::thread::Builder::new().spawn(watch));
}

/// Returns the answer to the event on standard input, or `None` if there is nothing to say.
fn find_hint(
    mut global: GlobalArgs,
    project: Option<std::path::PathBuf>,
    args: &HookPromptArgs,
) -> Result<Option<String>, HookProblem> {
    let client = find_hook_client(&args.client).map_err(|_| HookProblem::UnknownClient)?;
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(EVENT_MAX + 1).read_to_end(&mut bytes).map_err(|_| HookProblem::Input)?;
    if bytes.len() as u64 > EVENT_MAX {
        return Err(HookProblem::EventTooLarge);
    }
    let event = HookEvent::parse(&bytes, client).map_err(|_| HookProblem::InvalidEvent)?;
    let Some(event) = event.filter(HookEvent::is_user_message) else { return Ok(None) };
    // The option has priority over the event, and the event over the environment variable.
    global.project = project.or_else(|| event.cwd.clone()).or(global.project);
    crate::context::require_paths(&global).map_err(|_| HookProblem::Usage)?;
    let context = CommandContext::load_unchecked(&global).map_err(|_| HookProblem::Configuration)?;
    if context.configuration.first_error().is_some() {
        return Err(HookProblem::Configuration);
    }
    if !context.policy().enabled {
        return Ok(None);
    }
    // Neither servers with skills nor embeddings are used: they could be slow, and would be sent the message.
    let (policy, host_env) = (context.policy(), &context.host_env);
    let state_dir = host_env.state_dir();
    let registry = match &state_dir {
        Some(state) => {
            Registry::open_with_cache(policy.clone(), host_env.clone(), &state.join("index/frontmatter"))
        }
        None => Registry::open_in(policy.clone(), host_env.clone(), &ScanProgress::default()),
    };
    let is_offered = |skill: &Skill| visibility(skill, policy) != Visibility::Manual;
    let index_dir = state_dir.map(|state| state.join("index"));
    let router = Router::with_filter(registry.snapshot(), is_offered).with_cache_dir(index_dir);
    let answer = hint::find(&event, &router, host_env).map(|hint| event.answer(&hint));
    // The process ends now; releasing the memory of all skills would only take time.
    std::mem::forget((registry, router));
    Ok(answer)
}
