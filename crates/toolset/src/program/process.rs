//! The thread that starts a program, communicates with it, and ends it.
//!
//! It lives exactly as long as the program, because the kernel kills processes whose starting thread ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::limits::ProgramLimits;
use super::session::{CallFailure, CancelFlags, ProgramSession};
use super::tool::{ProgramTool, parse_tools};
use crate::program_fault::ProgramFault;
use crate::response::{ToolCall, ToolResult};
use prowess_sandbox::{PreparedScript, RunError};

/// How often an idle program is checked.
const IDLE_CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// Why a program could not be started.
pub(super) enum StartError {
    /// It may not or cannot run.
    Run(RunError),
    /// It did not list its tools correctly.
    Fault(ProgramFault),
    Cancelled,
    /// The thread could not be started.
    Thread(String),
}

struct ProgramRequest {
    call: ToolCall,
    flags: CancelFlags,
    reply: SyncSender<Result<ToolResult, CallFailure>>,
}

/// A running program and its thread. Dropping it ends both.
#[derive(Debug)]
pub(super) struct ProgramProcess {
    pub(super) tree: String,
    pub(super) tools: Arc<Vec<ProgramTool>>,
    requests: Mutex<Option<SyncSender<ProgramRequest>>>,
    thread: Option<JoinHandle<()>>,
    end: Arc<ProcessEnd>,
}

/// How a program ended while it was idle.
#[derive(Debug, Default)]
struct ProcessEnd {
    ended: AtomicBool,
    fault: Mutex<Option<ProgramFault>>,
}

impl ProgramProcess {
    /// Starts a program and requests its tools. It ends with its owner.
    pub(super) fn start(
        ready: PreparedScript,
        limits: &ProgramLimits,
        owner: Weak<()>,
        cancel_all: prowess_sandbox::Cancel,
    ) -> Result<Self, StartError> {
        let tree = ready.tree().to_owned();
        let (requests, incoming) = sync_channel(0);
        let (report, reported) = sync_channel(1);
        let (limits, end) = (limits.clone(), Arc::new(ProcessEnd::default()));
        let thread_end = Arc::clone(&end);
        let thread = std::thread::Builder::new()
            .name("toolset program".to_owned())
            .spawn(move || run_process(ready, &limits, &owner, &cancel_all, &report, &incoming, &thread_end))
            .map_err(|error| StartError::Thread(error.to_string()))?;
        // This does not block forever: both the preparation and listing the tools have time limits.
        let tools = reported.recv().unwrap_or_else(|_| Err(StartError::Thread("it exited".to_owned())));
        match tools {
            Ok(tools) => {
                let (tools, requests) = (Arc::new(tools), Mutex::new(Some(requests)));
                Ok(Self { tree, tools, requests, thread: Some(thread), end })
            }
            Err(error) => {
                drop(requests);
                let _ = thread.join();
                Err(error)
            }
        }
    }

    /// Calls a tool. Concurrent calls of one program wait for each other.
    pub(super) fn call(&self, call: ToolCall, flags: CancelFlags) -> Result<ToolResult, CallFailure> {
        self.send_call(call, flags)
            .unwrap_or_else(|| Err(self.take_fault().map_or(CallFailure::Exited, CallFailure::Fault)))
    }

    /// Sends a call. Returns `None` if the program has ended meanwhile.
    fn send_call(&self, call: ToolCall, flags: CancelFlags) -> Option<Result<ToolResult, CallFailure>> {
        let (reply, answer) = sync_channel(1);
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.as_ref()?.send(ProgramRequest { call, flags, reply }).ok()?;
        // This does not block forever: the call has a time limit.
        answer.recv().ok()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.end.ended.load(Ordering::Acquire)
    }

    /// Takes the fault that occurred while the program was idle.
    pub(super) fn take_fault(&self) -> Option<ProgramFault> {
        self.end.fault.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for ProgramProcess {
    fn drop(&mut self) {
        drop(self.requests.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Starts the program, lists its tools, and handles calls until the sender is dropped.
fn run_process(
    ready: PreparedScript,
    limits: &ProgramLimits,
    owner: &Weak<()>,
    cancel_all: &prowess_sandbox::Cancel,
    report: &SyncSender<Result<Vec<ProgramTool>, StartError>>,
    requests: &Receiver<ProgramRequest>,
    end: &ProcessEnd,
) {
    let mut session = match ready.start() {
        Ok(started) => ProgramSession::new(started, limits.clone()),
        Err(error) => return drop(report.send(Err(StartError::Run(error)))),
    };
    let listed = session.tools(cancel_all).and_then(|listed| Ok(parse_tools(listed, limits)?));
    let fault = match listed {
        Ok(tools) => {
            let _ = report.send(Ok(tools));
            serve(&mut session, limits, owner, requests, end)
        }
        Err(CallFailure::Fault(fault)) => {
            // End it before the report, so that nothing is left of it afterwards.
            session.end(Some(&fault));
            return drop(report.send(Err(StartError::Fault(fault))));
        }
        Err(_) => {
            session.end(None);
            return drop(report.send(Err(StartError::Cancelled)));
        }
    };
    end.ended.store(true, Ordering::Release);
    session.end(fault.as_ref());
}

/// Handles calls. Returns the fault that ended the program, if any.
fn serve(
    session: &mut ProgramSession,
    limits: &ProgramLimits,
    owner: &Weak<()>,
    requests: &Receiver<ProgramRequest>,
    end: &ProcessEnd,
) -> Option<ProgramFault> {
    let started = Instant::now();
    let mut used = started;
    loop {
        match requests.recv_timeout(IDLE_CHECK_INTERVAL) {
            Ok(ProgramRequest { call, flags, reply }) => {
                let answer = session.call(&call, &flags);
                used = Instant::now();
                let ended = match &answer {
                    Err(CallFailure::Fault(fault)) => Some(Some(fault.clone())),
                    Err(CallFailure::Cancelled | CallFailure::Exited) => Some(None),
                    Ok(_) | Err(CallFailure::Failed(_) | CallFailure::Refused(_)) => None,
                };
                if ended.is_some() {
                    end.ended.store(true, Ordering::Release);
                }
                // The caller may no longer wait.
                let _ = reply.send(answer);
                if let Some(fault) = ended {
                    return fault;
                }
            }
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {
                if let Err(fault) = session.check_idle() {
                    let fault = (!session.exited_cleanly()).then_some(fault);
                    end.fault.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&fault);
                    return fault;
                }
                if owner.strong_count() == 0
                    || used.elapsed() >= limits.idle
                    || started.elapsed() >= limits.life
                {
                    return None;
                }
            }
        }
    }
}
