//! Communication with a running program: sends requests, reads answers and detects faults.

use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::limits::ProgramLimits;
use super::output::ProgramOutput;
use super::protocol::{self, ProgramMessage};
use super::tool::merge_metadata;
use crate::program_fault::PROTOCOL_VERSION;
use crate::program_fault::ProgramFault;
use crate::response::{ToolCall, ToolResult, one_line, tool_result};
use prowess_sandbox::Cancel;
use prowess_sandbox::log::RunEnd;
use prowess_sandbox::{OutputStream, RunLimit, RunningScript};

/// How often cancellation is checked.
const TICK: Duration = Duration::from_millis(20);

/// How often resource usage is measured during a call, and while idle.
const MEASURE_INTERVAL: Duration = Duration::from_millis(100);
const IDLE_MEASURE_INTERVAL: Duration = Duration::from_secs(1);

/// How long to wait for remaining output after the program has exited.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// Why a call has no result.
pub(super) enum CallFailure {
    /// The program misbehaved and must be stopped.
    Fault(ProgramFault),
    /// The tool reported an error.
    Failed(String),
    /// The result exceeds a limit.
    Refused(String),
    Cancelled,
    /// The program exited successfully before it received the call.
    Exited,
}

impl From<ProgramFault> for CallFailure {
    fn from(fault: ProgramFault) -> Self {
        Self::Fault(fault)
    }
}

/// The flags that cancel a call: that of the call, and that of everything.
pub(super) struct CancelFlags {
    pub(super) call: Cancel,
    pub(super) all: prowess_sandbox::Cancel,
}

impl CancelFlags {
    fn is_set(&self) -> bool {
        self.call.is_cancelled() || self.all.is_cancelled()
    }
}

/// How a program exited by itself.
#[derive(Clone, Copy)]
struct ProgramExit {
    code: Option<i32>,
    signal: Option<i32>,
    exited_at: Instant,
}

/// A running program and its output.
pub(super) struct ProgramSession {
    script: RunningScript,
    limits: ProgramLimits,
    output: ProgramOutput,
    exit: Option<ProgramExit>,
    measured: Instant,
    calls: u64,
}

impl ProgramSession {
    pub(super) fn new(script: RunningScript, limits: ProgramLimits) -> Self {
        let (output, measured) = (ProgramOutput::default(), Instant::now());
        Self { script, limits, output, exit: None, measured, calls: 0 }
    }

    /// Requests the tools.
    pub(super) fn tools(&mut self, cancel: &prowess_sandbox::Cancel) -> Result<Vec<Value>, CallFailure> {
        let started = Instant::now();
        self.send_request(&protocol::tools_request());
        loop {
            match self.next_message()? {
                Some(ProgramMessage::Tools { protocol: PROTOCOL_VERSION, tools }) => return Ok(tools),
                Some(ProgramMessage::Tools { protocol, .. }) => {
                    return Err(ProgramFault::Version(protocol).into());
                }
                Some(other) => return Err(ProgramFault::Unsolicited(other.kind()).into()),
                None => {}
            }
            if cancel.is_cancelled() {
                return Err(CallFailure::Cancelled);
            }
            if started.elapsed() >= self.limits.start_time {
                let (limit, last_stderr) = (self.limits.start_time, self.output.last_stderr_line());
                return Err(ProgramFault::NoTools { limit, last_stderr }.into());
            }
            self.poll(TICK, MEASURE_INTERVAL)?;
        }
    }

    /// Sends a call and waits for its result.
    pub(super) fn call(&mut self, call: &ToolCall, stops: &CancelFlags) -> Result<ToolResult, CallFailure> {
        // Output since the last answer belongs to no call.
        if let Err(fault) = self.check_idle() {
            return Err(if self.exited_cleanly() { CallFailure::Exited } else { fault.into() });
        }
        self.calls += 1;
        let id_sent = self.calls;
        self.send_request(&protocol::call_request(id_sent, call));
        let limit = self.script.limits.time;
        let mut deadline = Instant::now() + limit;
        let mut cancelled = false;
        let (mut title, mut progress_metadata) = (None, Map::new());
        loop {
            while let Some(message) = self.next_message()? {
                match message {
                    ProgramMessage::Tools { .. } => {
                        return Err(ProgramFault::Unsolicited(message.kind()).into());
                    }
                    ProgramMessage::Progress { id, .. }
                    | ProgramMessage::Result { id, .. }
                    | ProgramMessage::Error { id, .. }
                        if id != id_sent =>
                    {
                        return Err(self.wrong_call(id, id_sent).into());
                    }
                    ProgramMessage::Progress { title: new_title, metadata, .. } => {
                        title = new_title.or(title);
                        progress_metadata.extend(metadata);
                    }
                    ProgramMessage::Error { message, .. } => {
                        return Err(CallFailure::Failed(one_line(&message)));
                    }
                    ProgramMessage::Result { mut result, .. } => {
                        merge_metadata(progress_metadata, &mut result);
                        if let Some(title) = title {
                            result.entry("title").or_insert(title.into());
                        }
                        return self.check_result(result);
                    }
                }
            }
            if !cancelled && stops.is_set() {
                cancelled = true;
                self.script.process.send(&protocol::cancel_notice(id_sent));
                deadline = deadline.min(Instant::now() + self.limits.grace);
            }
            if Instant::now() >= deadline {
                return Err(if cancelled {
                    CallFailure::Cancelled
                } else {
                    ProgramFault::NoAnswer { limit }.into()
                });
            }
            self.poll(TICK, MEASURE_INTERVAL)?;
        }
    }

    fn wrong_call(&self, id: u64, expected: u64) -> ProgramFault {
        if id < expected && id > 0 {
            ProgramFault::DuplicateAnswer(id)
        } else {
            ProgramFault::WrongCall { answered: id, expected }
        }
    }

    fn check_result(&mut self, result: Map<String, Value>) -> Result<ToolResult, CallFailure> {
        let size = |key: &str| result.get(key).map_or(0, |value| value.to_string().len());
        for (key, limit) in [("metadata", self.limits.metadata), ("attachments", self.limits.attachments)] {
            if size(key) > limit {
                return Err(CallFailure::Refused(format!(
                    "the {key} of the result have {} bytes; the maximum is {limit}",
                    size(key)
                )));
            }
        }
        let max = usize::try_from(self.script.limits.output_bytes).unwrap_or(usize::MAX);
        Ok(ToolResult { console: self.output.console(), ..tool_result(result, max) })
    }

    /// Checks that an idle program is running and has not written anything.
    pub(super) fn check_idle(&mut self) -> Result<(), ProgramFault> {
        self.poll(Duration::ZERO, IDLE_MEASURE_INTERVAL)?;
        match self.next_message()? {
            None => Ok(()),
            Some(ProgramMessage::Result { id, .. } | ProgramMessage::Error { id, .. })
                if id <= self.calls && id > 0 =>
            {
                Err(ProgramFault::DuplicateAnswer(id))
            }
            Some(message) => Err(ProgramFault::Unsolicited(message.kind())),
        }
    }

    /// Returns `true` if the program exited successfully by itself. The next call starts another process.
    pub(super) fn exited_cleanly(&self) -> bool {
        self.exit.is_some_and(|exit| exit.code == Some(0)) && self.output.is_empty()
    }

    fn send_request(&mut self, line: &[u8]) {
        self.output.start_request();
        self.script.process.send(line);
    }

    fn next_message(&mut self) -> Result<Option<ProgramMessage>, ProgramFault> {
        if let Some(line) = self.output.next_line() {
            return protocol::parse_message(&line, self.limits.values)
                .map(Some)
                .map_err(ProgramFault::InvalidMessage);
        }
        // All output was read; a partial line is not an answer.
        match self.exit {
            Some(exit)
                if self.script.process.has_closed_output() || exit.exited_at.elapsed() >= DRAIN_TIMEOUT =>
            {
                Err(self.exit_fault(exit))
            }
            _ => Ok(None),
        }
    }

    fn exit_fault(&self, exit: ProgramExit) -> ProgramFault {
        // A write may have failed because of the size limit before the files were measured.
        if self.script.scratch_exceeded() {
            return ProgramFault::Limit(RunLimit::Scratch);
        }
        let status = match (exit.code, exit.signal) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "unknown reason".to_owned(),
        };
        ProgramFault::Exited { status, last_stderr: self.output.last_stderr_line() }
    }

    /// Reads output, and waits for it at most this long.
    fn poll(&mut self, wait: Duration, measure_interval: Duration) -> Result<(), ProgramFault> {
        let events = self.script.process.next_events(wait).unwrap_or_default();
        for event in events {
            match event {
                prowess_sandbox::sandbox::ProcessEvent::Output(OutputStream::Out, bytes) => {
                    self.output.push_stdout(&bytes, &self.limits)?
                }
                prowess_sandbox::sandbox::ProcessEvent::Output(OutputStream::Err, bytes) => {
                    self.output.push_stderr(&bytes, &self.limits, self.script.limits.output_bytes)?;
                }
                prowess_sandbox::sandbox::ProcessEvent::NotStarted(reason) => {
                    return Err(ProgramFault::NotStarted(reason));
                }
                prowess_sandbox::sandbox::ProcessEvent::Exited { code, signal, .. } => {
                    self.exit.get_or_insert(ProgramExit { code, signal, exited_at: Instant::now() });
                }
            }
        }
        if self.exit.is_none() && self.script.process.is_finished() {
            // The helper itself exited, and all processes with it.
            self.exit = Some(ProgramExit { code: None, signal: None, exited_at: Instant::now() });
        }
        if self.exit.is_none() && self.measured.elapsed() >= measure_interval {
            self.measured = Instant::now();
            // The kernel limits the number of processes; reaching the limit is not a fault.
            let hit = self.script.limits_exceeded().into_iter().find(|limit| *limit != RunLimit::Processes);
            return hit.map_or(Ok(()), |limit| Err(ProgramFault::Limit(limit)));
        }
        Ok(())
    }

    /// Ends the program: closes its input first, so that it can exit by itself, then kills everything.
    pub(super) fn end(mut self, fault: Option<&ProgramFault>) {
        let mut killed = false;
        if fault.is_none() && self.exit.is_none() {
            self.script.process.close_input();
            let deadline = Instant::now() + self.limits.end_time;
            while self.exit.is_none() && Instant::now() < deadline {
                // Remaining output is ignored.
                if self.poll(Duration::from_millis(5), IDLE_MEASURE_INTERVAL).is_err() {
                    break;
                }
                self.output.discard();
            }
            killed = self.exit.is_none();
        }
        let hit = fault.and_then(ProgramFault::limit);
        let (exit_code, signal) = self.exit.map_or((None, Some(9)), |exit| (exit.code, exit.signal));
        let kill_error = killed.then(|| "did not exit after its input was closed, and was killed".to_owned());
        self.script.end(RunEnd {
            exit_code,
            signal,
            truncated: hit == Some(RunLimit::Output),
            timed_out: hit == Some(RunLimit::Time),
            limits_hit: hit.iter().map(ToString::to_string).collect(),
            error: fault.map(ToString::to_string).or(kill_error),
            ..RunEnd::default()
        });
    }
}
