//! A machine on a thread of its own, and the orders it takes.
//!
//! The engine looks at the clock while it runs foreign code, but not in every loop of its own. So whoever waits does not
//! rely on it: the wait has an end, too, and an engine that did not keep it is left to itself and never asked again.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use prowess::Skill;

use super::answer::{Definition, ToolCall, ToolResult};
use super::error::ToolsetError;
use super::limits::{Cancel, Limits};
use super::machine::Machine;
use super::sources::{Sources, Stamps};

/// How much longer than the engine's own limit is waited for it.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often a wait looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(50);

/// What was loaded.
#[derive(Debug, Clone)]
pub(super) struct Inventory {
    pub(super) tools: Vec<Definition>,
    /// The toolsets that could not be loaded.
    pub(super) failures: Vec<ToolsetError>,
    pub(super) stamps: Vec<(String, String)>,
    pub(super) memory: u64,
}

struct Order {
    call: ToolCall,
    cancel: Cancel,
    reply: SyncSender<Result<ToolResult, ToolsetError>>,
}

/// A load that failed, and the thread that tried it, which may still be running.
#[derive(Debug)]
pub(super) struct FailedLoad {
    pub(super) error: ToolsetError,
    /// The files that it had read, with their digests.
    pub(super) stamps: Vec<(String, String)>,
    /// None where no thread could be started.
    pub(super) thread: Option<JoinHandle<()>>,
}

/// A running engine.
#[derive(Debug)]
pub(super) struct Engine {
    pub(super) inventory: Inventory,
    orders: Mutex<SyncSender<Order>>,
    thread: JoinHandle<()>,
    limits: Limits,
    ended: AtomicBool,
}

impl Engine {
    /// Loads the toolsets of a skill, each a path and an export.
    pub(super) fn start(
        skill: &Skill,
        toolsets: &[(String, String)],
        limits: &Limits,
    ) -> Result<Self, Box<FailedLoad>> {
        let (skill, toolsets, own) = (skill.clone(), toolsets.to_vec(), limits.clone());
        let stamps = Stamps::default();
        let recorded = stamps.clone();
        // For whoever looks at the threads of this process. A NUL in the name would be a panic.
        let name: String = skill.name().chars().filter(char::is_ascii_graphic).collect();
        let (orders, incoming) = sync_channel(0);
        let (report, reported) = sync_channel(1);
        let thread = std::thread::Builder::new()
            .name(format!("toolset {name}"))
            // What is above the engine's own limit is for what it calls.
            .stack_size(limits.stack.saturating_mul(2).saturating_add(2 * 1024 * 1024))
            .spawn(move || live(&skill, &toolsets, own, recorded, &report, &incoming))
            .map_err(|error| {
                let error = ToolsetError::Engine(format!("no thread for it: {error}"));
                Box::new(FailedLoad { error, stamps: Vec::new(), thread: None })
            })?;
        let loaded = match reported.recv_timeout(limits.load_time.saturating_add(PATIENCE)) {
            Ok(loaded) => loaded,
            Err(RecvTimeoutError::Timeout) => {
                Err(ToolsetError::Time { what: "loading the toolset", limit: limits.load_time })
            }
            Err(RecvTimeoutError::Disconnected) => {
                Err(ToolsetError::Engine("it ended while it loaded".to_owned()))
            }
        };
        match loaded {
            Ok(inventory) => {
                let (limits, ended) = (limits.clone(), AtomicBool::new(false));
                Ok(Self { inventory, orders: Mutex::new(orders), thread, limits, ended })
            }
            Err(error) => Err(Box::new(FailedLoad { error, stamps: stamps.to_vec(), thread: Some(thread) })),
        }
    }

    /// Calls a tool. Calls of one engine wait for each other.
    pub(super) fn call(&self, call: ToolCall, cancel: Cancel) -> Result<ToolResult, ToolsetError> {
        let (reply, answer) = sync_channel(1);
        let orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        if self.has_ended() {
            return Err(ToolsetError::Busy);
        }
        let answer = match orders.send(Order { call, cancel: cancel.clone(), reply }) {
            Ok(()) => self.wait(&answer, &cancel),
            Err(_) => Err(gone()),
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
        let mut left = self.limits.call_time.saturating_add(PATIENCE);
        let mut cancelled = false;
        loop {
            match answer.recv_timeout(LOOK.min(left)) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Disconnected) => return Err(gone()),
                Err(RecvTimeoutError::Timeout) => left = left.saturating_sub(LOOK),
            }
            if !cancelled && cancel.is_cancelled() {
                cancelled = true;
                left = left.min(self.limits.grace.saturating_add(PATIENCE));
            }
            match (left.is_zero(), cancelled) {
                (false, _) => {}
                (true, true) => return Err(ToolsetError::Cancelled),
                (true, false) => {
                    return Err(ToolsetError::Time { what: "the call", limit: self.limits.call_time });
                }
            }
        }
    }

    /// Whether it can no longer be used.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Whether its thread still runs. The answer can change from one call to the next.
    pub(super) fn is_running(&self) -> bool {
        !self.thread.is_finished()
    }
}

fn gone() -> ToolsetError {
    ToolsetError::Engine("it has ended".to_owned())
}

/// The life of an engine: load, report, and answer calls until nobody asks any more.
fn live(
    skill: &Skill,
    toolsets: &[(String, String)],
    limits: Limits,
    stamps: Stamps,
    report: &SyncSender<Result<Inventory, ToolsetError>>,
    orders: &Receiver<Order>,
) {
    let made = Sources::new(skill.clone(), limits.clone(), stamps.clone())
        .and_then(|sources| Machine::new(sources, limits));
    let machine = match made {
        Ok(machine) => machine,
        Err(error) => return drop(report.send(Err(error))),
    };
    let (mut tools, mut failures) = (Vec::new(), Vec::new());
    for (path, export) in toolsets {
        match machine.load(path, export) {
            Ok(described) => tools.extend(described),
            Err(error) if error.ends_engine() => return drop(report.send(Err(error))),
            Err(error) => failures.push(error),
        }
    }
    let inventory = Inventory { tools, failures, stamps: stamps.to_vec(), memory: machine.memory() };
    if report.send(Ok(inventory)).is_err() {
        return;
    }
    while let Ok(Order { call, cancel, reply }) = orders.recv() {
        let answer = machine.call(&call, cancel);
        let ends = answer.as_ref().is_err_and(ToolsetError::ends_engine);
        // Whoever asked may have gone.
        let _ = reply.send(answer);
        if ends {
            return;
        }
    }
}
