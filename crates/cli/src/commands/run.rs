//! `prowess run`: runs a script of a skill in the sandbox.

use std::io::{IsTerminal, Read, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use prowess::Skill;
use prowess::contained::strip_escapes;
use prowess_sandbox::environments::EnvironmentError;
use prowess_sandbox::{
    self, AccessSummary, Cancel, Consent, ConsentAnswer, NetworkAccess, OutputStream, Protection, RunError,
    RunOptions, ScriptInput, ScriptResult, Workspace, log,
};
use prowess_tools::ConsentCallback;
use serde_json::{Value, json};

use super::chat::sanitize::StreamSanitizer;
use super::consent::{ask, can_ask};
use super::env::{self, BuildConsent, BuildRequest};
use super::{CommandResult, SUCCESS, check_failed, decisions, find_active};
use crate::args::{GlobalArgs, RunArgs};
use crate::context::CommandContext;
use crate::failure::Failure;
use crate::output::{Output, clean, clean_path, format_size, format_time};
use crate::signals;

/// The maximum size of the input of a script.
const INPUT_MAX: u64 = 8 * 1024 * 1024;

pub(super) fn run(
    context: &CommandContext,
    global: &GlobalArgs,
    args: &RunArgs,
    output: &mut Output,
) -> CommandResult {
    let (Some(name), Some(script)) = (&args.name, &args.script) else {
        return show_log(context, args.n as usize, output);
    };
    check_paths(context, args)?;
    let registry = context.registry_for(global, &[name]);
    let snapshot = registry.snapshot();
    let skill = find_active(&snapshot, name)?;
    let mut forwarder = OutputForwarder::default();
    let mut options = RunOptions::from_registry(&registry);
    options.input = input(args)?;
    options.environment = std::env::vars_os().collect();
    if let Some(seconds) = args.timeout {
        options.limits.time = Duration::from_secs(seconds.into());
    }
    if args.network {
        options.network = Some(NetworkAccess::On);
    }
    if args.unsafe_no_sandbox {
        options.protection = Protection::Unsafe;
    }
    options.workspace = args.workspace.clone().map(Workspace::Directory);
    options.read = args.read.clone();
    options.current_dir = std::env::current_dir().ok();
    if args.output.is_some() && options.workspace.is_none() {
        options.workspace = Some(Workspace::default());
    }
    if options.log.is_none() {
        output.note("no home directory, so the run is not logged");
    }
    options.consent = consent(context, skill, script, &options, output)?;
    offer_build(context, global, skill, script, &options, output)?;
    // Installed after the prompt, where Ctrl-C ends the process.
    options.cancel = cancellable();
    output.finish()?;
    if !output.json() {
        options.on_output = Some(Box::new(|stream, bytes| forwarder.forward(stream, bytes)));
    }
    let ran = prowess_sandbox::run(skill, script, &args.args, options).map_err(failure)?;
    forwarder.finish();
    if let (Some(workspace), Some(dir)) = (&ran.workspace, &args.output) {
        workspace.copy_artifacts(dir, &context.host_env).map_err(|error| failure(error.into()))?;
    }
    if output.json() {
        output.write_json(&ran.to_json())?;
    } else {
        print_outcome(&ran, args, output);
    }
    Ok(if ran.is_success() { SUCCESS } else { check_failed() })
}

/// Checks the paths of the user before anything runs, so that the files of a script are not lost.
fn check_paths(context: &CommandContext, args: &RunArgs) -> Result<(), Failure> {
    for path in args.workspace.iter().chain(&args.read) {
        std::fs::metadata(path)
            .map_err(|error| Failure::usage(format!("cannot read {}: {error}", clean_path(path))))?;
    }
    if let Some(dir) = &args.output {
        prowess_fs::create_dir_all(dir)
            .map_err(|error| Failure::usage(format!("cannot create {}: {error}", clean_path(dir))))?;
        prowess_sandbox::check_workspace(dir, &context.host_env).map_err(|error| failure(error.into()))?;
    }
    Ok(())
}

/// The maximum number of artifacts to print.
const SHOWN_ARTIFACTS: usize = 20;

fn print_outcome(ran: &ScriptResult, args: &RunArgs, output: &mut Output) {
    for artifact in ran.artifacts().iter().take(SHOWN_ARTIFACTS) {
        let size = format_size(artifact.size);
        output.note(format!("wrote {} ({size}, {})", clean(&artifact.path), artifact.media_type));
    }
    let omitted = ran.artifacts().len().saturating_sub(SHOWN_ARTIFACTS);
    if omitted > 0 {
        output.note(format!("wrote {omitted} more files; --json lists all of them"));
    }
    for path in ran.removed().iter().take(SHOWN_ARTIFACTS) {
        output.note(format!("removed {}", clean(path)));
    }
    if !ran.artifacts().is_empty() && args.workspace.is_none() && args.output.is_none() {
        output.note("these files are deleted now; pass --output DIR to keep them");
    }
    for remark in &ran.remarks {
        output.note(clean(remark));
    }
    match ran.left_behind {
        0 => {}
        1 => output.note("the script left a process running, which was stopped"),
        count => output.note(format!("the script left {count} processes running, which were stopped")),
    }
    output.note(format!("sandbox {}: {}, {} ms", ran.sandbox, ran.describe_end(), ran.duration_ms));
}

/// Asks for confirmation if the policy requires it and a terminal is available.
fn consent(
    context: &CommandContext,
    skill: &Skill,
    script: &str,
    options: &RunOptions<'_>,
    output: &mut Output,
) -> Result<Consent, Failure> {
    // A question that cannot be asked is not confirmed.
    let ask = |access: &AccessSummary| ask(access).unwrap_or(ConsentAnswer::NotNow);
    let ask: Option<&ConsentCallback> = if can_ask() && !output.json() { Some(&ask) } else { None };
    let (consent, warning) = decisions(context).consent(skill, script, options, ask).map_err(|error| {
        let failure = Failure::new(error.code, error.message);
        match error.code {
            prowess::ErrorCode::AccessDenied => failure.hint(prowess_sandbox::DENIED_HINT),
            _ => failure,
        }
    })?;
    if let Some(warning) = warning {
        output.note(clean(&warning));
    }
    Ok(consent)
}

/// Offers to build the environment of a script that may run, if there is a terminal. Without one, the run fails.
fn offer_build(
    context: &CommandContext,
    global: &GlobalArgs,
    skill: &Skill,
    script: &str,
    options: &RunOptions<'_>,
    output: &mut Output,
) -> Result<(), Failure> {
    if !can_ask() || output.json() || prowess_sandbox::check_consent(skill, options).is_err() {
        return Ok(());
    }
    let Err(RunError::Environment(error)) = prowess_sandbox::environment_of_script(skill, script, options)
    else {
        return Ok(());
    };
    if !matches!(error, EnvironmentError::NotBuilt { .. }) {
        return Ok(());
    }
    output.note(clean(&error.to_string()));
    let request = BuildRequest {
        skill,
        script: Some(script.trim_start_matches("./")),
        consent: BuildConsent::AskAlways,
        upgrade: false,
    };
    let outcome = env::build(context, global, &request, output)?;
    match outcome.declined {
        true => Err(env::failure(error)),
        false => Ok(()),
    }
}

fn input(args: &RunArgs) -> Result<ScriptInput, Failure> {
    let text = match args.stdin_json.as_deref() {
        None => return Ok(ScriptInput::Empty),
        Some("-") => {
            let mut text = String::new();
            std::io::stdin().lock().take(INPUT_MAX + 1).read_to_string(&mut text)?;
            text
        }
        Some(text) => text.to_owned(),
    };
    if text.len() as u64 > INPUT_MAX {
        return Err(Failure::usage(format!("the input is larger than {INPUT_MAX} bytes")));
    }
    let value: Value = serde_json::from_str(&text)
        .map_err(|error| Failure::usage(format!("the input is not valid JSON: {error}")))?;
    let mut bytes = serde_json::to_vec(&value)?;
    bytes.push(b'\n');
    Ok(ScriptInput::Bytes(bytes))
}

/// Returns a cancellation handle that Ctrl-C triggers, so that scripts are stopped.
pub(super) fn cancellable() -> Cancel {
    let flag = Arc::new(AtomicBool::new(false));
    signals::set_on_termination(&flag);
    Cancel::from(flag)
}

pub(super) fn failure(error: RunError) -> Failure {
    let failure = Failure::new(error.code(), error.to_string());
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Forwards the output of a script. On a terminal, it is forwarded line by line, without escape sequences.
#[derive(Default)]
struct OutputForwarder {
    out: Vec<u8>,
    err: Vec<u8>,
}

impl OutputForwarder {
    fn forward(&mut self, stream: OutputStream, bytes: &[u8]) {
        // A closed pipe does not stop the script.
        let _ = match stream {
            OutputStream::Out => {
                forward(&mut std::io::stdout().lock(), std::io::stdout().is_terminal(), &mut self.out, bytes)
            }
            OutputStream::Err => {
                forward(&mut std::io::stderr().lock(), std::io::stderr().is_terminal(), &mut self.err, bytes)
            }
        };
    }

    fn finish(&mut self) {
        for stream in [OutputStream::Out, OutputStream::Err] {
            let unfinished_line = if stream == OutputStream::Out { &self.out } else { &self.err };
            if !unfinished_line.is_empty() {
                self.forward(stream, b"\n");
            }
        }
    }
}

fn forward(
    writer: &mut impl Write,
    terminal: bool,
    buffer: &mut Vec<u8>,
    bytes: &[u8],
) -> std::io::Result<()> {
    if !terminal {
        writer.write_all(bytes)?;
        return writer.flush();
    }
    buffer.extend_from_slice(bytes);
    let Some(end) = buffer.iter().rposition(|byte| *byte == b'\n') else { return Ok(()) };
    let rest = buffer.split_off(end + 1);
    let mut text = String::from_utf8_lossy(&std::mem::replace(buffer, rest)).into_owned();
    strip_escapes(&mut text, 0);
    // Escape hidden and reordering characters.
    writer.write_all(StreamSanitizer::new(true).sanitize(&text).as_bytes())?;
    writer.flush()
}

fn show_log(context: &CommandContext, limit: usize, output: &mut Output) -> CommandResult {
    let records =
        log::path(&context.host_env).map(|path| log::read_records(&path, limit)).unwrap_or_default();
    if output.json() {
        output.write_json(&json!({"schema": 1, "runs": records}))?;
        return Ok(SUCCESS);
    }
    for record in &records {
        let outcome = match &record.end {
            None => "end not recorded".to_owned(),
            Some(end) => match (&end.error, end.exit_code, end.signal) {
                (Some(error), ..) => format!("not run: {error}"),
                (None, Some(code), _) => format!("exit code {code}"),
                (None, None, Some(signal)) => format!("signal {signal}"),
                (None, None, None) => "ended".to_owned(),
            },
        };
        let limits =
            record.end.iter().flat_map(|end| &end.limits_hit).map(|limit| format!(", limit {limit}"));
        let sandbox = record.sandbox.as_deref().unwrap_or("-");
        output.line(format!(
            "{}  {}  {} {}  {}{}",
            format_time(record.at),
            clean(sandbox),
            clean(&record.skill),
            clean(&record.script),
            clean(&outcome),
            limits.collect::<String>()
        ))?;
    }
    if records.is_empty() {
        output.note("no runs recorded");
    }
    Ok(SUCCESS)
}
