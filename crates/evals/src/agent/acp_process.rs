//! The process of an agent that speaks the Agent Client Protocol: a thread that exchanges lines with it.
//!
//! The thread starts the process and ends it, because the kernel kills a process when the thread that started it ends. It
//! limits the length of lines and the total output, so that a hostile agent cannot fill the memory.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use prowess_sandbox::sandbox::ProcessEvent;
use prowess_sandbox::{
    Cancel, FinishedWorkspace, OutputStream, ProgramOptions, ProgramTask, Protection, RunError, RunLimit,
    RunningProgram, SandboxHelper, start_program,
};
use tokio::sync::{mpsc as async_mpsc, oneshot};

use super::output::LINE_MAX;

/// How often outgoing lines and cancellation are checked.
const TICK: Duration = Duration::from_millis(5);

/// How often resource usage is measured.
const MEASURE_INTERVAL: Duration = Duration::from_millis(250);

/// How much of the end of the standard error is kept, in bytes.
const STDERR_MAX: usize = 16 * 1024;

/// How many lines that are not messages are kept.
const OTHER_LINES_MAX: usize = 5;

/// A line that the agent printed, or why there are no more.
pub(super) type IncomingLine = std::io::Result<String>;

/// An agent that was started.
pub(super) struct AcpProcess {
    /// The workspace, as the agent sees it.
    pub(super) workspace: PathBuf,
    /// Lines for the agent, without line breaks.
    pub(super) outgoing: mpsc::Sender<String>,
    /// Lines from the agent that are JSON objects. The channel closes when the agent ends.
    pub(super) incoming: async_mpsc::UnboundedReceiver<IncomingLine>,
    /// Ends the agent and everything it started.
    pub(super) cancel: Cancel,
    /// How it ended.
    pub(super) ended: oneshot::Receiver<AcpProcessEnd>,
}

/// How an agent ended.
#[derive(Debug, Default)]
pub(super) struct AcpProcessEnd {
    /// Whether it ended by itself.
    pub(super) exited: bool,
    pub(super) exit_code: Option<i32>,
    pub(super) signal: Option<i32>,
    pub(super) limits_hit: Vec<RunLimit>,
    /// The end of the standard error, and lines that are not messages.
    pub(super) stderr: Vec<u8>,
    pub(super) workspace: Option<FinishedWorkspace>,
}

impl AcpProcess {
    /// Starts the agent on a thread of its own.
    pub(super) async fn start(
        task: ProgramTask,
        protection: Protection,
        helper: SandboxHelper,
    ) -> Result<Self, RunError> {
        let (outgoing, outgoing_lines) = mpsc::channel();
        let (incoming_lines, incoming) = async_mpsc::unbounded_channel();
        let (started_sender, started) = oneshot::channel();
        let (ended_sender, ended) = oneshot::channel();
        let cancel = Cancel::default();
        let spawned = std::thread::Builder::new().name("acp-agent".to_owned()).spawn({
            let cancel = cancel.clone();
            let options = move || ProgramOptions { protection, helper, ..ProgramOptions::default() };
            move || match start_program(task, &options()) {
                Ok(program) => {
                    if started_sender.send(Ok(program.workspace().to_owned())).is_err() {
                        return;
                    }
                    let output_max = program.limits.output_bytes;
                    let exchange = LineExchange::new(outgoing_lines, incoming_lines, output_max);
                    // The receiver is gone if the run was dropped.
                    let _ = ended_sender.send(exchange.run(program, &cancel));
                }
                Err(error) => drop(started_sender.send(Err(error))),
            }
        });
        spawned.map_err(|error| RunError::Io { context: "cannot start a thread", error })?;
        let unexpected = || RunError::NotStarted("the agent was not started".to_owned());
        let workspace = started.await.map_err(|_| unexpected())??;
        Ok(Self { workspace, outgoing, incoming, cancel, ended })
    }
}

struct LineExchange {
    outgoing: mpsc::Receiver<String>,
    incoming: Option<async_mpsc::UnboundedSender<IncomingLine>>,
    /// The start of a line whose end was not received yet.
    partial: Vec<u8>,
    received: u64,
    /// The maximum of `received`.
    output_max: u64,
    stderr: VecDeque<u8>,
    other_lines: usize,
    end: AcpProcessEnd,
}

impl LineExchange {
    fn new(
        outgoing: mpsc::Receiver<String>,
        incoming: async_mpsc::UnboundedSender<IncomingLine>,
        output_max: u64,
    ) -> Self {
        Self {
            outgoing,
            incoming: Some(incoming),
            partial: Vec::new(),
            received: 0,
            output_max,
            stderr: VecDeque::new(),
            other_lines: 0,
            end: AcpProcessEnd::default(),
        }
    }

    /// Exchanges lines until the agent ends, exceeds a limit or is cancelled. All of its processes have ended afterwards.
    fn run(mut self, mut program: RunningProgram, cancel: &Cancel) -> AcpProcessEnd {
        let mut measured = Instant::now();
        while !cancel.is_cancelled() && !program.process.is_finished() && self.end.limits_hit.is_empty() {
            self.send_lines(&mut program);
            match program.process.next_events(TICK) {
                Ok(events) => events.into_iter().for_each(|event| self.handle_event(event)),
                Err(error) => {
                    self.close_incoming(Some(error));
                    break;
                }
            }
            if self.end.exited {
                self.read_rest(&mut program);
                break;
            }
            if measured.elapsed() >= MEASURE_INTERVAL {
                measured = Instant::now();
                let exceeded = program.limits_exceeded();
                let is_fatal = |limit: &RunLimit| *limit != RunLimit::Processes;
                self.end.limits_hit.extend(exceeded.into_iter().filter(is_fatal));
            }
        }
        self.close_incoming(None);
        self.end.stderr = self.stderr.into_iter().collect();
        self.end.workspace = program.finish().0;
        self.end
    }

    /// Reads what the agent printed before it exited.
    fn read_rest(&mut self, program: &mut RunningProgram) {
        program.process.kill();
        let started = Instant::now();
        while !program.process.is_finished() && started.elapsed() < Duration::from_secs(2) {
            let Ok(events) = program.process.next_events(TICK) else { return };
            events.into_iter().for_each(|event| self.handle_event(event));
        }
    }

    fn send_lines(&mut self, program: &mut RunningProgram) {
        while let Ok(line) = self.outgoing.try_recv() {
            program.process.send(line.as_bytes());
            program.process.send(b"\n");
        }
    }

    fn handle_event(&mut self, event: ProcessEvent) {
        match event {
            ProcessEvent::Output(OutputStream::Out, bytes) => self.receive(&bytes),
            ProcessEvent::Output(OutputStream::Err, bytes) => self.keep_stderr(&bytes),
            ProcessEvent::NotStarted(reason) => {
                self.keep_stderr(reason.as_bytes());
                self.end.exited = true;
            }
            ProcessEvent::Exited { code, signal, .. } => {
                self.end.exited = true;
                (self.end.exit_code, self.end.signal) = (code, signal);
            }
        }
    }

    fn receive(&mut self, bytes: &[u8]) {
        self.received = self.received.saturating_add(bytes.len() as u64);
        if self.received > self.output_max {
            self.end.limits_hit.push(RunLimit::Output);
            return;
        }
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.partial.extend_from_slice(part);
            if self.partial.ends_with(b"\n") {
                let line = std::mem::take(&mut self.partial);
                self.receive_line(&line);
            } else if self.partial.len() > LINE_MAX {
                self.partial.clear();
                self.close_incoming(Some(std::io::Error::other("the agent printed a line that is too long")));
            }
        }
    }

    /// Passes on a line. Agents also print lines that are not messages, such as warnings.
    fn receive_line(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let text = text.trim();
        if text.starts_with('{') {
            if let Some(incoming) = &self.incoming {
                // The receiver is gone if the conversation has ended.
                let _ = incoming.send(Ok(text.to_owned()));
            }
        } else if !text.is_empty() && self.other_lines < OTHER_LINES_MAX {
            self.other_lines += 1;
            let mut line = line.get(..line.len().min(500)).unwrap_or_default().to_vec();
            line.push(b'\n');
            self.keep_stderr(&line);
        }
    }

    fn close_incoming(&mut self, error: Option<std::io::Error>) {
        if let (Some(incoming), Some(error)) = (self.incoming.take(), error) {
            let _ = incoming.send(Err(error));
        }
    }

    fn keep_stderr(&mut self, bytes: &[u8]) {
        self.stderr.extend(bytes);
        let excess = self.stderr.len().saturating_sub(STDERR_MAX);
        self.stderr.drain(..excess);
    }
}
