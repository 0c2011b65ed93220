//! Talking to a program that runs: sending it lines, hearing its lines, and noticing everything that it does instead.

use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::heard::Heard;
use super::limits::ProgramLimits;
use super::protocol::{self, Message};
use super::tool::over;
use crate::answer::{ToolCall, ToolResult, one_line, tool_result};
use crate::fault::Fault;
use crate::fault::PROTOCOL;
use crate::limits::Cancel;
use prowess_sandbox::log::End;
use prowess_sandbox::{Limit, Started, Stream};

/// How often cancelling is looked for.
const TICK: Duration = Duration::from_millis(20);

/// How often it is counted what a program takes while it works, and while it rests.
const COUNT: Duration = Duration::from_millis(100);
const COUNT_AT_REST: Duration = Duration::from_secs(1);

/// How long the rest of what it wrote is waited for once it has ended.
const DRAIN: Duration = Duration::from_millis(500);

/// Why there is no answer.
pub(super) enum Unanswered {
    /// The program is to blame, and is of no use any more.
    Fault(Fault),
    /// The tool says that it failed.
    Failed(String),
    /// The answer is beyond a limit.
    Refused(String),
    /// Nobody waits any more.
    Cancelled,
    /// It had ended well before it was asked.
    Left,
}

impl From<Fault> for Unanswered {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// What ends a call early: the conversation's flag, and that of everything that runs.
pub(super) struct Stops {
    pub(super) call: Cancel,
    pub(super) all: prowess_sandbox::Cancel,
}

impl Stops {
    fn is_set(&self) -> bool {
        self.call.is_cancelled() || self.all.is_cancelled()
    }
}

/// How a program ended by itself.
#[derive(Clone, Copy)]
struct Exit {
    code: Option<i32>,
    signal: Option<i32>,
    at: Instant,
}

/// A program that runs, and what was heard of it.
pub(super) struct Talk {
    started: Started,
    limits: ProgramLimits,
    heard: Heard,
    exit: Option<Exit>,
    counted: Instant,
    calls: u64,
}

impl Talk {
    pub(super) fn new(started: Started, limits: ProgramLimits) -> Self {
        let (heard, counted) = (Heard::default(), Instant::now());
        Self { started, limits, heard, exit: None, counted, calls: 0 }
    }

    /// Asks for the tools.
    pub(super) fn tools(&mut self, all: &prowess_sandbox::Cancel) -> Result<Vec<Value>, Unanswered> {
        let begun = Instant::now();
        self.ask(&protocol::ask_tools());
        loop {
            match self.message()? {
                Some(Message::Tools { protocol: PROTOCOL, tools }) => return Ok(tools),
                Some(Message::Tools { protocol, .. }) => return Err(Fault::Version(protocol).into()),
                Some(other) => return Err(Fault::Unasked(other.kind()).into()),
                None => {}
            }
            if all.is_cancelled() {
                return Err(Unanswered::Cancelled);
            }
            if begun.elapsed() >= self.limits.start_time {
                let (limit, said) = (self.limits.start_time, self.heard.last_words());
                return Err(Fault::NoTools { limit, said }.into());
            }
            self.pump(TICK, COUNT)?;
        }
    }

    /// Asks for a call and waits for its answer.
    pub(super) fn call(&mut self, call: &ToolCall, stops: &Stops) -> Result<ToolResult, Unanswered> {
        // What was said since the last answer belongs to nobody's question.
        if let Err(fault) = self.rest() {
            return Err(if self.has_left() { Unanswered::Left } else { fault.into() });
        }
        self.calls += 1;
        let asked = self.calls;
        self.ask(&protocol::ask_call(asked, call));
        let limit = self.started.limits.time;
        let mut until = Instant::now() + limit;
        let mut cancelled = false;
        let (mut title, mut before) = (None, Map::new());
        loop {
            while let Some(message) = self.message()? {
                match message {
                    Message::Tools { .. } => return Err(Fault::Unasked(message.kind()).into()),
                    Message::Progress { id, .. } | Message::Result { id, .. } | Message::Error { id, .. }
                        if id != asked =>
                    {
                        return Err(self.strayed(id, asked).into());
                    }
                    Message::Progress { title: told, metadata, .. } => {
                        title = told.or(title);
                        before.extend(metadata);
                    }
                    Message::Error { message, .. } => return Err(Unanswered::Failed(one_line(&message))),
                    Message::Result { mut result, .. } => {
                        over(before, &mut result);
                        if let Some(title) = title {
                            result.entry("title").or_insert(title.into());
                        }
                        return self.result(result);
                    }
                }
            }
            if !cancelled && stops.is_set() {
                cancelled = true;
                self.started.running.send(&protocol::cancel(asked));
                until = until.min(Instant::now() + self.limits.grace);
            }
            if Instant::now() >= until {
                return Err(if cancelled { Unanswered::Cancelled } else { Fault::NoAnswer { limit }.into() });
            }
            self.pump(TICK, COUNT)?;
        }
    }

    fn strayed(&self, id: u64, asked: u64) -> Fault {
        if id < asked && id > 0 { Fault::Twice(id) } else { Fault::OtherCall { answered: id, asked } }
    }

    fn result(&mut self, result: Map<String, Value>) -> Result<ToolResult, Unanswered> {
        let size = |key: &str| result.get(key).map_or(0, |value| value.to_string().len());
        for (key, limit) in [("metadata", self.limits.metadata), ("attachments", self.limits.attachments)] {
            if size(key) > limit {
                return Err(Unanswered::Refused(format!(
                    "{key} of the answer have {} bytes; at most {limit} are taken",
                    size(key)
                )));
            }
        }
        let most = usize::try_from(self.started.limits.output_bytes).unwrap_or(usize::MAX);
        Ok(ToolResult { console: self.heard.console(), ..tool_result(result, most) })
    }

    /// Whether it is still there and has said nothing on its own.
    pub(super) fn rest(&mut self) -> Result<(), Fault> {
        self.pump(Duration::ZERO, COUNT_AT_REST)?;
        match self.message()? {
            None => Ok(()),
            Some(Message::Result { id, .. } | Message::Error { id, .. }) if id <= self.calls && id > 0 => {
                Err(Fault::Twice(id))
            }
            Some(message) => Err(Fault::Unasked(message.kind())),
        }
    }

    /// Whether it ended well and by itself: its next call is another process's.
    pub(super) fn has_left(&self) -> bool {
        self.exit.is_some_and(|exit| exit.code == Some(0)) && self.heard.is_empty()
    }

    fn ask(&mut self, line: &[u8]) {
        self.heard.ask();
        self.started.running.send(line);
    }

    /// The next message that was heard.
    fn message(&mut self) -> Result<Option<Message>, Fault> {
        if let Some(line) = self.heard.line() {
            return protocol::read(&line, self.limits.values).map(Some).map_err(Fault::NoMessage);
        }
        // All that it had to say is heard; what it left half said is no answer.
        match self.exit {
            Some(exit) if self.started.running.has_closed_output() || exit.at.elapsed() >= DRAIN => {
                Err(self.ended(exit))
            }
            _ => Ok(None),
        }
    }

    fn ended(&self, exit: Exit) -> Fault {
        // The kernel may have refused to write more before the files were counted.
        if self.started.has_filled_scratch() {
            return Fault::Limit(Limit::Scratch);
        }
        let how = match (exit.code, exit.signal) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "nobody knows how".to_owned(),
        };
        Fault::Ended { how, said: self.heard.last_words() }
    }

    /// Hears what there is, and waits for it not longer than this.
    fn pump(&mut self, wait: Duration, count: Duration) -> Result<(), Fault> {
        let events = self.started.running.next(wait).unwrap_or_default();
        for event in events {
            match event {
                prowess_sandbox::sandbox::Event::Output(Stream::Out, bytes) => {
                    self.heard.out(&bytes, &self.limits)?
                }
                prowess_sandbox::sandbox::Event::Output(Stream::Err, bytes) => {
                    self.heard.err(&bytes, &self.limits, self.started.limits.output_bytes)?;
                }
                prowess_sandbox::sandbox::Event::NotStarted(why) => return Err(Fault::NotStarted(why)),
                prowess_sandbox::sandbox::Event::Exited { code, signal, .. } => {
                    self.exit.get_or_insert(Exit { code, signal, at: Instant::now() });
                }
            }
        }
        if self.exit.is_none() && self.started.running.is_silent() {
            // The helper itself is gone, and everything with it.
            self.exit = Some(Exit { code: None, signal: None, at: Instant::now() });
        }
        if self.exit.is_none() && self.counted.elapsed() >= count {
            self.counted = Instant::now();
            // The kernel keeps the number of processes; being at it is no harm by itself.
            let hit = self.started.taken().into_iter().find(|limit| *limit != Limit::Processes);
            return hit.map_or(Ok(()), |limit| Err(Fault::Limit(limit)));
        }
        Ok(())
    }

    /// Ends it: its input first, so that it can end by itself, then everything.
    pub(super) fn end(mut self, fault: Option<&Fault>) {
        let mut stubborn = false;
        if fault.is_none() && self.exit.is_none() {
            self.started.running.close_input();
            let until = Instant::now() + self.limits.end_time;
            while self.exit.is_none() && Instant::now() < until {
                // Whatever it still says is for nobody.
                if self.pump(Duration::from_millis(5), COUNT_AT_REST).is_err() {
                    break;
                }
                self.heard.forget();
            }
            stubborn = self.exit.is_none();
        }
        let hit = fault.and_then(Fault::limit);
        let (exit_code, signal) = self.exit.map_or((None, Some(9)), |exit| (exit.code, exit.signal));
        let stubborn = stubborn.then(|| "did not end when its input did, and was killed".to_owned());
        self.started.end(End {
            exit_code,
            signal,
            truncated: hit == Some(Limit::Output),
            timed_out: hit == Some(Limit::Time),
            limits_hit: hit.iter().map(ToString::to_string).collect(),
            error: fault.map(ToString::to_string).or(stubborn),
            ..End::default()
        });
    }
}
