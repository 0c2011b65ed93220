//! What the gateway knows about one run.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::instructions::InstructionMarkers;
use super::recording::{ReplayError, RequestMatching, RunTraffic};
use super::server::GatewayInner;
use crate::agent::GatewayAddress;
use crate::budget::{CapError, RequestUsage};

/// How long to wait for the ends of responses.
const RESPONSES_TIMEOUT: Duration = Duration::from_secs(5);

/// The options of a run.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The name of the run, which is a valid file name.
    pub name: String,
    /// The lines that identify the instructions of the skill.
    pub markers: InstructionMarkers,
    /// Whether the run is over when the instructions reach the model. The request that contains them is not sent.
    pub stop_when_triggered: bool,
    /// The maximum number of requests of this run.
    pub max_requests: u64,
    /// How a replay compares requests.
    pub matching: RequestMatching,
}

/// Why the gateway ended a run.
#[derive(Debug, Clone, PartialEq)]
pub enum StopReason {
    /// The instructions reached the model, which is all that the run was for.
    Triggered,
    /// A limit of all runs is reached.
    Cap(CapError),
    /// The limit of requests of this run is reached.
    Requests(u64),
    /// The recording cannot be used.
    Replay(ReplayError),
}

/// The requests of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunTotals {
    /// The number of requests.
    pub requests: u64,
    /// The tokens that the provider reported.
    pub usage: RequestUsage,
    /// The number of requests whose usage the provider did not report.
    pub unknown_usage: u64,
    /// The cost in picodollars, as far as prices are known.
    pub picodollars: u64,
    /// Whether the instructions of the skill reached the model.
    pub triggered: bool,
}

/// A run that the gateway serves. Dropping it closes its address.
#[derive(Debug)]
pub struct RunHandle {
    pub(super) gateway: Arc<GatewayInner>,
    pub(super) scope: Arc<RunScope>,
    pub(super) address: GatewayAddress,
}

#[derive(Debug)]
pub(super) struct RunScope {
    pub(super) options: RunOptions,
    pub(super) traffic: RunTraffic,
    /// The directory for the files of the run.
    pub(super) dir: String,
    totals: Mutex<RunTotals>,
    stop: Mutex<Option<StopReason>>,
    stopped: CancellationToken,
    in_flight: watch::Sender<u64>,
}

/// A request whose response is not complete.
pub(super) struct RequestInFlight(Arc<RunScope>);

impl Drop for RequestInFlight {
    fn drop(&mut self) {
        self.0.in_flight.send_modify(|count| *count = count.saturating_sub(1));
    }
}

impl RunScope {
    pub(super) fn new(options: RunOptions, traffic: RunTraffic, dir: String) -> Self {
        Self {
            options,
            traffic,
            dir,
            totals: Mutex::default(),
            stop: Mutex::default(),
            stopped: CancellationToken::new(),
            in_flight: watch::Sender::new(0),
        }
    }

    /// Counts a request until the result is dropped.
    pub(super) fn begin_request(self: &Arc<Self>) -> RequestInFlight {
        self.in_flight.send_modify(|count| *count += 1);
        RequestInFlight(Arc::clone(self))
    }

    pub(super) fn update(&self, change: impl FnOnce(&mut RunTotals)) {
        change(&mut self.totals.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(super) fn totals(&self) -> RunTotals {
        *self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the run. The first reason counts.
    pub(super) fn end(&self, reason: StopReason) {
        self.stop.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
        self.stopped.cancel();
    }
}

impl RunHandle {
    /// Returns the address for the agent.
    pub fn address(&self) -> &GatewayAddress {
        &self.address
    }

    /// Returns the requests so far.
    pub fn totals(&self) -> RunTotals {
        self.scope.totals()
    }

    /// Waits until all responses are complete, so that the totals are, too.
    pub async fn wait_for_responses(&self) {
        let mut in_flight = self.scope.in_flight.subscribe();
        // The sender lives as long as the scope.
        let _ = tokio::time::timeout(RESPONSES_TIMEOUT, in_flight.wait_for(|count| *count == 0)).await;
    }

    /// Completes the recording of the run, if there is one.
    pub fn finish_recording(&self) -> Result<(), ReplayError> {
        match &self.scope.traffic {
            RunTraffic::Record(file) => file.finish(),
            RunTraffic::Live | RunTraffic::Replay(_) => Ok(()),
        }
    }

    /// Returns why the gateway ended the run, if it did.
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.scope.stop.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns a token that is cancelled when the gateway ends the run.
    pub fn stopped(&self) -> CancellationToken {
        self.scope.stopped.clone()
    }
}

impl Drop for RunHandle {
    fn drop(&mut self) {
        self.gateway.close(&self.address.token);
    }
}
