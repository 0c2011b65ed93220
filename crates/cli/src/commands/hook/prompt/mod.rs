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
use crate::args::{Args, Command, GlobalArgs, HOOK_TIMEOUT_MS, HookCommand, HookPromptArgs};
use crate::context::CommandContext;

/// The largest event that is read, in bytes.
const EVENT_MAX: u64 = 1024 * 1024;

/// The global options that take a value.
const OPTIONS_WITH_VALUE: [&str; 7] =
    ["--preset", "--root", "--project", "--project-dir", "--home", "--config", "--color"];

/// Returns `true` if the arguments call the hook, even if they are invalid otherwise. Help is printed as usual.
pub(crate) fn is_prompt_call(args: impl IntoIterator<Item = OsString>) -> bool {
    let args: Vec<OsString> = args.into_iter().skip(1).collect();
    let mut commands = Vec::new();
    let mut is_value = false;
    for arg in args.iter().take_while(|arg| *arg != "--") {
        if !std::mem::take(&mut is_value) {
            is_value = OPTIONS_WITH_VALUE.iter().any(|option| arg == option);
            if !arg.as_encoded_bytes().starts_with(b"-") {
                commands.push(arg);
            }
        }
    }
    let is_call = matches!(commands.as_slice(), [hook, prompt, ..] if *hook == "hook" && *prompt == "prompt");
    is_call && !args.iter().any(|arg| arg == "-h" || arg == "--help")
}

/// Runs the hook.
pub(crate) fn run() -> ExitCode {
    let state = Arc::new(OutputState::default());
    end_silently_on_panic(Arc::clone(&state));
    let Some((global, args)) = parse(&std::env::args_os().collect::<Vec<_>>()) else {
        return fail(&GlobalArgs::default().with_variables(), "", HookProblem::Usage);
    };
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

/// Parses the arguments. The usual ones are parsed without building the command-line parser.
fn parse(typed: &[OsString]) -> Option<(GlobalArgs, HookPromptArgs)> {
    if let [_, hook, prompt, option, client] = typed
        && (hook == "hook" && prompt == "prompt" && option == "--client")
        && let Some(client) = client.to_str().filter(|client| !client.starts_with('-'))
    {
        let args =
            HookPromptArgs { client: client.to_owned(), file: Vec::new(), timeout_ms: HOOK_TIMEOUT_MS };
        return Some((GlobalArgs::default(), args));
    }
    let Ok(Args { global, command: Command::Hook(hook) }) = Args::try_parse_from(typed) else { return None };
    match hook.command {
        HookCommand::Prompt(args) => Some((global, args)),
        HookCommand::Install(_) | HookCommand::Uninstall(_) => None,
    }
}

/// Ends the process with success before the message of a panic is printed. Works with `panic = "abort"`, too.
fn end_silently_on_panic(state: Arc<OutputState>) {
    std::panic::set_hook(Box::new(move |panic| {
        let location = panic.location().map(|location| (location.file().to_owned(), location.line()));
        if state.begin() {
            let global = GlobalArgs::default().with_variables();
            write_problem(&global, "", HookProblem::Panic(location));
        }
        std::process::exit(0)
    }));
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
    let Some(mut event) = event.filter(HookEvent::is_user_message) else { return Ok(None) };
    event.files.extend(args.file.iter().cloned());
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs itself in a process that panics.
    #[test]
    fn a_panic_ends_the_process_silently() {
        const HOME: &str = "PROWESS_HOME";
        if std::env::var_os("PROWESS_TEST_PANIC").is_some() {
            end_silently_on_panic(Arc::default());
            panic!("the message of the user");
        }
        let home = tempfile::tempdir().unwrap();
        let name = "commands::hook::prompt::tests::a_panic_ends_the_process_silently";
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", name, "--nocapture"]).env("PROWESS_TEST_PANIC", "1").env(HOME, home.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let printed = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        assert!(!printed.contains("message of the user"), "{printed}");
        let log = std::fs::read_to_string(home.path().join(".prowess/state/hook.log")).unwrap();
        assert!(log.contains("hook: internal error at ") && !log.contains("message of the user"), "{log}");
    }

    #[test]
    fn usual_arguments_are_parsed_like_others() {
        let parsed = |line: &str| {
            let typed: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            parse(&typed).map(|(global, args)| format!("{global:?} {args:?}"))
        };
        let usual = parsed("prowess hook prompt --client codex").unwrap();
        assert_eq!(parsed("prowess hook prompt --client=codex"), Some(usual.clone()));
        assert_eq!(parsed("prowess hook prompt --client codex --timeout-ms 1000"), Some(usual));
        assert_eq!(parsed("prowess hook prompt --client --quiet"), None);
        assert_eq!(parsed("prowess hook prompt"), None);
    }

    #[test]
    fn only_calls_of_the_hook_are_recognised() {
        let is_call = |line: &str| is_prompt_call(line.split(' ').map(OsString::from));
        for line in [
            "prowess hook prompt",
            "prowess hook prompt --client codex --nonsense",
            "prowess --home /x hook prompt --client codex",
            "prowess --home=/x -q hook --json prompt",
            "prowess --home hook hook prompt",
        ] {
            assert!(is_call(line), "{line}");
        }
        for line in [
            "prowess",
            "prowess hook",
            "prowess hook install --client prompt",
            "prowess match hook prompt",
            "prowess tools --skill hook prompt",
            "prowess --home hook prompt",
            "prowess -- hook prompt",
            "prowess hook prompt --help",
        ] {
            assert!(!is_call(line), "{line}");
        }
    }
}
