//! The thread that starts a program, talks to it, and ends it.
//!
//! It lives exactly as long as the program: the kernel ends what a thread started when the thread ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::limits::ProgramLimits;
use super::talk::{Stops, Talk, Unanswered};
use super::tool::{Tool, tools};
use crate::answer::{ToolCall, ToolResult};
use crate::fault::Fault;
use prowess_sandbox::{Ready, RunError};

/// How often a program that rests is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// Why a program is not there.
pub(super) enum NotThere {
    /// It may not or cannot run.
    Run(RunError),
    /// It did something else than telling its tools.
    Fault(Fault),
    /// Nobody waits any more.
    Cancelled,
    /// There is no thread for it.
    Thread(String),
}

struct Order {
    call: ToolCall,
    stops: Stops,
    reply: SyncSender<Result<ToolResult, Unanswered>>,
}

/// A program that runs, and the thread that looks after it. Dropping it ends both.
#[derive(Debug)]
pub(super) struct Keeper {
    pub(super) tree: String,
    pub(super) tools: Arc<Vec<Tool>>,
    orders: Mutex<Option<SyncSender<Order>>>,
    thread: Option<JoinHandle<()>>,
    ending: Arc<Ending>,
}

/// What became of a program while nobody asked it anything.
#[derive(Debug, Default)]
struct Ending {
    ended: AtomicBool,
    fault: Mutex<Option<Fault>>,
}

impl Keeper {
    /// Starts a program and asks it for its tools. It ends with its owner.
    pub(super) fn start(
        ready: Ready,
        limits: &ProgramLimits,
        owner: Weak<()>,
        all: prowess_sandbox::Cancel,
    ) -> Result<Self, NotThere> {
        let tree = ready.tree().to_owned();
        let (orders, incoming) = sync_channel(0);
        let (report, reported) = sync_channel(1);
        let (limits, ending) = (limits.clone(), Arc::new(Ending::default()));
        let noted = Arc::clone(&ending);
        let thread = std::thread::Builder::new()
            .name("toolset program".to_owned())
            .spawn(move || live(ready, &limits, &owner, &all, &report, &incoming, &noted))
            .map_err(|error| NotThere::Thread(error.to_string()))?;
        // It has an end: getting ready has one, and so has telling the tools.
        let tools = reported.recv().unwrap_or_else(|_| Err(NotThere::Thread("it ended".to_owned())));
        match tools {
            Ok(tools) => {
                let (tools, orders) = (Arc::new(tools), Mutex::new(Some(orders)));
                Ok(Self { tree, tools, orders, thread: Some(thread), ending })
            }
            Err(error) => {
                drop(orders);
                let _ = thread.join();
                Err(error)
            }
        }
    }

    /// Calls a tool. Calls of one program wait for each other.
    pub(super) fn call(&self, call: ToolCall, stops: Stops) -> Result<ToolResult, Unanswered> {
        self.order(call, stops)
            .unwrap_or_else(|| Err(self.take_fault().map_or(Unanswered::Left, Unanswered::Fault)))
    }

    /// `None` where the program has ended meanwhile.
    fn order(&self, call: ToolCall, stops: Stops) -> Option<Result<ToolResult, Unanswered>> {
        let (reply, answer) = sync_channel(1);
        let orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        orders.as_ref()?.send(Order { call, stops, reply }).ok()?;
        // It has an end: so has the call.
        answer.recv().ok()
    }

    /// Whether it is of no use any more.
    pub(super) fn has_ended(&self) -> bool {
        self.ending.ended.load(Ordering::Acquire)
    }

    /// What it did while nobody asked it anything, told once.
    pub(super) fn take_fault(&self) -> Option<Fault> {
        self.ending.fault.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.orders.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The life of a program: start, tell the tools, and answer calls until nobody asks any more.
fn live(
    ready: Ready,
    limits: &ProgramLimits,
    owner: &Weak<()>,
    all: &prowess_sandbox::Cancel,
    report: &SyncSender<Result<Vec<Tool>, NotThere>>,
    orders: &Receiver<Order>,
    ending: &Ending,
) {
    let mut talk = match ready.start() {
        Ok(started) => Talk::new(started, limits.clone()),
        Err(error) => return drop(report.send(Err(NotThere::Run(error)))),
    };
    let told = talk.tools(all).and_then(|told| Ok(tools(told, limits)?));
    let fault = match told {
        Ok(tools) => {
            let _ = report.send(Ok(tools));
            serve(&mut talk, limits, owner, orders, ending)
        }
        Err(Unanswered::Fault(fault)) => {
            // Ended before it is told, so that nothing of it is left then.
            talk.end(Some(&fault));
            return drop(report.send(Err(NotThere::Fault(fault))));
        }
        Err(_) => {
            talk.end(None);
            return drop(report.send(Err(NotThere::Cancelled)));
        }
    };
    ending.ended.store(true, Ordering::Release);
    talk.end(fault.as_ref());
}

/// Answers calls. What it gives back is why the program cannot go on.
fn serve(
    talk: &mut Talk,
    limits: &ProgramLimits,
    owner: &Weak<()>,
    orders: &Receiver<Order>,
    ending: &Ending,
) -> Option<Fault> {
    let begun = Instant::now();
    let mut used = begun;
    loop {
        match orders.recv_timeout(LOOK) {
            Ok(Order { call, stops, reply }) => {
                let answer = talk.call(&call, &stops);
                used = Instant::now();
                let over = match &answer {
                    Err(Unanswered::Fault(fault)) => Some(Some(fault.clone())),
                    Err(Unanswered::Cancelled | Unanswered::Left) => Some(None),
                    Ok(_) | Err(Unanswered::Failed(_) | Unanswered::Refused(_)) => None,
                };
                if over.is_some() {
                    ending.ended.store(true, Ordering::Release);
                }
                // Whoever asked may have gone.
                let _ = reply.send(answer);
                if let Some(fault) = over {
                    return fault;
                }
            }
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {
                if let Err(fault) = talk.rest() {
                    let fault = (!talk.has_left()).then_some(fault);
                    ending.fault.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&fault);
                    return fault;
                }
                if owner.strong_count() == 0
                    || used.elapsed() >= limits.idle
                    || begun.elapsed() >= limits.life
                {
                    return None;
                }
            }
        }
    }
}
