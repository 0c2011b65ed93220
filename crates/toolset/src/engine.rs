//! A JavaScript engine on its own thread.
//!
//! The engine checks the time limit while it runs JavaScript, but not in all of its native loops. The caller therefore has
//! its own timeout, and abandons an engine that exceeds it.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use prowess::Skill;

use super::error::ToolsetError;
use super::js_engine::JsEngine;
use super::limits::ToolsetLimits;
use super::response::{ToolCall, ToolDescriptor, ToolResult};
use super::sources::{FileDigests, ModuleSources};
use prowess_sandbox::Cancel;

/// How much longer than its own limit to wait for the engine.
const WAIT_MARGIN: Duration = Duration::from_secs(1);

/// How often a wait checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The loaded tools of an engine.
#[derive(Debug, Clone)]
pub(super) struct EngineInventory {
    pub(super) tools: Vec<ToolDescriptor>,
    /// The toolsets that could not be loaded.
    pub(super) failures: Vec<ToolsetError>,
    pub(super) digests: Vec<(String, String)>,
    pub(super) memory: u64,
}

struct EngineRequest {
    call: ToolCall,
    cancel: Cancel,
    reply: SyncSender<Result<ToolResult, ToolsetError>>,
}

/// A failed load, and its thread, which may still be running.
#[derive(Debug)]
pub(super) struct FailedLoad {
    pub(super) error: ToolsetError,
    /// The files that were read, with their digests.
    pub(super) digests: Vec<(String, String)>,
    /// `None` if no thread could be started.
    pub(super) thread: Option<JoinHandle<()>>,
}

/// A running engine.
#[derive(Debug)]
pub(super) struct ToolsetEngine {
    pub(super) inventory: EngineInventory,
    requests: Mutex<SyncSender<EngineRequest>>,
    thread: JoinHandle<()>,
    limits: ToolsetLimits,
    ended: AtomicBool,
}

impl ToolsetEngine {
    /// Loads the toolsets of a skill, each given by path and export.
    pub(super) fn start(
        skill: &Skill,
        toolsets: &[(String, String)],
        limits: &ToolsetLimits,
    ) -> Result<Self, Box<FailedLoad>> {
        let (skill, toolsets, engine_limits) = (skill.clone(), toolsets.to_vec(), limits.clone());
        let digests = FileDigests::default();
        let recorded = digests.clone();
        // For debugging tools. A NUL in the name would panic.
        let name: String = skill.name().chars().filter(char::is_ascii_graphic).collect();
        let (requests, incoming) = sync_channel(0);
        let (report, reported) = sync_channel(1);
        let thread = std::thread::Builder::new()
            .name(format!("toolset {name}"))
            // The part above the engine's own limit is for native code.
            .stack_size(limits.stack.saturating_mul(2).saturating_add(2 * 1024 * 1024))
            .spawn(move || run_engine(&skill, &toolsets, engine_limits, recorded, &report, &incoming))
            .map_err(|error| {
                let error = ToolsetError::Engine(format!("cannot start a thread: {error}"));
                Box::new(FailedLoad { error, digests: Vec::new(), thread: None })
            })?;
        let loaded = match reported.recv_timeout(limits.load_time.saturating_add(WAIT_MARGIN)) {
            Ok(loaded) => loaded,
            Err(RecvTimeoutError::Timeout) => {
                Err(ToolsetError::Time { operation: "loading the toolset", limit: limits.load_time })
            }
            Err(RecvTimeoutError::Disconnected) => {
                Err(ToolsetError::Engine("it exited while loading".to_owned()))
            }
        };
        match loaded {
            Ok(inventory) => {
                let (limits, ended) = (limits.clone(), AtomicBool::new(false));
                Ok(Self { inventory, requests: Mutex::new(requests), thread, limits, ended })
            }
            Err(error) => {
                Err(Box::new(FailedLoad { error, digests: digests.to_vec(), thread: Some(thread) }))
            }
        }
    }

    /// Calls a tool. Concurrent calls of one engine wait for each other.
    pub(super) fn call(&self, call: ToolCall, cancel: Cancel) -> Result<ToolResult, ToolsetError> {
        let (reply, answer) = sync_channel(1);
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        if self.has_ended() {
            return Err(ToolsetError::Busy);
        }
        let answer = match requests.send(EngineRequest { call, cancel: cancel.clone(), reply }) {
            Ok(()) => self.wait(&answer, &cancel),
            Err(_) => Err(engine_exited()),
        };
        if answer.as_ref().is_err_and(ToolsetError::ends_engine) {
            self.ended.store(true, Ordering::Release);
        }
        answer
    }

    fn wait(
        &self,
        answer: &Receiver<Result<ToolResult, ToolsetError>>,
        cancel: &Cancel,
    ) -> Result<ToolResult, ToolsetError> {
        let mut remaining = self.limits.call_time.saturating_add(WAIT_MARGIN);
        let mut cancelled = false;
        loop {
            match answer.recv_timeout(POLL_INTERVAL.min(remaining)) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Disconnected) => return Err(engine_exited()),
                Err(RecvTimeoutError::Timeout) => remaining = remaining.saturating_sub(POLL_INTERVAL),
            }
            if !cancelled && cancel.is_cancelled() {
                cancelled = true;
                remaining = remaining.min(self.limits.grace.saturating_add(WAIT_MARGIN));
            }
            match (remaining.is_zero(), cancelled) {
                (false, _) => {}
                (true, true) => return Err(ToolsetError::Cancelled),
                (true, false) => {
                    return Err(ToolsetError::Time { operation: "the call", limit: self.limits.call_time });
                }
            }
        }
    }

    /// Returns `true` if the engine can no longer be used.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Returns `true` if the thread is still running. This can change at any time.
    pub(super) fn is_running(&self) -> bool {
        !self.thread.is_finished()
    }
}

fn engine_exited() -> ToolsetError {
    ToolsetError::Engine("it has exited".to_owned())
}

/// Loads the toolsets, reports the result, and handles calls until the sender is dropped.
fn run_engine(
    skill: &Skill,
    toolsets: &[(String, String)],
    limits: ToolsetLimits,
    digests: FileDigests,
    report: &SyncSender<Result<EngineInventory, ToolsetError>>,
    requests: &Receiver<EngineRequest>,
) {
    let engine = ModuleSources::new(skill.clone(), limits.clone(), digests.clone())
        .and_then(|sources| JsEngine::new(sources, limits));
    let engine = match engine {
        Ok(engine) => engine,
        Err(error) => return drop(report.send(Err(error))),
    };
    let (mut tools, mut failures) = (Vec::new(), Vec::new());
    for (path, export) in toolsets {
        match engine.load(path, export) {
            Ok(described) => tools.extend(described),
            Err(error) if error.ends_engine() => return drop(report.send(Err(error))),
            Err(error) => failures.push(error),
        }
    }
    let inventory = EngineInventory { tools, failures, digests: digests.to_vec(), memory: engine.memory() };
    if report.send(Ok(inventory)).is_err() {
        return;
    }
    while let Ok(EngineRequest { call, cancel, reply }) = requests.recv() {
        let answer = engine.call(&call, cancel);
        let ends = answer.as_ref().is_err_and(ToolsetError::ends_engine);
        // The caller may no longer wait.
        let _ = reply.send(answer);
        if ends {
            return;
        }
    }
}
