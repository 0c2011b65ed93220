//! `prowess run`: runs a script of a skill in the sandbox.

use std::io::{BufRead, IsTerminal, Read, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use prowess::contained::strip_escapes;
use prowess::policy::ScriptPolicy;
use prowess::{Skill, short_path};
use prowess_sandbox::{
    self, Cancel, Consent, NetworkAccess, OutputStream, Protection, RunError, RunOptions, ScriptInput,
    ScriptResult, is_allowed, log,
};
use serde_json::{Value, json};

use super::chat::sanitize::StreamSanitizer;
use super::{CommandResult, SUCCESS, check_failed, find_active};
use crate::args::{GlobalArgs, RunArgs};
use crate::context::CommandContext;
use crate::failure::Failure;
use crate::output::{Output, clean, clean_path, format_time};
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
    if options.log.is_none() {
        output.note("no home directory, so the run is not logged");
    }
    options.consent = consent(context, skill, script, args, output)?;
    // Installed after the prompt, where Ctrl-C ends the process.
    options.cancel = cancellable();
    output.finish()?;
    if !output.json() {
        options.on_output = Some(Box::new(|stream, bytes| forwarder.forward(stream, bytes)));
    }
    let ran = prowess_sandbox::run(skill, script, &args.args, options).map_err(failure)?;
    forwarder.finish();
    if output.json() {
        output.write_json(&ran.to_json())?;
    } else {
        print_outcome(&ran, output);
    }
    Ok(if ran.is_success() { SUCCESS } else { check_failed() })
}

fn print_outcome(ran: &ScriptResult, output: &mut Output) {
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
    args: &RunArgs,
    output: &Output,
) -> Result<Consent, Failure> {
    let may_ask = context.policy().run.scripts == ScriptPolicy::Ask
        && skill.is_enabled()
        && skill.remote().is_none()
        && !is_allowed(skill, context.policy(), &context.host_env);
    let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && !output.json();
    if !may_ask || !terminal {
        return Ok(Consent::Configured);
    }
    let dir = clean_path(&short_path(&skill.dir(), &context.host_env));
    let mode = if args.unsafe_no_sandbox { "WITHOUT ANY SANDBOX" } else { "in the sandbox" };
    let mut err = std::io::stderr();
    write!(err, "Run {} of {} ({dir}) {mode}? [y/N] ", clean(script), clean(&skill.name()))?;
    err.flush()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Consent::Given,
        _ => Consent::Configured,
    })
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
