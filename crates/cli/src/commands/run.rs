//! `prowess run`: a script of a skill, in the sandbox.

use std::io::{BufRead, IsTerminal, Read, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use prowess::contained::strip_escapes;
use prowess::policy::Scripts;
use prowess::{Skill, short_path};
use prowess_sandbox::{
    self, Cancel, Consent, Input, Network, Options, Protection, Ran, RunError, Stream, is_allowed, log,
};
use serde_json::{Value, json};

use super::chat::words::Words;
use super::{Outcome, YES, active, no};
use crate::args::{Global, Run};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Output, clean, clean_path};
use crate::signals;

/// The most that a script is given to read.
const INPUT_MAX: u64 = 8 * 1024 * 1024;

pub(super) fn run(context: &Context, global: &Global, call: &Run, output: &mut Output) -> Outcome {
    let (Some(name), Some(script)) = (&call.name, &call.script) else {
        return show_log(context, call.n as usize, output);
    };
    let registry = context.registry_of(global, &[name]);
    let snapshot = registry.snapshot();
    let skill = active(&snapshot, name)?;
    let mut streams = Streams::default();
    let mut options = Options::of(&registry);
    options.input = input(call)?;
    options.environment = std::env::vars_os().collect();
    if let Some(seconds) = call.timeout {
        options.limits.time = Duration::from_secs(seconds.into());
    }
    if call.network {
        options.network = Some(Network::On);
    }
    if call.unsafe_no_sandbox {
        options.protection = Protection::Unsafe;
    }
    if options.log.is_none() {
        output.remark("there is no home, so the run is not recorded");
    }
    options.consent = consent(context, skill, script, call, output)?;
    // Not before: Ctrl-C at the question ends this process as usual.
    options.cancel = cancellable();
    output.finish()?;
    if !output.json() {
        options.on_output = Some(Box::new(|stream, bytes| streams.take(stream, bytes)));
    }
    let ran = prowess_sandbox::run(skill, script, &call.args, options).map_err(failure)?;
    streams.finish();
    if output.json() {
        output.answer(&ran.to_json())?;
    } else {
        remark(&ran, output);
    }
    Ok(if ran.is_success() { YES } else { no() })
}

fn remark(ran: &Ran, output: &mut Output) {
    for remark in &ran.remarks {
        output.remark(clean(remark));
    }
    match ran.left_behind {
        0 => {}
        1 => output.remark("it left a process behind, which was ended"),
        count => output.remark(format!("it left {count} processes behind, which were ended")),
    }
    output.remark(format!("sandbox {}: {}, {} ms", ran.sandbox, ran.ending(), ran.duration_ms));
}

/// Asks where the configuration says to ask and there is somebody.
fn consent(
    context: &Context,
    skill: &Skill,
    script: &str,
    call: &Run,
    output: &Output,
) -> Result<Consent, Failure> {
    let may_ask = context.policy().run.scripts == Scripts::Ask
        && skill.is_enabled()
        && skill.supplied().is_none()
        && !is_allowed(skill, context.policy(), &context.surroundings);
    let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && !output.json();
    if !may_ask || !terminal {
        return Ok(Consent::Configured);
    }
    let place = clean_path(&short_path(&skill.folder(), &context.surroundings));
    let how = if call.unsafe_no_sandbox { "WITHOUT ANY SANDBOX" } else { "in the sandbox" };
    let mut err = std::io::stderr();
    write!(err, "Run {} of {} ({place}) {how}? [y/N] ", clean(script), clean(&skill.name()))?;
    err.flush()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    Ok(match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Consent::Given,
        _ => Consent::Configured,
    })
}

fn input(call: &Run) -> Result<Input, Failure> {
    let text = match call.stdin_json.as_deref() {
        None => return Ok(Input::Nothing),
        Some("-") => {
            let mut text = String::new();
            std::io::stdin().lock().take(INPUT_MAX + 1).read_to_string(&mut text)?;
            text
        }
        Some(text) => text.to_owned(),
    };
    if text.len() as u64 > INPUT_MAX {
        return Err(Failure::call(format!("the input has more than {INPUT_MAX} bytes")));
    }
    let value: Value = serde_json::from_str(&text)
        .map_err(|error| Failure::call(format!("the input is not JSON: {error}")))?;
    let mut bytes = serde_json::to_vec(&value)?;
    bytes.push(b'\n');
    Ok(Input::Bytes(bytes))
}

/// Ends scripts when somebody presses Ctrl-C, so that nothing is left of them.
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

/// The script's streams, passed on as they come. What goes to a terminal is passed on line by line, without escapes.
#[derive(Default)]
struct Streams {
    out: Vec<u8>,
    err: Vec<u8>,
}

impl Streams {
    fn take(&mut self, stream: Stream, bytes: &[u8]) {
        // Somebody who stopped reading does not stop the script.
        let _ = match stream {
            Stream::Out => {
                pass(&mut std::io::stdout().lock(), std::io::stdout().is_terminal(), &mut self.out, bytes)
            }
            Stream::Err => {
                pass(&mut std::io::stderr().lock(), std::io::stderr().is_terminal(), &mut self.err, bytes)
            }
        };
    }

    fn finish(&mut self) {
        for stream in [Stream::Out, Stream::Err] {
            let rest = if stream == Stream::Out { &self.out } else { &self.err };
            if !rest.is_empty() {
                self.take(stream, b"\n");
            }
        }
    }
}

fn pass(to: &mut impl Write, terminal: bool, held: &mut Vec<u8>, bytes: &[u8]) -> std::io::Result<()> {
    if !terminal {
        to.write_all(bytes)?;
        return to.flush();
    }
    held.extend_from_slice(bytes);
    let Some(end) = held.iter().rposition(|byte| *byte == b'\n') else { return Ok(()) };
    let rest = held.split_off(end + 1);
    let mut text = String::from_utf8_lossy(&std::mem::replace(held, rest)).into_owned();
    strip_escapes(&mut text, 0);
    // Invisible and reordering characters are escaped.
    to.write_all(Words::new(true).shown(&text).as_bytes())?;
    to.flush()
}

fn show_log(context: &Context, most: usize, output: &mut Output) -> Outcome {
    let records = log::path(&context.surroundings).map(|path| log::read(&path, most)).unwrap_or_default();
    if output.json() {
        output.answer(&json!({"schema": 1, "runs": records}))?;
        return Ok(YES);
    }
    for record in &records {
        let how = match &record.end {
            None => "not known to have ended".to_owned(),
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
            when(record.at),
            clean(sandbox),
            clean(&record.skill),
            clean(&record.script),
            clean(&how),
            limits.collect::<String>()
        ))?;
    }
    if records.is_empty() {
        output.remark("nothing was run yet");
    }
    Ok(YES)
}

/// Seconds since 1970 as date and time in UTC.
fn when(seconds: u64) -> String {
    prowess_package::iso_time(seconds).replace('T', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_utc() {
        assert_eq!(when(0), "1970-01-01 00:00:00Z");
        assert_eq!(when(951_827_696), "2000-02-29 12:34:56Z");
        assert_eq!(when(1_798_761_599), "2026-12-31 23:59:59Z");
    }
}
